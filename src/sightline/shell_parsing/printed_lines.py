"""Find the lines of files that a command's output contains. Only those lines were shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from operator import contains
from re import escape, fullmatch, match, search

from msgspec import structs

from sightline.model.diff import diff
from sightline.model.spans import Spans, spans, unchanged_runs, union
from sightline.shell_parsing.file_effects import LEFT, RIGHT, Reading

NUMBERED = r"[ \t]*(\d{1,9})([^\d].*)"
HUNK = r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@"

RULE = r"(={2,}|-{2,}|#+ |\*{2,}|>{2,}).*"
"""What scripts print between two files."""

SHIFTS_MAX = 50
"""Rows above two columns."""

SIGNS = ("\t", ":", "-", " ", "|", ": ", "| ", " | ", "\u2502 ", " \u2502 ", "\u2192", ") ", ". ")
"""What programs print between a line's number and the line."""

BLAMED = r"\^?[0-9a-f]{7,40} (?:.*? \d\d:\d\d:\d\d [+-]\d{4} )? *(\d{1,9})\) ?(.*)"
"""A row of git blame, with an author and a date or without (-s)."""

HITS = (r"(.+?):(\d{1,9}):(.*)", r"(.+?)-(\d{1,9})-(.*)")
"""A matching line and a line around it, as grep -n and rg -n print them."""

HITS_MAX = 5_000

RUN_MIN = 5
"""Lines from which on a part of a file counts as printed where no known program printed it."""


def printed_spans(
    reading: Reading, lines: Sequence[str], output: str, start: int = 0, *, is_open: bool = False
) -> tuple[Spans, int]:
    """Return the lines of a file that an output contains from an offset on, and the offset of their
    end. lines: of the file, without newlines; is_open: its last line has no newline, so that the
    next output follows on the same row. output: without carriage returns."""
    if reading.form in (LEFT, RIGHT):
        return _in_column(lines, output[start:].split("\n"), reading.form), start
    wanted = reading.lines(len(lines))
    if reading.form:
        lines = as_printed(reading.form, lines, is_open=is_open)
        plain = as_printed_plain(reading.form, output)
        if plain != output:
            return printed_spans(structs.replace(reading, form=""), lines, plain, is_open=is_open)[
                0
            ], start
    if reading.numbered:
        return _by_number(lines, wanted, output, start, is_open=is_open)
    if not reading.some and wanted:
        exact = _in_one_piece(lines, wanted, output, start, is_open=is_open)
        if exact is not None:
            return exact
    return _by_text(lines, wanted, output[start:]), start


def as_printed(form: str, lines: Sequence[str], *, is_open: bool) -> list[str]:
    """Return the rows that a program prints for these lines. form: v, T and E show control characters,
    tabs and ends of lines as cat does; l shows all three as sed does; b numbers lines with text."""
    rows = list(lines)
    if "v" in form:
        rows = [_visible(row) for row in rows]
    if "T" in form:
        rows = [row.replace("\t", "^I") for row in rows]
    if "l" in form:
        rows = [_escaped(row) for row in rows]
    if "b" in form:
        numbers = count(1)
        rows = [f"{next(numbers)}\t{row}" if row else row for row in rows]
    if set(form) & {"E", "l"}:
        rows = [f"{row}$" for row in rows]
        if is_open and "E" in form:
            rows[-1:] = [row.removesuffix("$") for row in rows[-1:]]
    return rows


def as_printed_plain(form: str, output: str) -> str:
    """Return an output of a form without what depends on the file's line ends, on the width of a row, and on
    the width of a number."""
    if "E" in form:
        output = output.replace("^M$\n", "$\n")
    if "l" in form:
        output = output.replace("\\\n", "")
    return re.sub(r"(?m)^ +", "", output) if "b" in form else output


def _visible(line: str) -> str:
    """Return a line as cat -v prints it: tabs stay."""
    shown = ""
    for byte in line.encode("utf-8", "surrogatepass"):
        low = byte & 0x7F
        sign = "^?" if low == 0x7F else f"^{chr(low + 64)}" if low < 32 else chr(low)
        shown += "\t" if byte == 9 else f"M-{sign}" if byte > 0x7F else sign
    return shown


def _escaped(line: str) -> str:
    """Return a line as sed's l prints it, without its end."""
    named = {9: "\\t", 92: "\\\\", 7: "\\a", 8: "\\b", 12: "\\f", 13: "\\r", 11: "\\v"}
    codes = line.encode("utf-8", "surrogatepass")
    return "".join([named.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in codes])


def _by_number(
    lines: Sequence[str], wanted: Sequence[int], output: str, start: int, *, is_open: bool
) -> tuple[Spans, int]:
    """Find rows with the numbers of the lines. Behind a last line without a newline the row goes on."""
    numbers = wanted if isinstance(wanted, range) else frozenset(wanted)
    found: list[int] = []
    at = start
    for row in output[start:].split("\n"):
        number, texts = _number_of(row)
        if number in numbers and lines[number - 1] in texts:
            found.append(number)
        elif number in numbers and number == len(lines) and is_open:
            longer = [text for text in texts if text.startswith(lines[-1])]
            if longer:
                start = at + len(row) - len(longer[0]) + len(lines[-1])
                found.append(number)
        at += len(row) + 1
    return _joined(found), start


LEFT_COLUMN = r" *(?:\t.*|[|<(\\/].*)?"
"""What stands behind a line of the left file, on the row of two files side by side."""


def _in_column(lines: Sequence[str], rows: Sequence[str], side: str) -> Spans:
    """Find lines of a file that was printed beside another: each row has one line of it, in order, but for
    rows of the other file alone. A line that is cut at the width of the column is not shown."""
    alone = r"\s+>(?:\t.*)?" if side == LEFT else r".*\s[<(]"
    rows = [row for row in rows if not fullmatch(alone, row)]
    best: list[int] = []
    for shift in range(min(max(len(rows) - len(lines), 0) + 1, SHIFTS_MAX)):
        pairs = enumerate(zip(lines, rows[shift:], strict=False), 1)
        fitting = [number for number, (line, row) in pairs if line and _fits(line, row, side)]
        best = max(best, fitting, key=len)
    known = set(best)
    best += [n for n, line in enumerate(lines, 1) if not line and {n - 1, n + 1} <= known]
    return _joined(best)


def _fits(line: str, row: str, side: str) -> bool:
    if side == LEFT:
        return row.startswith(line) and fullmatch(LEFT_COLUMN, row[len(line) :]) is not None
    return row.endswith(f"\t{line}") or row == line


def _number_of(row: str) -> tuple[int, tuple[str, ...]]:
    """Return the number at the beginning of a row, and the texts that may be the line behind it; 0 and none
    where the row has no number."""
    blamed = fullmatch(BLAMED, row) if ") " in row else None  # an id may begin with a number
    if blamed is not None:
        return int(blamed[1]), (blamed[2],)
    found = fullmatch(NUMBERED, row)
    if found is None:
        return 0, ()
    rest = found[2]
    return int(found[1]), tuple(rest[len(sign) :] for sign in SIGNS if rest.startswith(sign))


class PrintedRows:
    """The rows of an output. Each row shows a line of one file, so a row that was taken for a file
    is not taken again."""

    def __init__(self, output: str) -> None:
        self._output = f"{output}\n"
        self._rows: list[str | None] = list(output.split("\n"))
        numbered = [_number_of(row) for row in output.split("\n")]
        self._numbers = [number for number, _ in numbered]
        self._texts = [texts for _, texts in numbered]
        self._places: dict[str | None, list[int]] = {}
        for at, row in enumerate(self._rows):
            self._places.setdefault(row, []).append(at)
            for text in self._texts[at]:
                self._places.setdefault(text, []).append(at)

    @property
    def is_used_up(self) -> bool:
        """Return whether no row with text is left."""
        return not any(row and row.strip() for row in self._rows)

    def may_hold(self, line: str) -> bool:
        """Return whether some row is this line, perhaps behind a number or another text."""
        return line in self._places or f"{line}\n" in self._output

    def take(self, lines: Sequence[str], behind: Collection[str] | None = None) -> Spans:
        """Take the rows that are these lines, the whole text of a file or a part, one below the
        other. Return the lines that stand there: hosts cut empty lines off both ends of an output,
        and cat -n puts numbers before all lines. behind: None, or for a text without a newline at
        its end the first lines of other files: one of them, or a rule, may follow on the last row."""
        first, end = 0, len(lines)
        while first < end and not lines[first]:
            first += 1
        while end > first and not lines[end - 1]:
            end -= 1
        body = lines[first:end]
        rarest = min(
            range(len(body)), key=lambda at: len(self._places.get(body[at], ())), default=0
        )
        for place in self._places.get(body[rarest], ()) if body else ():
            if (at := place - rarest) < 0:
                continue
            if self._rows[at : at + len(body)] == body:
                while first and at and self._rows[at - 1] == "":
                    first, at = first - 1, at - 1
                while end < len(lines) and self._rows[at + end - first : at + end - first + 1] == [
                    ""
                ]:
                    end += 1
            elif (
                not all(map(contains, self._texts[at : at + len(body)], body))
                or not self._counts_on(at, len(body))
                or None in self._rows[at : at + len(body)]
            ):
                continue
            self._rows[at : at + end - first] = [None] * (end - first)
            return ((first + 1, end),)
        is_taken = body and behind is not None and self._take_open(body, behind)
        return ((first + 1, end),) if is_taken else ()

    def _counts_on(self, at: int, size: int) -> bool:
        """Return whether the numbers of these rows follow one another: those of a second file go on."""
        numbers = self._numbers[at : at + size]
        return len(numbers) == size and numbers == [*range(numbers[0], numbers[0] + size)]

    def _take_open(self, body: Sequence[str], behind: Collection[str]) -> bool:
        """Take the rows of a text whose last row goes on, and leave the rest of the last row."""
        last = len(body) - 1
        for at, row in enumerate(self._rows[last:]):
            if (
                row is None
                or not row.startswith(body[-1])
                or self._rows[at : at + last] != body[:-1]
            ):
                continue
            rest = row[len(body[-1]) :]
            if rest in behind or fullmatch(RULE, rest):
                self._rows[at : at + last] = [None] * last
                self._rows[at + last] = rest
                self._places.setdefault(rest, []).append(at + last)
                return True
        return False

    def take_runs(self, lines: Sequence[str], least: int) -> Spans:
        """Take the runs of at least so many lines that stand one below the other. A run has a line
        that occurs once in the file."""
        free = ["\0" if row is None else row for row in self._rows]
        found: list[tuple[int, int]] = []
        unique = {text for text, times in Counter(lines).items() if times == 1 and text.strip()}
        if unique.isdisjoint(free):
            return ()
        for first, last, shift in unchanged_runs(diff(lines, free)):
            run = slice(first - 1, int(min(last, len(lines))))
            if run.stop - run.start >= least and not unique.isdisjoint(lines[run]):
                found.append((first, run.stop))
                self._rows[run.start + shift : run.stop + shift] = [None] * (run.stop - run.start)
        return spans(found)


def result_spans(lines: Sequence[str], text: str) -> Spans:
    """Return the lines of a file that a tool's result shows: all rows of the result, where these stand in
    the file once, one below the other; else rows with their numbers, and long runs of lines."""
    rows = PrintedRows(text)
    found = rows.take(lines)
    if not found and (exact := _stands_once(lines, text)):
        return exact
    numbered = printed_spans(Reading("", numbered=True), lines, text)[0]
    return union(union(found, numbered), rows.take_runs(lines, RUN_MIN))


def diff_hits(output: str) -> Iterator[tuple[str, int, str]]:
    """Yield path, line number and text of the lines that unified diffs in an output show, of the old file
    and of the new one. Paths are as the diff has them: git puts a/ and b/ before them."""
    names, numbers, left = ["", ""], [0, 0], [0, 0]
    for row in output.split("\n")[: 10 * HITS_MAX]:
        sign = row[:1] or " "
        if (left[0] > 0 or left[1] > 0) and sign in " +-":
            for side, other in ((0, "+"), (1, "-")):
                if sign != other:
                    yield names[side], numbers[side], row[1:]
                    numbers[side] += 1
                    left[side] -= 1
        elif row.startswith("--- "):
            names[0] = _name_in(row)
        elif row.startswith("+++ "):
            names[1] = _name_in(row)
        elif (found := match(HUNK, row)) is not None:
            numbers = [int(found[1]), int(found[3])]
            left = [int(found[2] or 1), int(found[4] or 1)]
        elif sign != "\\":
            left = [0, 0]


def _name_in(row: str) -> str:
    return row[4:].partition("\t")[0].strip('"')


def _stands_once(lines: Sequence[str], text: str) -> Spans:
    """Return the lines of a file that are a text, where they stand there once."""
    body = text.removesuffix("\n").split("\n")
    if not any(row.strip() for row in body):
        return ()
    size = len(body)
    places = [at for at, line in enumerate(lines) if line == body[0]]
    places = [at for at in places if list(lines[at : at + size]) == body]
    return ((places[0] + 1, places[0] + size),) if len(places) == 1 else ()


def set_apart(text: str, part: str) -> str:
    """Return a text with newlines around a part: a host puts what a command printed into a text, without the
    newlines at the end. The part stands between blanks or ends of the text; else the text stays."""
    found = search(rf"(?<!\S){escape(part)}(?!\S)", text) if part else None
    if found is None:
        return text
    return f"{text[: found.start()]}\n{part}\n{text[found.end() :]}"


def search_hits(output: str) -> Iterator[tuple[str, int, str]]:
    """Yield path, line number and text of the output's lines "path:line:text", "path-line-text"."""
    for row in output.split("\n")[:HITS_MAX]:
        hit = next(filter(None, (fullmatch(pattern, row) for pattern in HITS)), None)
        if hit:
            yield hit[1], int(hit[2]), hit[3]


def _in_one_piece(
    lines: Sequence[str], wanted: Sequence[int], output: str, start: int, *, is_open: bool
) -> tuple[Spans, int] | None:
    """Find all lines, one below the other. Hosts cut empty lines off both ends of an output."""
    first, end = 0, len(wanted)
    if end > len(output) + 1:
        return None  # leaving out empty lines would not help: there are too many others
    open_line = len(lines) if is_open else 0
    for _ in range(2):
        body = "".join(
            lines[number - 1] + "\n" * (number != open_line) for number in wanted[first:end]
        )
        place = _place(body, output, start)
        if place >= 0 and end > first:
            return _joined(wanted[first:end]), min(place + len(body), len(output))
        while first < end and not lines[wanted[first] - 1]:
            first += 1
        while end > first and not lines[wanted[end - 1] - 1]:
            end -= 1
    return None


def _place(body: str, output: str, start: int) -> int:
    """Return where whole rows begin that are a text, from an offset on; -1 for nowhere. Of a text
    without a newline at its end the last row may go on. An offset within a row is behind such a
    text, and there a text may begin."""
    if output[start - 1 : start] not in ("", "\n") and f"{output}\n".startswith(body, start):
        return start
    return f"\n{output}\n".find(f"\n{body}", start)


def _by_text(lines: Sequence[str], wanted: Sequence[int], output: str) -> Spans:
    """Find runs of lines in the order of the file. A line that occurs twice in the file, or is
    blank, counts only in one run with a line that occurs once."""
    rows = output.split("\n")
    texts = [lines[number - 1] for number in wanted]
    unique = {text for text, count in Counter(texts).items() if count == 1 and text.strip()}
    unique &= set(rows)
    found: list[int] = []
    for first, last, _ in unchanged_runs(diff(texts, rows)):
        run = slice(first - 1, int(min(last, len(texts))))
        if not unique.isdisjoint(texts[run]):
            found += wanted[run]
    return _joined(found)


def _joined(numbers: Sequence[int]) -> Spans:
    return spans((number, number) for number in numbers)
