"""Guarded verbs on whole files: create, delete, move."""

from __future__ import annotations

import click

from sightline.interfaces.cli.answers import answer
from sightline.interfaces.cli.options import verb
from sightline.interfaces.cli.texts import from_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.interfaces.cli.call import Call


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
