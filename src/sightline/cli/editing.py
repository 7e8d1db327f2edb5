"""Guarded verbs that change part of a file or all of it: edit, edit-lines, write, patch."""

from __future__ import annotations

import click

from sightline.cli.answers import answer
from sightline.cli.options import count_from, place_from, verb
from sightline.cli.output import Call
from sightline.cli.text_input import from_stdin, one_of
from sightline.model.spans import Span


@verb()
@click.argument("path")
@click.option("--old", metavar="TEXT", help="The text to replace, literally.")
@click.option("--new", metavar="TEXT", help="What stands there instead; may be empty.")
@click.option("--old-file", metavar="F", help="The text to replace, from a file (- is stdin).")
@click.option("--new-file", metavar="F", help="The new text, from a file (- is stdin).")
@click.option(
    "--count",
    type=count_from,
    default="1",
    metavar="N",
    help="How often it occurs: a number, or all.",
)
@click.pass_obj
def edit(
    call: Call,
    path: str,
    old: str | None,
    new: str | None,
    old_file: str | None,
    new_file: str | None,
    count: int | None,
) -> None:
    """Replace a text, unless it changed since it was shown.

    TEXT is taken literally: a line end in it is a real one.
    """
    before, after = one_of(old, old_file, "old"), one_of(new, new_file, "new")
    answer(call, lambda session: session.edit(call.path(path), before, after, count=count))


@verb("edit-lines")
@click.argument("path")
@click.argument("lines", type=place_from, metavar="A-B")
@click.option("--new", metavar="TEXT", help="What stands there instead. Default: from stdin.")
@click.pass_obj
def edit_lines(call: Call, path: str, lines: Span, new: str | None) -> None:
    """Replace lines, as this session last saw them.

    10-9 inserts before line 10. The last line gets its line end if TEXT has none.
    """
    text = from_stdin(call, "the new lines") if new is None else new
    answer(call, lambda session: session.edit_lines(call.path(path), *lines, text))


@verb()
@click.argument("path")
@click.pass_obj
def write(call: Call, path: str) -> None:
    """Write a whole file from stdin.

    What others changed in it since it was shown is merged, or the write is refused.
    """
    content = from_stdin(call, "the file's content")
    answer(call, lambda session: session.write(call.path(path), content))


@verb()
@click.pass_obj
def patch(call: Call) -> None:
    """Apply a unified diff from stdin, all of it or none.

    Paths in it are relative to the workspace.
    """
    text = from_stdin(call, "the patch")
    answer(call, lambda session: session.patch(text))


@verb()
@click.argument("path")
@click.pass_obj
def create(call: Call, path: str) -> None:
    """Write a new file from stdin."""
    content = from_stdin(call, "the file's content")
    answer(call, lambda session: session.create(call.path(path), content))


@verb()
@click.argument("path")
@click.pass_obj
def delete(call: Call, path: str) -> None:
    """Delete a file that is as this session saw it."""
    answer(call, lambda session: session.delete(call.path(path)))


@verb()
@click.argument("src")
@click.argument("dst")
@click.pass_obj
def move(call: Call, src: str, dst: str) -> None:
    """Rename a file; refused when something stands at DST."""
    answer(call, lambda session: session.move(call.path(src), call.path(dst)))
