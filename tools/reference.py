"""Writes docs/reference/cli.md from the real command. --check: only say whether it is current.

python tools/reference.py [--check] [MODULE:GROUP]
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
COMMAND = "sightline.cli.group:cli"
COMMON = "Options of every command"
LISTS = ("Commands", "Start")
"""The headings of a help with which lists of commands begin. They are the last ones."""
PLAIN_EXAMPLE = re.compile(r"\n  Example: [a-z ]+(?: [\w./]+)*\n")
"""An example without options, quotes or redirections."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("command", nargs="?", default=COMMAND)
    asked = parser.parse_args()
    module, _, name = asked.command.partition(":")
    text = page(getattr(import_module(module), name))
    if not asked.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(
        f"{PAGE.name} is not what the command says. Run: python tools/reference.py", file=sys.stderr
    )
    return 1


def page(group: click.Group) -> str:
    """The whole page: the sections, the options of every command once, then the commands in order."""
    head = "# Command line\n\nGenerated from the command itself by `tools/reference.py`.\n"
    texts = {context.command_path: help_of(context) for context in contexts(group)}
    parts = {path: text.partition(f"\n{COMMON}:\n") for path, text in texts.items()}
    common = {text for _, _, text in parts.values() if text}
    first, *rest = (
        section(*headed(path, without_repetition(own))) for path, (own, _, _) in parts.items()
    )
    return "\n".join([head, first, *(section(COMMON, text) for text in common), *rest])


def contexts(
    command: click.Command, parent: click.Context | None = None
) -> Iterator[click.Context]:
    """A context for a command and for each below it; hidden ones are left out."""
    name = command.name if parent else "sightline"
    context = click.Context(command, parent, name, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from contexts(below, context)
    for below in getattr(command, "below", {}).values():
        yield from contexts(below, parent)


def help_of(context: click.Context) -> str:
    """A command's help, as the terminal shows it at a width of 80."""
    context.max_content_width = context.terminal_width = 80
    return context.get_help()


def without_repetition(text: str) -> str:
    """A help without what the page says elsewhere: that each command has options, and its lists of commands."""
    return re.split(rf"\n(?:{'|'.join(LISTS)}):\n", text.replace(" [OPTIONS]", ""))[0]


def headed(path: str, text: str) -> tuple[str, str]:
    """The usage as the heading of a help, and the help without it and without an example that only fills it in."""
    usage, _, rest = text.partition("\n\n")
    heading = usage.removeprefix("Usage: ")
    if "\n" in heading:
        return path, text
    return heading, PLAIN_EXAMPLE.sub("", rest)


def section(heading: str, text: str) -> str:
    """A heading, and a help below it."""
    return f"## {heading}\n\n```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    sys.exit(main())
