"""Files that change all the time, as a log does: told at once, and then once a second."""

from __future__ import annotations

import os
from stat import S_ISREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.services.entries import Entry

REST_S = 1.0
"""For how long a file's next change is held back. What is on the timeline never is."""

STDOUT = 1


class Calm:
    """Holds back changes of unshown files that were told of just now. The last one is told in the
    end, and that a file came or went is told at once. Nothing is told of a file that the words
    themselves go to, for every word is a change of it. root: the workspace's."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._own = _file_of(STDOUT)
        self._told: dict[str, float] = {}
        self._held: dict[str, Entry] = {}

    def heard(self, entries: Iterable[Entry], now: float) -> list[Entry]:
        """What to tell now, of these and of what was held back. now: seconds of one clock."""
        self._told = {path: at for path, at in self._told.items() if now - at < REST_S}
        fresh = [each for each in entries if not self._holds(each)]
        due = [path for path in self._held if path not in self._told]
        said = [*(self._held.pop(path) for path in due), *fresh]
        self._told |= {each.path: now for each in said if each.path and not each.position}
        return said

    def _holds(self, entry: Entry) -> bool:
        path = entry.path
        if entry.position or path is None:
            return False
        if self._is_own(path):
            return True
        self._held.pop(path, None)
        if path in self._told and entry.before is entry.after is None:
            self._held[path] = entry
            return True
        return False

    def _is_own(self, path: str) -> bool:
        return self._own is not None and self._own == _file_of(f"{self._root}/{path}")


def _file_of(at: str | int) -> tuple[int, int] | None:
    """Which regular file that is, by path or descriptor; None when it is none."""
    try:
        found = os.stat(at)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if S_ISREG(found.st_mode) else None
