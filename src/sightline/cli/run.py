"""run: a command whose changes are recorded as its own."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from sightline.api import json_shapes
from sightline.cli import output
from sightline.cli.failures import INTERRUPTED, Answered
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.model.results import CommandRun
from sightline.text import phrases

NOT_RUNNABLE, NOT_FOUND = 126, 127
"""As shells say it."""

PATHS_NAMED = 10


@verb(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_obj
def run(call: Call, command: tuple[str, ...]) -> None:
    """Run a command; what it changes is recorded as its own.

    For example: sightline run -- make format

    The exit code is the command's own. With --json, what it prints goes to stderr.
    """
    with call.open() as session, _interrupts() as interrupts:
        with session.ran(shlex.join(command)) as under_way:
            under_way.exit_code = code = _spawned(call, command)
        done = under_way.result
    assert done is not None
    if call.json:
        output.json(json_shapes.command_run(done))
    elif code not in (NOT_RUNNABLE, NOT_FOUND):
        output.note(call, _summary(done))
    if code:
        raise Answered(INTERRUPTED if interrupts else code)


def _spawned(call: Call, command: Sequence[str]) -> int:
    """Run it to its end: its exit code, as a shell would have it."""
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
    """Ctrl-C is the command's to heed, the terminal sends it there too. Here it is only counted:
    what the command changed must be recorded, whenever the user's patience ends."""
    counted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: counted.append(number))
    try:
        yield counted
    finally:
        signal.signal(signal.SIGINT, before)


def _summary(done: CommandRun) -> str:
    changed = [change.path for change in done.changes]
    paths = [phrases.printable(path) for path in sorted({*changed, *done.removed})]
    if not paths:
        return "It changed no file (ignored ones are not looked at)."
    named = phrases.named(paths, PATHS_NAMED)
    return f"It changed {phrases.count(len(paths), 'file')}: {named}."
