"""Printing: answers on stdout as exact bytes, everything else on stderr. And the call: its options."""

from __future__ import annotations

import json as codec
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from shlex import quote
from shutil import get_terminal_size
from threading import Timer
from typing import TYPE_CHECKING, Any, TextIO

import click

from sightline.errors import Hint, Wording
from sightline.model.session_ids import AT_SHELL, short_id
from sightline.text import terminal_cells
from sightline.text.command_words import as_command
from sightline.text.printable import printable

if TYPE_CHECKING:  # the help, an error and a bare look start without them
    from sightline.api.session import Session
    from sightline.api.workspace import Workspace
    from sightline.config.settings import Settings

PROGRESS_AFTER_S = 0.5

WIDTH = 79
"""Characters of a line of prose."""

NARROWEST = 20
"""Characters of a line in a terminal that is narrower still."""


class Unprintable(OSError):
    """Writing an answer failed."""


def text(words: str, *, end: str = "\n") -> None:
    """Print an answer; a pipe gets its exact bytes."""
    if sys.stdout.isatty():
        _answer(_speakable(words + end, sys.stdout), color=True)
    else:
        _answer((words + end).encode("utf-8", "surrogateescape"))


def raw(data: bytes) -> None:
    """Print bytes as they are."""
    _answer(data)


def json(shape: Mapping[str, Any]) -> None:
    """Print one object on one line, in ASCII: no terminal, shell or locale changes ASCII."""
    from sightline.api.json_shapes import SCHEMA

    _answer(codec.dumps({"schema": SCHEMA, **shape}).encode() + b"\n")


def _answer(data: str | bytes, *, color: bool | None = None) -> None:
    try:
        click.echo(data, nl=False, color=color)
    except BrokenPipeError:  # the reader had enough: nothing is wrong
        raise
    except OSError as error:
        let_go(sys.stdout)
        raise Unprintable(error.strerror or str(error)) from error


def let_go(stream: TextIO) -> None:
    """Flush a stream, or redirect it to the null device if that fails.

    Otherwise the interpreter would flush again at its end, fail, and change the exit code.
    """
    try:
        stream.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def answer(call: Call, shape: Mapping[str, Any], words: str, nothing: str = "") -> None:
    """Print an answer: one object with --json, else words. nothing: the remark where there are none."""
    if call.json:
        json(shape)
    elif words or not nothing:
        text(words)
    else:
        note(call, nothing)


def result(call: Call, shape: Mapping[str, Any], words: str) -> None:
    """Print that something was done: one object with --json, else words, unless --quiet."""
    if call.json:
        json(shape)
    else:
        done(call, words)


def done(call: Call, words: str) -> None:
    """Print that something was done, unless --quiet."""
    if not call.quiet:
        text(words)


def note(call: Call, words: str) -> None:
    """Print a remark on stderr, unless --quiet."""
    if not call.quiet:
        say(words)


def stopped(call: Call, words: str) -> None:
    """Print a remark on stderr after Ctrl-C, which a terminal echoes as "^C" on the line."""
    note(call, ("\n" if sys.stderr.isatty() else "") + fitted(words, sys.stderr))


def say(words: str) -> None:
    """Print a remark on stderr, fitted to the terminal, with --quiet, too."""
    say_raw(fitted(words, sys.stderr))


def say_raw(words: str) -> None:
    """Print text of files on stderr."""
    sys.stdout.flush()
    click.echo(_speakable(words, sys.stderr), err=True, color=sys.stderr.isatty())


def worded(words: str | Hint, options: str = "") -> str:
    """Return a hint with commands in place of its calls. options: of these commands, each after a space."""
    return Hint(words).worded(partial(as_command, options=options))


def failure(
    call: Call, message: str, hint: str | Hint, *, diff: str = "", by: Wording = as_command
) -> None:
    """Print an error and its hint on stderr. The diff between them goes to stdout, as an answer. by: words a
    call in the hint."""
    error = f"{style(call, 'Error:', 'red', sys.stderr)} {printable(' '.join(message.split()))}"
    say(fitted(error, sys.stderr))
    if diff and not call.json:
        text(coloured(call, diff))
    first, _, more = Hint(hint).worded(by).partition("\n")
    if first:
        start = style(call, "Hint:", "cyan", sys.stderr)
        say(fitted(f"{start} {printable(first)}", sys.stderr))
    if more:
        say(fitted(printable(more.rstrip("\n")), sys.stderr))


def style(call: Call, words: str, colour: str, stream: TextIO | None = None) -> str:
    """Return words in a colour if the stream is a terminal and colours are wanted."""
    plain = call.no_color or os.environ.get("NO_COLOR") or not (stream or sys.stdout).isatty()
    return words if plain else click.style(words, fg=colour)


def columns(stream: TextIO | None = None) -> int:
    """Return how many characters a line may have where a stream (stdout) is a terminal; else WIDTH."""
    if not (stream or sys.stdout).isatty():
        return WIDTH
    return max(get_terminal_size().columns, NARROWEST)


def fitted(words: str, stream: TextIO | None = None, width: int | None = None) -> str:
    """Return lines, those that are too long for a terminal broken between words and indented below
    their text. Elsewhere a line stays whole: a program reads it. width: of a view of its own."""
    if width is None and not (stream or sys.stdout).isatty():
        return words
    width = columns(stream) if width is None else width
    lines = []
    for line in words.split("\n"):
        text = line.lstrip(" ")
        start = line[: len(line) - len(text)]
        is_long = terminal_cells.columns_of(line) > width
        lines.append(wrapped(text, start, f"{start}  ", width) if is_long else line)
    return "\n".join(lines)


def room(stream: TextIO | None = None) -> int | None:
    """Return how many columns a line has that is cut where a stream (stdout) is a terminal; None elsewhere:
    a program reads it whole."""
    return columns(stream) if (stream or sys.stdout).isatty() else None


def tabled(rows: Sequence[Sequence[str]]) -> str:
    """Return a table, whose first row has the headings. Where a terminal has no room for it, each other row is
    a line of its first cell, and below it the headings with its other cells, in small letters."""
    from sightline.text import phrases  # the help and an error start without

    lines = phrases.table(rows)
    width = room()
    if width is None or max(map(terminal_cells.cells, lines), default=0) <= width:
        return "\n".join(lines)
    out: list[str] = []
    for first, *cells in rows[1:]:
        said = [
            f"{head.lower()}: {cell}"
            for head, cell in zip(rows[0][1:], cells, strict=False)
            if cell
        ]
        out += [first, wrapped("; ".join(said), "  ", "  ")]
    return "\n".join(out)


def prose(words: str) -> None:
    """Print an answer in sentences, fitted to the terminal. For text of files use `text`."""
    text(fitted(words))


def wrapped(words: str, start: str = "", indent: str = "", width: int | None = None) -> str:
    """Return words as lines of at most `width` characters, of WIDTH or as many as the terminal has by
    default: the first begins with `start`, others with `indent`."""
    width = min(WIDTH, columns()) if width is None else width
    return terminal_cells.wrapped(words, width, start, indent)


def local(at: int) -> datetime:
    """Return UTC microseconds as the time on the reader's clock."""
    return datetime.fromtimestamp(at / 1_000_000, UTC).astimezone()


def minute(at: int) -> str:
    """Return UTC microseconds as a day and a time on the reader's clock: "2026-01-31 12:00"."""
    return f"{local(at):%Y-%m-%d %H:%M}"


def minute_of(at: datetime) -> str:
    """Return a time as a day and a time on the reader's clock: "2026-01-31 12:00"."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def coloured(call: Call, diff: str, stream: TextIO | None = None) -> str:
    """Return a diff without its last newline; for a terminal in colours and printable."""
    whole = diff.removesuffix("\n")
    if not (stream or sys.stdout).isatty():
        return whole
    return "\n".join(_line(call, printable(line), stream) for line in whole.split("\n"))


def _line(call: Call, line: str, stream: TextIO | None) -> str:
    colour = _DIFF_COLOURS.get(line[:1])
    return style(call, line, colour, stream) if colour else line


_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}

STATE_COLOURS = {"fresh": "green", "unseen": "cyan"}
"""State -> colour. Every other state is yellow: look before you rely on the file."""


@contextmanager
def progress(call: Call, words: str) -> Iterator[Callable[[int, int], None]]:
    """Show words on a terminal while the block runs, if it takes long. The block may say how much is
    done, of how much."""
    if call.quiet or call.json or not sys.stderr.isatty():
        yield lambda *_: None
        return

    shown: list[str] = []

    def show(more: str = "") -> None:
        shown.append(words)
        click.echo(f"\r{words} …{more}", err=True, nl=False)

    timer = Timer(PROGRESS_AFTER_S, show)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, of: show(f" {done:,} of {of:,}") if shown else None
    finally:
        timer.cancel()
        timer.join()
        if shown:
            click.echo("\r\x1b[K", err=True, nl=False, color=True)


def _speakable(words: str, stream: TextIO) -> str:
    """Return words in the encoding of a stream."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return words.encode(encoding, "replace").decode(encoding)


class Call:
    """The options of all commands; None and False stand for options that are not there. shown: the session
    that a command without a named one answers for; None for the shell's."""

    def __init__(self) -> None:
        self.workspace: str | None = None
        self.session: str | None = None
        self.shown: str | None = None
        self.store: str | None = None
        self.json = False
        self.quiet = False
        self.no_color = False
        self.debug = False

    @cached_property
    def root(self) -> str:
        """The workspace. WorkspaceError."""
        from sightline.api.folders import discover

        return discover(self.workspace)

    @cached_property
    def settings(self) -> Settings:
        """The settings of the workspace. Say once what is left out of them. SettingsError."""
        from sightline.api.folders import settings_of

        settings = settings_of(self.root, self.store)
        for fault in settings.left_out:
            warning = style(self, "Warning:", "yellow", sys.stderr)
            say(f"{warning} {printable(fault.message)} It is left out. {printable(fault.hint)}")
        return settings

    @property
    def named_session(self) -> str | None:
        """The session that the user named, by the option or the variable."""
        return self.session if self.session is not None else self._variable

    @cached_property
    def _variable(self) -> str | None:
        return os.environ.get("SIGHTLINE_SESSION") or None

    def _resolve(self, workspace: Workspace, *, begins: bool) -> None:
        """Take the id of the session that the user named. begins: the command may begin a session, as one
        whose name stands in the variable always may. SessionError."""
        if self.session is not None:
            named = workspace.meant_session if begins else workspace.named_session
            self.session = named(self.session)
        elif self._variable is not None:
            self._variable = workspace.meant_session(self._variable)

    @property
    def session_id(self) -> str:
        """The session whose view the command shows."""
        return self.shown or AT_SHELL if self.named_session is None else self.named_session

    def options_for(self, session: str) -> str:
        """Return the options, each after a space, that give a further command the same workspace and
        store, and a session."""
        usual = session == (os.environ.get("SIGHTLINE_SESSION") or AT_SHELL)
        named = {"workspace": self.workspace, "store": self.store}
        named["session"] = None if usual else short_id(session)
        return "".join(f" --{name} {quote(value)}" for name, value in named.items() if value)

    @contextmanager
    def open(self, *, finish: bool = True, known: bool = False) -> Iterator[Session]:
        """Open the session of the command for work. A session of another agent stays that agent's.

        finish: finish a rewind of the session whose process died, and say so. known: never begin a session.
        SessionError.
        """
        with self._opened(begins=not known) as workspace:
            approve, shell = approver(self), os.getppid()
            session = workspace.work(self.session_id, approve=approve, held_by=shell)
            if finish and (finished := session.finish_interrupted()):
                say(worded(finished))
            yield session
            if session.missed:
                say(worded(session.missed))

    @contextmanager
    def ask(self) -> Iterator[Workspace]:
        """Open the workspace, to ask about all sessions without beginning one."""
        with self._opened(begins=False) as workspace:
            yield workspace

    @contextmanager
    def _opened(self, *, begins: bool) -> Iterator[Workspace]:
        from sightline.api.workspace import open_workspace

        with open_workspace(self.root, self.store, settings=self.settings) as workspace:
            self._resolve(workspace, begins=begins)
            yield workspace

    @contextmanager
    def look(self) -> Iterator[Session]:
        """Open the session of the command, to look only: none begins, and none is held from here on."""
        with self.ask() as workspace:
            yield workspace.look(self.session_id, AT_SHELL)

    @contextmanager
    def go_on(self) -> Iterator[Session]:
        """Open the session of the command if it exists; else do as look() does."""
        with self.ask() as workspace:
            is_known = bool(workspace.agent_of(self.session_id))
        with self.open() if is_known else self.look() as session:
            yield session

    def path(self, name: str) -> str:
        """Return a path relative to the root of the workspace.

        Typed paths are relative to the current folder, or to --workspace.
        """
        if self.workspace is not None or os.path.isabs(name):
            return name
        folder = os.path.relpath(os.getcwd(), self.root)
        return name if folder == "." else os.path.join(folder, name)


def approver(call: Call) -> Callable[[str, str], bool] | None:
    """Return a function that asks the user to approve (path, diff); None without a terminal."""
    if not can_ask():
        return None

    from sightline.model.path import quoted

    def approve(path: str, diff: str) -> bool:
        say_raw(coloured(call, diff, sys.stderr))
        return confirmed(f"{quoted(path)} is protected. Make this change?")

    return approve


def can_ask() -> bool:
    """Return whether somebody sits at a terminal to answer a question."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def asked(question: str) -> str:
    """Ask for words on the terminal; "" where the user just goes on. KeyboardInterrupt when the user gives no
    answer."""
    try:
        answer: str = click.prompt(question, default="", show_default=False, err=True)
    except click.Abort:
        raise KeyboardInterrupt from None
    return answer.strip()


def confirmed(question: str, *, default: bool = False) -> bool:
    """Ask on the terminal. KeyboardInterrupt when the user gives no answer."""
    try:
        return click.confirm(question, default=default, err=True)
    except click.Abort:
        raise KeyboardInterrupt from None
