"""Merge three texts by lines: changes of the same lines conflict, equal changes are made once.

Where lines repeat, one text can be read as a change of another in several ways: either of two equal
lines may be the removed one. So a stretch that both sides changed is read for both sides together,
and the reading with the most changes in common counts (docs/design/0014-merging.md).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from msgspec import Struct

from sightline.model.diff import between, diff, settled
from sightline.model.relocation import Places
from sightline.model.spans import Hunk, collide

Lines = Sequence[str]
Hunks = list[Hunk]
Side = tuple[Lines, Hunks]
"""The text of one side, and its changes to the base."""

CELLS = 10_000
"""Size of all searches for a common reading in one merge, about 50 ms. The size of one search is the
product of three numbers of lines. A stretch that would cost more is read by the two diffs."""


class Merged(Struct, frozen=True):
    """lines: the merged text, empty where there are conflicts. conflicts: pairs of hunks of
    diff(base, ours) and diff(base, theirs) that change the same lines."""

    lines: tuple[str, ...]
    conflicts: tuple[tuple[Hunk, Hunk], ...]

    @property
    def clean(self) -> bool:
        """Return whether there are no conflicts."""
        return not self.conflicts


def merge(
    base: Lines,
    ours: Lines,
    theirs: Lines,
    *,
    diffs: tuple[Hunks, Hunks] | None = None,
    mine: Sequence[Hunk] | None = None,
) -> Merged:
    """Merge the changes of both sides to base. Changes to adjacent lines both stay, as long as a
    newline is between them and they have no line in common. Changes to the same lines conflict,
    unless they are equal or one side includes all changes of the other there. diffs: those of both
    sides, where the caller has them. mine: the hunks base→ours that are to be made, where these are not all."""
    found = diffs or (diff(base, ours) if mine is None else list(mine), diff(base, theirs))
    read = _common_reading(base, (ours, found[0]), (theirs, found[1])) if mine is None else found
    out: list[str] = []
    conflicts: list[tuple[Hunk, Hunk]] = []
    if mine is None:
        conflicts += _astray(base, theirs, *read)
        conflicts += [(one, other) for other, one in _astray(base, ours, *read[::-1])]
    at = 0
    for start, end in _meetings(*read):
        one, other = (_within(hunks, start, end) for hunks in read)
        lines = _resolved(base, (ours, one), (theirs, other), start, end)
        if lines is None:
            conflicts += _opposed(*(_around(hunks, start, end) for hunks in found))
            continue
        out += [*base[at:start], *lines]
        at = end
    return Merged((), tuple(conflicts)) if conflicts else Merged((*out, *base[at:]), ())


def _astray(base: Lines, theirs: Lines, mine: Hunks, other: Hunks) -> Iterator[tuple[Hunk, Hunk]]:
    """Yield the changes whose lines have no certain place in the other text, or another one than a merge
    puts them, each with the nearest change of the other side."""
    places = Places(base, theirs, other)
    for hunk in mine if other else ():
        is_apart = not any(collide(hunk, each) for each in _within(other, *hunk[:2]))
        is_here = places.find(*hunk[:2]) == _carried(hunk[0], other)
        if hunk[0] < hunk[1] and is_apart and not is_here:
            yield hunk, _around(other, hunk[0], hunk[1])[0]


def _meetings(mine: Hunks, other: Hunks) -> list[tuple[int, int]]:
    """Return the base lines of each group of hunks with no line between that both sides kept."""
    groups: list[tuple[int, int]] = []
    for start, end, *_ in sorted([*mine, *other]):
        if groups and start <= groups[-1][1]:
            groups[-1] = groups[-1][0], max(end, groups[-1][1])
        else:
            groups.append((start, end))
    return groups


def _within(hunks: Hunks, start: int, end: int) -> Hunks:
    """Return the hunks that change these base lines, or touch them."""
    first = bisect_left(hunks, start, key=lambda hunk: hunk[1])
    return hunks[first : bisect_right(hunks, end, key=lambda hunk: hunk[0])]


def _around(hunks: Hunks, start: int, end: int) -> Hunks:
    return _within(hunks, start, end) or [min(hunks, key=lambda hunk: abs(hunk[0] - start))]


def _opposed(mine: Hunks, other: Hunks) -> list[tuple[Hunk, Hunk]]:
    """Return the pairs of hunks that stand for a conflict: those that collide, else that touch."""
    pairs = [(h, t) for h in mine for t in _within(other, h[0], h[1])]
    return [(h, t) for h, t in pairs if collide(h, t)] or pairs or [(mine[0], other[0])]


def _resolved(base: Lines, ours: Side, theirs: Side, start: int, end: int) -> Lines | None:
    """Return the new lines in place of these base lines; None for a conflict."""
    mine, other = (_as_changed(base, [side], start, end) for side in (ours, theirs))
    if not theirs[1] or mine == other:
        return mine
    if not ours[1]:
        return other
    if _are_apart(base, ours, theirs):
        return _as_changed(base, [ours, theirs], start, end)
    if _includes(ours, theirs):
        return mine
    return other if _includes(theirs, ours) else None


def _as_changed(base: Lines, sides: Sequence[Side], start: int, end: int) -> list[str]:
    out: list[str] = []
    changes = [(hunk, text) for text, hunks in sides for hunk in hunks]
    for (a0, a1, b0, b1), text in sorted(changes, key=lambda change: change[0]):
        out += [*base[start:a0], *text[b0:b1]]
        start = a1
    return [*out, *base[start:end]]


def _are_apart(base: Lines, ours: Side, theirs: Side) -> bool:
    """Return whether adjacent changes collide nowhere and have no line in common. A common line may
    be one line that both sides removed, inserted or moved."""
    for h in ours[1]:
        for t in _within(theirs[1], h[0], h[1]):
            if collide(h, t) or _glued(h, ours[0], t) or _glued(t, theirs[0], h):
                return False
    mine, other = (
        {line for h in hunks for line in (*base[h[0] : h[1]], *text[h[2] : h[3]])}
        for text, hunks in (ours, theirs)
    )
    return mine.isdisjoint(other)


def _includes(one: Side, other: Side) -> bool:
    """Return whether one side removed all lines that the other removed, and has all its new lines,
    in order. An `other` that only removed lines is never included."""
    removed, others = ({n for h in hunks for n in range(h[0], h[1])} for _, hunks in (one, other))
    put, wanted = ([s for h in hunks for s in text[h[2] : h[3]]] for text, hunks in (one, other))
    rest = iter(put)
    has_text = any(line.strip() for line in wanted)
    return has_text and others <= removed and all(line in rest for line in wanted)


def _glued(one: Hunk, lines: Lines, other: Hunk) -> bool:
    """Return whether lines of `other` would follow a change that removed the last newline. Joined,
    two lines would become one that nobody wrote."""
    follows = other[0] == other[1] == one[1] and other[3] > other[2]
    return follows and one[3] > one[2] and not lines[one[3] - 1].endswith("\n")


# --- one reading of both sides ------------------------------------------------------------------


def _common_reading(base: Lines, ours: Side, theirs: Side) -> tuple[Hunks, Hunks]:
    """Return the hunks of both sides, read together: the whole of short texts, else each stretch
    that both sides changed, from one sure line to the next."""
    texts = base, ours[0], theirs[0]
    ends = [(len(base), len(ours[0]), len(theirs[0]))]
    if _cells(ends[0]) > CELLS:
        ends = [*_sure_lines(base, ours, theirs), *ends]
    read: tuple[Hunks, Hunks] = [], []
    left = CELLS
    start = 0, 0, 0
    for end in ends:
        mine, other = (_within(hunks, start[0], end[0]) for _, hunks in (ours, theirs))
        if mine and other:
            stretch = [list(text[a:b]) for text, a, b in zip(texts, start, end, strict=True)]
            cells = _cells([len(text) for text in stretch])
            if stretch[1] == stretch[2]:
                other = _moved(mine, 0, start[2] - start[1])
            elif cells <= left:
                left -= cells
                mine, other = _read_together(*stretch)
                mine = _moved(mine, start[0], start[1])
                other = _moved(other, start[0], start[2])
        read[0].extend(mine)
        read[1].extend(other)
        start = end[0] + 1, end[1] + 1, end[2] + 1
    return settled(base, ours[0], read[0]), settled(base, theirs[0], read[1])


def _sure_lines(base: Lines, ours: Side, theirs: Side) -> Iterator[tuple[int, int, int]]:
    """Yield the places of lines that both sides kept and that occur once in each text: the nearest
    before and behind each hunk. Between any others nothing changed. A kept line that occurs once in the
    base occurs once in a side that does not insert the same line."""
    hunks = [*ours[1], *theirs[1]]
    put = {s for text, own in (ours, theirs) for hunk in own for s in text[hunk[2] : hunk[3]]}
    counts = Counter(base)
    removed = {n for hunk in hunks for n in range(*hunk[:2])}
    sure = [
        n
        for n, line in enumerate(base)
        if counts[line] == 1 and line not in put and n not in removed
    ]
    before = {bisect_left(sure, hunk[0]) - 1 for hunk in hunks}
    behind = {bisect_left(sure, hunk[1]) for hunk in hunks}
    for n in sorted(before | behind):
        if 0 <= n < len(sure):
            yield sure[n], _carried(sure[n], ours[1]), _carried(sure[n], theirs[1])


def _carried(line: int, hunks: Hunks) -> int:
    """Return the place of a line that a side kept."""
    above = bisect_right(hunks, line, key=lambda hunk: hunk[1]) - 1
    return line + (hunks[above][3] - hunks[above][1] if above >= 0 else 0)


def _moved(hunks: Hunks, a: int, b: int) -> Hunks:
    return [(a0 + a, a1 + a, b0 + b, b1 + b) for a0, a1, b0, b1 in hunks]


def _cells(lengths: Sequence[int]) -> int:
    return prod(length + 1 for length in lengths)


LINE, HUNK, COMMON, MEETING = 1 << 60, 1 << 40, 1 << 20, 1
"""What a removed or inserted line costs a reading, a hunk, and a change that meets one of the other
side; and what a line in a common change saves. So the shortest reading counts, of these the one with
the fewest hunks, of these the one with the most in common, of these the one with the fewest meetings."""

OURS, THEIRS, COMMONLY = 1, 2, 4
"""States of a reading: in a hunk of ours, of theirs, and in one that both sides made."""


def _steps(state: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield each step of a reading: how many lines of base, ours and theirs it takes, the next
    state, and the cost. Lines that one step takes of several texts are equal."""
    yield 1, 1, 1, 0, 0
    if state in (0, COMMONLY):
        cost = 2 * LINE - COMMON + (0 if state else 2 * HUNK)
        yield 1, 0, 0, COMMONLY, cost
        yield 0, 1, 1, COMMONLY, cost
    if state == COMMONLY:
        return
    ours, theirs = (LINE + (0 if state & side else HUNK) for side in (OURS, THEIRS))
    yield 1, 1, 0, THEIRS, theirs + (MEETING if state & OURS else 0)
    yield 1, 0, 1, OURS, ours + (MEETING if state & THEIRS else 0)
    yield 1, 0, 0, OURS | THEIRS, ours + theirs + MEETING
    yield 0, 1, 0, state | OURS, ours + (MEETING if state & THEIRS else 0)
    yield 0, 0, 1, state | THEIRS, theirs + (MEETING if state & OURS else 0)


STEPS = {state: tuple(_steps(state)) for state in (0, OURS, THEIRS, OURS | THEIRS, COMMONLY)}


def _read_together(base: list[str], ours: list[str], theirs: list[str]) -> tuple[Hunks, Hunks]:
    """Return the hunks base→ours and base→theirs of the cheapest reading. Of several, the order of
    the two texts decides, so that both sides get one answer."""
    if theirs < ours:
        return _read_together(base, theirs, ours)[::-1]
    ends = len(base), len(ours), len(theirs)
    best = {(0, 0, 0, 0): (0, (0, 0, 0, 0))}
    for i, j, k, state in product(*(range(n + 1) for n in ends), STEPS):
        if (i, j, k, state) not in best:
            continue
        spent = best[i, j, k, state][0]
        for a, b, c, after, cost in STEPS[state]:
            x, y, z = i + a, j + b, k + c
            if x > ends[0] or y > ends[1] or z > ends[2]:
                continue
            taken = {text[n] for text, n, m in ((base, i, a), (ours, j, b), (theirs, k, c)) if m}
            if len(taken) > 1:
                continue
            known = best.get((x, y, z, after))
            if known is None or known[0] > spent + cost:
                best[x, y, z, after] = spent + cost, (i, j, k, state)
    place = min(((*ends, state) for state in STEPS if (*ends, state) in best), key=best.__getitem__)
    mine: list[tuple[int, int, int]] = []
    other: list[tuple[int, int, int]] = []
    while any(place[:3]):
        i, j, k, _ = before = best[place][1]
        if i < place[0] and j < place[1]:
            mine.append((i, j, 1))
        if i < place[0] and k < place[2]:
            other.append((i, k, 1))
        place = before
    return between(mine, *ends[:2]), between(other, *ends[::2])
