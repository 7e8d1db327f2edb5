"""The list of a workspace's paths as it is asked: by path, by name, by pattern.

Made once and asked often. What a question needs is made when it is asked first. A glob is
compared with the distinct names and the distinct folders rather than with each path.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from operator import eq
from typing import TypeVar

from sightline.search.glob_regex import ANYTHING, Half, Shape, compiled
from sightline.search.patterns import Pattern

T = TypeVar("T")
Stop = Callable[[], bool]
Places = dict[str, list[int]]
"""A text -> where in the list the paths stand that hold it, in order."""

SEPARATOR = "\0"
"""In no path."""

PACE = 64
"""Texts that are looked at between two looks at the time."""

FEW = 32
"""Of so many texts one may hold a run before all are looked at one by one."""


class OutOfTime(Exception):
    """A question was stopped before its answer was whole."""


class Index:
    """Canonical paths, sorted, each once."""

    def __init__(self, paths: Iterable[str]) -> None:
        found = sorted(paths)
        if any(map(eq, found, islice(found, 1, None))):
            found = list(dict.fromkeys(found))
        self.paths: tuple[str, ...] = tuple(found)

    def __len__(self) -> int:
        return len(self.paths)

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        at = bisect_left(self.paths, path)
        return at < len(self.paths) and self.paths[at] == path

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """Every folder that a path is in, sorted; the root, ".", is not among them."""
        every: set[str] = set()
        for held in self._folders.first:
            folder = held[:-1]
            while folder and folder not in every:
                every.add(folder)
                folder = folder.rpartition("/")[0]
        return tuple(sorted(every))

    def named(self, name: str) -> Sequence[str]:
        """The paths that have this last part, in order."""
        return [self.paths[at] for at in self._names.at(name)]

    def matching(
        self, pattern: Pattern, limit: int | None = None, *, stop: Stop | None = None
    ) -> list[str]:
        """The paths that a pattern means: first the one written as it is, then in order. OutOfTime
        once `stop`, asked now and then, says so."""
        text, said = pattern.text, pattern.meaning
        exactly = dict.fromkeys((text, said.literal or text))
        first = [each for each in exactly if each in self]
        rest = self._anywhere(text, said.literal) if "/" not in text else set[int]()
        for number, each in enumerate(said.shapes):
            if number and stop is not None and stop():
                raise OutOfTime
            rest.update(self._shaped(each, stop))
        found = map(self.paths.__getitem__, sorted(rest))
        return [*first, *(path for path in found if path not in first)][:limit]

    def _anywhere(self, *names: str | None) -> set[int]:
        """The places of names in any folder."""
        asked = [name for name in names if name is not None]
        return {at for name in asked for at in self._names.at(name)}

    def _shaped(self, shape: Shape, stop: Stop | None) -> Iterable[int]:
        """The places of the paths of a shape."""
        name, folder = shape.name, shape.folder
        if name.literal is not None:
            return self._below(folder, self._names.at(name.literal), stop)
        folders = self._folders.those(folder, stop)
        if name.ending:
            last = name.ending[name.ending.rindex(".") :]
            found: Collection[int] = self._endings.get(last, ())
            if last != name.ending:
                found = [at for at in found if self._names.held[at].endswith(name.ending)]
            return self._within(folders, found)
        if folders is None:
            names = self._names.those(name, stop)
            return range(len(self.paths)) if names is None else self._names.of(names)
        below = self._folders.of(folders)
        if name == ANYTHING or len(below) < len(self._names.first):
            return self._names.fitting(name, below, stop)
        return self._within(folders, self._names.of(self._names.those(name, stop) or ()))

    def _below(self, folder: Half, found: Sequence[int], stop: Stop | None) -> Iterable[int]:
        """Of some places those in a folder that fits; few are not worth a look at all folders."""
        if len(found) > FEW:
            return self._within(self._folders.those(folder, stop), found)
        fits = folder.fits
        return [at for at in found if fits(self._folders.held[at])]

    def _within(self, folders: Collection[str] | None, found: Collection[int]) -> Iterable[int]:
        if folders is None:
            return found
        among, held = set(folders), self._folders.held
        return [at for at in found if held[at] in among]

    @cached_property
    def _names(self) -> Texts:
        return Texts([path[path.rfind("/") + 1 :] for path in self.paths])

    @cached_property
    def _folders(self) -> Texts:
        return Texts([path[: path.rfind("/") + 1] for path in self.paths])

    @cached_property
    def _endings(self) -> Places:
        """By what a name has from its last dot on."""
        endings: Places = {}
        for at, name in enumerate(self._names.held):
            dot = name.rfind(".")
            if dot >= 0:
                endings.setdefault(name[dot:], []).append(at)
        return endings


def paced(items: list[T], stop: Stop | None) -> Iterator[list[T]]:
    """Items block by block. OutOfTime after the first of them, once `stop` says so."""
    if stop is None:
        yield items
        return
    for start in range(0, len(items), PACE):
        if start and stop():
            raise OutOfTime
        yield items[start : start + PACE]


class Texts:
    """One half of each path. held: in the order of the paths; first: where each distinct one stands
    first; again: where else, of those that stand more than once."""

    def __init__(self, held: list[str]) -> None:
        self.held = held
        self.first: dict[str, int] = {}
        self.again: Places = {}
        put = self.first.setdefault
        for at, text in enumerate(held):
            if put(text, at) != at:
                self.again.setdefault(text, []).append(at)

    def at(self, text: str) -> list[int]:
        """Where the paths stand that hold this one, in order."""
        first = self.first.get(text)
        return [] if first is None else [first, *self.again.get(text, ())]

    def of(self, texts: Collection[str]) -> list[int]:
        """Where the paths stand that hold one of these, which are distinct and known."""
        again = self.again
        found = [self.first[text] for text in texts]
        return found + [at for text in texts if text in again for at in again[text]]

    def fitting(self, half: Half, among: list[int], stop: Stop | None) -> list[int]:
        """Of some places those whose text fits."""
        if half == ANYTHING:
            return among
        held, run = self.held, half.run
        fullmatch = compiled(half.expression).fullmatch
        holding = [at for at in among if run in held[at]]
        blocks = paced(holding, stop)
        return [at for block in blocks for at in block if fullmatch(held[at])]

    def those(self, half: Half, stop: Stop | None = None) -> Collection[str] | None:
        """The distinct texts that fit, or None where all do."""
        if half.literal is not None:
            return [half.literal] if half.literal in self.first else []
        if not half.expression:
            return None
        fullmatch = compiled(half.expression).fullmatch
        blocks = paced(self._holding(half.run), stop)
        return [text for block in blocks for text in block if fullmatch(text)]

    def _holding(self, run: str) -> list[str]:
        """The distinct texts that hold a run."""
        joined, distinct = self._joined
        if not run:
            return distinct
        found: list[str] = []
        at = joined.find(run)
        while at >= 0:
            if len(found) > len(distinct) // FEW:
                return [text for text in distinct if run in text]
            end = joined.index(SEPARATOR, at)
            found.append(joined[joined.rindex(SEPARATOR, 0, at) + 1 : end])
            at = joined.find(run, end)
        return found

    @cached_property
    def _joined(self) -> tuple[str, list[str]]:
        distinct = list(self.first)
        return f"{SEPARATOR}{SEPARATOR.join(distinct)}{SEPARATOR}", distinct
