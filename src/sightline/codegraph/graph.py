"""Who imports whom, both ways: much of it in a few arrays, what was learned since beside them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct

Plain = tuple[str, int, bool, float]
"""The fields of an Edge."""

TYPES = "IIIdII"
"""Of the arrays of a Frozen, in their order."""

NUMBER = "I"


class Edge(Struct, frozen=True):
    """One file that another one imports. line: where; direct: not only as a package on the way;
    share: of the import's weight, less than all where it means several files alike."""

    path: str
    line: int
    direct: bool
    share: float = 1.0


class Frozen(Struct, frozen=True):
    """A graph as arrays over a list of paths. resolved: a byte for each path, not zero where its
    imports are known; those of path number n are targets[starts[n]:starts[n + 1]], with their
    marks (twice the line, and one more where direct) and shares; its importers are
    back[ends[n]:ends[n + 1]]."""

    paths: Sequence[str]
    resolved: bytes
    starts: array[int]
    targets: array[int]
    marks: array[int]
    shares: array[float]
    ends: array[int]
    back: array[int]


def _nothing() -> Frozen:
    arrays: list[array[Any]] = [array(kind) for kind in TYPES]
    return Frozen((), b"", *arrays)


class Graph:
    """Edges by the path they come from, and the other way round."""

    def __init__(self, frozen: Frozen | None = None) -> None:
        self._frozen = frozen if frozen is not None else _nothing()
        self._number = {path: at for at, path in enumerate(self._frozen.paths)}
        self._left = bytearray(self._frozen.resolved)  # what still holds of it
        self._new: dict[str, tuple[Plain, ...]] = {}
        self._importers: dict[str, set[str]] = {}

    def resolved(self, path: str) -> bool:
        """Whether it is known what a file imports."""
        if path in self._new:
            return True
        at = self._number.get(path)
        return at is not None and bool(self._left[at])

    def imports(self, path: str) -> tuple[Edge, ...]:
        """What a file imports, in the order it was told."""
        return tuple([Edge(*each) for each in self.plain(path)])

    def plain(self, path: str) -> tuple[Plain, ...]:
        """The same without the class."""
        if path in self._new:
            return self._new[path]
        at = self._number.get(path)
        if at is None or not self._left[at]:
            return ()
        known = self._frozen
        own = slice(known.starts[at], known.starts[at + 1])
        told = zip(known.targets[own], known.marks[own], known.shares[own], strict=True)
        return tuple(
            [
                (known.paths[target], mark >> 1, bool(mark & 1), share)
                for target, mark, share in told
            ]
        )

    def importers(self, path: str) -> Iterator[str]:
        """The files that import a file, in no order."""
        yield from self._importers.get(path, ())
        at = self._number.get(path)
        if at is None:
            return
        known, left = self._frozen, self._left
        for source in known.back[known.ends[at] : known.ends[at + 1]]:
            if left[source]:
                yield known.paths[source]

    def put(self, path: str, edges: Iterable[Plain], *, importing: bool = True) -> None:
        """Learn what a file imports. importing: it is told as an importer, too."""
        self.drop(path)
        self._new[path] = told = tuple(edges)
        for target, *_ in told if importing else ():
            self._importers.setdefault(target, set()).add(path)

    def drop(self, path: str) -> None:
        """Forget what a file imports."""
        at = self._number.get(path)
        if at is not None:
            self._left[at] = 0
        for target, *_ in self._new.pop(path, ()):
            self._importers.get(target, set()).discard(path)

    def freeze(self, paths: Sequence[str]) -> Frozen:
        """All of it that is about these paths."""
        number = {path: at for at, path in enumerate(paths)}
        resolved = bytearray(len(paths))
        targets, marks, owners, shares = *(array(NUMBER) for _ in range(3)), array("d")
        counts = [0]
        for at, path in enumerate(paths):
            before = len(targets)
            if self.resolved(path):
                resolved[at] = 1
                for target, line, direct, share in self.plain(path):
                    if target in number:
                        targets.append(number[target])
                        marks.append(2 * line + direct)
                        shares.append(share)
            counts.append(len(targets) - before)
            owners.extend([at] * counts[-1])
        incoming = [0] * (len(paths) + 1)
        for each in targets:
            incoming[each + 1] += 1
        order = sorted(range(len(targets)), key=targets.__getitem__)
        back = array(NUMBER, map(owners.__getitem__, order))
        starts, ends = (array(NUMBER, accumulate(each)) for each in (counts, incoming))
        return Frozen(paths, bytes(resolved), starts, targets, marks, shares, ends, back)
