"""The command line: a group whose commands are imported when they are used."""

from __future__ import annotations

import sys
from collections.abc import Sequence
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

MORE = {
    "More": ("claim", "worker", "gc", "completion", "help"),
    "More for agents and scripts": (
        *("create", "patch", "delete", "move", "apply", "schema", "prompts", "ack", "warnings"),
        *("turn", "registry", "stats", "models"),
    ),
}
"""Heading -> the commands that only 'help --all' shows. Every command stands here or in SECTIONS, the one
that agents call as their hook aside."""

LAB = {"replay": "Lab: ", "window": "Lab: "}
"""Command of the lab -> what its summary begins with."""

COMMANDS = {
    "tour": "tour", "init": "init", "up": "up", "doctor": "doctor",
    "status": "status", "check": "looking", "diff": "looking", "log": "history", "why": "history",
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
    "task merge": "tasks", "task diff": "tasks", "worker": "tasks",
    "session": "sessions", "session list": "sessions", "session show": "sessions",
    "session fork": "sessions", "session delete": "sessions",
    "ack": "changes", "briefing": "changes", "turn": "sessions", "warnings": "changes",
    "registry": "finding", "replay": "replay", "window": "window", "stats": "finding",
    "models": "sessions", "gc": "upkeep", "forget": "forget", "completion": "upkeep", "help": "helping",
    "hook": "upkeep",
}  # fmt: skip
"""Command -> its module, in the order of the reference. Only the module of the command that runs is
imported."""

SUMMARIES = {
    "tour": "See a real agent's session judged, step by step.",
    "init": "Connect agents, so that their edits are judged.",
    "up": "Show live what each agent holds, and what went stale.",
    "doctor": "Check that the guard works, and say how to repair it.",
    "status": "Show each session's files, and the changed ones.",
    "check": "Say whether this session may rely on a file.",
    "diff": "Show what changed in a file since a session last saw it.",
    "log": "Show the timeline, or what happened to one file.",
    "why": "Explain the verdict on a file, fact by fact.",
    "changes": "Show changes that this session does not know of yet.",
    "watch": "Print changes of files as they happen, until Ctrl-C.",
    "undo": "Take back the agent's last turn, as a rewind does.",
    "checkpoint": "Take a checkpoint of the workspace, to rewind to later.",
    "checkpoint list": "List the checkpoints of all sessions, oldest first.",
    "checkpoint diff": "Show what changed between checkpoints, or since one.",
    "checkpoint export": "Give a checkpoint to git, as a branch or as a patch.",
    "checkpoint delete": "Delete checkpoints, by id or label.",
    "rewind": "Take back what all sessions did since a checkpoint.",
    "find": "Find files by up to five patterns, from exact to broad.",
    "list": "List a folder as an agent is shown it.",
    "related": "List the files that belong to one, and why.",
    "read": "Show a file, and record that this session was shown it.",
    "saw": "Record that another tool showed a file or some lines.",
    "edit": "Replace a text, unless it changed since it was shown.",
    "write": "Write a whole file.",
    "patch": "Apply a patch, all files or none.",
    "create": "Write a new file; refused if the path exists.",
    "delete": "Delete a file, unless it changed since this session saw it.",
    "move": "Rename a file; refused if the new path exists.",
    "apply": "Apply a model's structured answer.",
    "schema": "Print the JSON Schema of a structured answer.",
    "prompts": "Show the prompts for a model that gives structured answers.",
    "run": "Run a command, and record what it changes.",
    "chat": "Talk with a model that changes files of the workspace.",
    "agent": "Let a model do a task, and apply its changes of files.",
    "claim": "Claim paths for this session's work.",
    "claim list": "List the claims that stand.",
    "claim release": "Give up a claim of this session.",
    "claim hand-over": "Record that another session has this one's text of files.",
    "task": "List the sub-tasks of a session.",
    "task propose": "Propose sub-tasks, all or none.",
    "task approve": "Approve proposed sub-tasks, all or none.",
    "task list": "List the sub-tasks of a session, with their states.",
    "task show": "Show a sub-task, and its result if it has one.",
    "task graph": "Show all sub-tasks of this session as they stand.",
    "task run": "Carry out approved sub-tasks, each behind those it waits for.",
    "task complete": "Record that a sub-task is done, whoever did it.",
    "task fail": "Record that a sub-task failed.",
    "task skip": "Leave out a sub-task that has not begun.",
    "task cancel": "End a sub-task, also while it runs.",
    "task retry": "Try a sub-task again after it failed or was left out.",
    "task merge": "Apply the changes of a sub-task that had a conflict.",
    "task diff": "Show what the newest attempt at a sub-task changed.",
    "worker": "Carry out sub-tasks of this workspace that others hand over.",
    "session": "List sessions, or show, fork or delete one.",
    "session list": "List the sessions of this workspace.",
    "session show": "Show one session and its files.",
    "session fork": "Begin a session that knows all that another one knows now.",
    "session delete": "End a session, forget what it was shown, drop its claims.",
    "ack": "Record that the agent got a notice or a warning.",
    "briefing": "Compose a briefing for the agent's next turn.",
    "turn": "Begin a turn of this session.",
    "warnings": "List the warnings that nobody acknowledged yet.",
    "registry": "Show the files that this session knows.",
    "replay": "Compute what sessions would cost under folding policies.",
    "window": "Show what would be folded out of a conversation, and why.",
    "stats": "Count how searches for files went, by kind of pattern.",
    "models": "List the models that were used, and since when.",
    "gc": "Forget texts that nobody needs, and secrets in commands.",
    "forget": "Delete all that Sightline keeps of this workspace.",
    "completion": "Print the completion script of a shell.",
    "help": "Show this help, the help of a command, or all commands.",
}
"""Command -> the first sentence of its help. The help of the group shows it without importing the
command."""

ONLY_GROUPS = ("task", "session")
"""Commands that take no word but that of a command below them."""


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
        elif at is not None and name in ONLY_GROUPS:
            name = f"{name} {rest[at]}"
        if name not in COMMANDS:
            from sightline.cli.guesses import no_such_command

            known = [each for each in COMMANDS if each != "hook"]
            shown = {each for names in SECTIONS.values() for each in names}
            raise click.UsageError(no_such_command(name, known, shown), ctx)
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
            _write_section(formatter, heading, names, width)

    def format_all(self, formatter: click.HelpFormatter) -> None:
        """Write the names of all commands, those of two words behind their first."""
        width = max(map(len, SUMMARIES))
        for heading, names in (SECTIONS | MORE).items():
            below = [
                each
                for name in names
                for each in (name, *(one for one in COMMANDS if one.startswith(f"{name} ")))
            ]
            _write_section(formatter, heading, below, width)

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


def _write_section(
    formatter: click.HelpFormatter, heading: str, names: Sequence[str], width: int
) -> None:
    formatter.write(f"{heading}:\n")
    with formatter.indentation():
        rows = [(name.ljust(width), LAB.get(name, "") + SUMMARIES[name]) for name in names]
        formatter.write_dl(rows)


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
    All commands: 'sightline help --all'. Options of all: 'sightline status --help'."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
