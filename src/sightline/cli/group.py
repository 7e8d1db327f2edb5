"""The command line: a group whose commands are imported when they are used."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from inspect import cleandoc
from itertools import takewhile
from typing import Any

import click
from click.shell_completion import CompletionItem

from sightline import __version__
from sightline.cli.failures import exit_code
from sightline.cli.options import VerbCommand, global_options
from sightline.cli.output import Call
from sightline.filesystem.open_files import enough_files

SUMMARY = 64
"""Characters of a summary that stand beside the names in 80 columns."""

SECTIONS = {
    "Start": ("tour", "init", "up", "chat", "agent", "doctor", "forget"),
    "Look": ("status", "check", "diff", "log", "why", "changes", "watch"),
    "Go back": ("undo", "checkpoint", "rewind"),
    "Find": ("find", "list", "related"),
    "For agents and scripts": (
        *("read", "saw", "edit", "write", "run", "task", "session", "briefing", "replay", "window"),
    ),
}
"""Heading of the help -> the commands below it, those of the lab last."""

LAB = {"replay": "Lab: ", "window": "Lab: "}
"""Command of the lab -> what its summary begins with."""

COMMANDS = {
    "tour": "tour", "init": "init", "up": "up", "doctor": "doctor",
    "status": "looking", "check": "looking", "diff": "looking", "log": "history", "why": "history",
    "changes": "changes", "watch": "watch", "undo": "checkpoints",
    "checkpoint": "checkpoints", "checkpoint list": "checkpoints", "checkpoint diff": "checkpoints",
    "checkpoint export": "checkpoints", "checkpoint delete": "checkpoints", "rewind": "checkpoints",
    "find": "finding", "list": "finding", "related": "finding",
    "read": "looking", "saw": "looking", "edit": "editing", "write": "editing", "patch": "editing",
    "create": "editing", "delete": "editing", "move": "editing", "apply": "answering",
    "schema": "answering", "prompts": "answering", "run": "run", "chat": "chat", "agent": "chat",
    "claim": "claims", "claim list": "claims", "claim release": "claims", "claim hand-over": "claims",
    "task": "tasks", "task propose": "tasks", "task approve": "tasks", "task list": "tasks",
    "task show": "tasks", "task graph": "tasks", "task run": "tasks", "task complete": "tasks",
    "task fail": "tasks", "task skip": "tasks", "task cancel": "tasks", "task retry": "tasks",
    "task merge": "tasks", "worker": "tasks",
    "session": "sessions", "session list": "sessions", "session show": "sessions",
    "session fork": "sessions", "session delete": "sessions",
    "ack": "changes", "briefing": "changes", "turn": "sessions", "warnings": "changes",
    "registry": "finding", "replay": "replay", "window": "window", "stats": "finding",
    "models": "sessions", "gc": "upkeep", "forget": "forget", "completion": "upkeep", "hook": "upkeep",
}  # fmt: skip
"""Command -> its module, in the order of the reference. Only the module of the command that runs is
imported."""

OTHER_NAMES = {
    "restore": "rewind", "revert": "rewind", "rollback": "rewind", "reset": "rewind", "redo": "rewind",
    "history": "log", "timeline": "log", "snapshot": "checkpoint", "save": "checkpoint",
    "checkpoints": "checkpoint list", "snapshots": "checkpoint list",
    "checkpoint-diff": "checkpoint diff", "checkpoint-export": "checkpoint export",
    "lock": "claim", "unlock": "claim release", "locks": "claim list",
    "tasks": "task list", "subtask": "task", "subtasks": "task list", "sub-task": "task",
    "propose": "task propose", "approve": "task approve", "delegate": "task propose",
    "claims": "claim list", "release": "claim release", "hand-over": "claim hand-over",
    "handover": "claim hand-over", "sessions": "session list", "fork": "session fork",
    "blame": "why", "explain": "why", "notice": "changes --for-agent", "edited-since": "changes --since",
    "acknowledge": "ack", "edit-lines": "edit --lines",
    "search": "find", "ls": "list", "cat": "read", "show": "read", "rm": "delete", "remove": "delete",
    "mv": "move", "rename": "move", "replace": "edit", "verify": "check", "setup": "init",
    "install": "init", "connect": "init", "uninstall": "init --remove", "start": "up", "serve": "up",
    "demo": "tour", "exec": "run", "answer": "apply", "clean": "gc", "prune": "gc",
    "purge": "forget", "erase": "forget", "wipe": "forget", "help": "--help",
    "version": "--version",
}  # fmt: skip
"""What people try -> the command that does it."""

ALIKE = 0.8
"""How alike a misspelt name is to the command it means, from 0 to 1. A far-fetched guess misleads."""


class Commands(click.Group):
    """The group. `run` turns errors into words and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if " " not in name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"sightline.cli.{COMMANDS[cmd_name]}")
        members = {e.name: e for e in vars(module).values() if isinstance(e, click.Command)}
        made = members[cmd_name]
        start = f"{cmd_name} "
        if isinstance(made, VerbCommand):
            names = [name for name in COMMANDS if name.startswith(start)]
            made.below = {name.removeprefix(start): members[name] for name in names}
        return made

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, *rest = args
        at = first_word(rest)
        if at is not None and f"{name} {rest[at]}" in COMMANDS:
            name = f"{name} {rest.pop(at)}"
        if name not in COMMANDS:
            _unknown(ctx, name)
        return super().resolve_command(ctx, [name, *rest])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Return the names of commands, without importing them, and the options."""
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name) for name in names if name != "hook"]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the commands by sections, in no more lines than a terminal has."""
        self.format_usage(ctx, formatter)
        formatter.write(f"{cleandoc(self.help or '')}\n")
        formatter.write_paragraph()
        width = max(len(name) for names in SECTIONS.values() for name in names)
        for heading, names in SECTIONS.items():
            formatter.write(f"{heading}:\n")
            with formatter.indentation():
                commands = [(name, self.get_command(ctx, name)) for name in names]
                rows = [
                    (name.ljust(width), LAB.get(name, "") + each.get_short_help_str(SUMMARY))
                    for name, each in commands
                    if each
                ]
                formatter.write_dl(rows)

    def run(self, args: Sequence[str]) -> int:
        """Run with these arguments and return the exit code."""
        call = Call()
        try:
            with enough_files():
                done: object = super().main(
                    list(args), prog_name="sightline", standalone_mode=False, obj=call
                )
        except BaseException as error:  # noqa: BLE001 - Ctrl-C and a closed pipe too have their exit codes
            if isinstance(error, click.UsageError):  # options behind the wrong one were not read
                call.json = "--json" in [*takewhile("--".__ne__, args)]
            return exit_code(error, call)
        return done if isinstance(done, int) else 0

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run and exit the process, for programs that drive a click command."""
        sys.exit(self.run(sys.argv[1:] if args is None else args))


def first_word(args: Sequence[str]) -> int | None:
    """Return the index of the first argument that is neither an option of every command nor its
    value; None where there is none."""
    valued = {f"--{each.name}" for each in global_options(hidden=True) if not each.is_flag}
    words = iter(enumerate(args))
    for at, word in words:
        if word == "--":
            break
        if not word.startswith("-"):
            return at
        if word in valued:
            next(words, None)
    return None


def _unknown(ctx: click.Context, name: str) -> None:
    known = {each: each for each in COMMANDS if each != "hook"} | OTHER_NAMES
    near = [name] if name in known else get_close_matches(name, known, n=1, cutoff=ALIKE)
    hint = f" Did you mean 'sightline {known[near[0]]}'?" if near else ""
    raise click.UsageError(f"There is no command '{name}'.{hint}", ctx)


@click.command(
    cls=Commands,
    params=[*global_options(hidden=True)],
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Keeps a coding agent's view of its files true. Begin with 'sightline tour'.
    Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 could not tell.
    Options of every command: see 'sightline status --help'."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
