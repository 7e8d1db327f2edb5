"""How many slips of the fingers lie between two words."""

from __future__ import annotations


def slips_allowed(length: int) -> int:
    """Slips after which a word of this length is still itself: two in "config", none in "io"."""
    if length < 3:
        return 0
    return 1 if length < 6 else 2 if length < 14 else 3


def slips(one: str, other: str, most: int) -> int:
    """Letters put in, left out, changed or swapped with their neighbour between two words; any
    number above `most` means more than that. The time is `most` times the length."""
    if one == other:
        return 0
    if abs(len(one) - len(other)) > most or len(set(one) ^ set(other)) > 2 * most:
        return most + 1
    one, other = _apart(one, other)
    if not one or not other:
        return len(one) + len(other)
    return _banded(one, other, most)


def _apart(one: str, other: str) -> tuple[str, str]:
    """Both without the beginning and the end that they share."""
    start, shorter = 0, min(len(one), len(other))
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]


def _banded(one: str, other: str, most: int) -> int:
    """The table of edit distances, in the band that at most `most` slips can reach."""
    far, width = most + 1, len(other)
    before: list[int] = []
    row = [column if column <= most else far for column in range(width + 1)]
    for line, letter in enumerate(one, 1):
        earlier, before = before, row
        row = [far] * (width + 1)
        row[0] = min(line, far)
        for column in range(max(1, line - most), min(width, line + most) + 1):
            best = before[column - 1] + (letter != other[column - 1])
            best = min(best, before[column] + 1, row[column - 1] + 1)
            if (
                line > 1 < column
                and letter == other[column - 2]
                and one[line - 2] == other[column - 1]
            ):
                best = min(best, earlier[column - 2] + 1)
            row[column] = best
        if min(row) > most:
            return far
    return row[width]
