"""The command's own affairs: gc, completion, and hook for whoever reaches it this way."""

from __future__ import annotations

import click

from sightline.api import json_shapes
from sightline.api.opening import settings_of
from sightline.changes.session_context import SessionContext
from sightline.checkpoints import gc as garbage
from sightline.checkpoints.swept_texts import Swept
from sightline.checkpoints.words import swept
from sightline.cli import entry, output
from sightline.cli.group import cli
from sightline.cli.options import age_from, room_from, verb
from sightline.cli.output import Call


@verb()
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--older-than", type=age_from, metavar="AGE", help="Such as 30d. Default: keep_days.")
@click.option(
    "--max-size", type=room_from, metavar="SIZE", help="Such as 500M. Default: keep_bytes."
)
@click.pass_obj
def gc(call: Call, *, dry_run: bool, older_than: int | None, max_size: int | None) -> None:
    """Forget kept texts that nobody needs.

    The old ones go, then the oldest of those that take more room than they should. What happened stays on the timeline for ever; only texts of files go. Those that a session at
    work believes, or that an agent's newest edit of a file replaced lately, stay.
    """
    with output.progress(call, "Looking for texts that nobody needs"):
        if dry_run:
            with call.survey() as ground:  # begins no session
                found = _sweep(call, ground, older_than, max_size, dry_run=True)
        else:
            with call.open() as session:
                own = session._context  # noqa: SLF001 - faces compose the parts
                found = _sweep(call, own, older_than, max_size, dry_run=False)
    if call.json:
        output.json(json_shapes.swept(found))
    else:
        output.done(call, "\n".join(swept(found)))


def _sweep(
    call: Call, ground: SessionContext, age: int | None, room: int | None, *, dry_run: bool
) -> Swept:
    settings = settings_of(ground.workspace.root, call.store)
    return garbage.gc(ground, settings, age_us=age, room=room, dry_run=dry_run)


@verb()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    r"""Print the completion script of a shell.

    \b
    bash: eval "$(sightline completion bash)"         in ~/.bashrc
    zsh:  eval "$(sightline completion zsh)"          in ~/.zshrc
    fish: sightline completion fish | source          in config.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    output.text(made(cli, {}, "sightline", "_SIGHTLINE_COMPLETE").source())


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("rest", nargs=-1, type=click.UNPROCESSED)
def hook(rest: tuple[str, ...]) -> None:
    """Answer one hook call: rest is AGENT [EVENT]. Whoever asks behind other options comes here."""
    entry.hook(rest)
