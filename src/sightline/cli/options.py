"""Options that every command takes, before it or after it, and the types of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from sightline.cli.output import Call
from sightline.model.spans import Span
from sightline.model.units import duration_us, size_bytes


def verb(name: str | None = None, **options: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A command that takes the options of all commands. They are left out of its help."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        options.setdefault("epilog", "Options of all commands: see 'sightline --help'.")
        made = click.command(name, click.Command, **options)(function)
        made.params += global_options(hidden=True)
        return made

    return decorate


def global_options(*, hidden: bool) -> list[click.Option]:
    """Fresh options: click's are bound to the one command that has them."""

    def option(name: str, help: str, **more: Any) -> click.Option:
        return click.Option(
            [name], help=help, expose_value=False, callback=_take, hidden=hidden, **more
        )

    return [
        option(
            "--workspace",
            "The workspace; paths are relative to it then. Default: the nearest parent with "
            "sightline.toml or .git, else the current folder.",
            metavar="DIR",
        ),
        option("--session", "Whose view. Default: $SIGHTLINE_SESSION, else cli.", metavar="ID"),
        option("--store", "Default: $SIGHTLINE_STORE, else a file of yours.", metavar="URL"),
        option("--json", "Print one JSON object.", is_flag=True),
        option("--quiet", "Print what was asked for and errors, nothing else.", is_flag=True),
        option("--no-color", "No colours (as $NO_COLOR).", is_flag=True),
        option("--debug", "Show where an error comes from.", is_flag=True),
    ]


def _take(context: click.Context, option: click.Parameter, value: Any) -> None:
    # Given twice, the later one stands; not given here, what stood before the command stays.
    if value not in (None, False) and option.name:
        setattr(context.ensure_object(Call), option.name, value)


def lines_from(text: str) -> Span:
    """A-B, both included; A alone is that line, A- goes on to the end of the file."""
    first, last = _range(text)
    if last < first:
        raise click.BadParameter(f"{text!r} ends before it begins.")
    return first, last


def place_from(text: str) -> Span:
    """As lines_from; A-B with B one less than A is the place before line A."""
    first, last = _range(text)
    if last < first - 1:
        raise click.BadParameter(f"{text!r} ends before it begins.")
    return first, last


def _range(text: str) -> Span:
    first, dash, last = text.partition("-")
    if first.isdecimal() and int(first) > 0 and (last.isdecimal() or not last):
        return int(first), int(last) if last else LAST if dash else int(first)
    raise click.BadParameter(f"{text!r} is not a range of lines such as 10-20.")


LAST = 2**53
"""Further than any file goes."""


def age_from(text: str) -> int:
    """A length of time in microseconds."""
    return _amount(duration_us, text)


def room_from(text: str) -> int:
    """A size in bytes."""
    return _amount(size_bytes, text)


def _amount(read: Callable[[str], int], text: str) -> int:
    try:
        return read(text)
    except ValueError as wrong:
        raise click.BadParameter(f"{wrong}.") from None


def count_from(text: str | int) -> int | None:
    """A number from 1 on, or all (None)."""
    if text == "all":
        return None
    if str(text).isdecimal() and int(text) > 0:
        return int(text)
    raise click.BadParameter(f"{text!r} is neither a number from 1 on nor 'all'.")
