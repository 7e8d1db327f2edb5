"""Texts and messages from options, files and stdin."""

from __future__ import annotations

import sys
from json import JSONDecodeError, loads
from typing import Any

import click

from sightline.cli import output
from sightline.cli.output import Call


def is_asking(call: Call, *, dry_run: bool, yes: bool) -> bool:
    """Return whether the command asks the user first. UsageError without a terminal to ask on."""
    if not can_go_on(call, dry_run=dry_run, yes=yes):
        raise cannot_ask()
    return not (dry_run or yes)


def can_go_on(call: Call, *, dry_run: bool, yes: bool) -> bool:
    """Return whether the command need not ask the user, or has a terminal to ask on."""
    return dry_run or yes or not (call.json or not output.can_ask())


def cannot_ask(more: str = "") -> click.UsageError:
    """Return the error of a command that would have to ask. more: what else the user may pass."""
    how = f"Pass --dry-run to preview or --yes to proceed{more}."
    return click.UsageError(f"The command has to ask, and stdin is no terminal. {how}")


def text_in(file: str) -> str:
    """Return the text of a file, or of stdin for "-". Bytes that are no UTF-8 are carried through."""
    if file == "-" and sys.stdin is None:
        raise click.UsageError("The text is to come from stdin, and stdin is closed.")
    try:
        with click.open_file(file, "rb") as stream:
            data: bytes = stream.read()
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read: {error.strerror}.") from error
    return data.decode("utf-8", "surrogateescape")


def from_stdin(call: Call, what: str) -> str:
    """Return the text on stdin. At a terminal, ask for it first."""
    if sys.stdin is not None and sys.stdin.isatty() and not call.quiet:
        click.echo(f"Type {what}, then Ctrl-D on a line of its own.", err=True)
    return text_in("-")


def text_or_file(text: str | None, file: str | None, name: str) -> str:
    """Return a text from the option --NAME, or from the file of --NAME-file."""
    if (text is None) == (file is None):
        many = "not both" if text is not None else "one of them is needed"
        raise click.UsageError(f"--{name} or --{name}-file: {many}.")
    return text if file is None and text is not None else text_in(str(file))


def messages_in(file: str | None) -> list[Any]:
    """Return the messages, or their ids, in a file, or on stdin for "-".

    The file holds a JSON array, one message a line, or an exported conversation with an array of
    them under "messages" or "history".
    """
    messages = [] if file is None else _messages(file, text_in(file))
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict | str):
            raise _bad(file, f"number {number} of them is neither an object nor an id")
    return messages


def _messages(file: str, text: str) -> list[Any]:
    try:
        whole = loads(text) if text.strip() else []
    except JSONDecodeError:
        lines = enumerate(text.split("\n"), 1)
        return [_line(file, number, line) for number, line in lines if line.strip()]
    except RecursionError:
        raise _bad(file, "it is nested too deep") from None
    if isinstance(whole, list):
        return whole
    held = [whole.get(name) for name in ("messages", "history")] if isinstance(whole, dict) else []
    return next((each for each in held if isinstance(each, list)), [whole])


def _line(file: str, number: int, line: str) -> Any:
    try:
        return loads(line)
    except JSONDecodeError as error:
        raise _bad(file, f"line {number} is no JSON: {error.msg}") from error
    except RecursionError:
        raise _bad(file, f"line {number} is nested too deep") from None


def _bad(file: str | None, why: str) -> click.BadParameter:
    message = f"{file} holds no messages: {why}. Give a JSON array of them, or one a line."
    return click.BadParameter(message, param_hint="--messages")
