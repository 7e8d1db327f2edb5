"""The command's own affairs: completion, and hook for whoever reaches it this way."""

from __future__ import annotations

import click

from sightline.interfaces.cli import output
from sightline.interfaces.cli.options import verb


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

    from sightline.interfaces.cli import cli

    made = get_completion_class(shell)
    assert made is not None
    output.text(made(cli, {}, "sightline", "_SIGHTLINE_COMPLETE").source())


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("rest", nargs=-1, type=click.UNPROCESSED)
def hook(rest: tuple[str, ...]) -> None:
    """Answer one hook call: rest is AGENT [EVENT]. Whoever asks behind other options comes here."""
    from sightline.interfaces import entry

    entry.hook(rest)
