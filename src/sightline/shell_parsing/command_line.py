"""A shell's command line, taken apart as far as its text alone allows.

What a variable, a substitution or a pattern stands for is not known here: such a word is None.
Nothing is claimed of control flow; each simple command is taken as one that may have run.
"""

from __future__ import annotations

from collections.abc import Iterator
from re import DOTALL, VERBOSE, Match, finditer, search, sub
from re import compile as made

from msgspec import Struct

Word = str | None

COMMAND_MAX = 200_000
"""Characters of a command that is looked at; what is longer says nothing."""

UNNAMED = "/\0"
"""A folder whose name is not known, under as many others as a command may leave by "..". """
DEPTH = 16

PIECE = r"""
  (?P<blank>(?:[ \t\r]|\\\r?\n)+)
| (?P<comment>\#[^\n]*)
| (?P<redirect>(?:\d{1,2}|&)?(?:<<<|<<-?|>>|>\||<>|[<>]&|[<>]))
| (?P<end>\n|;;|;|&&|\|\||\|&|\||&|\(|\))
| (?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|()<>'"\\])+)
"""
PART = r"""\\(?P<one>.)|'(?P<single>[^']*)'|"(?P<double>(?:\\.|[^"\\])*)"|(?P<bare>[^'"\\]+)"""
LEADING = frozenset(
    [
        *("then", "do", "else", "elif", "if", "while", "until", "{", "!"),
        *("time", "sudo", "command", "builtin", "exec"),
    ]
)
"""Words before a command that do not change what it prints."""


class Simple(Struct, frozen=True):
    """One command of a pipeline. words: without assignments and redirections; inputs, outputs:
    files that its stdin comes from and its stdout goes to, (path, appended); bodies: the texts
    handed to it in the command line; cwd: its folder, None where it is not known."""

    words: tuple[Word, ...]
    cwd: str | None
    inputs: tuple[Word, ...] = ()
    outputs: tuple[tuple[Word, bool], ...] = ()
    bodies: tuple[str, ...] = ()


def pipelines(command: str, cwd: str) -> list[list[Simple]]:
    """The pipelines of a command line in order, each with its commands; none where it is too long
    or a quote is not closed."""
    if len(command) > COMMAND_MAX:
        return []
    return _Reader(command, cwd).pipelines()


def starts(command: str, cwd: str) -> tuple[str, ...]:
    """The folders that a command may have begun in when this one is told of it afterwards: the
    one told; and, as some hosts tell where a command has led to, the one that leads there."""
    if "cd" not in command and "pushd" not in command:
        return (cwd,)
    reader = _Reader(command if len(command) <= COMMAND_MAX else "", UNNAMED * DEPTH)
    reader.pipelines()
    led = (reader.folder or "").split(UNNAMED)
    tail = led[-1]
    if led[0] or len(led) == 1 or not cwd.endswith(tail) or reader.folder == UNNAMED * DEPTH:
        return (cwd,)
    return (cwd, cwd.removesuffix(tail) + UNNAMED * (DEPTH - len(led) + 1))


class _Reader:
    _words: list[Word]
    _inputs: list[Word]
    _outputs: list[tuple[Word, bool]]
    _bodies: list[str]
    _awaits: str | None

    def __init__(self, command: str, cwd: str) -> None:
        self._text = command
        self._cwd: str | None = cwd
        self._outer: list[str | None] = []
        self._pipes: list[list[Simple]] = []
        self._line: list[Simple] = []
        self._delimiters: list[tuple[str, bool]] = []
        self._at = 0
        self._clear()

    @property
    def folder(self) -> str | None:
        """Where the commands read so far lead to."""
        return self._cwd

    def pipelines(self) -> list[list[Simple]]:
        for match in self._tokens():
            kind, token = match.lastgroup, match.group()
            if kind == "word":
                self._word(_decoded(token))
            elif kind == "redirect":
                self._awaits = token
            elif kind == "end":
                self._end(token)
        if self._at < len(self._text):
            return []  # a quote that is not closed: the shell runs nothing of it
        self._end("\n")
        return [pipe for pipe in self._pipes if pipe]

    def _tokens(self) -> Iterator[Match[str]]:
        token = made(PIECE, VERBOSE | DOTALL)
        while match := token.match(self._text, self._at):
            self._at = match.end()
            yield match

    def _clear(self) -> None:
        self._words, self._inputs, self._outputs, self._bodies = [], [], [], []
        self._awaits = None

    def _word(self, word: Word) -> None:
        if self._awaits is not None:
            redirect, self._awaits = self._awaits, None
            self._redirected(redirect, word)
        elif self._words or word is None or not _is_leading(word):
            self._words.append(word)

    def _redirected(self, redirect: str, word: Word) -> None:
        sign = redirect.lstrip("0123456789&")
        stream = redirect[: len(redirect) - len(sign)]
        if sign in ("<<", "<<-"):
            self._delimiters.append((word or "", sign == "<<-"))
        elif sign == "<<<":
            self._bodies.append(f"{word or ''}\n")
        elif sign == "<":
            self._inputs.append(word)
        elif stream in ("", "1", "&") and (sign != ">&" or not (word or "").isdigit()):
            self._outputs.append((word, sign == ">>"))

    def _end(self, mark: str) -> None:
        if mark == "\n" and self._delimiters:
            self._bodies += [self._body(*each) for each in self._delimiters]
            self._delimiters = []
        self._close()
        if mark in ("|", "|&"):
            return
        self._pipes.append(self._line)
        self._moved(self._line, mark)
        self._line = []
        if mark == "(":
            self._outer.append(self._cwd)
        elif mark == ")" and self._outer:
            self._cwd = self._outer.pop()

    def _close(self) -> None:
        if self._words or self._inputs or self._outputs:
            parts = (tuple(self._inputs), tuple(self._outputs), tuple(self._bodies))
            self._line.append(Simple(tuple(self._words), self._cwd, *parts))
        self._clear()

    def _moved(self, line: list[Simple], mark: str) -> None:
        """A cd that is not in a pipeline, nor in the background, moves what comes after it."""
        if len(line) != 1 or mark == "&":
            return
        words = [word for word in line[0].words if word != "--"]
        if words[:1] in (["cd"], ["pushd"], ["popd"]):
            target = words[1] if words[0] != "popd" and len(words) == 2 else None
            self._cwd = None if target in (None, "-") else joined(self._cwd, target)

    def _body(self, delimiter: str, tabs: bool) -> str:  # noqa: FBT001 - as its sign says
        """A text in the command line, up to the line that closes it."""
        lines: list[str] = []
        while self._at < len(self._text):
            end = self._text.find("\n", self._at)
            line = self._text[self._at : end + 1 if end >= 0 else None]
            self._at += len(line)
            line = line.lstrip("\t") if tabs else line
            if line.removesuffix("\n") == delimiter:
                break
            lines.append(line)
        return "".join(lines)


def joined(cwd: str | None, path: Word) -> str | None:
    """A path as its command means it; None where that is not known."""
    if path is None or not path:
        return None
    if path.startswith("/") or path[1:3] in (":/", ":\\"):
        return _direct(path)
    return None if cwd is None else _direct(f"{cwd.rstrip('/')}/{path}")


def _direct(path: str) -> str:
    """A path without "." and "..", as a shell that follows its own names counts them."""
    parts: list[str] = []
    for part in path.split("/")[1:] if path.startswith("/") else path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" * path.startswith("/") + "/".join(parts)


def _is_leading(word: str) -> bool:
    if word in LEADING:
        return True
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _decoded(token: str) -> Word:
    """A word without its quotes; None where it stands for something else."""
    kept: list[str] = []
    for part in finditer(PART, token, DOTALL):
        kind, text = part.lastgroup, part.group(part.lastgroup or 0)
        if kind == "double":
            if _expands(text):
                return None
            text = _unescaped(text)
        elif kind == "bare" and (_is_pattern(text) or (text.startswith("~") and not kept)):
            return None
        kept.append("" if (kind, text) == ("one", "\n") else text)
    return "".join(kept)


def _is_pattern(text: str) -> bool:
    return text not in ("{", "}", "[", "[[") and any(sign in text for sign in "$`*?[{")


def _expands(text: str) -> bool:
    return bool(search(r"(?:^|[^\\])(?:\\\\)*(?:\$[\w({?!@#*$-]|`)", text, DOTALL))


def _unescaped(text: str) -> str:
    return sub(r'\\([\\"$`\n])', lambda match: match[1].strip("\n"), text) if "\\" in text else text
