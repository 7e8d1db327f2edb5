"""Find the lines most like a text that was not found, so that one more try is enough.

The work is bounded, because hooks have deadlines: in long texts the guess is worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import nlargest

from msgspec import Struct, structs

from sightline.model.text import split

MOST_LINES = 20_000
"""Lines of a file that are searched; a longer file is searched in its first part only."""

MOST_CHARACTERS = 1_000
"""Characters of a line that are compared."""

COMPARED = 200
"""Pairs of lines that one search compares letter by letter, for each of its two steps."""

VOTES = 20_000
"""Places of sought lines that are counted, those of rare lines first."""

PROBES = 12
"""Short pieces of a line that choose the lines it is compared with."""

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
    given = split(sought)
    block = [*given]
    while block and not block[0].strip():
        block.pop(0)
    above = len(given) - len(block)
    while block and not block[-1].strip():
        block.pop()
    below = len(given) - above - len(block)
    if not block or not lines:
        return None
    look_in = lines[:MOST_LINES]
    squeezed = [squeeze(line) for line in look_in]
    wanted = [squeeze(line) for line in block]
    start = _best_start(wanted, squeezed)
    if start is None:
        to_end = block[0].endswith("\n")
        return _part(wanted, look_in, squeezed, to_end=to_end) if len(wanted) == 1 else None
    near = _at(start, wanted, look_in, squeezed)
    return near and _with_blank_lines(near, look_in, squeezed, above, below)


def _with_blank_lines(
    near: Nearest, lines: Sequence[str], squeezed: Sequence[str], above: int, below: int
) -> Nearest:
    """Add the blank lines around a place, as many as the sought text has above and below it."""
    start, end = near.first - 1, near.last
    while above and start and not squeezed[start - 1]:
        start, above = start - 1, above - 1
    while below and end < len(lines) and not squeezed[end]:
        end, below = end + 1, below - 1
    text = "".join(lines[start:end])
    return structs.replace(near, first=start + 1, last=end, text=text)


def squeeze(line: str) -> str:
    """Return a line without its white space."""
    return "".join(line.split())


def _best_start(wanted: Sequence[str], squeezed: Sequence[str]) -> int | None:
    """Return the start with the most matches of sought lines, in order."""
    places: dict[str, list[int]] = {}
    for at, line in enumerate(squeezed):
        places.setdefault(line, []).append(at)
    there = [(places[line], n) for n, line in enumerate(wanted) if line and line in places]
    votes: Counter[int] = Counter()
    left = VOTES
    for some, offset in sorted(there, key=lambda entry: len(entry[0])):
        votes.update(at - offset for at in some[:left])
        left -= len(some)
        if left <= 0:
            break
    if votes:
        start, _ = max(votes.items(), key=lambda vote: (vote[1], -vote[0]))
        return max(start, 0)
    return _most_alike(wanted[0], squeezed) if len(wanted) > 1 else None


def _most_alike(line: str, squeezed: Sequence[str]) -> int | None:
    """Return the place of the most similar line. Of many lines only the ones with the most pieces of
    `line` are compared."""
    first = {other: at for at, other in reversed([*enumerate(squeezed)])}
    some = list(first)
    if len(some) > COMPARED:
        step = max((min(len(line), MOST_CHARACTERS) - 3) // PROBES, 1)
        probes = [line[at : at + 3] for at in range(0, step * PROBES, step)]
        some = nlargest(COMPARED, some, key=lambda other: sum(map(other.__contains__, probes)))
    pairs = _pairs(line)
    likeness, best = max((_likeness(pairs, _pairs(other)), -first[other]) for other in some)
    return -best if likeness >= ENOUGH else None


def _at(
    start: int, wanted: Sequence[str], lines: Sequence[str], squeezed: Sequence[str]
) -> Nearest | None:
    end = min(start + len(wanted), len(lines))
    found = squeezed[start:end]
    unlike = [(a, b) for a, b in zip(wanted, found, strict=False) if a != b]
    compared = unlike[:: len(unlike) // COMPARED + 1]
    alike = sum(_likeness(_pairs(a), _pairs(b)) for a, b in compared)
    same = min(len(wanted), len(found)) - len(unlike)
    likeness = (same + alike * len(unlike) / max(len(compared), 1)) / len(wanted)
    if likeness < ENOUGH:
        return None
    only_space = list(wanted) == list(found)
    return Nearest(start + 1, end, "".join(lines[start:end]), likeness, only_space)


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
    best = _most_alike(wanted[0], squeezed)
    return None if best is None else _at(best, wanted, lines, squeezed)


def _pairs(line: str) -> set[str]:
    """Return the pairs of neighbouring letters of a squeezed line."""
    line = line[:MOST_CHARACTERS]
    return {line[n : n + 2] for n in range(len(line) - 1)}


def _likeness(one: set[str], other: set[str]) -> float:
    """Return the share of common pairs (Dice), 0 to 1."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
