"""Commands of the command itself: gc, completion, and hook for calls that come behind options."""

from __future__ import annotations

from datetime import timedelta

import click
from click.shell_completion import get_completion_class

from sightline.api.json_shapes import shape
from sightline.api.workspace import Workspace
from sightline.api.workspace_words import swept
from sightline.cli import output
from sightline.cli.group import cli
from sightline.cli.options import age_from, command, size_from, usage
from sightline.cli.output import Call
from sightline.hooks import client


@command(
    Workspace.gc,
    example="gc --dry-run",
    older_than={"type": age_from, "metavar": "AGE"},
    max_size={"type": size_from, "metavar": "SIZE"},
    forget_commands={"flag": "--forget-command"},
)
def gc(
    call: Call,
    *,
    dry_run: bool,
    older_than: int | None,
    max_size: int | None,
    forget_commands: tuple[str, ...],
) -> None:
    """AGE is a time such as 30d, SIZE a size such as 500M."""
    age = None if older_than is None else timedelta(microseconds=older_than)
    with (
        usage("--forget-command"),
        output.progress(call, "Looking for texts that nobody needs"),
        call.ask() as workspace,
    ):
        swept_texts = workspace.gc(
            older_than=age, max_size=max_size, forget_commands=forget_commands, dry_run=dry_run
        )
    output.result(call, shape(swept_texts), "\n".join(swept(swept_texts)))


@command(example="completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(call: Call, shell: str) -> None:
    """Print the completion script of a shell.

    Put the line of your shell into its settings file:

    \b
    bash, ~/.bashrc:    eval "$(sightline completion bash)"
    zsh, ~/.zshrc:      eval "$(sightline completion zsh)"
    fish, config.fish:  sightline completion fish | source
    """  # noqa: D301 - the sign \b keeps the lines of the next paragraph apart
    shell_class = get_completion_class(shell)
    assert shell_class is not None
    script = shell_class(cli, {}, "sightline", "_SIGHTLINE_COMPLETE").source()
    output.answer(call, {"script": script}, script)


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("rest", nargs=-1, type=click.UNPROCESSED)
def hook(rest: tuple[str, ...]) -> None:
    """Answer one hook call, AGENT [EVENT], that stands behind global options."""
    client.main(list(rest))
