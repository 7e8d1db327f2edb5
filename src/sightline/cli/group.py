"""The command line: a group whose commands are imported when they are used."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
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

START = os.path.join(os.path.dirname(__file__), "start.txt")
"""The page that `sightline` alone prints. Its lines fit a terminal of 60 columns."""

with open(os.path.join(os.path.dirname(__file__), "commands.json"), encoding="utf-8") as _file:
    SECTIONS: dict[str, dict[str, tuple[str, str]]] = json.load(_file)
"""Heading of the help -> command -> its module, and the first sentence of its help, in the order of the
reference: only the module of the command that runs is imported. Headings that begin with MORE stand in
'help --all' only, and none names the commands that agents call."""

MORE = "More"
COMMANDS = {name: module for rows in SECTIONS.values() for name, (module, _) in rows.items()}
"""Command -> its module."""

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

            known = [each for each in COMMANDS if each not in SECTIONS[""]]
            raise click.UsageError(no_such_command(name, known, {*_in_help()}), ctx)
        return super().resolve_command(ctx, [name, *rest])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Return the names of commands, without importing them, and the options."""
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name) for name in names if name not in SECTIONS[""]]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the commands by sections, in no more lines than a terminal has."""
        self.format_usage(ctx, formatter)
        formatter.write(f"{cleandoc(self.help or '')}\n")
        formatter.write_paragraph()
        shown = _in_help()
        for heading, rows in SECTIONS.items():
            _write_section(formatter, heading, {n: rows[n] for n in rows if n in shown}, shown)

    def format_all(self, formatter: click.HelpFormatter) -> None:
        """Write the names of all commands, those of two words behind their first."""
        for heading, rows in SECTIONS.items():
            _write_section(formatter, heading, rows if heading else {}, COMMANDS)

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


def _in_help() -> list[str]:
    """Return the commands that the help of the group names."""
    headings = [each for each in SECTIONS if each and not each.startswith(MORE)]
    return [name for each in headings for name in SECTIONS[each] if " " not in name]


def _write_section(
    formatter: click.HelpFormatter,
    heading: str,
    rows: Mapping[str, tuple[str, str]],
    names: Iterable[str],
) -> None:
    """Write the rows below a heading. names: all that stand in one column with them."""
    if not rows:
        return
    width = max(map(len, names))
    formatter.write(f"{heading}:\n")
    with formatter.indentation():
        formatter.write_dl([(name.ljust(width), said) for name, (_, said) in rows.items()])


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
        with open(START, encoding="utf-8") as file:
            click.echo(file.read(), nl=False)
