"""Recognise a write by content: whether it stands in a file, whole, half, or under a later save."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.model.diff import diff
from sightline.model.text import decode


def is_half_written(old: bytes, new: bytes, now: bytes) -> bool:
    """Return whether a file that held `old` was left in the middle of being overwritten with `new`,
    or in the middle of being set back: some first bytes of old, then some of new, then the rest of
    old, each at its place."""
    if now in (old, new):
        return False
    first = _agreeing(old, now, 0)
    second = _agreeing(new, now, first)
    return now[second:] == old[second:]


def _agreeing(wanted: bytes, now: bytes, start: int) -> int:
    """Return the end of the equal bytes of two texts from `start`."""
    low, high = start, min(len(wanted), len(now))
    if high <= low:
        return start
    while low < high:
        middle = (low + high + 1) // 2
        if wanted[low:middle] == now[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def still_holds(before: bytes, after: bytes, now: bytes) -> bool:
    """Return whether a later text still has every change of a write: all lines that the write left, and
    at its place none that the write removed."""
    old, new, saved = decode(before), decode(after), decode(now)
    if old is None or new is None or saved is None:
        return now == after
    later = diff(new.lines, saved.lines)
    for a0, a1, b0, b1 in diff(old.lines, new.lines):
        for c0, c1, d0, d1 in later:
            if c0 < b1 and b0 < c1:
                return False
            if b0 < c0 == c1 < b1:  # inserted in the middle of what the write left
                return False
            if b0 == b1 and c0 <= b0 <= c1 and _has(saved.lines[d0:d1], old.lines[a0:a1]):
                return False
    return True


def _has(lines: Sequence[str], part: Sequence[str]) -> bool:
    size = len(part)
    return any(lines[at : at + size] == part for at in range(len(lines) - size + 1))
