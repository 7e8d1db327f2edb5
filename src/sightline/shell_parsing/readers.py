"""Programs that print lines of files as they are: which files, and which of their lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from sightline.model.spans import Spans
from sightline.shell_parsing.command_line import Word

TEN = 10
"""Lines that head and tail print when nobody says how many."""


class Filter(Struct, frozen=True):
    """What one command does with lines. files: named by it, else they come from its stdin; cut,
    numbered, some: as in shell_parsing.file_effects.Reading; passes: what it writes to a file, it also prints."""

    files: tuple[Word, ...] = ()
    cut: Spans | None = None
    numbered: bool = False
    some: bool = False
    passes: bool = False


class Options(Struct, frozen=True):
    """What follows a command's name: options with their values ("" for none), and operands."""

    given: tuple[tuple[str, str], ...]
    operands: tuple[Word, ...]

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.given)

    def last(self, *names: str) -> str | None:
        values = [value for name, value in self.given if name in names]
        return values[-1] if values else None


def filter_of(words: Sequence[Word]) -> Filter | None:
    """What a command prints of its files or of its stdin; None when it is not told by its words
    or it prints something else."""
    if not words or words[0] is None:
        return None
    made = _PROGRAMS.get(words[0].rpartition("/")[2])
    return made(words[1:]) if made else None


def options(words: Sequence[Word], valued: str) -> Options:
    """Options apart from operands. valued: the one-letter options that take a value."""
    given: list[tuple[str, str]] = []
    operands: list[Word] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            operands += reversed(rest)
            break
        if word is None or word == "-" or not word.startswith("-"):
            operands.append(word)
        elif word.startswith("--"):
            name, _, value = word[2:].partition("=")
            given.append((name, value))
        else:
            given += _letters(word[1:], valued, rest)
    return Options(tuple(given), tuple(operands))


def _letters(letters: str, valued: str, rest: list[Word]) -> list[tuple[str, str]]:
    """The options of one word, with the value that stands behind the last of them."""
    if letters.isdigit():
        return [("n", letters)]  # head -20
    given: list[tuple[str, str]] = []
    for at, letter in enumerate(letters):
        if letter in valued:
            value = letters[at + 1 :] or (rest.pop() if rest else None)
            given.append((letter, value or ""))
            break
        given.append((letter, ""))
    return given


def _cat(words: Sequence[Word]) -> Filter | None:
    found = options(words, "")
    if found.has("A", "e", "t", "v", "E", "T", "b", "show-all", "show-ends", "show-tabs"):
        return None
    return Filter(
        found.operands,
        numbered=found.has("n", "number"),
        some=found.has("s", "squeeze-blank"),
    )


def _nl(words: Sequence[Word]) -> Filter | None:
    """Without -ba it leaves out empty lines when it counts."""
    found = options(words, "bsvwnidfhl")
    if found.given not in ((("b", "a"),), (("body-numbering", "a"),)):
        return None
    return Filter(found.operands, numbered=True)


def _pager(words: Sequence[Word]) -> Filter | None:
    found = options(words, "rlm")
    between = found.last("r", "line-range")
    if between is None:
        return Filter(found.operands, numbered=found.has("N", "n", "number"))
    first, colon, last = between.partition(":")
    span = _span(first or "1", (last or "-1") if colon else first)
    return Filter(found.operands, (span,)) if span else None


def _head(words: Sequence[Word]) -> Filter | None:
    count = _count(words)
    if count is None:
        return None
    found, number = count
    last = -int(number[1:]) - 1 if number.startswith("-") else int(number.lstrip("+"))
    return Filter(found.operands, ((1, last),))


def _tail(words: Sequence[Word]) -> Filter | None:
    count = _count(words)
    if count is None:
        return None
    found, number = count
    if number.startswith("+"):
        return Filter(found.operands, ((max(int(number), 1), -1),))
    lines = int(number.lstrip("-"))
    return Filter(found.operands, ((-lines, -1),) if lines else ())


def _count(words: Sequence[Word]) -> tuple[Options, str] | None:
    """The number of lines that is asked for; None where it is not lines, or not a number."""
    found = options(words, "nc")
    if found.has("c", "bytes", "z"):
        return None
    number = found.last("n", "lines")
    number = str(TEN) if number is None else number
    digits = number.removeprefix("+" if number.startswith("+") else "-")
    return (found, number) if _is_number(digits) else None


def _sed(words: Sequence[Word]) -> Filter | None:
    found = options(words, "ef")
    if found.has("i", "in-place", "f", "s", "z"):
        return None
    scripts = [value for name, value in found.given if name in ("e", "expression")]
    files = found.operands
    if not scripts:
        if not files or files[0] is None:
            return None
        scripts, files = [files[0]], files[1:]
    if not found.has("n", "quiet", "silent"):
        return _until(scripts, files)
    spans = [_printing(part) for text in scripts for part in text.replace("\n", ";").split(";")]
    kept = [span for span in spans if span]
    if None in spans or not _in_order(kept):
        return Filter(files, some=True)
    return Filter(files, tuple(kept))


def _in_order(spans: list[tuple[int, int]]) -> bool:
    """Whether no line is asked for twice, as far as the numbers tell."""
    return all(a[1] > 0 and not 0 < b[0] <= a[1] for a, b in pairwise(spans))


def _until(scripts: list[str], files: tuple[Word, ...]) -> Filter:
    """A script 20q prints up to there; any other script may change a line, or leave it as it is."""
    number = scripts[0].strip().removesuffix("q").strip()
    if len(scripts) == 1 and scripts[0].strip().endswith("q") and _is_number(number):
        return Filter(files, ((1, int(number)),))
    return Filter(files, some=True)


def _printing(part: str) -> tuple[int, int] | tuple[()] | None:
    """The lines that one command of sed -n prints; () for none, None when it is another one."""
    text = part.strip()
    if not text or (text.endswith("q") and _is_number(text[:-1].strip())):
        return ()
    if not text.endswith("p"):
        return None
    first, comma, last = (side.strip() for side in text[:-1].partition(","))
    if last.startswith("+") and _is_number(first) and _is_number(last[1:]):
        last = str(int(first) + int(last[1:]))
    if first == "$" and not comma:
        return (-1, -1)
    return _span(first, last.replace("$", "-1") if comma else first)


def _span(first: str, last: str) -> tuple[int, int] | None:
    if not _is_number(first) or not _is_number(last.removeprefix("-")) or int(first) < 1:
        return None
    start, end = int(first), int(last)
    return (start, max(end, start) if end >= 0 else end)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _search(words: Sequence[Word]) -> Filter | None:
    """Some lines of the files behind the pattern (grep and its like)."""
    found = options(words, "ABCmefdDgtTjM")
    files = found.operands if found.has("e", "f", "regexp") else found.operands[1:]
    return Filter(files, numbered=found.has("n", "line-number"), some=True)


def _script(words: Sequence[Word]) -> Filter | None:
    """Some lines of the files behind its program."""
    found = options(words, "vFf")
    return Filter(found.operands if found.has("f") else found.operands[1:], some=True)


def _tee(_: Sequence[Word]) -> Filter:
    return Filter(passes=True)


_PROGRAMS: dict[str, Callable[[Sequence[Word]], Filter | None]] = {
    **dict.fromkeys(("less", "more", "bat", "batcat"), _pager),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg"), _search),
    **dict.fromkeys(("awk", "gawk", "mawk"), _script),
    "cat": _cat,
    "nl": _nl,
    "head": _head,
    "tail": _tail,
    "sed": _sed,
    "tee": _tee,
}
