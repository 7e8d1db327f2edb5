"""Find the writes of a shell command that hit the wrong text in a file which changed unseen.

A line number names another line once lines moved. A text in place of a whole file drops what stood
there. A command that works on the text of the file itself does neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from sightline.model.spans import Spans
from sightline.shell_parsing.command_line import SimpleCommand, Word, absolute_path
from sightline.shell_parsing.file_effects import (
    all_pipelines,
    command_writings,
    pipeline_readings,
)
from sightline.shell_parsing.named_writes import Rule, copies, edits_in_place, moves
from sightline.shell_parsing.readers import parse_words

LAST = 1 << 30
"""The end of a range of lines that reaches to the end of the file."""


class BlindWrite(Struct, frozen=True):
    """A write into a file at a path. lines: the numbers that the command names; None for a whole file.
    texts: the whole texts that may be written, where the command line has them."""

    path: str
    lines: Spans | None = None
    texts: tuple[str, ...] = ()


def blind_writes(command: str, cwd: str) -> tuple[BlindWrite, ...]:
    """Return the writes of a command line by line number, and those of whole files whose text does not
    come from the file itself. cwd: an absolute folder."""
    found: list[BlindWrite] = []
    own: dict[str, Spans | None] = {}
    for pipe in all_pipelines(command, cwd):
        own |= _sources(pipe)
        for simple in pipe:
            found += _by_number(simple)
            for write in _whole(simple):
                lines = own.get(write.path, ())
                if lines != () or write.path not in own:
                    found.append(structs.replace(write, lines=lines or None))
    return tuple(dict.fromkeys(found))


def _sources(pipe: Sequence[SimpleCommand]) -> dict[str, Spans | None]:
    """Return the files that a pipeline names, from whose text its output may be made: path -> the line
    numbers by which it takes them apart, None for a part of unknown lines."""
    named: dict[str, Spans | None] = {}
    for simple in pipe:
        if _name(simple) not in ("cp", "mv", "tee"):
            words = [*simple.words[1:], *simple.inputs]
            numbers = _of_program(simple)
            named |= {path: numbers for word in words if (path := absolute_path(simple.cwd, word))}
    silent = [SimpleCommand(each.cwd, each.words, each.inputs) for each in pipe]
    cut = {each.path for each in pipeline_readings(silent) if each.cuts}
    return {path: None if path in cut and not lines else lines for path, lines in named.items()}


def _of_program(simple: SimpleCommand) -> Spans:
    """Return the line numbers in the program that a command gets."""
    name = _name(simple)
    if name == "sed":
        return _of_sed(simple.words[1:])[0]
    if name in ("perl", "awk", "gawk"):
        return _compared(" ".join(word or "" for word in simple.words[1:]))
    return ()


def _whole(simple: SimpleCommand) -> Iterator[BlindWrite]:
    texts: dict[str, list[str]] = {}
    for writing in command_writings(simple):
        if not writing.appended:
            texts.setdefault(writing.path, []).append(writing.text)
    targets = [word for word, appends in simple.outputs if not appends]
    name = _name(simple)
    if name == "tee" and "-a" not in simple.words:
        targets += [word for word in simple.words[1:] if word and word[0] != "-"]
    for word in targets:
        path = absolute_path(simple.cwd, word)
        if path is not None:
            yield BlindWrite(path, None, tuple(texts.get(path, ())))
    rule: Rule | None = {"cp": copies, "mv": moves}.get(name)
    if rule is not None:
        for write in rule(simple, simple.words[1:]):
            if write.kind == "copy":
                yield BlindWrite(write.path)


def _by_number(simple: SimpleCommand) -> Iterator[BlindWrite]:
    name = _name(simple)
    files: Sequence[Word]
    if name == "sed":
        lines, operands = _of_sed(simple.words[1:])
        files = operands if any(True for _ in edits_in_place(simple)) else ()
    elif name in ("ed", "ex"):
        scripts = [word or "" for word in simple.words[1:]] if name == "ex" else []
        lines = _numbers("\n".join([*simple.bodies, *scripts]))
        files = tuple(word for word in simple.words[1:] if word and word[:1] not in ("-", "+"))[-1:]
    elif name in ("perl", "awk", "gawk"):
        lines = _of_program(simple)
        is_inplace = name == "perl" and any(True for _ in edits_in_place(simple))
        is_inplace = is_inplace or "inplace" in simple.words
        files = simple.words[-1:] if is_inplace else ()
    else:
        return
    for path in [absolute_path(simple.cwd, file) for file in files] if lines else ():
        if path is not None:
            yield BlindWrite(path, lines)


def _name(simple: SimpleCommand) -> str:
    return ((simple.words or [None])[0] or "").rpartition("/")[2]


def _of_sed(words: Sequence[Word]) -> tuple[Spans, tuple[Word, ...]]:
    """Return the line numbers in the scripts of sed, and its files. On macOS an empty word behind -i says
    that no copy of the old file is kept."""
    words = [word for word in words if word != ""]
    options, operands = parse_words(words, "efl", ("expression", "file", "line-length"))
    scripts = [value for name, value in options if name in ("e", "expression")]
    if not scripts and not any(name in ("f", "file") for name, _ in options):
        scripts, operands = [operands[0] or ""] if operands else [], operands[1:]
    return _numbers("\n".join(scripts)), tuple(operands)


ADDRESS = re.compile(
    r"(?:^|[;{}\n])\s*(\d{1,9})(?:\s*,\s*(\d{1,9}|\$|\+\d{1,9}|/[^/\n]*/))?\s*!?\s*[a-zA-Z={]"
)
"""A command of sed or ed behind its line numbers."""

COMPARED = re.compile(r"(?:\$\.|\bF?NR)\s*(?:==|>=|<=|<|>|\.\.)\s*(\d{1,9})")
"""A line number in a program of perl or awk."""


def _numbers(script: str) -> Spans:
    """Return the lines that a script names by their numbers. What stands behind a pattern counts as the end
    of the file."""
    found: list[tuple[int, int]] = []
    for match in ADDRESS.finditer(script):
        first, last = int(match[1]), match[2]
        if last is None:
            found.append((first, first))
        elif last.startswith("+"):
            found.append((first, first + int(last[1:])))
        else:
            found.append((first, max(int(last), first) if last.isdigit() else LAST))
    return tuple(found)


def _compared(program: str) -> Spans:
    return tuple((int(found[1]), int(found[1])) for found in COMPARED.finditer(program))
