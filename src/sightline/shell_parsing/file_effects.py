"""Find the files that a shell command prints, and those it writes into, from the command's text.

A Reading names the lines that a command would print. Only the output proves that they were printed
(shell_parsing.printed_lines).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct, structs

from sightline.model.spans import Spans
from sightline.shell_parsing.command_line import (
    SimpleCommand,
    Word,
    absolute_path,
    inner_line,
    pipelines,
    printed_texts,
)
from sightline.shell_parsing.readers import COLUMNS, REVERSED, Filter, filter_of

READINGS_MAX = 50

LEFT, RIGHT = "left", "right"

TEXT_MIN = 20
"""Characters from which on a file's text does not occur in a command by chance."""

SEARCHERS = ("grep", "egrep", "fgrep", "rg", "ag", "git")
AWKS = ("awk", "gawk", "mawk")


class Reading(Struct, frozen=True):
    """A file that a command prints.

    path: absolute. cuts: selections of lines, each made from the lines that the one before leaves;
    a negative number counts from the end (-1 is the last line). numbered: each line is printed with
    its number. some: an unknown part of these lines is printed, or they are changed. form: how a line
    is printed (printed_lines.as_printed), LEFT or RIGHT: as a column beside another file.
    """

    path: str
    cuts: tuple[Spans, ...] = ()
    numbered: bool = False
    some: bool = False
    form: str = ""

    def lines(self, total: int) -> Sequence[int]:
        """Return the numbers of the lines that the command would print. total: lines of the file."""
        lines: Sequence[int] = range(1, total + 1)
        for cut in self.cuts:
            if cut == REVERSED:
                lines = lines[::-1]
                continue
            parts = [_slice(lines, first, last) for first, last in cut]
            lines = parts[0] if len(parts) == 1 else [line for part in parts for line in part]
        return lines


class Writing(Struct, frozen=True):
    """A text that a command writes into a file: the whole text, or appended to the file's own."""

    path: str
    text: str
    appended: bool = False


def readings(command: str, cwd: str) -> tuple[Reading, ...]:
    """Return the files that a command line prints, in order, READINGS_MAX at most. cwd: an absolute
    folder."""
    every = (each for pipe in all_pipelines(command, cwd) for each in pipeline_readings(pipe))
    return tuple(islice(every, READINGS_MAX))


def writings(command: str, cwd: str) -> tuple[Writing, ...]:
    """Return the texts that a command line contains and writes into files, in order."""
    pipes = all_pipelines(command, cwd)
    return tuple(
        writing for pipe in pipes for simple in pipe for writing in command_writings(simple)
    )


WORDS_MAX = 200
"""Words of a command that are taken for names of files."""

SEPARATORS = re.compile(r"""[\s"'`()<>|;&=:,$]+""")
BRACES = re.compile(r"([^{}]*)\{([^{}]*(?:,|\.\.)[^{}]*)\}(.*)")

MANY = re.compile(r"[$`*?\[]|\bxargs\b|-exec|-c\b|<<")
"""Signs of a command that prints files which it does not name one by one."""


def possible_names(command: str) -> tuple[str, ...]:
    """Return the words of a command that may name files, also inside quotes and in the text of
    other programs, with braces expanded. Words may be patterns."""
    found = dict.fromkeys(re.findall(r'"([^"\n]+)"', command))
    found |= dict.fromkeys(re.findall(r"'([^'\n]+)'", command))
    for chunk in re.findall(r"(?:\\.|[^\s\\])+", command):
        if "\\" in chunk:
            found[re.sub(r"\\(.)", r"\1", chunk)] = None
        for word in _without_braces(chunk):
            found |= dict.fromkeys(SEPARATORS.split(word))
    return tuple(islice((word for word in found if word.strip("./")), WORDS_MAX))


def _without_braces(word: str) -> list[str]:
    """Return the words that the shell makes of a word with braces; of a sequence, a pattern."""
    match = BRACES.fullmatch(word)
    if match is None:
        return [word]
    before, inner, after = match.groups()
    parts = inner.split(",") if "," in inner else ["*"]
    return [made for part in parts[:WORDS_MAX] for made in _without_braces(before + part + after)]


def contains_text(command: str, text: str) -> bool:
    """Return whether a command contains a file's text, and not by chance."""
    body = text.strip("\n")
    return len(body.strip()) >= TEXT_MIN and body in command


def searches(command: str, cwd: str) -> tuple[str, ...]:
    """Return the folders that a command line searches: with grep, rg or git grep, or with awk that
    prints file names before lines."""
    commands = (simple for pipe in all_pipelines(command, cwd) for simple in pipe)
    folders = [each.cwd for each in commands if _names_lines(each.words)]
    return tuple(dict.fromkeys(folder for folder in folders if folder is not None))


def _names_lines(words: Sequence[Word]) -> bool:
    """Return whether a command prints lines behind the names of their files."""
    if words[:1] and words[0] in AWKS:
        return any("FILENAME" in word for word in words[1:] if word)
    return bool(words[:1]) and words[0] in SEARCHERS


def all_pipelines(command: str, cwd: str, depth: int = 2) -> Iterator[list[SimpleCommand]]:
    """Yield the pipelines of a command line, and those it passes to another shell (bash -c "...").
    depth: shells within shells that are followed."""
    for pipe in pipelines(command, cwd):
        yield pipe
        for simple in pipe:
            inner = inner_line(simple) if depth and simple.cwd else None
            if inner is not None and simple.cwd:
                yield from all_pipelines(inner, simple.cwd, depth - 1)


def pipeline_readings(pipe: list[SimpleCommand]) -> list[Reading]:
    """Return the files that one pipeline prints, in order; none where it prints anything else."""
    found: list[Reading] = []
    for simple in pipe:
        step = filter_of(simple.words)
        if step is None:
            found = []
            continue
        files = step.files or tuple(simple.inputs)
        if files:
            if step.numbered:
                files = files[:1]  # the numbers go on from file to file
            found = [
                reading
                for file in files[:READINGS_MAX]
                for reading in _operand(simple, file, found)
            ]
        found = [_filtered(reading, step) for reading in found]
        if step.form == COLUMNS:
            sides = (LEFT, RIGHT) if len(found) == 2 else ()
            found = [
                structs.replace(each, form=side) for each, side in zip(found, sides, strict=False)
            ]
        if any(path != "/dev/stdout" for path, _ in simple.outputs) and not step.passes:
            found = []
    return found


def _operand(simple: SimpleCommand, file: Word, piped: list[Reading]) -> list[Reading]:
    """Return what a program reads for one operand. piped: what it gets on stdin."""
    if file == "-":
        return piped
    path = absolute_path(simple.cwd, file)
    return [] if path is None else [Reading(path)]


def _filtered(reading: Reading, step: Filter) -> Reading:
    cuts = reading.cuts if step.cut is None else (*reading.cuts, step.cut)
    numbered = reading.numbered or (step.numbered and not reading.cuts)
    is_twice = bool(step.form and reading.form)
    changed = step.some or (step.numbered and bool(reading.cuts)) or is_twice
    form = step.form or reading.form
    return Reading(reading.path, cuts, numbered, reading.some or changed, form)


def command_writings(simple: SimpleCommand) -> Iterator[Writing]:
    """Yield the texts that one command contains and writes into files."""
    targets, texts = list(simple.outputs), printed_texts(simple)
    if simple.program == "tee":
        appends, texts = "-a" in simple.words, simple.bodies or simple.piped
        targets += [(word, appends) for word in simple.words[1:] if word and word[0] != "-"]
    for target, appends in targets:
        path = absolute_path(simple.cwd, target)
        if path is not None:
            yield from (Writing(path, text, appends) for text in texts)


def restored_paths(simple: SimpleCommand) -> tuple[str, ...]:
    """Return the files and folders that git checkout or git restore takes back to their committed
    text. The name of a branch may be among them."""
    words = simple.words
    if words[:1] != ["git"] or words[1:2] not in (["checkout"], ["restore"]):
        return ()
    at = words.index("--") if "--" in words else len(words)
    options = [word for word in words[2:at] if word is not None and word[:1] == "-"]
    names = [word for word in words[2:at] if word not in ("HEAD", *options)]
    if words[1] == "restore" and "--staged" in options and "--worktree" in options:
        options = []
    if options or (names and words[at:]):  # of the index, a merge, or another commit
        return ()
    paths = (absolute_path(simple.cwd, word) for word in (*names, *words[at + 1 :]))
    return tuple(path for path in paths if path is not None)


def _slice(lines: Sequence[int], first: int, last: int) -> Sequence[int]:
    """Return the first to the last of these lines; a negative number counts from the end."""
    total = len(lines)
    start = first - 1 if first > 0 else max(total + first, 0)
    end = last if last >= 0 else total + last + 1
    return lines[start : max(end, 0)]
