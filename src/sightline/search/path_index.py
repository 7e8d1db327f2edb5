"""An index of a workspace's paths: lookup by path, by name, by pattern.

A path or a name is looked up; a glob is compared with every path.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from sightline.filesystem.ignore.wildmatch import needle
from sightline.search.patterns import Pattern, compiled

PACE = 64
"""Paths compared between two calls of `stop`."""


class OutOfTime(Exception):
    """A search was stopped before it was complete."""


class Index:
    """Canonical paths, sorted, each once."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths: tuple[str, ...] = tuple(dict.fromkeys(sorted(paths)))

    def __contains__(self, path: str) -> bool:
        at = bisect_left(self.paths, path)
        return at < len(self.paths) and self.paths[at] == path

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """Every folder of a path, sorted, without the root."""
        folders: set[str] = set()
        for path in self.paths:
            folder = path.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        return tuple(sorted(folders))

    def named(self, name: str) -> Sequence[str]:
        """Return the paths with this last part, in order."""
        return self._names.get(name, ())

    def matching(self, pattern: Pattern, *, stop: Callable[[], bool] = lambda: False) -> list[str]:
        """Return the matching paths: first those spelled like the pattern, then in order. OutOfTime
        when `stop`, called now and then, returns True."""
        text = pattern.text
        literals = dict.fromkeys((text, pattern.literal or text))
        first = [literal for literal in literals if literal in self]
        found: set[str] = set()
        if "/" not in text:
            found.update(*(self.named(literal) for literal in literals))
        for number, glob in enumerate(pattern.globs):
            fits, needed = compiled(glob).fullmatch, needle(glob)
            paths = [path for path in self.paths if needed in path] if needed else self.paths
            for start in range(0, len(paths), PACE):
                if (start or number) and stop():
                    raise OutOfTime
                found.update(filter(fits, paths[start : start + PACE]))
        return [*first, *sorted(found.difference(first))]

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for path in self.paths:
            names.setdefault(path[path.rfind("/") + 1 :], []).append(path)
        return names
