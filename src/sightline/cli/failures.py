"""Errors as words and exit codes. No other module of the command line decides either."""

from __future__ import annotations

import sys
from traceback import print_exception

import click

from sightline.cli import output
from sightline.cli.output import Call
from sightline.errors import (
    EditRefused,
    Hint,
    RewindInterrupted,
    SessionError,
    SettingsError,
    SightlineError,
    StoreError,
    Unverifiable,
    WorkspaceError,
)

NO, USAGE, UNKNOWN, INTERRUPTED = 1, 2, 3, 130


class Answered(Exception):
    """Ends a command with an exit code, after its answer was printed."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def exit_code(error: BaseException, call: Call) -> int:
    """Report an error, unless the command did, and return the exit code of the process."""
    if isinstance(error, Answered):
        return error.code
    if isinstance(error, (click.exceptions.Exit, SystemExit)):
        code = error.exit_code if isinstance(error, click.exceptions.Exit) else error.code
        return code if isinstance(code, int) else 0 if code is None else 1
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        cause = error.__cause__ if isinstance(error, click.Abort) else error
        if isinstance(cause, RewindInterrupted):
            report(call, "interrupted", cause.message, cause.next_step)
        return INTERRUPTED
    if call.debug:
        print_exception(error, file=sys.stderr)
    if isinstance(error, SightlineError):
        kind = getattr(error, "reason", type(error).__name__)
        report(call, kind, error.message, error.next_step, getattr(error, "diff", ""))
        return code_of(error)
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        where = context.command_path if context else "sightline"
        message = error.format_message()
        if isinstance(error, click.UsageError):
            from sightline.cli.guesses import reworded  # only where a command was mistyped

            message = reworded(error)
        report(call, "usage", message, f"See '{where} --help'.{_example(context)}")
        return USAGE
    if isinstance(error, output.Unprintable):
        hint = "Look where the output goes. What was done is in 'sightline log'."
        report(call, "output", f"The answer cannot be printed: {error}.", hint)
        return UNKNOWN
    what = f"{type(error).__name__}: {error}"
    report(call, "internal", f"Sightline itself failed: {what}", "Run it again with --debug.")
    return UNKNOWN


def _example(context: click.Context | None) -> str:
    """Return an example of a command that was called wrongly, where it says more than the command's name."""
    example = getattr(context.command, "example", "") if context is not None else ""
    return f" For example: sightline {example}" if " " in example else ""


def code_of(error: SightlineError) -> int:
    """Return the exit code for an error of Sightline."""
    if isinstance(error, (Unverifiable, StoreError)):
        return UNKNOWN
    if isinstance(error, EditRefused) and error.reason == "unverifiable":
        return UNKNOWN
    return USAGE if isinstance(error, (SessionError, SettingsError, WorkspaceError)) else NO


def report(call: Call, kind: str, message: str, hint: str | Hint, diff: str = "") -> None:
    """Print an error for people, and for programs with --json."""
    try:
        output.failure(call, message, hint, diff=diff)
        if call.json:
            output.json({"error": {"kind": kind, "message": message, "hint": output.worded(hint)}})
    except OSError:  # the streams are closed; the exit code remains
        return
