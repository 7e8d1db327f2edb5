"""The command that takes a session's work back: rewind."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from sightline.api import json_shapes
from sightline.checkpoints.rewind.words import changes, counts_of, lines_of
from sightline.checkpoints.words import without_text
from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.messages import messages_in
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.model.results import FileDifference, RewindReport
from sightline.notices.words import raised


@verb()
@click.argument("checkpoint", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--diff", is_flag=True, help="Show what it does to the text of each file, too.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--conversation", is_flag=True, help="Take back what the session knows, too.")
@click.option("--no-files", is_flag=True, help="Leave the files as they are.")
@click.option(
    "--force-path",
    "force_paths",
    metavar="P",
    multiple=True,
    help="Give this file its bytes of then, whoever wrote there since.",
)
@click.option(
    "--messages",
    metavar="F",
    help="With --conversation --no-files: the messages that go, as for edited-since (- is stdin).",
)
@click.pass_obj
def rewind(
    call: Call,
    checkpoint: str,
    *,
    dry_run: bool,
    diff: bool,
    yes: bool,
    conversation: bool,
    no_files: bool,
    force_paths: tuple[str, ...],
    messages: str | None,
) -> None:
    """Take back what this session did since a checkpoint.

    ID is a checkpoint, its label, or a position (see log). The session's own lines go, and
    everybody else's stay; what cannot be told apart is left alone, and listed. On a terminal the
    plan is shown first, and then asked for; elsewhere say --dry-run or --yes. Exit code 1: some
    file was left alone.
    """
    asking = not (dry_run or yes)
    if asking and (call.json or not (sys.stdin.isatty() and sys.stderr.isatty())):
        raise click.UsageError("Nobody can be asked here: say --dry-run to look, or --yes.")
    if messages is not None and not (conversation and no_files):
        raise click.UsageError("--messages is for --conversation --no-files.")
    deleted = [] if messages is None else messages_in(messages)
    to = int(checkpoint) if checkpoint.isdecimal() else checkpoint
    with call.open(finish=False) as session:  # this one comes in its place
        forced = [call.path(path) for path in force_paths]

        def made(*, only_look: bool) -> RewindReport:
            return session.rewind(
                to,
                files=not no_files,
                conversation=conversation,
                dry_run=only_look,
                force_paths=forced,
                deleted_messages=deleted,
            )

        plan = made(only_look=True) if asking or dry_run or diff else None
        found = plan.diffs if plan and (asking or diff or call.json) else None
        if asking and plan is not None and not _agreed(call, plan, found or (), diff=diff):
            return
        report = plan
        if plan is None or not dry_run:
            with output.progress(call, "Rewinding"):
                report = made(only_look=False)
    assert report is not None
    if call.json:
        output.json(json_shapes.rewound(report, found))
    else:
        _tell(call, report, (found or ()) if diff and not asking else [])
    if report.left_alone and not dry_run:
        raise Answered(NO)


def _tell(call: Call, report: RewindReport, found: Sequence[FileDifference]) -> None:
    """What was or would be done, and last, where it is not scrolled away; its diff before it."""
    _show(call, found)
    warned = [] if report.warning is None else [raised(report.warning)]
    output.done(call, "\n".join([*lines_of(report), *warned]))


def _show(call: Call, found: Sequence[FileDifference]) -> None:
    for each in found:
        output.text(output.coloured(call, each.diff) if each.diff else without_text(each))


def _agreed(call: Call, plan: RewindReport, found: Sequence[FileDifference], *, diff: bool) -> bool:
    """Show what would be done, and ask for it; False where there is nothing to do."""
    if diff:
        _show(call, found)
    output.text("\n".join(lines_of(plan, counts_of(found))))
    if not (changes(plan) or plan.conversation):
        return False
    try:
        agreed = click.confirm("Do this?", err=True)
    except click.Abort:
        raise KeyboardInterrupt from None
    if not agreed:
        output.say("Nothing was changed.")
        raise Answered(NO)
    return True
