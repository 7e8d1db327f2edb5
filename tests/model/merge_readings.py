"""What a merge of repeated lines has to be, by trying every reading (docs/design/0014-merging.md)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product

Text = tuple[str, ...]
Pairs = tuple[tuple[int, int], ...]
"""A reading: the places of the lines that stay, in the base and in the side."""


def histories(number: int, seed: int) -> Iterator[tuple[Text, Text, Text]]:
    """Yield bases of 0 to 8 lines, two to four of them distinct, each with two edited copies."""
    chance = random.Random(seed)
    for _ in range(number):
        letters = [f"{letter}\n" for letter in "abcd"[: chance.choice([2, 3, 4])]]
        base = [chance.choice(letters) for _ in range(chance.randint(0, 8))]
        yield tuple(base), _edited(base, letters, chance), _edited(base, letters, chance)


def _edited(base: list[str], letters: list[str], chance: random.Random) -> Text:
    side = list(base)
    for _ in range(chance.choice([1, 1, 2, 2, 3])):
        at, cut = chance.randint(0, len(side)), chance.choice([0, 0, 1, 1, 2])
        some = [*letters, "X\n", "Y\n"]
        side[at : at + cut] = [chance.choice(some) for _ in range(chance.choice([0, 1, 1, 2]))]
    return tuple(side[:8])


def misses(base: Text, ours: Text, theirs: Text, merged: Text) -> tuple[set[str], set[str]]:
    """Return the lines of which a merged text has fewer, and those of which it has more, than
    every pair of readings with the most changes in common."""
    most = -1
    counts: list[Counter[str]] = []
    for mine, other in product(_readings(base, ours), _readings(base, theirs)):
        both = _changes(base, ours, mine) & _changes(base, theirs, other)
        common = sum(end - start + len(new) for start, end, new in both)
        if common > most:
            most, counts = common, []
        if common == most:
            counts.append(_count(base, ours, theirs, dict(mine), dict(other)))
    there = Counter(merged)
    lines = {*base, *ours, *theirs, *merged}
    lost = {line for line in lines if there[line] < min(count[line] for count in counts)}
    return lost, {line for line in lines if there[line] > max(count[line] for count in counts)}


@cache
def _readings(base: Text, side: Text) -> tuple[Pairs, ...]:
    """Return the readings that keep most lines, of these the ones with the fewest changes."""
    some = _longest(base, side, 0, 0)
    few = min(len(_changes(base, side, pairs)) for pairs in some)
    return tuple(pairs for pairs in some if len(_changes(base, side, pairs)) == few)


@cache
def _longest(base: Text, side: Text, i: int, j: int) -> frozenset[Pairs]:
    if i == len(base) or j == len(side):
        return frozenset([()])
    found = {*_longest(base, side, i + 1, j), *_longest(base, side, i, j + 1)}
    if base[i] == side[j]:
        found |= {((i, j), *rest) for rest in _longest(base, side, i + 1, j + 1)}
    most = max(map(len, found))
    return frozenset(pairs for pairs in found if len(pairs) == most)


def _changes(base: Text, side: Text, pairs: Pairs) -> set[tuple[int, int, Text]]:
    """Return the changes of a reading: the removed lines of the base, and the new lines."""
    changes: set[tuple[int, int, Text]] = set()
    i = j = 0
    for a, b in [*pairs, (len(base), len(side))]:
        if a > i or b > j:
            changes.add((i, a, side[j:b]))
        i, j = a + 1, b + 1
    return changes


def _count(
    base: Text, ours: Text, theirs: Text, mine: dict[int, int], other: dict[int, int]
) -> Counter[str]:
    """Count the lines of a merge: those that both keep, and all new ones; between two lines that
    both keep, the new lines in common once."""
    count: Counter[str] = Counter()
    j = k = 0
    kept = [(n, mine[n], other[n]) for n in range(len(base)) if n in mine and n in other]
    for a, b, c in [*kept, (len(base), len(ours), len(theirs))]:
        new = tuple(ours[n] for n in range(j, b) if n not in mine.values())
        others = tuple(theirs[n] for n in range(k, c) if n not in other.values())
        common = next(iter(_longest(new, others, 0, 0)))
        count.update([*base[a : a + 1], *new, *others])
        count.subtract(new[n] for n, _ in common)
        j, k = b + 1, c + 1
    return count
