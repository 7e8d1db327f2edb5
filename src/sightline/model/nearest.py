"""Find the lines most like a text that was not found, so that one more try is enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from sightline.model.text import split

MOST_LINES = 50_000
"""Lines of a file that are searched; a longer file is searched in its first part only."""

ENOUGH = 0.4
"""Likeness (0 to 1) from which a place is worth showing."""


class Nearest(Struct, frozen=True):
    """Lines first..last of a text. likeness: 0 to 1; only_space: only white space differs."""

    first: int
    last: int
    text: str
    likeness: float
    only_space: bool


def nearest(sought: str, lines: Sequence[str]) -> Nearest | None:
    """Return the best place for `sought` among lines; None when nothing is alike."""
    block = split(sought)
    while block and not block[0].strip():
        block.pop(0)
    while block and not block[-1].strip():
        block.pop()
    if not block or not lines:
        return None
    look_in = lines[:MOST_LINES]
    squeezed = [squeeze(line) for line in look_in]
    wanted = [squeeze(line) for line in block]
    start = _best_start(wanted, squeezed)
    if start is None:
        to_end = block[0].endswith("\n")
        return _part(wanted, look_in, squeezed, to_end=to_end) if len(wanted) == 1 else None
    return _at(start, wanted, look_in, squeezed)


def squeeze(line: str) -> str:
    """Return a line without its white space."""
    return "".join(line.split())


def _best_start(wanted: Sequence[str], squeezed: Sequence[str]) -> int | None:
    """Return the start with the most matches of sought lines, in order."""
    places: dict[str, list[int]] = {}
    for at, line in enumerate(squeezed):
        places.setdefault(line, []).append(at)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        if line:
            for at in places.get(line, ())[:200]:
                votes[at - offset] += 1
    if votes:
        start, _ = max(votes.items(), key=lambda vote: (vote[1], -vote[0]))
        return max(start, 0)
    return _by_words(wanted[0], squeezed) if len(wanted) > 1 else None


def _by_words(first: str, squeezed: Sequence[str]) -> int | None:
    best = max(range(len(squeezed)), key=lambda at: _likeness(first, squeezed[at]))
    return best if _likeness(first, squeezed[best]) >= ENOUGH else None


def _at(
    start: int, wanted: Sequence[str], lines: Sequence[str], squeezed: Sequence[str]
) -> Nearest | None:
    end = min(start + len(wanted), len(lines))
    pairs = zip(wanted, squeezed[start:end], strict=False)
    likeness = sum(_likeness(a, b) for a, b in pairs) / len(wanted)
    if likeness < ENOUGH:
        return None
    same = list(wanted) == list(squeezed[start:end])
    return Nearest(start + 1, end, "".join(lines[start:end]), likeness, same)


def _part(
    wanted: Sequence[str], lines: Sequence[str], squeezed: Sequence[str], *, to_end: bool
) -> Nearest | None:
    """Return the line that contains one sought line but for white space, else the most alike.
    to_end: the line must end where the sought text ends."""
    holding = [at for at, line in enumerate(squeezed) if wanted[0] in line]
    if holding:
        ending = [at for at in holding if not to_end or squeezed[at].endswith(wanted[0])]
        at = (ending or holding)[0]
        likeness = 1.0 if ending else len(wanted[0]) / len(squeezed[at])
        return Nearest(at + 1, at + 1, lines[at], likeness, only_space=bool(ending))
    best = _by_words(wanted[0], squeezed)
    return None if best is None else _at(best, wanted, lines, squeezed)


def _likeness(one: str, other: str) -> float:
    """Return the share of common pairs of letters (Dice) of two squeezed lines."""
    if one == other:
        return 1.0
    if len(one) < 2 or len(other) < 2:
        return 0.0
    a = {one[i : i + 2] for i in range(len(one) - 1)}
    b = {other[i : i + 2] for i in range(len(other) - 1)}
    return 2 * len(a & b) / (len(a) + len(b))
