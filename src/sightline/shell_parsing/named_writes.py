"""Find the files that a shell command changes by name, and what its text tells of the result.

A named write proves who changed a file: any other change during a command may be somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from sightline.shell_parsing.command_line import (
    SHELLS,
    SimpleCommand,
    Word,
    absolute_path,
    all_commands,
    git_words,
    inner_line,
    parse_command,
    pipelines,
)
from sightline.shell_parsing.file_effects import command_writings
from sightline.shell_parsing.scripts import script_files, script_of

Kind = Literal["text", "appended", "copy", "removed", "mode", "edited"]

BRANCHES = frozenset((
    "if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement",
    "function_definition", "||", "&",
))  # fmt: skip
"""Syntax after which it is unknown whether, or when, a command of the line ran."""

QUICK = frozenset((
    ":", "[", "awk", "basename", "cat", "cd", "chmod", "cp", "cut", "date", "diff", "dirname", "echo",
    "exit", "export", "false", "grep", "head", "jq", "ln", "ls", "mkdir", "mv", "paste", "perl",
    "printf", "pwd", "rg", "rm", "sed", "seq", "set", "sort", "tail", "tee", "test", "touch", "tr",
    "true", "truncate", "uniq", "unlink", "wc",
))  # fmt: skip
"""Programs that end in a moment, so that nobody else has time to save a file meanwhile."""

QUICK_GIT = frozenset(("add", "diff", "log", "mv", "restore", "rm", "show", "status"))


SCRIPT = re.compile(r".*/.*\.(?:sh|bash|py|pl|rb|js|mjs|ts|php)")
"""The path of a script that runs by itself."""


class FileWrite(Struct, frozen=True):
    """One change that a command line names. path: absolute; a folder stands for the files in it
    where the kind is copy, removed or mode.

    kind: "text" and "appended": the file has, or ends in, one of `texts`. "copy": it has the bytes
    that were at `source`. "removed": nothing is at the path. "mode": only its permission bits
    change. "edited": the text of the command does not tell the result."""

    path: str
    kind: Kind
    texts: tuple[str, ...] = ()
    source: str = ""


class Step(Struct, frozen=True):
    """One program of a command line. pipeline: its number, behind that of the shell within which it
    runs. is_quick: it ends in a moment. given: absolute paths that a script in a file is given, and may
    change."""

    pipeline: tuple[int, ...]
    is_quick: bool
    writes: tuple[FileWrite, ...] = ()
    given: tuple[str, ...] = ()


class NamedWrites(Struct, frozen=True):
    """The changes that a command line names. is_straight: each of its programs ran, one after
    another, when its exit code is 0."""

    steps: tuple[Step, ...] = ()
    is_straight: bool = False

    def to(self, path: str) -> tuple[FileWrite, ...]:
        """Return the writes to a path, in order; those to a folder above it as writes to it."""
        writes = (_narrowed(write, path) for step in self.steps for write in step.writes)
        return tuple(write for write in writes if write is not None)

    def leaves_no_time(self, path: str) -> bool:
        """Return whether the command line ends in a moment: all its programs do, but for those that
        write this very path."""
        writing = {step.pipeline for step in self.steps if _writes(step, path)}
        return self.is_straight and all(
            step.is_quick or step.pipeline in writing for step in self.steps
        )

    def is_given(self, path: str) -> bool:
        """Return whether a script in a file takes a path as its argument, and all other programs end in a
        moment."""
        return (
            self.is_straight
            and any(path in step.given for step in self.steps)
            and all(step.is_quick or path in step.given for step in self.steps)
        )


def named_writes(command: str, cwd: str) -> NamedWrites:
    """Return the changes that a command line names. cwd: an absolute folder."""
    steps = tuple(_steps(command, cwd, 2))
    return NamedWrites(steps, _is_straight(command))


def _steps(command: str, cwd: str, depth: int) -> Iterator[Step]:
    """depth: shells within shells that are followed."""
    for number, pipe in enumerate(pipelines(command, cwd)):
        for simple in pipe:
            inner = inner_line(simple) if depth else None
            if inner is not None and simple.cwd is not None:
                for each in _steps(inner, simple.cwd, depth - 1):
                    yield Step((number, *each.pipeline), each.is_quick, each.writes, each.given)
                yield Step((number,), _is_straight(inner), tuple(_redirected(simple)))
            else:
                given = given_to_script(simple)
                yield Step((number,), _is_quick(simple), tuple(_writes_of(simple)), given)


def _is_straight(command: str) -> bool:
    root = parse_command(command)
    if root is None or root.has_error or not all_commands(command, "/"):
        return False
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.type in BRANCHES:
            return False
        nodes += node.children
    return True


def _is_quick(simple: SimpleCommand) -> bool:
    if not simple.words:
        return True  # a redirection alone
    name, operands = simple.program, _operands(simple.words[1:])
    if name == "git":
        operands, _ = git_words(simple.words[1:], simple.cwd)
        return bool(operands) and operands[0] in QUICK_GIT
    return name in QUICK


def given_to_script(simple: SimpleCommand) -> tuple[str, ...]:
    """Return the paths that a command gives to a script in a file, as operands; none for any other
    command. The script may change them."""
    script, operands = script_of(simple), simple.words[1:]
    if script is not None:
        operands = [] if script.code else list(script.operands)
    elif simple.program in SHELLS:
        operands = _operands(operands)[1:]
    elif not SCRIPT.fullmatch((simple.words or [None])[0] or ""):
        return ()
    return tuple(_paths(simple, _operands(operands)))


def _operands(words: Sequence[Word]) -> list[Word]:
    """Return the words that are no options."""
    at = words.index("--") if "--" in words else len(words)
    before = [word for word in words[:at] if word is None or word == "-" or word[:1] != "-"]
    return [*before, *words[at + 1 :]]


def _writes_of(simple: SimpleCommand) -> Iterator[FileWrite]:
    yield from _redirected(simple)
    for file in script_files(simple):
        if file.is_whole and file.text is not None and not file.is_read:
            yield FileWrite(file.path, "text", (file.text,))
        elif file.is_written:
            yield FileWrite(file.path, "edited")
    if simple.words:
        rule = _RULES.get(simple.program)
        if rule is not None:
            yield from rule(simple, simple.words[1:])


def _redirected(simple: SimpleCommand) -> Iterator[FileWrite]:
    """Yield the files that the output of a command goes to."""
    texts: dict[str, list[str]] = {}
    for writing in command_writings(simple):
        texts.setdefault(writing.path, []).append(writing.text)
    outputs = [*simple.outputs, *simple.side_outputs]
    if simple.program == "tee":
        outputs += [(word, "-a" in simple.words) for word in _operands(simple.words[1:])]
    for word, appends in outputs:
        path = absolute_path(simple.cwd, word)
        if path is None:
            continue
        if path in texts:
            yield FileWrite(path, "appended" if appends else "text", tuple(texts[path]))
        else:
            yield FileWrite(path, "edited")


Rule = Callable[[SimpleCommand, Sequence[Word]], Iterator[FileWrite]]


def _paths(simple: SimpleCommand, words: Sequence[Word]) -> list[str]:
    paths = (absolute_path(simple.cwd, word) for word in words)
    return [path for path in paths if path is not None]


def _edits(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    for path in _paths(simple, _operands(words)):
        yield FileWrite(path, "edited")


def _edits_with(option: str) -> Rule:
    """Return the rule of a program that changes its operands in place with an option. A word behind
    any other option may be the value of that option."""

    def rule(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
        is_value = False
        files: list[Word] = []
        for word in words:
            is_option = word is not None and word[:1] == "-"
            if not is_option and not is_value:
                files.append(word)
            is_value = is_option and re.fullmatch(option, word or "") is None
        if not option or any(re.fullmatch(option, word) for word in words if word):
            yield from _edits(simple, files)

    return rule


def _sorts(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    for option, word in pairwise(words):
        if option in ("-o", "--output"):
            yield from _edits(simple, [word])


def _touches(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    for path in _paths(simple, _operands(words)):
        yield FileWrite(path, "appended", ("",))


def _removes(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    for path in _paths(simple, _operands(words)):
        yield FileWrite(path, "removed")


def _sets_mode(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    for path in _paths(simple, words):
        yield FileWrite(path, "mode")


def copies(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    """Yield the files that cp leaves. The last operand is a file or a folder: nobody can tell from the words."""
    if any((word or "").startswith(("-t", "--target")) for word in words):
        return  # the target comes first
    *sources, target = _operands(words) or [None]
    folder = absolute_path(simple.cwd, target)
    for source in _paths(simple, sources) if folder is not None else ():
        yield FileWrite(folder or "", "copy", source=source)
        yield FileWrite(f"{folder}/{source.rpartition('/')[2]}", "copy", source=source)


def moves(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    """Yield the files that mv removes and leaves."""
    found = list(copies(simple, words))
    yield from (FileWrite(path, "removed") for path in dict.fromkeys(c.source for c in found))
    yield from found


def _links(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    operands = _operands(words)
    for write in copies(simple, words) if len(operands) > 1 else ():
        yield FileWrite(write.path, "edited")


def _ruffs(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    if words[:1] == ["format"]:
        yield from _formats(simple, words[1:])
    elif words[:1] == ["check"]:
        yield from _edits_with("--fix|--unsafe-fixes")(simple, words[1:])


_formats = _edits_with("")
"""The rule of a formatter that needs no option."""


def _gits(simple: SimpleCommand, words: Sequence[Word]) -> Iterator[FileWrite]:
    words, cwd = git_words(words, simple.cwd)
    if not words:
        return
    simple = SimpleCommand(cwd, simple.words)
    verb, rest = words[0], words[1:]
    if verb == "mv":
        yield from moves(simple, rest)
    elif verb == "rm" and "--cached" not in rest:
        yield from _removes(simple, rest)
    elif verb in ("restore", "checkout"):
        yield from _edits(simple, rest)


_RULES: dict[str, Rule] = {
    "black": _formats,
    "chmod": _sets_mode,
    "clang-format": _edits_with("-i"),
    "cp": copies,
    "dos2unix": _formats,
    "eslint": _edits_with("--fix"),
    "git": _gits,
    "gofmt": _edits_with("-[ls]*w"),
    "isort": _formats,
    "ln": _links,
    "mv": moves,
    "perl": _edits_with(r"-[0-9lanp]*i(\..*)?"),
    "prettier": _edits_with("--write|-w"),
    "rm": _removes,
    "ruff": _ruffs,
    "rustfmt": _formats,
    "sed": _edits_with(r"-[nErsuz]*i(\..*)?|--in-place(=.*)?"),
    "sort": _sorts,
    "touch": _touches,
    "truncate": _formats,
    "unix2dos": _formats,
    "unlink": _removes,
}
"""Program -> the changes that its words name."""


def edits_in_place(simple: SimpleCommand) -> Iterator[FileWrite]:
    """Yield the files that a command changes in place by its words alone."""
    rule = _RULES.get(simple.program)
    return rule(simple, simple.words[1:]) if rule is not None else iter(())


OF_FOLDERS = ("copy", "removed", "mode")


def _narrowed(write: FileWrite, path: str) -> FileWrite | None:
    """Return a write as one to this path; None where it is to another."""
    if write.path == path:
        return write
    below = path.removeprefix(f"{write.path}/")
    if write.kind not in OF_FOLDERS or below == path:
        return None
    source = f"{write.source}/{below}" if write.source else ""
    return FileWrite(path, write.kind, write.texts, source)


def _writes(step: Step, path: str) -> bool:
    return any(_narrowed(write, path) is not None for write in step.writes)
