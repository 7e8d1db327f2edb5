"""A watcher of files in memory."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Condition

from sightline.filesystem.watch.watcher import Eyes, Hints


class MemoryWatcher:
    """See Watcher."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._followed: frozenset[str] = frozenset()
        self._woken = False
        self._changed = Condition()

    def touched(self, paths: Iterable[str]) -> None:
        """Name these paths in the next answer."""
        with self._changed:
            self._paths.update(paths)
            self._changed.notify_all()

    def wait(self, timeout_s: float | None) -> Hints | None:
        with self._changed:
            self._changed.wait_for(lambda: self._paths or self._woken, timeout_s)
            paths, self._paths, self._woken = frozenset(self._paths), set(), False
        return Hints(paths) if paths else None

    def fileno(self) -> int | None:
        return None

    def wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def eyes(self) -> Eyes:
        return Eyes("events", followed=len(self._followed))

    def follow(self, paths: Iterable[str]) -> None:
        self._followed = frozenset(paths)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
