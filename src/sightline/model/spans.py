"""Line spans: which lines were shown, and where they stand after a change.

Lines are 1-based and inclusive, as everywhere a person or an agent sees them. Spans are a
sorted tuple of disjoint, non-touching (first, last) pairs. Hunks come from model.diff:
(a0, a1, b0, b1), 0-based half-open, lines a[a0:a1] became b[b0:b1].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[int, int]
Spans = tuple[Span, ...]
Hunk = tuple[int, int, int, int]


def spans(pairs: Iterable[Sequence[int]]) -> Spans:
    """Any pairs, put in order, touching ones joined, empty ones dropped."""
    joined: list[Span] = []
    for first, last in sorted((p[0], p[1]) for p in pairs if p[0] <= p[1]):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)


def whole(lines: int) -> Spans:
    """All lines of a text of that many lines."""
    return ((1, lines),) if lines else ()


def union(one: Spans, other: Spans) -> Spans:
    """Lines in either."""
    return one if not other else other if not one else spans(one + other)


def subtract(one: Spans, other: Spans) -> Spans:
    """Lines in the first and not in the second."""
    left: list[Span] = []
    for first, last in one:
        for cut_first, cut_last in other:
            if cut_last < first or cut_first > last:
                continue
            if cut_first > first:
                left.append((first, cut_first - 1))
            first = cut_last + 1
            if first > last:
                break
        if first <= last:
            left.append((first, last))
    return tuple(left)


def intersect(one: Spans, other: Spans) -> Spans:
    """Lines in both."""
    return spans((max(a, c), min(b, d)) for a, b in one for c, d in other if max(a, c) <= min(b, d))


def covers(one: Spans, other: Spans) -> bool:
    """Whether every line of the second is in the first."""
    return not subtract(other, one)


def count(some: Spans) -> int:
    """How many lines."""
    return sum(last - first + 1 for first, last in some)


def carry(some: Spans, hunks: Sequence[Hunk]) -> Spans:
    """Where lines of the old text stand in the new one; lines inside a hunk have no place."""
    moved: list[Span] = []
    for old_first, old_last, shift in kept(hunks):
        for first, last in some:
            low, high = max(first, old_first), min(last, old_last)
            if low <= high:
                moved.append((int(low) + shift, int(high) + shift))
    return spans(moved)


def touched(some: Spans, hunks: Sequence[Hunk], lines: int) -> tuple[Hunk, ...]:
    """The hunks that change what these lines of an old text of that many lines showed.

    A replaced or deleted line counts when it was shown. An insertion counts when both its
    neighbours were shown (the edges of the file count as shown), because the text between
    them was shown as touching.
    """
    return tuple(hunk for hunk in hunks if _touches(some, hunk, lines))


def _touches(some: Spans, hunk: Hunk, lines: int) -> bool:
    start, end = hunk[0], hunk[1]
    if end > start:
        return any(first <= end and last > start for first, last in some)
    above = start == 0 or _has(some, start)
    below = start == lines or _has(some, start + 1)
    return above and below and bool(some or not lines)


def _has(some: Spans, line: int) -> bool:
    return any(first <= line <= last for first, last in some)


def kept(hunks: Sequence[Hunk]) -> Iterable[tuple[int, float, int]]:
    """Runs of unchanged old lines (1-based, inclusive) and how far each moved."""
    old = shift = 0
    for a0, a1, _b0, b1 in hunks:
        if a0 > old:
            yield old + 1, a0, shift
        old, shift = a1, b1 - a1
    yield old + 1, float("inf"), shift


def new_sides(hunks: Sequence[Hunk]) -> Spans:
    """Return the lines that these hunks put there, 1-based, in the new text."""
    return spans((hunk[2] + 1, hunk[3]) for hunk in hunks)
