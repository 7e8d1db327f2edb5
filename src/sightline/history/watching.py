"""Watch a workspace: record changes as they happen, and report new entries.

A watcher's hint says where to look. The same scan records the change that the next question would
have recorded, so no verdict depends on a watcher.

Backoff: a file that changes all the time, such as a log, is looked at less and less often, because
each look would add a fact and a text. A verdict looks for itself.

Untracked files: those that no session was shown are reported while somebody watches, and not recorded:
nobody's knowledge depends on them, and a build would fill the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from stat import S_ISDIR, S_ISREG
from time import monotonic, sleep
from typing import Self

from msgspec import structs

from sightline.changes.commands import Changes, changes
from sightline.changes.session_context import SessionContext
from sightline.errors import Unverifiable
from sightline.filesystem.deadline import DeadlinePassed, within
from sightline.filesystem.watch.watcher import Eyes, Hints, Watcher
from sightline.history.session_history import readable_entries
from sightline.model.events import Cause, Changed, SightLost
from sightline.model.log_entries import Entry, readable_entry
from sightline.model.path import folders_above
from sightline.model.revision import MISSING, UNKNOWN, Revision, StatSignature
from sightline.model.session_ids import NOBODY, archived
from sightline.model.timeline import Recorded

POLL_S = 0.5
"""Seconds between two questions to the store for facts of other processes."""

GIT_S = 5.0
"""Seconds to wait for a git command: until it ends, files of two commits stand side by side.
Questions in the meantime are answered all the same."""

EMPTY_S = 0.05
"""Seconds to wait for an empty file: most programs truncate a file before they save it."""

RETRY_S = 0.01
"""Seconds between two looks while something is half done."""

MANY = 500
"""Hinted files above which a scan of all files takes less."""

TEXT_MAX = 65_536
"""Bytes of a text that is stored without a session's read, to attribute later changes by git or a
formatter. A log would be stored a thousand times."""


class Watching:
    """Watches a workspace from one thread. context: without a session (session_history.survey);
    unshown: report changes of untracked files, too, which takes a scan first. The first wait records
    earlier changes. SightlineError."""

    def __init__(
        self, context: SessionContext, watcher: Watcher | None = None, *, unshown: bool = False
    ) -> None:
        self._context = context
        self._watcher = watcher or context.workspace.watch()
        self._hints: Hints | None = Hints(frozenset(), everything=True)
        self._put_off: float | None = None
        self._blind = False
        self._backoff = Backoff()
        self._lost_reason: str | None = None
        self._position = context.store.position()
        self._watched = WatchedPaths(context.store.paths())
        self._untracked = UntrackedFeed(context, self._watched) if unshown else None
        self._watcher.follow(self._watched)

    def wait(self, timeout_s: float) -> tuple[Entry, ...] | None:
        """Look as soon as something happens. Return the facts recorded by anybody since the previous
        wait, in order, then the changes of untracked files (position 0: not on the timeline); empty
        when a look at files found nothing; None when nothing happened in time."""
        until = monotonic() + timeout_s
        while True:
            left = max(0.0, until - monotonic())
            hints = self._next_hints(left)
            looked, others = self._look(hints) if hints is not None else (False, ())
            entries = (*self._new_entries(), *others)
            if entries or looked:
                return entries
            if not left:
                return None

    def eyes(self) -> Eyes:
        """Return how well the watcher sees."""
        return self._watcher.eyes()

    def fileno(self) -> int | None:
        """Return a file number that is readable when wait(0) may have news of the disk, if any."""
        return None if self._blind else self._watcher.fileno()

    def patience_s(self) -> float:
        """Return the seconds after which wait(0) may have news that make no file number readable: facts
        of other processes, or the end of something half done."""
        return RETRY_S if self._hints is not None else self._pause_s()

    def _pause_s(self) -> float:
        left_s = self._backoff.left_s(monotonic())
        return POLL_S if left_s is None else min(POLL_S, left_s)

    def wake(self) -> None:
        """Make a wait in another thread, or an interrupted one, return at once."""
        self._watcher.wake()

    def close(self) -> None:
        """Stop watching."""
        self._watcher.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next_hints(self, left_s: float) -> Hints | None:
        """Return the places to look at now; None while something is half done."""
        if self._hints is None:
            self._hints = self._ask_watcher(min(self._pause_s(), left_s))
            if self._hints is None and self._backoff.left_s(monotonic()) == 0.0:
                self._hints = Hints(frozenset())
        elif self._put_off is not None:
            self._hints = merge_hints(self._hints, self._ask_watcher(min(RETRY_S, left_s)))
        if self._hints is None or self._is_half_done(self._hints):
            return None
        hints, self._hints, self._put_off = self._hints, None, None
        return hints

    def _ask_watcher(self, left_s: float) -> Hints | None:
        """Return the watcher's hints. Nothing can be reported while an ignore file is unreadable; the
        first answer afterwards covers everything."""
        try:
            hints = self._watcher.wait(left_s)
        except Unverifiable as error:
            if not self._blind:
                self._blind = True
                self._context.append([SightLost("unverifiable", (error.path,))])
            sleep(left_s)
            return None
        self._blind = False
        return hints

    def _is_half_done(self, hints: Hints) -> bool:
        """Return whether a git command or a save is under way, and not for too long."""
        git = self._context.workspace.git_at_work()
        if not git and not any(map(self._is_empty, hints.paths)):
            return False
        self._put_off = self._put_off or monotonic()
        return monotonic() - self._put_off < (GIT_S if git else EMPTY_S)

    def _is_empty(self, path: str) -> bool:
        try:
            found = self._context.workspace.stat(path)
        except OSError:
            return False
        return found is not None and found.size == 0 and S_ISREG(found.mode)

    def _look(self, hints: Hints) -> tuple[bool, tuple[Entry, ...]]:
        """Record changes of the hinted files. Return whether any is on the timeline, and entries for
        untracked files."""
        eyes = self._watcher.eyes()
        lost = [SightLost(hints.lost)] if hints.lost else self._poor_sight(eyes)
        if eyes.mode == "away":  # the workspace is gone: nobody deleted its files
            self._context.append(lost)
            return bool(lost), ()
        paths = self._watched.hinted(hints)
        if not hints.everything:
            paths = self._backoff.due(paths, monotonic())
        if paths or lost:
            self._record(paths, lost)
        return bool(paths), tuple(self._untracked.changes(hints)) if self._untracked else ()

    def _poor_sight(self, eyes: Eyes) -> list[SightLost]:
        """Return the fact that a polling watcher misses changes, unless it is the newest one."""
        if eyes.mode != "polling" or eyes.why == self._lost_reason:
            return []
        self._lost_reason = eyes.why
        log = self._context.store.timeline(session=NOBODY, kinds=[SightLost], newest=1)
        lost = SightLost(eyes.why or "platform")
        return [] if any(recorded.fact == lost for recorded in log) else [lost]

    def _record(self, hinted: set[str], lost: list[SightLost]) -> None:
        """Record the changes of hinted files, or of all files where that takes less."""
        context = self._context
        if len(hinted) > MANY:
            changes(context).record(context, *lost, text_max=TEXT_MAX)
            return
        paths = sorted(hinted)
        try:  # one deadline for all files
            found = within(context.settings.deadline_s, lambda: changes(context, paths=paths))
        except DeadlinePassed:
            lost, found = [*lost, SightLost("unanswered", tuple(paths))], Changes()
        found.record(context, *lost, text_max=TEXT_MAX)
        self._backoff.changed(found.paths, monotonic())

    def _new_entries(self) -> list[Entry]:
        """Return the entries that anybody recorded since the last call."""
        store = self._context.store
        if store.position() == self._position:
            return []
        recorded = list(store.timeline(after=self._position))
        self._position = recorded[-1].position
        live = (each.fact for each in recorded if not archived(each.session))
        if self._watched.add(path for fact in live for path in fact.disk_paths()):
            self._watcher.follow(self._watched)
        return list(readable_entries(store, recorded))


def merge_hints(hints: Hints, more: Hints | None) -> Hints:
    """Return two answers of a watcher as one."""
    if more is None:
        return hints
    everything = hints.everything or more.everything
    return Hints(hints.paths | more.paths, everything, hints.lost or more.lost, hints.at_ns)


FIRST_S, MOST_S = 1.0, 30.0
"""First and longest pause of a changed file, in seconds. A change right after a pause doubles it."""


class Backoff:
    """Pauses for files that change all the time. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._pause: dict[str, float] = {}
        self._held: set[str] = set()

    def due(self, paths: Iterable[str], now: float) -> set[str]:
        """Return the paths to look at now, of these and the held ones. Hold the others."""
        asked = self._held.union(paths)
        self._held = {path for path in asked if self._until.get(path, 0.0) > now}
        return asked - self._held

    def changed(self, paths: Iterable[str], now: float) -> None:
        """Start pauses for changed paths."""
        quiet = [path for path, until in self._until.items() if until + self._pause[path] < now]
        for path in quiet:
            del self._until[path], self._pause[path]
        for path in paths:
            self._pause[path] = min(2 * self._pause.get(path, FIRST_S / 2), MOST_S)
            self._until[path] = now + self._pause[path]

    def left_s(self, now: float) -> float | None:
        """Return the seconds until a held path is due; None without one."""
        ends = [self._until[path] for path in self._held]
        return max(0.0, min(ends) - now) if ends else None


class WatchedPaths:
    """The paths of the timeline, and the folders above them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: set[str] = set()
        self._folders: set[str] = set()
        self.add(paths)

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def add(self, paths: Iterable[str]) -> bool:
        """Add paths and return whether any was new."""
        new = set(paths) - self._paths
        self._paths |= new
        self._folders |= {folder for path in new for folder in folders_above(path)}
        return bool(new)

    def hinted(self, hints: Hints) -> set[str]:
        """Return the paths that are hinted at, themselves or by a folder above them."""
        if hints.everything:
            return self._paths
        found = set(hints.paths & self._paths)
        for folder in {f"{path}/" for path in hints.paths} & self._folders:
            found |= {path for path in self._paths if path.startswith(folder)}
        return found


class UntrackedFeed:
    """The listed files that are not on the timeline: path -> a hash of its size, time and inode at the
    last look."""

    def __init__(self, context: SessionContext, watched: WatchedPaths) -> None:
        self._context = context
        self._watched = watched
        self._known = self._walk("")

    def changes(self, hints: Hints) -> Iterator[Entry]:
        """Yield an entry, not on the timeline, for each changed file among the hints."""
        paths = {""} if hints.everything else {p for p in hints.paths if not p.startswith(".git/")}
        now: dict[str, int] = {}
        folders: set[str] = set()
        for path in paths:
            found = self._stat(path)
            if found is not None and S_ISREG(found.mode):
                now[path] = _save_mark(found)
                continue
            folders.add(f"{path}/" if path else "")  # a missing path may have been a folder
            if not path or (found is not None and S_ISDIR(found.mode)):
                now |= self._walk(f"{path}/" if path else "")
        before = {path: self._known[path] for path in paths if path in self._known}
        if folders:
            below = (p for p in self._known if not folders.isdisjoint(["", *folders_above(p)]))
            before |= {path: self._known[path] for path in below}
        for path in sorted(before.keys() | now.keys()):
            old, new = before.get(path), now.get(path)
            if path in self._watched:
                self._known.pop(path, None)
            elif new != old:
                self._known.pop(path, None)
                if new is not None:
                    self._known[path] = new
                yield self._entry(path, *(MISSING if m is None else UNKNOWN for m in (old, new)))

    def _entry(self, path: str, before: Revision, after: Revision) -> Entry:
        """Return the entry of a change of an unrecorded file: MISSING or UNKNOWN before and after."""
        at, change = (
            self._context.clock(),
            Changed(path, before, after, "content", Cause("external")),
        )
        entry = readable_entry(Recorded(0, "", at, at, change), "", change.cause)
        was, now = (None if each == UNKNOWN else each for each in (before, after))
        return structs.replace(entry, before=was, after=now)

    def _stat(self, path: str) -> StatSignature | None:
        workspace = self._context.workspace
        try:
            return workspace.stat(path) if path and workspace.listed(path) else None
        except OSError:
            return None

    def _walk(self, under: str) -> dict[str, int]:
        return {
            path: _save_mark(found)
            for path, found in self._context.workspace.walk(under=under)
            if path not in self._watched and S_ISREG(found.mode)
        }


def _save_mark(found: StatSignature) -> int:
    """Return a number that a save changes, and a change of the mode does not."""
    return hash((found.size, found.mtime_ns, found.ino))
