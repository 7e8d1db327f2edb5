"""Find the lines of files that a command's output contains. Only those lines were shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import contains
from re import fullmatch

from sightline.model.diff import diff
from sightline.model.spans import Spans, spans, unchanged_runs, union
from sightline.shell_parsing.file_effects import Reading

NUMBERED = r"[ \t]*(\d{1,9})([^\d].*)"
SIGNS = ("\t", ":", "-", " ", ": ", "| ", " | ", "\u2502 ", " \u2502 ", "\u2192", ") ", ". ")
"""What programs print between a line's number and the line."""

HITS = (r"(.+?):(\d{1,9}):(.*)", r"(.+?)-(\d{1,9})-(.*)")
"""A matching line and a line around it, as grep -n and rg -n print them."""

HITS_MAX = 5_000

RUN_MIN = 5
"""Lines from which on a part of a file counts as printed where no known program printed it."""


def printed_spans(
    reading: Reading, lines: Sequence[str], output: str, start: int = 0
) -> tuple[Spans, int]:
    """Return the lines of a file that an output contains from an offset on, and the offset of their
    end. lines: of the file, without newlines. output: without carriage returns."""
    wanted = reading.lines(len(lines))
    if reading.numbered:
        numbers = wanted if isinstance(wanted, range) else frozenset(wanted)
        printed = map(_number_of, output[start:].split("\n"))
        return _joined([n for n, texts in printed if n in numbers and lines[n - 1] in texts]), start
    if not reading.some and wanted:
        exact = _in_one_piece(lines, wanted, output, start)
        if exact is not None:
            return exact
    return _by_text(lines, wanted, output[start:]), start


def _number_of(row: str) -> tuple[int, tuple[str, ...]]:
    """Return the number at the beginning of a row, and the texts that may be the line behind it; 0 and none
    where the row has no number."""
    found = fullmatch(NUMBERED, row)
    if found is None:
        return 0, ()
    rest = found[2]
    return int(found[1]), tuple(rest[len(sign) :] for sign in SIGNS if rest.startswith(sign))


class PrintedRows:
    """The rows of an output. Each row shows a line of one file, so a row that was taken for a file
    is not taken again."""

    def __init__(self, output: str) -> None:
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
        """Return whether some row is this line, or is this line with a number."""
        return line in self._places

    def take(self, lines: Sequence[str]) -> Spans:
        """Take the rows that are these lines, the whole text of a file or a part, one below the
        other. Return the lines that stand there: hosts cut empty lines off both ends of an output,
        and cat -n puts numbers before all lines."""
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
                or self._numbers[at : at + len(body)] != [*range(first + 1, end + 1)]
                or None in self._rows[at : at + len(body)]
            ):
                continue
            self._rows[at : at + end - first] = [None] * (end - first)
            return ((first + 1, end),)
        return ()

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


def _stands_once(lines: Sequence[str], text: str) -> Spans:
    """Return the lines of a file that are a text, where they stand there once."""
    body = text.removesuffix("\n").split("\n")
    if not any(row.strip() for row in body):
        return ()
    size = len(body)
    places = [at for at, line in enumerate(lines) if line == body[0]]
    places = [at for at in places if list(lines[at : at + size]) == body]
    return ((places[0] + 1, places[0] + size),) if len(places) == 1 else ()


def search_hits(output: str) -> Iterator[tuple[str, int, str]]:
    """Yield path, line number and text of the output's lines "path:line:text", "path-line-text"."""
    for row in output.split("\n")[:HITS_MAX]:
        hit = next(filter(None, (fullmatch(pattern, row) for pattern in HITS)), None)
        if hit:
            yield hit[1], int(hit[2]), hit[3]


def _in_one_piece(
    lines: Sequence[str], wanted: Sequence[int], output: str, start: int
) -> tuple[Spans, int] | None:
    """Find all lines, one below the other. Hosts cut empty lines off both ends of an output."""
    first, end = 0, len(wanted)
    if end > len(output) + 1:
        return None  # leaving out empty lines would not help: there are too many others
    for _ in range(2):
        body = "\n".join(lines[number - 1] for number in wanted[first:end])
        place = f"\n{output}\n".find(f"\n{body}\n", start)
        if place >= 0 and end > first:
            return _joined(wanted[first:end]), min(place + len(body) + 1, len(output))
        while first < end and not lines[wanted[first] - 1]:
            first += 1
        while end > first and not lines[wanted[end - 1] - 1]:
            end -= 1
    return None


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
