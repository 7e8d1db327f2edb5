"""Find lines that have another place now: blocks that were moved, and lines that shifted because
others changed lines above."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.model.spans import Hunk, Span, Spans, unchanged_runs

Pair = tuple[Hunk, Hunk]
Place = tuple[Span, Span]


def moved_blocks(old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> list[Pair]:
    """Return pairs of hunks of diff(old, new): one that only removes lines, and one that only adds
    the same lines elsewhere. The empty lines may be before or behind the others."""
    added: dict[tuple[str, ...], list[Hunk]] = {}
    for hunk in hunks:
        if hunk[0] == hunk[1]:
            added.setdefault(_block(new[hunk[2] : hunk[3]]), []).append(hunk)
    pairs: list[Pair] = []
    for hunk in hunks:
        block = _block(old[hunk[0] : hunk[1]]) if hunk[2] == hunk[3] else ()
        if block and added.get(block):
            pairs.append((hunk, added[block].pop(0)))
    return pairs


def _block(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines without the empty lines around them, and the number of all lines; () for empty
    lines alone, which nobody moves."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return (*lines[start:end], str(len(lines))) if end > start else ()


def places_of(pairs: Sequence[Pair]) -> list[Place]:
    """Return the old and the new lines of each pair."""
    return [((a[0] + 1, a[1]), (b[2] + 1, b[3])) for a, b in pairs]


def shifted(shown: Spans, hunks: Sequence[Hunk]) -> list[Place]:
    """Return the old and the new lines of each shown run that no hunk touches and that shifted."""
    places: list[Place] = []
    for old_first, old_last, shift in unchanged_runs(hunks):
        for first, last in shown if shift else ():
            low, high = max(first, old_first), int(min(last, old_last))
            if low <= high:
                places.append(((low, high), (low + shift, high + shift)))
    return places
