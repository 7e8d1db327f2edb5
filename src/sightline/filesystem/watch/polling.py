"""Poll named paths: a stat each, seldom enough to cost next to nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from queue import Empty, SimpleQueue
from time import monotonic, perf_counter, thread_time, time_ns

from sightline.filesystem.watch.git_folder import git_files
from sightline.filesystem.watch.watcher import Eyes, Hints, Lost

State = tuple[int, ...] | None

SHARE = 0.004
"""The limit of one core's time for polls: the more paths, the longer the pause between two polls."""

_REST = 4
"""The pause after a poll, as a multiple of its duration: a slow disk is left in peace."""


class Rota:
    """Paths with their state at the last poll. every_s: seconds between two polls."""

    def __init__(self, polling_s: float) -> None:
        self.every_s = self._least_s = polling_s
        self.due_s = monotonic() + polling_s
        self._states: dict[str, tuple[str, State]] = {}

    def __len__(self) -> int:
        return len(self._states)

    def set(self, places: dict[str, str]) -> None:
        """Poll these places from now on (path in a hint -> path on disk), and no others."""
        known = self._states
        self._states = {
            path: known[path] if path in known else (place, _state(place))
            for path, place in places.items()
        }

    def poll(self) -> frozenset[str]:
        """Return the paths that changed since the last poll."""
        began_s, worked_s = perf_counter(), thread_time()
        changed = []
        for path, (place, known) in self._states.items():
            state = _state(place)
            if state != known:
                changed.append((path, (place, state)))
        self._states.update(changed)
        took_s, worked_s = perf_counter() - began_s, thread_time() - worked_s
        self.every_s = max(self._least_s, worked_s / SHARE, took_s * _REST)
        self.due_s = monotonic() + self.every_s
        return frozenset(path for path, _ in changed)


def _state(place: str) -> State:
    try:
        found = os.lstat(place)
    except OSError as error:
        return (error.errno or 0,)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode)


def identity_of(root: str) -> tuple[int, int] | None:
    """Return device and inode of the folder at the root's place; None when there is none."""
    try:
        found = os.lstat(root)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def has_several_names(place: str) -> bool:
    """Return whether a file has hard links, so that it can be written to by another name."""
    try:
        found = os.lstat(place)
    except OSError:
        return False  # not there, or not to be reached
    return stat.S_ISREG(found.st_mode) and found.st_nlink > 1


class PollingWatcher:
    """See Watcher: for file systems that send no events. It polls only followed paths and git's files;
    the next scan finds new files. why: as in Eyes."""

    def __init__(self, root: str, why: str, *, polling_s: float) -> None:
        self._root = root
        self._why = why
        self._rota = Rota(polling_s)
        self._calls: SimpleQueue[None] = SimpleQueue()
        self._followed: frozenset[str] = frozenset()
        self._away: Lost | None = None
        self.follow(())

    def wait(self, timeout_s: float | None) -> Hints | None:
        end_s = float("inf") if timeout_s is None else monotonic() + timeout_s
        while True:
            now_s = monotonic()
            if now_s >= self._rota.due_s:
                hints = self._look()
                if hints is not None:
                    return hints
            left_s = min(end_s, self._rota.due_s) - now_s
            try:
                self._calls.get(timeout=max(left_s, 0))
            except Empty:
                if monotonic() >= end_s:
                    return None
            else:
                return None

    def fileno(self) -> None:
        return None

    def wake(self) -> None:
        self._calls.put(None)

    def eyes(self) -> Eyes:
        return Eyes(
            "away" if self._away else "polling",
            self._away or self._why,
            followed=len(self._followed),
            polled=len(self._rota),
            every_s=self._rota.every_s,
        )

    def follow(self, paths: Iterable[str]) -> None:
        self._followed = frozenset(paths)
        places = {path: f"{self._root}/{path}" for path in self._followed}
        self._rota.set({**dict(git_files(self._root)), **places})

    def close(self) -> None:
        self._rota.set({})

    def _look(self) -> Hints | None:
        at_ns = time_ns()
        changed = self._rota.poll()
        is_here = os.path.isdir(self._root)
        was, self._away = self._away, None if is_here else "gone"
        if was != self._away:
            return Hints(frozenset(), everything=True, lost=self._away, at_ns=at_ns)
        return Hints(changed, at_ns=at_ns) if changed and is_here else None
