"""Take one change out of a text that others have changed since: a merge in reverse."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sightline.model.diff import diff
from sightline.model.merge import merge
from sightline.model.spans import Hunk, Spans, spans
from sightline.model.text import Text, decode


class ReverseMerge(Struct, frozen=True):
    """The result of taking a change out of a text. data: the bytes without the change; None where
    the change cannot be taken out. conflicts: the lines of the current text in which the change
    and others' changes meet; empty where the bytes are no text, or where an encoding, a byte order
    mark or line ends were changed."""

    data: bytes | None = None
    conflicts: Spans = ()


def take_out(after: bytes, before: bytes, now: bytes) -> ReverseMerge:
    """Take the change from `before` to `after` out of the current bytes."""
    base, ours, theirs = decode(after), decode(before), decode(now)
    if base is None or ours is None or theirs is None:
        return ReverseMerge()
    mine = diff(base.lines, ours.lines)
    if not _same_form(base, ours, mine):
        return ReverseMerge()
    merged = merge(base.lines, ours.lines, theirs.lines)
    while not merged.clean:
        fewer = _split_conflicts(mine, merged.conflicts)
        if fewer is None:
            met = ((t[2] + 1, max(t[3], t[2] + 1)) for _, t in merged.conflicts)
            return ReverseMerge(conflicts=spans(met))
        mine = fewer
        merged = merge(base.lines, ours.lines, theirs.lines, mine=mine)
    return ReverseMerge(_encode(theirs, list(merged.lines)))


def shares_lines(one: bytes, other: bytes) -> bool:
    """Return whether two texts have a line in common that is not blank. True as well where this
    cannot be decided: for binary data, and for a text of blank lines."""
    first, second = decode(one), decode(other)
    if first is None or second is None:
        return True
    lines, others = [{line.strip() for line in text.lines} - {""} for text in (first, second)]
    return not lines or not lines.isdisjoint(others)


def _encode(theirs: Text, lines: list[str]) -> bytes | None:
    """Return the bytes of a file with these lines; None when they would not decode to the same
    lines again."""
    plain = "".join(lines)
    try:
        data = theirs.encode(plain, diff(theirs.lines, lines))
    except UnicodeEncodeError:
        return None
    decoded = decode(data)
    return data if decoded is not None and decoded.plain == plain else None


def _same_form(base: Text, ours: Text, mine: Sequence[Hunk]) -> bool:
    """Return whether two texts have the same encoding, byte order mark and, in the lines that they
    share, the same line ends."""
    if (base.encoding, base.bom) != (ours.encoding, ours.bom):
        return False
    ends, our_ends = _crlf_lines(base), _crlf_lines(ours)
    a = b = 0
    for a0, a1, b0, b1 in mine:
        if ends[a:a0] != our_ends[b:b0]:
            return False
        a, b = a1, b1
    return ends[a:] == our_ends[b:]


def _crlf_lines(text: Text) -> list[bool]:
    """Return for each line that has a line end whether the end is CRLF."""
    if isinstance(text.crlf, tuple):
        return list(text.crlf)
    return [text.crlf] * text.plain.count("\n")


def _split_conflicts(
    mine: Sequence[Hunk], conflicts: Sequence[tuple[Hunk, Hunk]]
) -> list[Hunk] | None:
    """Split conflicting hunks into smaller ones. Drop hunks that others have overwritten completely:
    no line of such a hunk is left. Return None where no hunk can be split further."""
    smaller: list[Hunk] = []
    for hunk in mine:
        against = [theirs for ours, theirs in conflicts if ours == hunk]
        if not against:
            smaller.append(hunk)
        elif not any(_covers(theirs, hunk) for theirs in against):
            pieces = _split_by_line(hunk, only_insertions=all(t[0] == t[1] for t in against))
            if len(pieces) < 2:
                return None
            smaller += pieces
    return smaller


def _covers(outer: Hunk, inner: Hunk) -> bool:
    return inner[0] < inner[1] and outer[0] <= inner[0] and inner[1] <= outer[1]


def _split_by_line(hunk: Hunk, *, only_insertions: bool) -> list[Hunk]:
    """Split a hunk that replaces lines one by one, or that deletes lines between which others only
    inserted lines."""
    a0, a1, b0, b1 = hunk
    if a1 - a0 == b1 - b0:
        return [(a0 + n, a0 + n + 1, b0 + n, b0 + n + 1) for n in range(a1 - a0)]
    if b0 == b1 and only_insertions:
        return [(a, a + 1, b0, b0) for a in range(a0, a1)]
    return [hunk]
