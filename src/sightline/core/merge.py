"""Three-way merge by lines, finer than diff3: changes that only touch each other both stay."""

from __future__ import annotations

from sightline.core.diff import diff
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.core.regions import Hunk


class Merged(Value):
    """lines: the merged text, complete only without conflicts. conflicts: pairs of what ours and
    theirs did to the same lines, as hunks of base→ours and base→theirs."""

    lines: tuple[str, ...]
    conflicts: tuple[tuple[Hunk, Hunk], ...]

    @property
    def clean(self) -> bool:
        return not self.conflicts


def merge(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Merged:
    """Both sides' changes to base. Changes to the same lines conflict unless they are equal;
    changes to neighbouring lines do not, as long as a newline stands between them."""
    mine, other = diff(base, ours), diff(base, theirs)
    conflicts = tuple(
        (h, t)
        for h in mine
        for t in _near(other, h)
        if _meet(h, ours, t, theirs) and not _equal(h, ours, t, theirs)
    )
    if conflicts:
        return Merged((), conflicts)
    changes = {(h[0], h[1]): list(ours[h[2] : h[3]]) for h in mine}
    changes.update({(t[0], t[1]): list(theirs[t[2] : t[3]]) for t in other})
    out: list[str] = []
    at = 0
    for (start, end), lines in sorted(changes.items()):
        out += base[at:start]
        out += lines
        at = end
    return Merged((*out, *base[at:]), ())


def collide(one: Hunk, other: Hunk) -> bool:
    """Whether two changes of the same base claim a common line, or the same gap between lines."""
    if one[0] == one[1] and other[0] == other[1]:
        return one[0] == other[0]
    return one[0] < other[1] and other[0] < one[1]


def _meet(h: Hunk, ours: Sequence[str], t: Hunk, theirs: Sequence[str]) -> bool:
    return collide(h, t) or _glued(h, ours, t) or _glued(t, theirs, h)


def _glued(one: Hunk, lines: Sequence[str], other: Hunk) -> bool:
    """Whether a change that took the last newline away would be followed by the other's lines:
    put together, two lines would become one that nobody wrote."""
    follows = other[0] == other[1] == one[1] and other[3] > other[2]
    return follows and one[3] > one[2] and not lines[one[3] - 1].endswith("\n")


def _equal(h: Hunk, ours: Sequence[str], t: Hunk, theirs: Sequence[str]) -> bool:
    return h[:2] == t[:2] and ours[h[2] : h[3]] == theirs[t[2] : t[3]]


def _near(hunks: Sequence[Hunk], one: Hunk) -> list[Hunk]:
    from bisect import bisect_left, bisect_right

    first = bisect_left(hunks, one[0], key=lambda hunk: hunk[1])
    last = bisect_right(hunks, one[1], key=lambda hunk: hunk[0])
    return list(hunks[first:last])
