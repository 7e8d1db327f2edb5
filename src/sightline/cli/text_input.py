"""Texts from files and stdin: their very bytes, as UTF-8 with what is none carried through."""

from __future__ import annotations

import sys

import click

from sightline.cli.output import Call


def text_in(file: str) -> str:
    """The text of a file, or of stdin for "-"."""
    if file == "-" and sys.stdin is None:
        raise click.UsageError("The text is to come from stdin, and stdin is closed.")
    try:
        with click.open_file(file, "rb") as stream:
            data: bytes = stream.read()
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read: {error.strerror}.") from error
    return data.decode("utf-8", "surrogateescape")


def from_stdin(call: Call, what: str) -> str:
    """The text on stdin; a person who is expected to type it is told so."""
    if sys.stdin is not None and sys.stdin.isatty() and not call.quiet:
        click.echo(f"Type {what}, then Ctrl-D on a line of its own.", err=True)
    return text_in("-")


def one_of(text: str | None, file: str | None, name: str) -> str:
    """A text that was given as --NAME, or in a file as --NAME-file, and not as both."""
    if (text is None) == (file is None):
        many = "not both" if text is not None else "one of them is needed"
        raise click.UsageError(f"--{name} or --{name}-file: {many}.")
    return text if file is None and text is not None else text_in(str(file))
