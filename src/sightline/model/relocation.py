"""Lines that stand elsewhere now: blocks that were taken from one place and put to another, and
lines that others' lines above them have shifted."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.model.spans import Hunk, Span, Spans, kept

Pair = tuple[Hunk, Hunk]
Place = tuple[Span, Span]


def moved_blocks(old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> list[Pair]:
    """Pairs of hunks of diff(old, new): one that only takes lines away, and one that only puts
    the very same lines elsewhere. Where their empty lines stand, before or behind, is all one."""
    there: dict[tuple[str, ...], list[Hunk]] = {}
    for hunk in hunks:
        if hunk[0] == hunk[1]:
            there.setdefault(_block(new[hunk[2] : hunk[3]]), []).append(hunk)
    pairs: list[Pair] = []
    for hunk in hunks:
        block = _block(old[hunk[0] : hunk[1]]) if hunk[2] == hunk[3] else ()
        if block and there.get(block):
            pairs.append((hunk, there[block].pop(0)))
    return pairs


def _block(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines without the empty ones around them, and how many there were in all; () for nothing
    but empty lines, which are moved by nobody."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return (*lines[start:end], str(len(lines))) if end > start else ()


def places_of(pairs: Sequence[Pair]) -> list[Place]:
    """Where the lines of each pair stood, and where they stand now."""
    return [((a[0] + 1, a[1]), (b[2] + 1, b[3])) for a, b in pairs]


def shifted(shown: Spans, hunks: Sequence[Hunk]) -> list[Place]:
    """Runs of shown lines that no hunk touches and that have another number now."""
    found: list[Place] = []
    for old_first, old_last, shift in kept(hunks):
        for first, last in shown if shift else ():
            low, high = max(first, old_first), int(min(last, old_last))
            if low <= high:
                found.append(((low, high), (low + shift, high + shift)))
    return found
