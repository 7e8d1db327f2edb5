"""From what went wrong to words and an exit code. Nothing else in the command line does this."""

from __future__ import annotations

import sys
from traceback import print_exception

import click

from sightline.cli import output
from sightline.cli.output import Call
from sightline.errors import (
    CheckpointFailed,
    ClaimRefused,
    EditRefused,
    FileMissing,
    HistoryError,
    PathRefused,
    RewindInterrupted,
    RewindRefused,
    SightlineError,
    StoreError,
    UnknownName,
    Unverifiable,
)

NO, USAGE, UNKNOWN, INTERRUPTED = 1, 2, 3, 130


class Answered(Exception):
    """Ends a command with an exit code of its own: its answer was printed, and it is no."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def exit_code(error: BaseException, call: Call) -> int:
    """Say what happened, unless the command did already: the process's exit code."""
    if isinstance(error, Answered):
        return error.code
    if isinstance(error, (click.exceptions.Exit, SystemExit)):
        code = error.exit_code if isinstance(error, click.exceptions.Exit) else error.code
        return code if isinstance(code, int) else 0 if code is None else 1
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        told_by = error.__cause__ if isinstance(error, click.Abort) else error
        if isinstance(told_by, RewindInterrupted):
            told(call, "interrupted", told_by.message, told_by.hint)
        return INTERRUPTED
    if call.debug:
        _trace(error)
    if isinstance(error, SightlineError):
        return _ours(error, call)
    if isinstance(error, click.ClickException):
        return _usage(error, call)
    if isinstance(error, output.Unprintable):
        hint = "Look where the output goes. What was done is in 'sightline log'."
        told(call, "output", f"The answer cannot be printed: {error}.", hint)
        return UNKNOWN
    what = f"{type(error).__name__}: {error}"
    told(call, "internal", f"sightline itself failed: {what}", "Run it again with --debug.")
    return UNKNOWN


def code_of(error: SightlineError) -> int:
    """The exit code that an error of ours stands for."""
    if isinstance(error, (Unverifiable, StoreError)):
        return UNKNOWN
    if isinstance(error, EditRefused) and error.reason == "unverifiable":
        return UNKNOWN
    no = (
        *(CheckpointFailed, ClaimRefused, EditRefused, FileMissing, PathRefused),
        *(HistoryError, RewindRefused, UnknownName),
    )
    return NO if isinstance(error, no) else USAGE


def _ours(error: SightlineError, call: Call) -> int:
    kind = getattr(error, "reason", type(error).__name__)
    told(call, kind, error.message, error.hint, getattr(error, "diff", ""))
    return code_of(error)


def _usage(error: click.ClickException, call: Call) -> int:
    context = getattr(error, "ctx", None)
    where = context.command_path if context else "sightline"
    told(call, "usage", error.format_message(), f"See '{where} --help'.")
    return USAGE


def told(call: Call, kind: str, message: str, hint: str, diff: str = "") -> None:
    """Print an error for people, and for programs where --json was given."""
    try:
        output.failure(call, message, hint, diff=diff)
        if call.json:
            output.json({"error": {"kind": kind, "message": message, "hint": hint}})
    except OSError:  # nowhere to say it: the exit code still does
        return


def _trace(error: BaseException) -> None:
    print_exception(error, file=sys.stderr)
