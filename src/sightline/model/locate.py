"""Where a text, a block or an edit stands among lines, and what the lines become."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from sightline.model.attempts import PatchHunk
from sightline.model.diff import diff
from sightline.model.spans import Hunk, Spans, spans
from sightline.model.text import lines_at, split

Edit = tuple[int, int, list[str]]  # lines [start, end) become these


def places_of(plain: str, old: str) -> list[int]:
    """Offsets of every occurrence, not overlapping."""
    places: list[int] = []
    at = plain.find(old) if old else -1
    while at >= 0:
        places.append(at)
        at = plain.find(old, at + len(old))
    return places


def replaced(plain: str, old: str, new: str, places: list[int]) -> str:
    """The text with `new` instead of `old` at these offsets."""
    out: list[str] = []
    at = 0
    for place in places:
        out += (plain[at:place], new)
        at = place + len(old)
    return "".join([*out, plain[at:]])


def lines_of(plain: str, places: list[int], text: str) -> Spans:
    """Lines that the occurrences of a text at these offsets touch."""
    inner = text.removesuffix("\n").count("\n")
    return spans((line, line + inner) for line in lines_at(plain, places))


def written_lines(plain: str, places: list[int], old: str, new: str) -> Spans:
    """Lines of the edited text that the new text fills from their first to their last letter."""
    starts = [place + n * (len(new) - len(old)) for n, place in enumerate(places)]
    ends = [start + len(new) for start in starts]
    firsts = [
        line + (start > 0 and plain[start - 1] != "\n")
        for line, start in zip(lines_at(plain, starts), starts, strict=True)
    ]
    lasts = [
        line - (end < len(plain) or plain[-1:] in ("", "\n"))
        for line, end in zip(lines_at(plain, ends), ends, strict=True)
    ]
    return spans(zip(firsts, lasts, strict=True))


def line_edits(
    plain: str, lines: Sequence[str], old: str, new: str, places: Sequence[int]
) -> list[Edit]:
    """Replacing a text at these offsets, as edits of the whole lines that it touches."""
    starts = [0, *accumulate(map(len, lines))]
    groups: list[tuple[int, int, list[int]]] = []
    for place in places:
        first, end = bisect_right(starts, place) - 1, place + len(old)
        last = bisect_left(starts, end)
        whole = new.endswith("\n") or (not new and starts[first] == place)
        if starts[last] == end and last < len(lines) and not whole:
            last += 1  # the line behind is joined on
        if groups and first < groups[-1][1]:
            first, _, inside = groups.pop()
            inside.append(place)
            groups.append((first, last, inside))
        else:
            groups.append((first, last, [place]))
    return [
        (first, last, split(_replaced_in(plain, starts[first], starts[last], old, new, inside)))
        for first, last, inside in groups
    ]


def _replaced_in(plain: str, start: int, end: int, old: str, new: str, places: list[int]) -> str:
    return replaced(plain[start:end], old, new, [place - start for place in places])


def ended(lines: Sequence[str]) -> list[str]:
    """Lines of which only the last may lack its newline."""
    return [line if line.endswith("\n") else f"{line}\n" for line in lines[:-1]] + [*lines[-1:]]


def applied(lines: Sequence[str], edits: Sequence[Edit]) -> list[str]:
    """The lines once these edits, which do not overlap, are made."""
    out: list[str] = []
    at = 0
    for start, end, put in sorted(edits, key=lambda edit: edit[:2]):
        out += lines[at:start]
        out += put
        at = end
    return [*out, *lines[at:]]


def old_spans(edits: Sequence[Edit]) -> Spans:
    """The lines that these edits replace, 1-based."""
    return spans((start + 1, end) for start, end, _ in edits)


def hunks_of(edits: Sequence[Edit]) -> list[Hunk]:
    """Edits in order, as the hunks they make."""
    found: list[Hunk] = []
    shift = 0
    for start, end, put in edits:
        found.append((start, end, start + shift, start + shift + len(put)))
        shift += len(put) - (end - start)
    return found


def ends_replaced(plain: str, old: str, new: str, places: Sequence[int]) -> list[Hunk]:
    """Replacing a text at these offsets, as hunks of line ends (model.text.Text.encode)."""
    gone, come = old.count("\n"), new.count("\n")
    found: list[Hunk] = []
    ends = at = 0
    for n, place in enumerate(places):
        ends += plain.count("\n", at, place)
        at = place
        shifted_by = n * (come - gone)
        found.append((ends, ends + gone, ends + shifted_by, ends + shifted_by + come))
    return found


def located(hunks: Sequence[PatchHunk], lines: Sequence[str]) -> list[Edit] | None:
    """Where each hunk's old block stands: at its line number, shifted as the hunk before it was,
    else at the only place it occurs; None when one has no such place."""
    edits: list[Edit] = []
    drift = floor = 0
    for hunk in hunks:
        expected = hunk.start - 1 + drift if hunk.old else hunk.start + drift
        at = _place(hunk.old, lines, expected)
        if at is None or at < floor:
            return None
        drift += at - expected
        floor = at + len(hunk.old)
        edits += _minimal(at, hunk)
    return edits


def _place(block: Sequence[str], lines: Sequence[str], expected: int) -> int | None:
    if not block:
        return expected if 0 <= expected <= len(lines) else None
    if expected >= 0 and list(lines[expected : expected + len(block)]) == list(block):
        return expected
    places = block_places(block, lines)
    return places[0] if len(places) == 1 else None


def block_places(block: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Every index at which these lines stand; none for no lines."""
    size = len(block)
    if not size:
        return []
    wanted = list(block)
    return [
        at
        for at, line in enumerate(lines)
        if line == wanted[0] and list(lines[at : at + size]) == wanted
    ]


def _minimal(at: int, hunk: PatchHunk) -> list[Edit]:
    """A hunk's own changes without its context lines."""
    return [
        (at + a0, at + a1, list(hunk.new[b0:b1])) for a0, a1, b0, b1 in diff(hunk.old, hunk.new)
    ]


def shifted(edit: Edit, theirs: Sequence[Hunk]) -> Edit:
    """An edit's place in the disk's text, when no hunk of theirs collides with it."""
    start, end, put = edit
    shift = sum((b1 - b0) - (a1 - a0) for a0, a1, b0, b1 in theirs if _before((a0, a1), edit))
    return start + shift, end + shift, put


def _before(hunk: tuple[int, int], edit: Edit) -> bool:
    return hunk[1] <= edit[0]
