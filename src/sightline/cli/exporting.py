"""The command that takes a checkpoint out of the house: checkpoint-export."""

from __future__ import annotations

import sys

import click

from sightline.api.json_shapes import exported
from sightline.checkpoints import words
from sightline.checkpoints.export import export
from sightline.cli import output
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.model.results import Export


@verb("checkpoint-export")
@click.argument("checkpoint", metavar="ID")
@click.option("--branch", metavar="NAME", help="Make a commit of it, on a new branch.")
@click.option("--patch", is_flag=True, help="Print what it changed, as 'git apply' takes it.")
@click.option("--since", metavar="A", help="Of a patch: where it begins.")
@click.option("--now", "until_now", is_flag=True, help="Of a patch: from ID to what stands now.")
@click.option("--output", "file", metavar="FILE", help="Of a patch: the new file it goes to.")
@click.option("--author", metavar="'NAME <MAIL>'", help="Of a commit. Default: Sightline.")
@click.pass_obj
def checkpoint_export(
    call: Call,
    checkpoint: str,
    *,
    branch: str | None,
    patch: bool,
    since: str | None,
    until_now: bool,
    file: str | None,
    author: str | None,
) -> None:
    """Give a checkpoint to git, as a branch or as a patch.

    ID and A are ids or labels of checkpoints. The commit of a branch holds the workspace as it was
    then, on top of the commit that HEAD is at; what the checkpoint does not cover is as it is
    there, and listed. Your files, the index, HEAD, other branches and your settings stay as they
    are. A patch begins at the checkpoint before ID. Exit code 1: nothing was exported.
    """
    if (branch is None) == (not patch):
        raise click.UsageError("Say --branch NAME or --patch, one of them.")
    if branch is not None and (since or until_now or file is not None):
        raise click.UsageError("--since, --now and --output are for a patch.")
    made = _made(call, checkpoint, branch, since, author, until_now=until_now)
    if file is not None and made.patch is not None:
        _save(file, made.patch)
    if call.json:
        output.json({"export": exported(made, file)})
    elif made.patch is None:
        output.done(call, "\n".join(words.committed(made)))
    else:
        if file is None and made.patch:
            _print(call, made.patch)
        output.note(call, "\n".join(words.patched(made, file)))


def _made(
    call: Call,
    checkpoint: str,
    branch: str | None,
    since: str | None,
    author: str | None,
    *,
    until_now: bool,
) -> Export:
    try:
        with call.survey() as ground, output.progress(call, "Exporting"):
            return export(
                ground, checkpoint, branch, since=since, until_now=until_now, author=author
            )
    except ValueError as wrong:
        said = str(wrong)
        raise click.UsageError(f"{said[:1].upper()}{said[1:]}.") from wrong


def _print(call: Call, patch: bytes) -> None:
    if sys.stdout.isatty():
        output.text(output.coloured(call, patch.decode("utf-8", "surrogateescape")))
    else:
        output.raw(patch)


def _save(file: str, patch: bytes) -> None:
    """Into a new file: what stands there is not ours to replace."""
    try:
        with open(file, "xb") as stream:
            stream.write(patch)
    except OSError as error:
        raise click.UsageError(f"{file} cannot be written: {error.strerror}.") from error
