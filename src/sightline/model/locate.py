"""Find where a text, a block of lines or an edit stands, and build the text after the edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from msgspec import Struct, structs

from sightline.model.attempts import Replace
from sightline.model.diff import diff
from sightline.model.patches import PatchHunk
from sightline.model.spans import Hunk, Spans, spans
from sightline.model.text import (
    ManyLines,
    Text,
    indentation,
    joined,
    lines_at,
    lines_in,
    normal,
    split,
)

Edit = tuple[int, int, list[str]]
"""Lines [start, end) become the listed lines."""


class Occurrences(Struct, frozen=True):
    """Every place of one text in another. offsets: of the first characters, not overlapping;
    starts: the 1-based line of each; lines: all lines that the places touch."""

    offsets: list[int]
    starts: list[int]
    lines: Spans


def find_text(plain: str, wanted: str) -> Occurrences:
    """Return the places of `wanted` in a text; none for an empty one."""
    offsets = offsets_of(plain, wanted)
    inner = wanted.removesuffix("\n").count("\n")
    starts = lines_at(plain, offsets)
    return Occurrences(offsets, starts, spans((line, line + inner) for line in starts))


def find_replacement(plain: str, attempt: Replace) -> tuple[str, str, Occurrences]:
    """Return an attempt's old and new text with every line end one newline, as in `plain`, and the
    places of the old text."""
    old = normal(attempt.old)
    return old, normal(attempt.new), find_text(plain, old)


def offsets_of(plain: str, wanted: str) -> list[int]:
    """Return the offsets of every occurrence, not overlapping."""
    offsets: list[int] = []
    at = plain.find(wanted) if wanted else -1
    while at >= 0:
        offsets.append(at)
        at = plain.find(wanted, at + len(wanted))
    return offsets


def replace_text(
    text: Text, old: str, new: str, offsets: Sequence[int]
) -> tuple[str, bytes | None]:
    """Return a file's text with `new` in place of `old` at these offsets, and its bytes; None for
    the bytes when the file's encoding cannot hold them."""
    plain = replaced(text.plain, old, new, offsets)
    return plain, text.fit(plain, ends_replaced(text.plain, old, new, offsets))


def replaced(plain: str, old: str, new: str, offsets: Sequence[int]) -> str:
    """Return the text with `new` in place of `old` at these offsets."""
    parts: list[str] = []
    at = 0
    for offset in offsets:
        parts += (plain[at:offset], new)
        at = offset + len(old)
    return "".join([*parts, plain[at:]])


def written_lines(plain: str, offsets: Sequence[int], old: str, new: str) -> Spans:
    """Return the lines of the edited text that `new` fills from their first to their last
    character."""
    starts = [offset + n * (len(new) - len(old)) for n, offset in enumerate(offsets)]
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


def line_edits(plain: str, old: str, new: str, offsets: Sequence[int]) -> list[Edit]:
    """Return a replacement at these offsets, which are in order, as edits of the whole lines that
    it touches."""
    groups: list[tuple[int, int, int, int, list[int]]] = []
    lines = zip(lines_at(plain, offsets), offsets, strict=True)
    for line, offset in lines:
        first, end = line - 1, offset + len(old)
        start = plain.rfind("\n", 0, offset) + 1
        last = first + plain.count("\n", start, end)
        whole = new.endswith("\n") or (not new and start == offset)
        if plain[end - 1] != "\n" or (end < len(plain) and not whole):
            end = plain.find("\n", end) + 1 or len(plain)  # the rest of the line, or the next line
            last += 1
        if groups and first < groups[-1][1]:
            first, _, start, _, inside = groups.pop()
            groups.append((first, last, start, end, [*inside, offset]))
        else:
            groups.append((first, last, start, end, [offset]))
    edits: list[Edit] = []
    for first, last, start, end, inside in groups:
        part = replaced(plain[start:end], old, new, [offset - start for offset in inside])
        edits.append((first, last, split(part)))
    return edits


def is_ended(lines: Sequence[str]) -> bool:
    """Return whether each line but the last has its newline."""
    if isinstance(lines, ManyLines):
        return True
    return all(line.endswith("\n") for line in islice(lines, len(lines) - 1 if lines else 0))


def ended(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines with a newline added to each but the last, where one is missing."""
    if is_ended(lines):
        return lines
    return [line if line.endswith("\n") else f"{line}\n" for line in lines[:-1]] + [*lines[-1:]]


def applied(lines: Sequence[str], edits: Sequence[Edit]) -> Sequence[str]:
    """Return the lines after these edits, which do not overlap."""
    parts: list[Sequence[str]] = []
    at = 0
    for start, end, put in sorted(edits, key=lambda edit: edit[:2]):
        parts += (lines[at:start], put)
        at = end
    parts = [part for part in (*parts, lines[at:]) if part]
    bounds = [part[-1] for part in parts]
    if isinstance(lines, ManyLines) and is_ended(bounds) and all(map(is_ended, parts)):
        return lines_in("".join(map(joined, parts)))
    return [*chain.from_iterable(parts)]


def old_spans(edits: Sequence[Edit]) -> Spans:
    """Return the lines that these edits replace, 1-based."""
    return spans((start + 1, end) for start, end, _ in edits)


def hunks_of(edits: Sequence[Edit]) -> list[Hunk]:
    """Return edits, which are in order, as hunks."""
    hunks: list[Hunk] = []
    shift = 0
    for start, end, put in edits:
        hunks.append((start, end, start + shift, start + shift + len(put)))
        shift += len(put) - (end - start)
    return hunks


def ends_replaced(plain: str, old: str, new: str, offsets: Sequence[int]) -> list[Hunk]:
    """Return a replacement at these offsets as hunks of line ends (see model.text.Text.encode)."""
    removed, added = old.count("\n"), new.count("\n")
    hunks: list[Hunk] = []
    ends = at = 0
    for n, offset in enumerate(offsets):
        ends += plain.count("\n", at, offset)
        at = offset
        start = ends + n * (added - removed)
        hunks.append((ends, ends + removed, start, start + added))
    return hunks


class Unplaced(Struct, frozen=True):
    """A hunk that has no place of its own. number: of the hunk, from 0 on; places: 0-based indexes at
    which its old block stands, in a part of the file that fits its anchors; anchor: one that stands
    nowhere, "" for none."""

    number: int
    places: tuple[int, ...] = ()
    anchor: str = ""


def place_hunks(hunks: Sequence[PatchHunk], lines: Sequence[str]) -> list[Edit] | Unplaced:
    """Return the hunks of a patch as edits of these lines, in order; or the first that has no place.

    A hunk's old block is expected at its line number, shifted as the hunk before it was. It may
    stand elsewhere when it stands there only. A hunk with anchors stands below them: once in the
    block of the last one, or once below it.
    """
    edits: list[Edit] = []
    drift = floor = 0
    for number, given in enumerate(hunks):
        start = None if given.start is None else given.start - bool(given.old)
        expected = None if start is None or given.anchors or given.at_end else start + drift
        starts = _below(given.anchors, lines)
        if isinstance(starts, str):
            return Unplaced(number, anchor=starts)
        forms = dict.fromkeys((given, _unended(given, lines)))
        found = [
            (at, hunk) for hunk in forms if (at := expected) is not None and _is_at(hunk, at, lines)
        ]
        if not found:
            found = [(at, hunk) for hunk in forms for at in _places(hunk, lines, floor, starts)]
        if len(found) != 1 or found[0][0] < floor:
            return Unplaced(number, tuple(at for at, _ in found) if len(found) > 1 else ())
        [(at, hunk)] = found
        drift = drift if start is None else at - start
        floor = at + len(hunk.old)
        edits += _own_edits(hunk, at, lines)
    return edits


def _own_edits(hunk: PatchHunk, at: int, lines: Sequence[str]) -> Iterator[Edit]:
    """Yield a hunk's own changes, without its context lines."""
    for a0, a1, b0, b1 in diff(hunk.old, hunk.new):
        start, end, put = at + a0, at + a1, list(hunk.new[b0:b1])
        if start == len(lines) and lines and not lines[-1].endswith("\n"):
            start, put = start - 1, [f"{lines[-1]}\n", *put]  # behind a line without a newline
            put[-1] = _without_newline(put[-1])
        yield start, end, put


def _unended(hunk: PatchHunk, lines: Sequence[str]) -> PatchHunk:
    """Return a hunk without the newline that the last line of the file lacks, too. Patches forget
    its marker."""
    if not hunk.old or not lines or hunk.old[-1] != f"{lines[-1]}\n":
        return hunk
    old = (*hunk.old[:-1], lines[-1])
    kept = diff(hunk.old, hunk.new)[-1:]
    if not hunk.new or any(a1 == len(hunk.old) and b0 == b1 for _, a1, b0, b1 in kept):
        return structs.replace(
            hunk, old=old
        )  # the last line goes; the one above it has its newline
    new = (*hunk.new[:-1], _without_newline(hunk.new[-1]))
    return structs.replace(hunk, old=old, new=new)


def _without_newline(line: str) -> str:
    """Return a last line without its newline; a blank one would be none without it."""
    return line if line == "\n" else line.removesuffix("\n")


def _below(anchors: Sequence[str], lines: Sequence[str]) -> list[int] | str:
    """Return the indexes below a hunk's anchors, [0] for no anchors; an anchor that stands nowhere."""
    starts = [0]
    for number, anchor in enumerate(anchors):
        below = [at + 1 for at, line in enumerate(lines) if line.strip() == anchor]
        if number:
            nexts = (next((at for at in below if at > start), None) for start in starts)
            below = sorted({at for at in nexts if at is not None})
        if not below:
            return anchor
        starts = below
    return starts


def _is_at(hunk: PatchHunk, at: int, lines: Sequence[str]) -> bool:
    block = list(hunk.old)
    return 0 <= at <= len(lines) and list(lines[at : at + len(block)]) == block


def _places(hunk: PatchHunk, lines: Sequence[str], floor: int, starts: Sequence[int]) -> list[int]:
    """Return the places of a hunk: all from `floor` on, those in the block of each of its anchors (of
    none there, all below it), or the end of the file. starts: of `_below`."""
    if hunk.at_end:
        last = len(lines) - len(hunk.old)
        return [last] if last >= starts[0] and _is_at(hunk, last, lines) else []
    if not hunk.old:
        return [*starts] if hunk.anchors or not lines else []
    places = [at for at in block_places(hunk.old, lines) if at >= floor]
    if not hunk.anchors:
        return places
    if not any(map(str.strip, hunk.old)):  # blank lines stand in any block
        return [at for at in places if at >= starts[0]]
    for above in (0, 1):  # some repeat the anchor as the first line of the block
        found = {at for start in starts for at in _belonging(places, start, start - above, lines)}
        if found:
            return sorted(found)
    return []


def _belonging(places: Sequence[int], start: int, least: int, lines: Sequence[str]) -> list[int]:
    """Return the places from `least` on in the block of the line above `start`; without such a place all
    from `least` on."""
    below = [at for at in places if at >= least]
    end = _block_end(lines, start - 1) if below else 0
    return [at for at in below if at < end] or below


def _block_end(lines: Sequence[str], head: int) -> int:
    """Return the index behind the block below a line, which is indented deeper; behind the block around
    the line where none is below it. Lines that only close brackets end no block."""
    own = indentation(lines[head])
    inner = next((indentation(line) for line in lines[head + 1 :] if line.strip()), 0)
    outer = own if inner > own else own - 1
    return next(
        (
            at
            for at in range(head + 1, len(lines))
            if (text := lines[at].strip())
            and indentation(lines[at]) <= outer
            and text[0] not in ")]}"
        ),
        len(lines),
    )


def block_places(block: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Return every index where a block of lines begins; none for an empty block."""
    size = len(block)
    if not size:
        return []
    wanted, every = list(block), list(lines)
    return [
        at for at, line in enumerate(every) if line == wanted[0] and every[at : at + size] == wanted
    ]


def shifted(edit: Edit, theirs: Sequence[Hunk]) -> Edit:
    """Return an edit at its place in the disk's text. No hunk of `theirs` collides with it."""
    start, end, put = edit
    shift = sum((b1 - b0) - (a1 - a0) for a0, a1, b0, b1 in theirs if a1 <= start)
    return start + shift, end + shift, put
