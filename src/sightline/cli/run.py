"""The command run: a command whose changes are recorded as made by the command."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from sightline.api.json_shapes import shape
from sightline.api.session import Session
from sightline.cli import completion, output
from sightline.cli.failures import INTERRUPTED, Answered
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.model.path import quoted
from sightline.text import phrases

NOT_RUNNABLE, NOT_FOUND = 126, 127
"""Exit codes of shells."""

PATHS_NAMED = 10


@command(
    Session.ran,
    example="run -- sh build.sh",
    without=("cwd",),
    command={
        "nargs": -1,
        "type": click.UNPROCESSED,
        "shell_complete": completion.command_line,
    },
)
def run(call: Call, command: tuple[str, ...]) -> None:
    """The exit code is the command's own. With --json, what it prints goes to stderr."""
    with call.open() as session, _interrupts() as interrupts:
        with session.ran(shlex.join(command), cwd=os.getcwd()) as under_way:
            under_way.exit_code = code = _spawned(call, command)
        done = under_way.result
    assert done is not None
    if call.json:
        output.json(shape(done))
    elif code not in (NOT_RUNNABLE, NOT_FOUND):
        paths = sorted({*(change.path for change in done.changes), *done.removed})
        named = phrases.named([quoted(path) for path in paths], PATHS_NAMED)
        files = phrases.count(len(paths), "file")
        nothing = "The command changed no file (ignored files are not checked)."
        output.note(call, f"It changed {files}: {named}." if paths else nothing)
    if code:
        raise Answered(INTERRUPTED if interrupts else code)


run.context_settings = {"allow_interspersed_args": False}


def _spawned(call: Call, command: Sequence[str]) -> int:
    """Run a command to its end and return its exit code, as a shell would."""
    try:
        code = subprocess.call(command, stdout=sys.stderr if call.json else None)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        hint = "For what a shell would do, run: sightline run -- sh -c '...'"
        output.failure(call, f"{command[0]} cannot be run: {error.strerror}.", hint)
        return NOT_FOUND if missing else NOT_RUNNABLE
    return code if code >= 0 else 128 - code


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Count interrupts, and leave them to the command: the terminal sends Ctrl-C there, too.

    The changes of the command must be recorded even if the user interrupts it.
    """
    counted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: counted.append(number))
    try:
        yield counted
    finally:
        signal.signal(signal.SIGINT, before)
