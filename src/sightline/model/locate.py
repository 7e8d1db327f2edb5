"""Find where a text, a block of lines or an edit stands, and build the text after the edit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

from msgspec import Struct

from sightline.model.attempts import PatchHunk, Replace
from sightline.model.diff import diff
from sightline.model.spans import Hunk, Spans, spans
from sightline.model.text import ManyLines, Text, joined, lines_at, lines_in, normal, split

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


def located(hunks: Sequence[PatchHunk], lines: Sequence[str]) -> list[Edit] | None:
    """Return the hunks of a patch as edits of these lines; None when a hunk has no place.

    A hunk's old block is expected at its line number, shifted as the hunk before it was. It may
    stand elsewhere when it stands there only.
    """
    edits: list[Edit] = []
    drift = floor = 0
    for hunk in hunks:
        expected = hunk.start - 1 + drift if hunk.old else hunk.start + drift
        at = _place(hunk.old, lines, expected)
        if at is None or at < floor:
            return None
        drift += at - expected
        floor = at + len(hunk.old)
        edits += [  # the hunk's own changes, without its context lines
            (at + a0, at + a1, list(hunk.new[b0:b1])) for a0, a1, b0, b1 in diff(hunk.old, hunk.new)
        ]
    return edits


def _place(block: Sequence[str], lines: Sequence[str], expected: int) -> int | None:
    if not block:
        return expected if 0 <= expected <= len(lines) else None
    if expected >= 0 and list(lines[expected : expected + len(block)]) == list(block):
        return expected
    places = block_places(block, lines)
    return places[0] if len(places) == 1 else None


def block_places(block: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Return every index at which these lines stand; none for no lines."""
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
