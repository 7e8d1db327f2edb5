"""The list of a workspace's paths as it is asked: by path, by name, by pattern.

Made once and asked often. A path or a name is looked up; a glob is compared with every path.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from sightline.filesystem.ignore.wildmatch import needle
from sightline.search.patterns import Pattern, compiled

Stop = Callable[[], bool]

PACE = 64
"""Paths that are compared between two looks at the time."""


class OutOfTime(Exception):
    """A question was stopped before its answer was whole."""


class Index:
    """Canonical paths, sorted, each once."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths: tuple[str, ...] = tuple(dict.fromkeys(sorted(paths)))

    def __len__(self) -> int:
        return len(self.paths)

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        at = bisect_left(self.paths, path)
        return at < len(self.paths) and self.paths[at] == path

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """Return every folder that a path is in, sorted, without the root."""
        every: set[str] = set()
        for path in self.paths:
            folder = path.rpartition("/")[0]
            while folder and folder not in every:
                every.add(folder)
                folder = folder.rpartition("/")[0]
        return tuple(sorted(every))

    def named(self, name: str) -> Sequence[str]:
        """Return the paths that have this last part, in order."""
        return self._names.get(name, ())

    def matching(
        self, pattern: Pattern, limit: int | None = None, *, stop: Stop | None = None
    ) -> list[str]:
        """Return the paths that a pattern means: first the one written as it is, then in order. OutOfTime
        once `stop`, asked now and then, says so."""
        text, meaning = pattern.text, pattern.meaning
        exact = dict.fromkeys((text, meaning.literal or text))
        first = [each for each in exact if each in self]
        found: set[str] = set()
        if "/" not in text:
            found.update(*(self.named(each) for each in exact))
        for number, glob in enumerate(meaning.globs):
            if number and stop is not None and stop():
                raise OutOfTime
            found.update(self._matching(glob, stop))
        return [*first, *sorted(found.difference(first))][:limit]

    def _matching(self, glob: str, stop: Stop | None) -> Iterable[str]:
        """Yield the paths of one glob from the root."""
        fits, needed = compiled(glob).fullmatch, needle(glob)
        paths = [path for path in self.paths if needed in path] if needed else self.paths
        for start in range(0, len(paths), PACE):
            if start and stop is not None and stop():
                raise OutOfTime
            yield from filter(fits, paths[start : start + PACE])

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for path in self.paths:
            names.setdefault(path[path.rfind("/") + 1 :], []).append(path)
        return names
