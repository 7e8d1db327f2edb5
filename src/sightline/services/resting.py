"""Resting: files that change all the time, as a log does, are looked at less and less often.

Each look would be a fact and a text. A verdict looks for itself, so it is only told later.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
