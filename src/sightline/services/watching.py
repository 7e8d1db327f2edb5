"""Watching: keeps the timeline true while things happen, and tells what did.

A watcher's hint says where to look. What is recorded then is what the next question would have
recorded, by the same scan, so no verdict depends on whether anybody watched.
"""

from __future__ import annotations

from stat import S_ISREG
from time import monotonic, sleep

from sightline.core.context import disk_paths
from sightline.core.events import SightLost
from sightline.core.timeline import NOBODY, archived
from sightline.core.value import Value
from sightline.errors import Unverifiable
from sightline.services.entries import told
from sightline.services.ours import Ours
from sightline.services.resting import Resting
from sightline.services.runs import Changes, changes
from sightline.services.unshown import Unshown
from sightline.workspace.deadline import DeadlinePassed, within
from sightline.workspace.watch import Hints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from sightline.core.timeline import Recorded
    from sightline.services.entries import Entry
    from sightline.services.ground import Ground
    from sightline.workspace.watch import Eyes, Watcher

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


class Glance(Value):
    """What one wait brought. entries: what anybody recorded since the one before, in order, and
    behind it changes of files that no session was shown (position 0: they are on no timeline).
    looked: whether files of the timeline were looked at, whatever came of it."""

    entries: tuple[Entry, ...]
    looked: bool


class Watching:
    """Watches a workspace from one thread. ground: one of no session (history.survey). What had
    changed before is recorded by the first wait. unshown: whether changes of files that no session
    was shown are told of, which takes a look at all of them first. SightlineError."""

    def __init__(
        self, ground: Ground, watcher: Watcher | None = None, *, unshown: bool = False
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
