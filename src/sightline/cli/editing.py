"""Guarded verbs that change files: edit, write, patch, create, delete, move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from sightline.api.json_shapes import shape
from sightline.api.session import Session
from sightline.api.words import affected
from sightline.cli import output
from sightline.cli.failures import Answered, code_of
from sightline.cli.input import from_stdin, text_or_file
from sightline.cli.options import command, count_from, place_from
from sightline.cli.output import Call
from sightline.errors import EditRefused, FileMissing, PathRefused, Unverifiable
from sightline.model.path import quoted
from sightline.model.results import EditResult, Refused
from sightline.model.spans import Span
from sightline.text.command_words import as_command
from sightline.text.printable import printable


def edited(call: Call, verb: Callable[..., EditResult], /, *values: Any, **named: Any) -> None:
    """Carry out a verb in the session, and print its result or its refusal."""
    with call.open() as session:
        try:
            result = verb(session, *values, **named)
        except (EditRefused, FileMissing, PathRefused, Unverifiable) as error:
            _refused(call, error)
            raise Answered(code_of(error)) from error
        files = (result, *result.others)
        stale = [
            affected(file.affected, session.name_of) if file.affected else "" for file in files
        ]
    if call.json:
        output.json(shape(result))
        return
    for file, made_stale in zip(files, stale, strict=True):
        if not file.changed:
            output.note(call, f"{quoted(file.path)} has this text already: nothing was written.")
            continue
        output.done(call, output.coloured(call, file.diff))
        if file.merged:
            output.note(call, f"Merged with what others changed in {quoted(file.path)}.")
        if file.notice is not None:
            output.say(printable(file.notice.text.rstrip("\n")))
        if made_stale:
            output.note(call, printable(made_stale))


def _refused(call: Call, error: EditRefused | FileMissing | PathRefused | Unverifiable) -> None:
    output.failure(call, error.message, error.next_step, diff=getattr(error, "diff", ""))
    if call.json:
        output.json(shape(Refused.answer_to(error, as_command)))
    elif isinstance(error, EditRefused):
        if error.text is not None:
            output.text(error.text, end="")
        for other in error.others:
            output.failure(call, other.message, other.next_step, diff=other.diff)


@command(
    *(Session.edit, Session.edit_lines),
    example="edit src/app.py --old 'a = 1' --new 'a = 2'",
    without=("start", "end"),
    old={"flag": "--old"},
    new={"flag": "--new"},
    count={"type": count_from, "default": "1", "metavar": "N", "show_default": False},
)
@click.option("--old-file", metavar="F", help="The text to replace, from a file (- is stdin).")
@click.option("--new-file", metavar="F", help="The new text, from a file (- is stdin).")
@click.option(
    "--lines",
    type=place_from,
    metavar="A-B",
    help="Replace lines A to B, both included, as this session last saw them. 10-9 inserts before "
    "line 10. Without --new, the new lines come from stdin.",
)
def edit(
    call: Call,
    path: str,
    old: str | None,
    new: str | None,
    count: int | None,
    old_file: str | None,
    new_file: str | None,
    lines: Span | None,
) -> None:
    r"""Pass a real line break for a new line, not \n: TEXT is literal."""
    if lines is None:
        before, after = text_or_file(old, old_file, "old"), text_or_file(new, new_file, "new")
        edited(call, Session.edit, path, before, after, count=count)
        return
    if old is not None or old_file is not None or count != 1:
        raise click.UsageError("--lines names what to replace: leave out --old and --count.")
    from_options = new is not None or new_file is not None
    after = (
        text_or_file(new, new_file, "new") if from_options else from_stdin(call, "the new lines")
    )
    edited(call, Session.edit_lines, path, *lines, after)


@command(Session.write, example="write src/app.py < new.py", without=("content", "raw"))
def write(call: Call, path: str) -> None:
    """The content comes from stdin."""
    edited(call, Session.write, path, from_stdin(call, "the file's content"))


@command(Session.patch, example="patch < change.diff", without=("unified_diff",))
def patch(call: Call) -> None:
    """The patch comes from stdin. Paths in it are relative to the workspace."""
    edited(call, Session.patch, from_stdin(call, "the patch"))


@command(Session.create, example="create src/new.py < new.py", without=("content",))
def create(call: Call, path: str) -> None:
    """The content comes from stdin."""
    edited(call, Session.create, path, from_stdin(call, "the file's content"))


@command(Session.delete, example="delete src/old.py")
def delete(call: Call, path: str) -> None:
    """Exit code 1: the file changed, or does not exist."""
    edited(call, Session.delete, path)


@command(Session.move, example="move src/app.py src/main.py")
def move(call: Call, src: str, dst: str) -> None:
    """Exit code 1: the file was not renamed."""
    edited(call, Session.move, src, dst)
