"""Which lines of a file stand in a command's output. Only what stands there was shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from re import fullmatch

from sightline.model.diff import diff
from sightline.model.spans import Spans, spans
from sightline.model.text import normal
from sightline.shell_parsing.file_effects import Reading

NUMBERED = r"[ \t]*(\d{1,9})(?:\t|:|-)(.*)"
HITS = (r"(.+?):(\d{1,9}):(.*)", r"(.+?)-(\d{1,9})-(.*)")
"""A line found, and one that stands near it, as grep -n and rg -n print them."""

HITS_MAX = 5_000


def appeared(
    reading: Reading, lines: Sequence[str], output: str, start: int = 0
) -> tuple[Spans, int]:
    """The lines of a file that its reading left in the output from an offset on, and the offset
    where they end. lines: of the file, without their newlines; output: without carriage
    returns."""
    wanted = reading.lines(len(lines))
    if reading.numbered:
        return _by_number(lines, wanted, output[start:]), start
    if not reading.some and wanted:
        exact = _in_one_piece(lines, wanted, output, start)
        if exact is not None:
            return exact
    return _by_text(lines, wanted, output[start:]), start


def hits(output: str) -> Iterator[tuple[str, int, str]]:
    """Lines of an output that read "path:line:text" or "path-line-text"."""
    for row in output.split("\n")[:HITS_MAX]:
        found = next(filter(None, (fullmatch(form, row) for form in HITS)), None)
        if found:
            yield found[1], int(found[2]), found[3]


def _in_one_piece(
    lines: Sequence[str], wanted: Sequence[int], output: str, start: int
) -> tuple[Spans, int] | None:
    """All of them, one below the other. Hosts cut empty lines off both ends of an output."""
    at, end = 0, len(wanted)
    if end > len(output) + 1:
        return None  # nor would it help to leave out empty lines: there are too many others
    for _ in range(2):
        body = "\n".join(lines[number - 1] for number in wanted[at:end])
        place = f"\n{output}\n".find(f"\n{body}\n", start)
        if place >= 0 and end > at:
            return _together(wanted[at:end]), min(place + len(body) + 1, len(output))
        while at < end and not lines[wanted[at] - 1]:
            at += 1
        while end > at and not lines[wanted[end - 1] - 1]:
            end -= 1
    return None


def _by_number(lines: Sequence[str], wanted: Sequence[int], output: str) -> Spans:
    among = wanted if isinstance(wanted, range) else frozenset(wanted)
    found = filter(None, (fullmatch(NUMBERED, row) for row in output.split("\n")))
    told = ((int(each[1]), each[2]) for each in found)
    return _together([n for n, text in told if n in among and lines[n - 1] == text])


def _by_text(lines: Sequence[str], wanted: Sequence[int], output: str) -> Spans:
    """Runs of lines in the order of the file. One that nothing tells from others counts only
    beside one that something does."""
    rows = output.split("\n")
    texts = [lines[number - 1] for number in wanted]
    once = _single(texts) & set(rows)
    kept: list[int] = []
    for first, end in _same(diff(texts, rows), len(texts)):
        if not once.isdisjoint(texts[first:end]):
            kept += wanted[first:end]
    return _together(kept)


def _same(hunks: Sequence[tuple[int, int, int, int]], total: int) -> Iterator[tuple[int, int]]:
    """Runs that no hunk touches, as 0-based half-open pairs."""
    at = 0
    for a0, a1, _b0, _b1 in hunks:
        if a0 > at:
            yield at, a0
        at = a1
    if total > at:
        yield at, total


def _single(texts: list[str]) -> set[str]:
    """Those with something in them that stand there once."""
    seen: set[str] = set()
    twice: set[str] = set()
    for text in texts:
        (twice if text in seen else seen).add(text)
    return {text for text in seen - twice if text.strip()}


def _together(numbers: Sequence[int]) -> Spans:
    return spans((number, number) for number in numbers)


def plain(output: str) -> str:
    """An output as its lines are compared."""
    return normal(output)
