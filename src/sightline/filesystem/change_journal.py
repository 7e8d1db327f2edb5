"""Between two looks at a tree: what the system told happened, so that the next look asks for that.

Only Linux tells of a change before the call that made it returns. Elsewhere, and where events may
be lost, each look asks for every file. What no event tells of, as a page that somebody holds mapped,
or another name that a file got outside since, is found by a look at everything once in a while.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import count
from threading import Lock
from time import monotonic
from weakref import finalize

from sightline.errors import SightlineError, Unverifiable
from sightline.filesystem.ignore.rules import IgnoreRules
from sightline.filesystem.mounts import mounted
from sightline.filesystem.tree_index import ALL, Doubts
from sightline.filesystem.watch.choose import for_linux
from sightline.filesystem.watch.watcher import Hints, Watcher

WHOLE_S = 600.0
"""After so long a look asks for everything again."""

PATHS_MAX = 20_000
"""Of more than that, asking for everything takes no longer."""

MOMENTS = count(1)
"""Of all that listen in this process together: a tree may come from another's look."""

SHARE = 8
"""It takes a watch for each folder: at most an eighth of those that a user may have."""

WATCHES = "/proc/sys/fs/inotify/max_user_watches"


class Vigil:
    """Listens to a tree from now on, for several threads; a process that is forked off hears
    nothing. clock: seconds, as time.monotonic(). mounts: what is mounted in the tree; when that
    changes nobody listens to what stands there now, and it is over."""

    def __init__(
        self,
        watcher: Watcher,
        clock: Callable[[], float] = monotonic,
        mounts: Callable[[], object] = lambda: None,
    ) -> None:
        self._watcher = watcher
        self._clock = clock
        self._mounts = mounts
        self._mounted = mounts()
        self._lock = Lock()
        self._process = os.getpid()
        self._told: dict[str, int] = {}
        self._begin()
        self._close = finalize(self, watcher.close)

    def doubts(self, heard: int) -> Doubts:
        """What may have changed since the moment that a tree is as of."""
        if self._process != os.getpid() or not self._close.alive:
            return ALL
        with self._lock:
            if self._mounts() != self._mounted:
                self.close()
                return ALL
            now = self._listen()
            if heard < self._since:
                return Doubts(now)
            return _doubts(now, [path for path, moment in self._told.items() if moment > heard])

    @property
    def listens(self) -> bool:
        """Whether the system tells it of changes now."""
        return self._close.alive and self._watcher.eyes().mode == "events"

    def close(self) -> None:
        """Listen no more."""
        self._close()

    def _listen(self) -> int:
        """Take in all that was told so far; the moment of it."""
        try:
            hints = self._watcher.wait(0)
        except Unverifiable:  # the look itself says what cannot be read
            hints = Hints(frozenset(), everything=True)
        moment = next(MOMENTS)
        for path in hints.paths if hints else ():
            self._told[path] = moment
        late = self._clock() - self._since_s > WHOLE_S
        if late or not self.listens or (hints and hints.everything) or len(self._told) > PATHS_MAX:
            self._begin()
        return next(MOMENTS)

    def _begin(self) -> None:
        """From this moment on it is known what happened."""
        self._since, self._since_s = next(MOMENTS), self._clock()
        self._told.clear()


def _doubts(moment: int, paths: list[str]) -> Doubts:
    names: dict[str, set[str]] = {}
    for path in paths:
        cut = path.rfind("/") + 1
        names.setdefault(path[:cut], set()).add(path[cut:])
    below = frozenset([f"{path}/" for path in paths])
    return Doubts(moment, everything=False, names=names, below=below)


def vigil(root: str, rules: tuple[IgnoreRules, ...], folders: int) -> Vigil | None:
    """One of a tree that has about so many folders; None where this machine has none to give."""
    if sys.platform != "linux" or folders * SHARE > _watches():
        return None
    from sightline.filesystem.watch.event_support import blind, mounts

    def inside() -> list[str]:
        return [point for point, _ in mounted(mounts()) if point.startswith(f"{root}/")]

    try:
        table = mounts()
        if blind(root, table):
            return None
        made = Vigil(for_linux(root, rules, table=table, hidden=True), mounts=inside)
    except (OSError, SightlineError):
        return None
    if made.listens:
        return made
    made.close()
    return None


def _watches() -> int:
    """How many a user may have; 0 where that cannot be told."""
    try:
        with open(WATCHES, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0
