"""The command help: the help of the group, of a command, or the names of all commands."""

from __future__ import annotations

import click

from sightline.cli import output
from sightline.cli.group import Commands
from sightline.cli.options import command
from sightline.cli.output import Call


@command(name="help", example="help rewind")
@click.argument("words", nargs=-1, metavar="[COMMAND]")
@click.option("--all", "everything", is_flag=True, help="Show the names of all commands.")
def help_command(call: Call, words: tuple[str, ...], *, everything: bool) -> None:
    """Show this help, the help of a command, or all commands."""
    root = click.get_current_context().find_root()
    group = root.command
    assert isinstance(group, Commands)
    if words:
        name, found, _rest = group.resolve_command(root, [*words])
        assert found is not None
        text = click.Context(found, root, name).get_help()
    elif everything:
        formatter = root.make_formatter()
        group.format_all(formatter)
        text = formatter.getvalue().rstrip()
    else:
        text = root.get_help()
    output.answer(call, {"help": text}, text)
