"""An index of a workspace's paths: lookup by path, by name, by pattern.

A path or a name is looked up; a glob is compared with every path.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from sightline.filesystem.ignore.wildmatch import needle
from sightline.model.path import composed
from sightline.search.patterns import Pattern, compiled, in_composed_form

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

    def matching(self, wanted: Pattern, *, stop: Callable[[], bool] = lambda: False) -> list[str]:
        """Return the matching paths: first those spelled like the pattern, then in order. Names match in
        any Unicode form. OutOfTime when `stop`, called now and then, returns True."""
        first, found = self.spelled(wanted, stop)
        if self._composed:
            spelled, others = Index(self._composed).spelled(in_composed_form(wanted), stop)
            found.update(*(self._composed[form] for form in (*spelled, *others)))
        return [*first, *sorted(found.difference(first))]

    def spelled(self, wanted: Pattern, stop: Callable[[], bool]) -> tuple[list[str], set[str]]:
        """Return the paths that are spelled like a pattern, and all that match in the same Unicode form.
        OutOfTime as in matching()."""
        text = wanted.text
        literals = dict.fromkeys((text, wanted.literal or text))
        first = [literal for literal in literals if literal in self]
        found: set[str] = set()
        if "/" not in text:
            found.update(*(self.named(literal) for literal in literals))
        for number, glob in enumerate(wanted.globs):
            fits, needed = compiled(glob).fullmatch, needle(glob)
            paths = [path for path in self.paths if needed in path] if needed else self.paths
            for start in range(0, len(paths), PACE):
                if (start or number) and stop():
                    raise OutOfTime
                found.update(filter(fits, paths[start : start + PACE]))
        return first, found

    @cached_property
    def _composed(self) -> dict[str, list[str]]:
        """Every path with letters beyond ASCII, by its composed form (NFC)."""
        forms: dict[str, list[str]] = {}
        for path in self.paths:
            if not path.isascii():
                forms.setdefault(composed(path), []).append(path)
        return forms

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for path in self.paths:
            names.setdefault(path[path.rfind("/") + 1 :], []).append(path)
        return names
