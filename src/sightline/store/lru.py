"""What is likely to be asked for again, held in memory as long as it fits into so many bytes."""

from __future__ import annotations

from threading import Lock
from typing import Any


class Held:
    """Values by key; of those that do not fit any more, what was longest not asked for goes. Safe
    to use from several threads."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._lock = Lock()
        self._values: dict[Any, tuple[Any, int]] = {}

    def get(self, key: object) -> Any:
        """What was put there; None when it went."""
        with self._lock:
            found = self._values.pop(key, None)
            if found is None:
                return None
            self._values[key] = found
        return found[0]

    def put(self, key: object, value: object, size: int) -> None:
        """Hold a value that takes so many bytes."""
        with self._lock:
            self._room += self._values.pop(key, (None, 0))[1] - size
            self._values[key] = (value, size)
            while self._room < 0:
                self._room += self._values.pop(next(iter(self._values)))[1]
