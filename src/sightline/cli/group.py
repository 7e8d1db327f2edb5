"""The command line: a group whose commands are imported when they are used."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from sightline import __version__
from sightline.cli.failures import exit_code
from sightline.cli.options import global_options
from sightline.cli.output import Call
from sightline.filesystem.open_files import enough_files

COMMANDS = {
    "tour": "tour", "init": "init", "up": "up", "status": "looking", "check": "looking",
    "diff": "looking", "log": "history", "why": "history", "sessions": "sessions",
    "read": "looking", "saw": "looking", "edit": "editing", "edit-lines": "editing",
    "write": "editing", "patch": "editing", "create": "editing", "delete": "editing", "move": "editing",
    "claim": "claims", "release": "claims", "claims": "claims",
    "checkpoint": "checkpoints", "checkpoints": "checkpoints", "checkpoint-diff": "checkpoints",
    "checkpoint-export": "checkpoints", "rewind": "checkpoints",
    "hand-over": "claims", "run": "run", "watch": "watch", "changes": "changes", "notice": "changes",
    "ack": "changes", "edited-since": "changes", "turn": "sessions", "doctor": "doctor",
    "warnings": "changes", "models": "sessions",
    "find": "finding", "list": "finding", "related": "finding", "registry": "finding",
    "stats": "finding", "briefing": "changes",
    "window": "window", "replay": "replay", "gc": "upkeep", "completion": "upkeep", "hook": "upkeep",
}  # fmt: skip
"""Command -> its module, in the order of the help. Only the module of the command that runs is
imported."""


OTHER_NAMES = {
    "undo": "rewind", "restore": "rewind", "revert": "rewind", "rollback": "rewind",
    "history": "log", "timeline": "log", "snapshot": "checkpoint", "save": "checkpoint",
    "snapshots": "checkpoints", "lock": "claim", "unlock": "release", "locks": "claims",
    "blame": "why", "explain": "why", "search": "find", "ls": "list", "cat": "read", "show": "read",
    "rm": "delete", "remove": "delete", "mv": "move", "rename": "move", "replace": "edit",
    "verify": "check", "setup": "init", "install": "init", "connect": "init", "uninstall": "init --remove",
    "start": "up", "serve": "up", "demo": "tour", "exec": "run", "apply": "patch", "clean": "gc",
    "prune": "gc", "help": "--help", "version": "--version",
}  # fmt: skip
"""What people try -> the command that does it."""

ALIKE = 0.8
"""How alike a misspelt name is to the command it means, from 0 to 1. A far-fetched guess misleads."""


class Commands(click.Group):
    """The group. `run` turns errors into words and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"sightline.cli.{COMMANDS[cmd_name]}")
        members = [each for each in vars(module).values() if isinstance(each, click.Command)]
        return next(each for each in members if each.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            _unknown(ctx, args[0])
        return super().resolve_command(ctx, args)

    def run(self, args: Sequence[str]) -> int:
        """Run with these arguments and return the exit code."""
        call = Call()
        try:
            with enough_files():
                done: object = super().main(
                    list(args), prog_name="sightline", standalone_mode=False, obj=call
                )
        except BaseException as error:  # noqa: BLE001 - Ctrl-C and a closed pipe too have their exit codes
            return exit_code(error, call)
        return done if isinstance(done, int) else 0

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run and exit the process, for programs that drive a click command."""
        sys.exit(self.run(sys.argv[1:] if args is None else args))


def _unknown(ctx: click.Context, name: str) -> None:
    known = {each: each for each in COMMANDS if each != "hook"} | OTHER_NAMES
    near = [name] if name in known else get_close_matches(name, known, n=1, cutoff=ALIKE)
    hint = f" Did you mean 'sightline {known[near[0]]}'?" if near else ""
    raise click.UsageError(f"There is no command '{name}'.{hint}", ctx)


@click.command(
    cls=Commands,
    params=[*global_options(hidden=False)],
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="These options may stand before or after a command. Exit codes: 0 done, 1 the answer is "
    "no, 2 wrong usage, 3 could not tell, 130 interrupted.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Keeps a coding agent's view of its files true.

    Records what each agent was shown, compares it with what is on disk, and judges every edit by
    the lines it touches. Start with 'sightline tour', then 'sightline up' in a project.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
