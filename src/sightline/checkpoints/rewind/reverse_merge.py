"""Taking one change out of a text that others have changed since: a merge in reverse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sightline.model.diff import diff
from sightline.model.merge import merge
from sightline.model.spans import Hunk, Spans, spans
from sightline.model.text import Text, decode


class Kept(Struct, frozen=True):
    """A text without the change. lines: of what stands there now, that others wrote over the
    change's own, and that stay."""

    data: bytes
    lines: Spans = ()


def take_out(after: bytes, before: bytes, now: bytes) -> Kept | Spans | None:
    """What stands there now without the change before→after. Else the lines of it in which
    others' changes and this one cannot be told apart, or None where the letters do not say: they
    are no text, or its encoding, BOM or line ends were changed."""
    base, ours, theirs = decode(after), decode(before), decode(now)
    if base is None or ours is None or theirs is None:
        return None
    mine, other = diff(base.lines, ours.lines), diff(base.lines, theirs.lines)
    if not _same_form(base, ours, mine):
        return None
    written_over: list[Hunk] = []
    while True:
        merged = merge(base.lines, ours.lines, theirs.lines, mine=mine, other=other)
        if merged.clean:
            break
        fewer = _apart(mine, merged.conflicts)
        if fewer is None:
            return _lines(t for _, t in merged.conflicts)
        gone = {h[:2] for h in mine} - {piece[:2] for piece in fewer}
        written_over += [t for h, t in merged.conflicts if h[:2] in gone and _covers(t, h)]
        mine = fewer
    data = _encoded(theirs, list(merged.lines))
    return None if data is None else Kept(data, _lines(written_over))


def shares_lines(one: bytes, other: bytes) -> bool:
    """Whether any line of one text, but for blank ones, stands in the other, or may: they are no
    text, or there is no line to tell by."""
    texts = decode(one), decode(other)
    if texts[0] is None or texts[1] is None:
        return True
    lines, others = [{line.strip() for line in each.lines} - {""} for each in texts if each]
    return not lines or not lines.isdisjoint(others)


def _encoded(theirs: Text, lines: list[str]) -> bytes | None:
    """The bytes of a file with these lines; None when they could not be read back as them."""
    plain = "".join(lines)
    try:
        data = theirs.encode(plain, diff(theirs.lines, lines))
    except UnicodeEncodeError:
        return None
    again = decode(data)
    return data if again is not None and again.plain == plain else None


def _lines(hunks: Iterable[Hunk]) -> Spans:
    """The lines that hunks made, or the one before which they took some away."""
    return spans((t[2] + 1, max(t[3], t[2] + 1)) for t in hunks)


def _same_form(base: Text, ours: Text, mine: Sequence[Hunk]) -> bool:
    """Whether two texts are the same beside their letters, in the lines that they share."""
    if (base.encoding, base.bom) != (ours.encoding, ours.bom):
        return False
    one, other = _ends(base), _ends(ours)
    a = b = 0
    for a0, a1, b0, b1 in mine:
        if one[a:a0] != other[b:b0]:
            return False
        a, b = a1, b1
    return one[a:] == other[b:]


def _ends(text: Text) -> list[bool]:
    """Of each line that has an end, whether it is a CRLF."""
    if isinstance(text.crlf, tuple):
        return list(text.crlf)
    return [text.crlf] * text.plain.count("\n")


def _covers(one: Hunk, other: Hunk) -> bool:
    return other[0] < other[1] and one[0] <= other[0] and other[1] <= one[1]


def _apart(mine: Sequence[Hunk], conflicts: Sequence[tuple[Hunk, Hunk]]) -> list[Hunk] | None:
    """The change in smaller pieces, without those whose lines others have all written over: of
    these nothing stands there any more. None where that leads no further."""
    left: list[Hunk] = []
    for hunk in mine:
        against = [t for h, t in conflicts if h == hunk]
        if not against:
            left.append(hunk)
            continue
        if any(_covers(t, hunk) for t in against):
            continue
        pieces = _pieces(hunk, inserted=all(t[0] == t[1] for t in against))
        if len(pieces) < 2:
            return None
        left += pieces
    return left


def _pieces(hunk: Hunk, *, inserted: bool) -> list[Hunk]:
    """Line by line: where one line stands for one, or where all go and others only put lines
    between them."""
    a0, a1, b0, b1 = hunk
    if a1 - a0 == b1 - b0:
        return [(a0 + n, a0 + n + 1, b0 + n, b0 + n + 1) for n in range(a1 - a0)]
    if b0 == b1 and inserted:
        return [(a, a + 1, b0, b0) for a in range(a0, a1)]
    return [hunk]
