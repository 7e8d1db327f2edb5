"""Programs that print lines of files unchanged: the files, and the lines that are printed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from re import fullmatch, search

from msgspec import Struct

from sightline.model.spans import Spans
from sightline.shell_parsing.command_line import Word, last_name

DEFAULT_COUNT = "10"
"""Lines that head and tail print without -n."""


REVERSED: Spans = ((-1, 1),)
"""A selection of all lines, the last first."""

COLUMNS = "columns"


class Filter(Struct, frozen=True):
    """The effect of one command on lines.

    files: the operands; where there are none, the lines come from stdin. cut, numbered, some, form: as
    in shell_parsing.file_effects.Reading; form COLUMNS: the files stand side by side. passes: the
    command writes to a file and prints, too.
    """

    files: tuple[Word, ...] = ()
    cut: Spans | None = None
    numbered: bool = False
    some: bool = False
    form: str = ""
    passes: bool = False


Options = Mapping[str, Sequence[str]]
"""The options of a command, each with its values ("" for none)."""

Operands = tuple[Word, ...]


def filter_of(words: Sequence[Word]) -> Filter | None:
    """Return what a command prints of its files or its stdin; None where its words do not say, or
    it prints something else."""
    name = last_name(words[0]) if words else ""
    if name not in _PROGRAMS:
        return None
    program, valued = _PROGRAMS[name]
    return program(*_parse(words[1:], valued))


def _parse(words: Sequence[Word], valued: str) -> tuple[Options, Operands]:
    """Separate options from operands. valued: the one-letter options that take a value."""
    pairs, operands = parse_words(words, valued)
    options: dict[str, list[str]] = defaultdict(list)
    for name, value in pairs:
        options[name].append(value)
    return options, operands


def parse_words(
    words: Sequence[Word], valued: str, long: Sequence[str] = ()
) -> tuple[list[tuple[str, str]], Operands]:
    """Return the options in their order, each with its value ("" for none), and the operands.
    valued, long: the one-letter and the long options that take a value."""
    options: list[tuple[str, str]] = []
    operands: list[Word] = []
    remaining = list(reversed(words))
    while remaining:
        word = remaining.pop()
        if word == "--":
            operands += reversed(remaining)
            break
        if word is None or word == "-" or not word.startswith("-"):
            operands.append(word)
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name in long and not equals:
                value = (remaining.pop() if remaining else None) or ""
            options.append((name, value))
        elif word[1:].isdigit():
            options.append(("n", word[1:]))  # head -20
        else:
            at = next((at for at in range(1, len(word)) if word[at] in valued), len(word))
            options += [(letter, "") for letter in word[1:at]]
            if at < len(word):
                value = word[at + 1 :] or (remaining.pop() if remaining else None) or ""
                options.append((word[at], value))
    return options, tuple(operands)


def _cat(options: Options, files: Operands) -> Filter:
    """Forms: v, T, E as the options of these names; b for numbers of lines with text alone."""
    names = {*options}
    form = "v" * bool(names & {*"Aetv", "show-all", "show-nonprinting"})
    form += "T" * bool(names & {*"AtT", "show-all", "show-tabs"})
    form += "E" * bool(names & {*"AeE", "show-all", "show-ends"})
    if names & {"b", "number-nonblank"}:
        return Filter(files[:1], form=f"b{form}")
    squeezes = "s" in options or "squeeze-blank" in options
    is_numbered = "n" in options or "number" in options
    return Filter(files, numbered=is_numbered, some=squeezes, form=form)


def _nl(options: Options, files: Operands) -> Filter | None:
    """Without -ba, nl does not count empty lines."""
    counts_all = options in ({"b": ["a"]}, {"body-numbering": ["a"]})
    if not counts_all and options not in ({}, {"b": ["t"]}):
        return None
    return Filter(files, numbered=True) if counts_all else Filter(files[:1], form="b")


def _paste(options: Options, files: Operands) -> Filter | None:
    if options:
        return None
    return Filter(files, form=COLUMNS if len(files) == 2 else "", some=len(files) > 2)


def _compare(options: Options, files: Operands) -> Filter | None:
    """Unified diffs are found by their own numbers (shell_parsing.printed_lines.diff_hits)."""
    is_in_columns = bool(options.keys() & {"y", "side-by-side"}) and len(files) == 2
    return Filter(files, form=COLUMNS) if is_in_columns else None


def _git(options: Options, operands: Operands) -> Filter | None:
    """Return the filter of git blame, which prints the file on disk, each line behind its number. None
    for every other command of git."""
    words = [word for word in operands if word != "--"]
    if (
        words[:1] != ["blame"]
        or len(words) != 2
        or options.keys() - {"L", "w", "C", "M", "s", "no-pager"}
    ):
        return None
    return Filter(tuple(words[1:]), numbered=True, some=True)


def _pager(options: Options, files: Operands) -> Filter | None:
    between = [*options.get("r", ()), *options.get("line-range", ())]
    if not between:
        return Filter(files, numbered=bool(options.keys() & {"N", "n", "number"}))
    first, colon, last = between[-1].partition(":")
    span = _span(first or "1", (last or "-1") if colon else first)
    return Filter(files, (span,)) if span else None


def _head(options: Options, files: Operands) -> Filter | None:
    count = _count(options)
    if count is None:
        return None
    last = -int(count[1:]) - 1 if count.startswith("-") else int(count.lstrip("+"))
    return Filter(files, ((1, last),))


def _tail(options: Options, files: Operands) -> Filter | None:
    count = _count(options)
    if count is None:
        return None
    if count.startswith("+"):
        return Filter(files, ((max(int(count), 1), -1),))
    lines = int(count.lstrip("-"))
    return Filter(files, ((-lines, -1),) if lines else ())


def _count(options: Options) -> str | None:
    """Return the number of lines with its sign; None for bytes or no number."""
    count = [DEFAULT_COUNT, *options.get("n", ()), *options.get("lines", ())][-1]
    is_count = _is_number(count.removeprefix("+" if count.startswith("+") else "-"))
    return count if is_count and not options.keys() & {"c", "bytes", "z"} else None


def _sed(options: Options, files: Operands) -> Filter | None:
    if options.keys() & {"i", "in-place", "f", "s", "z"}:
        return None
    scripts = [*options.get("e", ()), *options.get("expression", ())]
    if not scripts:
        if not files or files[0] is None:
            return None
        scripts, files = [files[0]], files[1:]
    if not options.keys() & {"n", "quiet", "silent"}:
        until = fullmatch(r"\s*([0-9]{1,9})\s*q\s*", scripts[0]) if len(scripts) == 1 else None
        cut = ((1, int(until[1])),) if until else None  # other scripts may change lines
        return Filter(files, cut, some=until is None)
    if scripts == ["l"]:
        return Filter(files, form="l")
    parts = [_printing(part) for text in scripts for part in text.replace("\n", ";").split(";")]
    spans = [span for span in parts if span]
    prints_once = all(a[1] > 0 and not 0 < b[0] <= a[1] for a, b in pairwise(spans))
    if None in parts or not prints_once:
        return Filter(files, some=True)
    return Filter(files, tuple(spans))


def _printing(part: str) -> tuple[int, int] | tuple[()] | None:
    """Return the lines that one command of sed -n prints; () for none, None for other commands."""
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


def _search(options: Options, operands: Operands) -> Filter:
    """Grep and its like print some lines of the files after the pattern."""
    files = operands if options.keys() & {"e", "f", "regexp"} else operands[1:]
    return Filter(files, numbered="n" in options or "line-number" in options, some=True)


def _awk(options: Options, operands: Operands) -> Filter:
    """Awk prints some lines of the files after its program, perhaps with their numbers."""
    program = "" if "f" in options else (operands[:1] or ("",))[0] or ""
    is_numbered = search(r"\bprint.*\bF?NR\b[^;}]*\$0", program) is not None
    files = operands if "f" in options else operands[1:]
    return Filter(files, numbered=is_numbered, some=True)


_PROGRAMS: dict[str, tuple[Callable[[Options, Operands], Filter | None], str]] = {
    **dict.fromkeys(("less", "more", "bat", "batcat"), (_pager, "rlm")),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg"), (_search, "ABCmefdDgtTjM")),
    **dict.fromkeys(("awk", "gawk", "mawk"), (_awk, "vFf")),
    "cat": (_cat, ""),
    "diff": (_compare, "W"),
    "git": (_git, "L"),
    "paste": (_paste, "d"),
    "tac": (lambda _, files: Filter(files, cut=REVERSED), ""),
    "nl": (_nl, "bsvwnidfhl"),
    "head": (_head, "nc"),
    "tail": (_tail, "nc"),
    "sed": (_sed, "ef"),
    "tee": (lambda *_: Filter(passes=True), ""),
}
"""Program -> its reader, and its one-letter options that take a value."""

PRINTERS = frozenset(_PROGRAMS) - {"tee", "git", "diff"}
"""Programs that print lines of the files that they are given."""
