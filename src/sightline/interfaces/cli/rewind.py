"""The command that takes a session's work back: rewind."""

from __future__ import annotations

import sys

import click

from sightline.interfaces import rewinds
from sightline.interfaces.cli import output
from sightline.interfaces.cli.faults import NO, Answered
from sightline.interfaces.cli.options import verb
from sightline.render.rewind import changes, lines_of
from sightline.render.warnings import raised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.interfaces.cli.call import Call
    from sightline.services.results import RewindReport


@verb()
@click.argument("checkpoint", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
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
@click.pass_obj
def rewind(
    call: Call,
    checkpoint: str,
    *,
    dry_run: bool,
    yes: bool,
    conversation: bool,
    no_files: bool,
    force_paths: tuple[str, ...],
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
    to = int(checkpoint) if checkpoint.isdecimal() else checkpoint
    with call.open() as session:
        forced = [call.path(path) for path in force_paths]

        def made(*, only_look: bool) -> RewindReport:
            return session.rewind(
                to,
                files=not no_files,
                conversation=conversation,
                dry_run=only_look,
                force_paths=forced,
            )

        if asking and not _agreed(made(only_look=True)):
            return
        with output.progress(call, "Rewinding"):
            report = made(only_look=dry_run)
    if call.json:
        output.json(rewinds.rewound(report))
    else:
        warned = [] if report.warning is None else [raised(report.warning)]
        output.done(call, "\n".join([*lines_of(report), *warned]))
    if report.left_alone and not dry_run:
        raise Answered(NO)


def _agreed(plan: RewindReport) -> bool:
    """Show what would be done, and ask for it; False where there is nothing to do."""
    output.text("\n".join(lines_of(plan)))
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
