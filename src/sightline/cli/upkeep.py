"""Commands of the command itself: gc, completion, and hook for calls that come behind options."""

from __future__ import annotations

from typing import Any

import click

from sightline.api.json_shapes import shape
from sightline.api.opening import settings_of
from sightline.api.workspace import Workspace
from sightline.checkpoints import gc as garbage
from sightline.checkpoints.words import swept
from sightline.cli import entry, output
from sightline.cli.group import cli
from sightline.cli.options import age_from, command, size_from
from sightline.cli.output import Call


@command(
    Workspace.gc,
    older_than={"type": age_from, "metavar": "AGE"},
    max_size={"type": size_from, "metavar": "SIZE"},
)
def gc(call: Call, *, dry_run: bool, older_than: int | None, max_size: int | None) -> None:
    """AGE is such as 30d, SIZE such as 500M."""
    limits: dict[str, Any] = {"age_us": older_than, "room": max_size, "dry_run": dry_run}
    settings = settings_of(call.root, call.store)
    with output.progress(call, "Looking for texts that nobody needs"):
        if dry_run:
            with call.survey() as context:  # begins no session
                swept_texts = garbage.gc(context, settings, **limits)
        else:
            with call.open() as session:
                context = session._context  # noqa: SLF001 - faces compose the parts
                swept_texts = garbage.gc(context, settings, **limits)
    if call.json:
        output.json(shape(swept_texts))
    else:
        output.done(call, "\n".join(swept(swept_texts)))


@command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(_: Call, shell: str) -> None:
    r"""Print the completion script of a shell.

    \b
    bash: eval "$(sightline completion bash)"         in ~/.bashrc
    zsh:  eval "$(sightline completion zsh)"          in ~/.zshrc
    fish: sightline completion fish | source          in config.fish
    """
    from click.shell_completion import get_completion_class

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    output.text(shell_class(cli, {}, "sightline", "_SIGHTLINE_COMPLETE").source())


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("rest", nargs=-1, type=click.UNPROCESSED)
def hook(rest: tuple[str, ...]) -> None:
    """Answer one hook call, AGENT [EVENT], that stands behind global options."""
    entry.hook(rest)
