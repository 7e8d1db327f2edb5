"""Spans of lines: operations on sets of lines, and their places after a change.

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
    """Sort pairs, join adjacent ones and drop empty ones."""
    joined: list[Span] = []
    for first, last in sorted((p[0], p[1]) for p in pairs if p[0] <= p[1]):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)


def whole(lines: int) -> Spans:
    """Return the span of all lines of a text."""
    return ((1, lines),) if lines else ()


def union(one: Spans, other: Spans) -> Spans:
    """Return the lines in either."""
    return one if not other else other if not one else spans(one + other)


def subtract(one: Spans, other: Spans) -> Spans:
    """Return the lines in the first and not in the second."""
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
    """Return the lines in both."""
    return spans((max(a, c), min(b, d)) for a, b in one for c, d in other if max(a, c) <= min(b, d))


def covers(one: Spans, other: Spans) -> bool:
    """Return whether every line of the second is in the first."""
    return not subtract(other, one)


def count(some: Spans) -> int:
    """Count the lines."""
    return sum(last - first + 1 for first, last in some)


def carry(some: Spans, hunks: Sequence[Hunk]) -> Spans:
    """Return old lines at their places in the new text; lines inside a hunk have no place."""
    moved: list[Span] = []
    for old_first, old_last, shift in unchanged_runs(hunks):
        for first, last in some:
            low, high = max(first, old_first), min(last, old_last)
            if low <= high:
                moved.append((int(low) + shift, int(high) + shift))
    return spans(moved)


def touched(some: Spans, hunks: Sequence[Hunk], lines: int) -> tuple[Hunk, ...]:
    """Return the hunks that change these lines of an old text. lines: the number of all its lines.

    A replaced or deleted line counts when it was shown. An insertion counts when both its
    neighbours were shown, because they were shown as adjacent; the edges of the file count as
    shown.
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


def unchanged_runs(hunks: Sequence[Hunk]) -> Iterable[tuple[int, float, int]]:
    """Yield runs of unchanged old lines (1-based, inclusive), and the shift of each."""
    old = shift = 0
    for a0, a1, _b0, b1 in hunks:
        if a0 > old:
            yield old + 1, a0, shift
        old, shift = a1, b1 - a1
    yield old + 1, float("inf"), shift


def new_sides(hunks: Sequence[Hunk]) -> Spans:
    """Return the lines that these hunks put there, 1-based, in the new text."""
    return spans((hunk[2] + 1, hunk[3]) for hunk in hunks)


def collide(one: Hunk, other: Hunk) -> bool:
    """Return whether two changes of one base share a line, or a gap between lines."""
    if one[0] == one[1] and other[0] == other[1]:
        return one[0] == other[0]
    return one[0] < other[1] and other[0] < one[1]
