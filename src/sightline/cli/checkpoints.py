"""Commands for checkpoints: checkpoint, checkpoints, checkpoint-diff."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sightline.api import json_shapes
from sightline.checkpoints import words
from sightline.checkpoints.compare import Chapter, compare, story
from sightline.checkpoints.rewind import recovery
from sightline.checkpoints.rewind.words import begun
from sightline.checkpoints.take import named
from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.cli.words import since
from sightline.model.results import FileDifference

LABEL_MAX = 200


@verb()
@click.argument("label", default="")
@click.pass_obj
def checkpoint(call: Call, label: str) -> None:
    """Keep how the workspace stands now.

    It covers every file that the ignore files leave, up to the size 'checkpoint_file_bytes'; what
    it does not cover is printed. No git is needed, and none is touched. Empty folders are not
    kept. Exit code 1: none could be taken.
    """
    if len(label) > LABEL_MAX or not label.isprintable():
        raise click.UsageError(f"A label is one line of at most {LABEL_MAX} characters.")
    with call.open() as session, output.progress(call, "Keeping how the workspace stands"):
        made = session.checkpoint(label)
    if call.json:
        output.json({"checkpoint": json_shapes.checkpoint(made)})
        return
    output.done(call, "\n".join(words.taken(made)))


@verb()
@click.pass_obj
def checkpoints(call: Call) -> None:
    """List the checkpoints, and what changed in between."""
    with call.survey() as ground:
        found, left = story(ground), recovery.listed(ground)
    if call.json:
        listed = [json_shapes.checkpoint(each.checkpoint) for each in found]
        rewinds = [json_shapes.unfinished(each) for each in left]
        output.json({"checkpoints": listed, "unfinished_rewinds": rewinds})
        return
    if found:
        output.text("\n".join(_told(found)))
    else:
        output.note(call, "No checkpoint was taken yet. Take one: sightline checkpoint [LABEL]")
    for each in left:
        output.say(begun(each.to, each.session, since(each.at)))


@verb("checkpoint-diff")
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option("--stat", is_flag=True, help="Only which files, and how many lines.")
@click.pass_obj
def checkpoint_diff(call: Call, before: str, after: str | None, *, stat: bool) -> None:
    """Show what changed between checkpoints, or since one.

    A and B are ids or labels of checkpoints; without B what stands now is meant. Exit code 0:
    nothing changed; 1: something did.
    """
    with call.survey() as ground, output.progress(call, "Comparing"):
        until = None if after is None else named(ground, after)
        found = compare(ground, named(ground, before), until)
    if call.json:
        output.json({"files": [json_shapes.file_difference(each) for each in found]})
    elif stat and found:
        output.text("\n".join(words.stat(found)))
    else:
        for each in found:
            output.text(_diff(call, each))
    if found:
        raise Answered(NO)
    if not call.json:
        output.note(call, "Nothing changed.")


def _diff(call: Call, each: FileDifference) -> str:
    return output.coloured(call, each.diff) if each.diff else words.without_text(each)


def _told(found: Sequence[Chapter]) -> list[str]:
    lines: list[str] = []
    for each in found:
        when = since(each.checkpoint.at)
        lines += words.told(each.checkpoint, when, each.changed, first=not lines)
    return lines
