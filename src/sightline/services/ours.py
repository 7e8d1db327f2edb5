"""Ours: the files of the timeline, found by the hints of a watcher."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.workspace.watch import Hints


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
