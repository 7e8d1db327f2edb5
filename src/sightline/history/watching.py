"""Watching: keeps the timeline true while things happen, and tells what did.

A watcher's hint says where to look. What is recorded then is what the next question would have
recorded, by the same scan, so no verdict depends on whether anybody watched.

Resting: files that change all the time, as a log does, are looked at less and less often.

Each look would be a fact and a text. A verdict looks for itself, so it is only told later.

Unshown: files that no session was shown, told of while somebody watches. Nothing is recorded
of them: nobody's knowledge is touched, and a build would fill the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from stat import S_ISDIR, S_ISREG
from time import monotonic, sleep
from typing import Self

from msgspec import Struct

from sightline.changes.commands import Changes, changes
from sightline.changes.session_context import SessionContext
from sightline.errors import Unverifiable
from sightline.filesystem.deadline import DeadlinePassed, within
from sightline.filesystem.watch.watcher import Eyes, Hints, Watcher
from sightline.history.log_entries import Entry, told
from sightline.model.events import Cause, SightLost
from sightline.model.projections import disk_paths
from sightline.model.revision import MISSING, StatSignature
from sightline.model.timeline import NOBODY, Recorded, archived

ASKED_S = 0.5
"""Between two questions to the store, whether another process recorded something."""

GIT_S = 5.0
"""How long a git command is waited for: until it ends, files of two commits stand side by side.
What is asked meanwhile is judged all the same."""

EMPTY_S = 0.05
"""How long an empty file is waited for: most programs that save empty it first."""

ASKED_AGAIN_S = 0.01
"""Between two looks whether that is over."""

MANY = 500
"""Hinted files of the timeline from which on looking at all of them takes less."""


TEXT_MAX = 65_536
"""Bytes of a text that is kept though nobody asked for it. It tells later what git or a formatter
made of it; of a log there would be a thousand."""


class Glance(Struct, frozen=True):
    """What one wait brought. entries: what anybody recorded since the one before, in order, and
    behind it changes of files that no session was shown (position 0: they are on no timeline).
    looked: whether files of the timeline were looked at, whatever came of it."""

    entries: tuple[Entry, ...]
    looked: bool


class Watching:
    """Watches a workspace from one thread. ground: one of no session (session_history.survey). What had
    changed before is recorded by the first wait. unshown: whether changes of files that no session
    was shown are told of, which takes a look at all of them first. SightlineError."""

    def __init__(
        self, ground: SessionContext, watcher: Watcher | None = None, *, unshown: bool = False
    ) -> None:
        self._ground = ground
        self._watcher = watcher or ground.workspace.watch()
        self._hints: Hints | None = Hints(frozenset(), everything=True)
        self._put_off: float | None = None
        self._blind = False
        self._resting = Resting()
        self._said: str | None = None
        self._told = ground.store.position()
        self._agents: dict[str, str] = {}
        self._ours = Ours(ground.store.paths())
        self._unshown = Unshown(ground, self._ours) if unshown else None
        self._watcher.follow(self._ours)

    def wait(self, timeout_s: float) -> Glance | None:
        """Look where something happened, as soon as it does; None when nothing did in time."""
        until = monotonic() + timeout_s
        while True:
            left = max(0.0, until - monotonic())
            hints = self._next(left)
            looked, others = self._look(hints) if hints is not None else (False, ())
            entries = (*self._news(), *others)
            if entries or looked:
                return Glance(entries, looked)
            if not left:
                return None

    def eyes(self) -> Eyes:
        """How well it sees."""
        return self._watcher.eyes()

    def fileno(self) -> int | None:
        """Readable when wait(0) may have something to say of the disk; None where nothing is."""
        return None if self._blind else self._watcher.fileno()

    def patience_s(self) -> float:
        """After how long wait(0) may have something to say that makes nothing readable: what
        others record, or the end of what is half done."""
        if self._hints is not None:
            return ASKED_AGAIN_S
        rest_s = self._resting.left_s(monotonic())
        return ASKED_S if rest_s is None else min(ASKED_S, rest_s)

    def wake(self) -> None:
        """Let a wait in another thread, or one that a signal interrupted, go on at once."""
        self._watcher.wake()

    def close(self) -> None:
        """End it."""
        self._watcher.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next(self, left_s: float) -> Hints | None:
        """Where to look now: nowhere as long as something is half done."""
        if self._hints is None:
            rest_s = self._resting.left_s(monotonic())
            self._hints = self._heard(min(ASKED_S, left_s, ASKED_S if rest_s is None else rest_s))
            if self._hints is None and self._resting.left_s(monotonic()) == 0.0:
                self._hints = Hints(frozenset())
        elif self._put_off is not None:
            self._hints = joined(self._hints, self._heard(min(ASKED_AGAIN_S, left_s)))
        if self._hints is None or self._half_done(self._hints):
            return None
        now, self._hints, self._put_off = self._hints, None, None
        return now

    def _heard(self, left_s: float) -> Hints | None:
        """What the watcher hints at. While an ignore file cannot be read nothing can be told of
        what it hides; the first answer after that stands for everything."""
        try:
            hints = self._watcher.wait(left_s)
        except Unverifiable as error:
            if not self._blind:
                self._blind = True
                self._ground.append([SightLost("unverifiable", (error.path,))])
            sleep(left_s)
            return None
        self._blind = False
        return hints

    def _half_done(self, hints: Hints) -> bool:
        """Whether to look later: a git command or a save is under way, and not for too long."""
        git = self._ground.workspace.git_at_work()
        if not git and not any(map(self._is_empty, hints.paths)):
            return False
        self._put_off = self._put_off or monotonic()
        return monotonic() - self._put_off < (GIT_S if git else EMPTY_S)

    def _is_empty(self, path: str) -> bool:
        try:
            found = self._ground.workspace.stat(path)
        except OSError:
            return False
        return found is not None and found.size == 0 and S_ISREG(found.mode)

    def _look(self, hints: Hints) -> tuple[bool, tuple[Entry, ...]]:
        """Record what files of the timeline show. Whether there were any; what became of others."""
        eyes = self._watcher.eyes()
        lost = [SightLost(hints.lost)] if hints.lost else self._dim(eyes)
        if eyes.mode == "away":  # not that all files were deleted
            self._ground.append(lost)
            return bool(lost), ()
        ours = self._ours.at(hints)
        if not hints.everything:
            ours = self._resting.due(ours, monotonic())
        if ours or lost:
            self._record(ours, lost)
        return bool(ours), tuple(self._unshown.changes(hints)) if self._unshown else ()

    def _dim(self, eyes: Eyes) -> list[SightLost]:
        """That changes are not seen as they happen, if so, and if it was not the last thing said."""
        if eyes.mode != "polling" or eyes.why == self._said:
            return []
        self._said = eyes.why
        log = self._ground.store.timeline(session=NOBODY, kinds=[SightLost], newest=1)
        lost = SightLost(eyes.why or "platform")
        return [] if any(recorded.fact == lost for recorded in log) else [lost]

    def _record(self, ours: set[str], lost: list[SightLost]) -> None:
        """Record what some of the timeline's files show, or all where that takes less."""
        if len(ours) > MANY:
            changes(self._ground).record(self._ground, *lost, text_max=TEXT_MAX)
            return
        paths = sorted(ours)
        try:  # one question to the disk, and not one for each step of it
            made = within(
                self._ground.settings.deadline_s, lambda: changes(self._ground, paths=paths)
            )
        except DeadlinePassed:
            lost, made = [*lost, SightLost("unanswered", tuple(paths))], Changes()
        made.record(self._ground, *lost, text_max=TEXT_MAX)
        self._resting.changed(made.paths, monotonic())

    def _news(self) -> list[Entry]:
        """What was recorded since, by anybody."""
        store = self._ground.store
        if store.position() == self._told:
            return []
        recorded = list(store.timeline(after=self._told))
        self._told = recorded[-1].position
        if self._ours.add(_named(recorded)):
            self._watcher.follow(self._ours)
        if any(each.session not in self._agents for each in recorded):
            self._agents = {state.id: state.agent for state in store.sessions()}
        return list(told(recorded, self._agents))


def joined(one: Hints, other: Hints | None) -> Hints:
    """Two answers of a watcher as one."""
    if other is None:
        return one
    everything = one.everything or other.everything
    return Hints(one.paths | other.paths, everything, one.lost or other.lost, one.at_ns)


def _named(recorded: Iterable[Recorded]) -> Iterator[str]:
    for each in recorded:
        if not archived(each.session):
            yield from disk_paths(each.fact)


FIRST_S, MOST_S = 1.0, 30.0
"""How long a file that changed rests: twice as long as the last time, if it had no rest between."""


class Resting:
    """Times are seconds of one clock."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._pause: dict[str, float] = {}
        self._held: set[str] = set()

    def due(self, paths: Iterable[str], now: float) -> set[str]:
        """Of these paths and those held before, the ones to look at now; the rest is held."""
        asked = self._held.union(paths)
        self._held = {path for path in asked if self._until.get(path, 0.0) > now}
        return asked - self._held

    def changed(self, paths: Iterable[str], now: float) -> None:
        """These were found changed: let them rest."""
        quiet = [path for path, until in self._until.items() if until + self._pause[path] < now]
        for path in quiet:
            del self._until[path], self._pause[path]
        for path in paths:
            self._pause[path] = min(2 * self._pause.get(path, FIRST_S / 2), MOST_S)
            self._until[path] = now + self._pause[path]

    def left_s(self, now: float) -> float | None:
        """How long until one that is held is due; None when none is."""
        ends = [self._until[path] for path in self._held]
        return max(0.0, min(ends) - now) if ends else None


class Ours:
    """Paths that the timeline knows, and the folders above them."""

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
        """Add paths; whether any was new."""
        new = set(paths) - self._paths
        self._paths |= new
        for path in new:
            while path := path.rpartition("/")[0]:
                if path in self._folders:
                    break
                self._folders.add(path)
        return bool(new)

    def at(self, hints: Hints) -> set[str]:
        """Those that hints are about: themselves, or a folder above them."""
        if hints.everything:
            return self._paths
        found = hints.paths & self._paths
        for folder in hints.paths & self._folders:
            found |= {path for path in self._paths if path.startswith(f"{folder}/")}
        return set(found)


class Unshown:
    """All listed files of a workspace but those of the timeline, as they stood at the last look:
    a number for each, told from what a save changes."""

    def __init__(self, ground: SessionContext, ours: Ours) -> None:
        self._ground = ground
        self._ours = ours
        self._known = self._standing("")

    def changes(self, hints: Hints) -> Iterator[Entry]:
        """What became of those that hints are about, each as an entry that is on no timeline."""
        paths = {""} if hints.everything else {p for p in hints.paths if not p.startswith(".git/")}
        now: dict[str, int] = {}
        folders: set[str] = set()
        for path in paths:
            found = self._found(path)
            if found is not None and S_ISREG(found.mode):
                now[path] = mark(found)
                continue
            folders.add(path)  # one that is gone may have been a folder
            if not path or (found is not None and S_ISDIR(found.mode)):
                now |= self._standing(f"{path}/" if path else "")
        yield from self._compared(self._before(paths, folders), now)

    def _before(self, paths: set[str], folders: set[str]) -> dict[str, int]:
        """What is known of paths, and of what was below those that may have been folders."""
        if not folders:
            return {path: self._known[path] for path in paths if path in self._known}
        return {
            path: known
            for path, known in self._known.items()
            if path in paths or not folders.isdisjoint(_above(path))
        }

    def _compared(self, before: dict[str, int], now: dict[str, int]) -> Iterator[Entry]:
        for path in sorted(before.keys() | now.keys()):
            if path in self._ours:
                self._known.pop(path, None)
            elif now.get(path) != before.get(path):
                yield self._told(path, before.get(path), now.get(path))

    def _found(self, path: str) -> StatSignature | None:
        workspace = self._ground.workspace
        try:
            return workspace.stat(path) if path and workspace.listed(path) else None
        except OSError:
            return None

    def _standing(self, under: str) -> dict[str, int]:
        listed = self._ground.workspace.walk(under=under)
        return {
            path: mark(found)
            for path, found in listed
            if path not in self._ours and S_ISREG(found.mode)
        }

    def _told(self, path: str, before: int | None, now: int | None) -> Entry:
        if now is None:
            del self._known[path]
        else:
            self._known[path] = now
        kind = "deleted" if now is None else "changed"
        old, new = (MISSING if each is None else None for each in (before, now))
        at = self._ground.clock()
        return Entry(0, at, "", "", kind, path, None, None, old, new, Cause("external"))


def mark(found: StatSignature) -> int:
    """What a save changes of a file, and a change of its mode does not, as one number."""
    return hash((found.size, found.mtime_ns, found.ino))


def _above(path: str) -> Iterator[str]:
    """The folders above a path, the root ("") among them."""
    while path:
        path = path.rpartition("/")[0]
        yield path
