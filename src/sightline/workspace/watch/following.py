"""The paths that are followed, and which of them are looked at in turn beside the events."""

from __future__ import annotations

from time import monotonic

from sightline.workspace.watch.git import git_files
from sightline.workspace.watch.polling import Rota, several_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

COUNTED, COUNT_S = 2000, 0.1
"""Files asked for the number of their names in one go, and seconds between two goes: there may be
a hundred thousand of them, and somebody waits."""


class Following:
    """blind: folders ("" or with a "/" at the end) from which no event comes. An event tells of a
    file by the name it was written to, so those with several names are looked at too."""

    def __init__(self, root: str, blind: tuple[str, ...], polling_s: float) -> None:
        self.paths: frozenset[str] = frozenset()
        self.rota = Rota(polling_s)
        self._root = root
        self._blind = blind
        self._linked: set[str] = set()
        self._uncounted: list[str] = []
        self._all = False

    def only(self, paths: frozenset[str]) -> None:
        """Follow these and no others."""
        self._uncounted += paths - self.paths
        self.paths = paths
        self._linked &= paths
        self._count()

    def every(self, *, turned: bool) -> None:
        """Look at all of them and at git's files in turn, or only where no event tells."""
        self._all = turned
        self._turn()

    def changed(self, paths: frozenset[str]) -> None:
        """These did: they may have got another name since."""
        linked = self._several(paths & self.paths)
        if linked - self._linked:
            self._linked |= linked
            self._turn()

    def due_s(self, latest_s: float) -> float:
        """When look() has something to do, on the monotonic clock; no later than asked."""
        if self._uncounted:
            return min(latest_s, monotonic() + COUNT_S)
        return min(latest_s, self.rota.due_s) if self.rota else latest_s

    def look(self) -> frozenset[str]:
        """The paths that changed since they were last looked at, when it is time to look."""
        if self._uncounted:
            self._count()
        if self.rota and monotonic() >= self.rota.due_s:
            return self.rota.look()
        return frozenset()

    def _count(self) -> None:
        now, self._uncounted = self._uncounted[:COUNTED], self._uncounted[COUNTED:]
        self._linked |= self._several(now) & self.paths
        self._turn()

    def _several(self, paths: Iterable[str]) -> set[str]:
        return {path for path in paths if several_names(f"{self._root}/{path}")}

    def _turn(self) -> None:
        blind = {path for path in self.paths if path.startswith(self._blind)}
        turned = self.paths if self._all else self._linked | blind
        places = dict(git_files(self._root)) if self._all else {}
        self.rota.set({**places, **{path: f"{self._root}/{path}" for path in turned}})
