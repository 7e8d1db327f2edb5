"""Show where a text that was sent differs from the lines that stand in its place.

The refusal of an edit whose text was not found is of use only where it says which line differs. So a
refusal shows the differing lines, with their numbers and two lines around, the first one first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sightline.errors import fenced
from sightline.model.diff import diff
from sightline.model.nearest import squeeze
from sightline.model.spans import Hunk
from sightline.model.text import normal, split
from sightline.text import characters
from sightline.text.phrases import count, visible

AROUND = 2
"""Lines around a difference."""

ROWS = 32
"""Lines of a comparison at most."""

ROWS_OF_SHIFT = 10
"""Lines of a comparison at most where all differ by the same indentation."""

WIDTH = 240
"""Characters of a line at most; a longer one is shown around its first difference."""

LONG = 80
"""Characters of a line from which on the column of a difference is named."""

LEGEND = "Lines with - are your text, lines with + are the file"


class Row(Struct, frozen=True):
    """A line of a comparison. mark: "-", "+" or " "; number: of the line in the sent text, or in the
    file."""

    mark: str
    number: int
    text: str


def compared(sent: str, there: str, first: int) -> str:
    """Return the differences between a text that was sent and lines of a file, in words and as a
    comparison; "" for none. there: the lines; first: the number of the first."""
    mine, theirs = _lines(sent), _lines(there)
    hunks = _hunks(mine, theirs, is_part=not sent.endswith("\n"))
    if not hunks:
        return ""
    pairs = [(mine[a0], theirs[b0]) for a0, a1, b0, b1 in hunks if a1 - a0 == b1 - b0 == 1]
    shift = _shift(pairs) if len(pairs) == len(hunks) else ""
    kept, left = _cut([*_rows(mine, theirs, hunks, first)], ROWS_OF_SHIFT if shift else ROWS)
    width = max(len(str(row.number)) for row in kept)
    text = "".join(f"{row.mark} {row.number:>{width}}  {row.text}".rstrip() + "\n" for row in kept)
    if left:
        text += f"… {count(left, 'more line')} of yours and of the file\n"
    has_blanks = any(_is_space_only(*pair) for pair in pairs)
    blanks = "; · is a blank, → a tab" if has_blanks else ""
    where = _first_difference(mine, theirs, hunks[0], first)
    return f"{where}{shift}{LEGEND}{blanks}:\n{fenced(text)}"


def odd_characters(old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> str:
    """Return a sentence on the first line of a diff that differs from its old one by a character that is
    invisible, or looks like another; "" for none."""
    for a0, a1, b0, b1 in hunks:
        pairs = zip(old[a0:a1], new[b0:b1], strict=False)
        for number, (was, now) in enumerate(pairs, b0 + 1):
            found = characters.difference(was.rstrip("\n"), now.rstrip("\n"))
            if found is not None and any(characters.marks(was, now)):
                column, before, after = found
                return f"Line {number} has {after} at column {column} now, where it had {before}."
    return ""


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\n") for line in split(normal(text))]


def _hunks(mine: Sequence[str], theirs: Sequence[str], *, is_part: bool) -> list[Hunk]:
    """Return the differences in order. Lines that are alike but for white space stand for each other,
    each pair a hunk of its own; so do others where as many were sent as stand there."""
    given = [*mine]
    if len(mine) > 1 and mine[0].strip() and theirs[0].endswith(mine[0]):
        given[0] = theirs[0]  # the text began within the line
    if len(mine) > 1 and is_part and theirs[-1].startswith(mine[-1]):
        given[-1] = theirs[-1]
    rough = diff([*map(squeeze, given)], [*map(squeeze, theirs)])
    hunks: list[Hunk] = []
    at, b_at = 0, 0
    for a0, a1, b0, b1 in [*rough, (len(given), len(given), len(theirs), len(theirs))]:
        alike = zip(range(at, a0), range(b_at, b0), strict=True)
        hunks += [(a, a + 1, b, b + 1) for a, b in alike if given[a] != theirs[b]]
        if a1 - a0 == b1 - b0:
            hunks += [(a0 + n, a0 + n + 1, b0 + n, b0 + n + 1) for n in range(a1 - a0)]
        else:
            hunks.append((a0, a1, b0, b1))
        at, b_at = a1, b1
    return hunks


def _cut(rows: Sequence[Row], most: int) -> tuple[Sequence[Row], int]:
    """Return the first rows, no pair torn apart, and the number of differing ones that are left out."""
    if len(rows) <= most + 2:
        return rows, 0
    while rows[most].mark == "+" and rows[most - 1].mark == "-":
        most += 1
    return rows[:most], sum(row.mark != " " for row in rows[most:])


def _shift(pairs: Sequence[tuple[str, str]]) -> str:
    """Say that all differing lines differ by the same indentation; "" where they do not."""
    lacks: set[str] = set()
    extra: set[str] = set()
    for mine, theirs in pairs:
        if theirs.endswith(mine):
            lacks.add(theirs.removesuffix(mine))
        elif mine.endswith(theirs):
            extra.add(mine.removesuffix(theirs))
        else:
            return ""
    [indent, *others] = [*lacks, *extra] or [""]
    if others or len(pairs) <= 1 or indent.strip(" \t"):
        return ""
    signs = "tab" if set(indent) == {"\t"} else "blank"
    what = count(len(indent), signs) if len(set(indent)) == 1 else visible(indent)
    how = f"lacks {what}" if lacks else f"has {what} too many"
    return f"Each of the {len(pairs)} lines that differ {how} at its beginning. "


def _rows(
    mine: Sequence[str], theirs: Sequence[str], hunks: Sequence[Hunk], first: int
) -> Iterator[Row]:
    at = 0
    for n, (a0, a1, b0, b1) in enumerate(hunks):
        for line in range(max(at, b0 - AROUND), b0):
            yield _row(" ", first + line, theirs[line])
        if a1 - a0 == b1 - b0 == 1:
            yield from _pair(a0 + 1, mine[a0], first + b0, theirs[b0])
        else:
            yield from (_row("-", a + 1, mine[a]) for a in range(a0, a1))
            yield from (_row("+", first + b, theirs[b]) for b in range(b0, b1))
        ahead = hunks[n + 1][2] if n + 1 < len(hunks) else len(theirs)
        at = min(b1 + AROUND, ahead)
        for line in range(b1, at):
            yield _row(" ", first + line, theirs[line])


def _row(mark: str, number: int, text: str) -> Row:
    return Row(mark, number, _clipped(characters.shown(text), 0))


def _pair(my_number: int, mine: str, their_number: int, theirs: str) -> tuple[Row, Row]:
    drawn = (visible(mine), visible(theirs)) if _is_space_only(mine, theirs) else (mine, theirs)
    marks, at = characters.marks(mine, theirs), _column(mine, theirs)
    texts = [
        _clipped(characters.shown(text, own), at) for text, own in zip(drawn, marks, strict=True)
    ]
    return Row("-", my_number, texts[0]), Row("+", their_number, texts[1])


def _is_space_only(mine: str, theirs: str) -> bool:
    return squeeze(mine) == squeeze(theirs)


def _column(mine: str, theirs: str) -> int:
    """Return the index of the first character that differs between two lines."""
    pairs = enumerate(zip(mine, theirs, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(mine), len(theirs)))


def _clipped(text: str, at: int) -> str:
    """Return a line, or the part of a long one around an index."""
    if len(text) <= WIDTH:
        return text
    start = max(min(at - WIDTH // 3, len(text) - WIDTH), 0)
    end = start + WIDTH
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _first_difference(mine: Sequence[str], theirs: Sequence[str], hunk: Hunk, first: int) -> str:
    """Return a sentence on the first differing line, and on the character where that cannot be seen; ""
    where one line differs from one line, to be seen below."""
    a0, a1, b0, b1 = hunk
    if a0 == a1:
        return f"The first difference: your text lacks line {first + b0} of the file. "
    if b0 == b1:
        return f"The first difference: your line {a0 + 1} does not stand there. "
    where = f"The first difference: your line {a0 + 1}, line {first + b0} of the file"
    odd = characters.difference(mine[a0], theirs[b0])
    if odd is not None:
        column, sent, there = odd
        return f"{where}: at column {column} you sent {sent}, and there is {there}. "
    if len(theirs[b0]) >= LONG and a1 - a0 == b1 - b0 == 1:
        return f"{where}, from column {_column(mine[a0], theirs[b0]) + 1} on. "
    return "" if len(mine) == len(theirs) == 1 else f"{where}. "
