"""Commands made from verbs, the options of every command, and the types of arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import cleandoc
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from sightline.cli import completion
from sightline.cli.output import Call
from sightline.filesystem.ignore.wildmatch import SPECIAL
from sightline.model.session_ids import LAST_SESSIONS
from sightline.model.spans import Span
from sightline.model.units import duration_us, size_bytes
from sightline.model.validation import NUMBER_MAX

if TYPE_CHECKING:
    from sightline.api.verbs import Parameter

PATHS = {"path", "paths", "src", "dst", "force_paths", "keep"}
"""Parameters that hold paths, which are typed relative to the current folder."""

PLAIN = 3
"""Words of a description that says no more than the argument's name, such as "The new file."."""

Verb = Callable[..., Any]


class VerbCommand(click.Command):
    """A command that takes parameters from verbs. `without` names those that it does not take;
    `example` is a call of the command that works; `below` has the commands that begin with its name."""

    verbs: tuple[Verb, ...] = ()
    without: tuple[str, ...] = ()
    example: str
    below: Mapping[str, click.Command] = {}

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Return the options, unless they would be options of a command to run."""
        if not ctx.allow_interspersed_args:
            for each in self.params:
                if isinstance(each, click.Argument) and ctx.params.get(each.name or ""):
                    return each.shell_complete(ctx, incomplete)
        return super().shell_complete(ctx, incomplete)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"Example: sightline {self.example}")

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each argument whose description says more than its name, as "PATH: The file." does."""
        records = [
            p.get_help_record(ctx) for p in self.get_params(ctx) if isinstance(p, click.Argument)
        ]
        rows = [row for row in records if len(row[1].split()) > PLAIN]
        if rows:
            with formatter.section("Arguments"):
                formatter.write_dl(rows)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, the commands below it, and the options of all commands."""
        own: list[tuple[str, str]] = []
        common: list[tuple[str, str]] = []
        for each in self.get_params(ctx):
            record = None if isinstance(each, click.Argument) else each.get_help_record(ctx)
            if record is not None:
                (own if each.expose_value else common).append(record)
        below = [(name, each.get_short_help_str(60)) for name, each in self.below.items()]
        for heading, rows in (("Options", own), ("Commands", below), (COMMON, common)):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


COMMON = "Options of every command"


def command(
    *verbs: Verb,
    example: str,
    name: str | None = None,
    without: tuple[str, ...] = (),
    **spelled: dict[str, Any],
) -> Callable[[Callable[..., Any]], VerbCommand]:
    """Return a decorator that makes a command of a function.

    The command takes the parameters of its verbs, except those in `without`, and passes them on by
    their names. Its help is the first verb's docstring followed by the function's own, and an
    example. `spelled` names the attributes of click that a parameter has here: "flag" for another
    option, "is_argument", and any that the annotation does not say.
    """

    def decorate(function: Callable[..., Any]) -> VerbCommand:
        summary, derived = _derived(verbs, without, spelled) if verbs else ("", [])
        texts = [summary, cleandoc(function.__doc__ or "")]
        text = "\n\n".join(part for part in texts if part)
        made = click.command(name, VerbCommand, help=text)(click.pass_obj(function))
        made.verbs, made.without, made.example = verbs, without, example
        made.params = [*derived, *made.params, *global_options(hidden=False)]
        return made

    return decorate


def _derived(
    verbs: Sequence[Verb], without: Collection[str], spelled: Mapping[str, dict[str, Any]]
) -> tuple[str, list[click.Parameter]]:
    """Return the description of the first verb, and the parameters that a command takes from verbs."""
    from sightline.api.verbs import parameters, prose  # the help and status need no verb

    named: dict[str, Parameter] = {}
    for each in (each for verb in verbs for each in parameters(verb)):
        named.setdefault(each.name, each)
    taken = [name for name, each in named.items() if not each.is_host_only and name not in without]
    derived = [
        derived_parameter(named[each], spelled.get(each, {}), is_first=not number)
        for number, each in enumerate(taken)
    ]
    return at_shell(prose(verbs[0])), derived


def at_shell(text: str) -> str:
    """Return a docstring's text in the words of a command, which shows what a call returns."""
    return f"Show {text.removeprefix('Return ')}" if text.startswith("Return ") else text


def derived_parameter(
    parameter: Parameter, spelled: dict[str, Any], *, is_first: bool
) -> click.Parameter:
    """Return the argument or option for a parameter of a verb.

    Arguments are what the verb requires, its first parameter unless that is for keywords only, and
    its paths; the rest are options.
    """
    attributes = _attributes(parameter.annotation)
    is_many = attributes.pop("is_many", False)
    if parameter.name in PATHS:
        attributes["callback"] = place
    flag, is_argument = spelled.get("flag", ""), spelled.get("is_argument", is_first)
    of_click = spelled.keys() - {"flag", "is_argument"}
    spelled = {name: value for name, value in spelled.items() if name in of_click}
    required = parameter.is_required
    if (
        not flag
        and not parameter.is_keyword
        and (required or is_argument or parameter.name in PATHS)
    ):
        attributes |= {"nargs": -1 if is_many else 1, "required": required}
        attributes["metavar"] = (
            f"{parameter.name.upper().removesuffix('S')}..." if is_many else None
        )
        if not required and parameter.default is not None:
            attributes["default"] = parameter.default
        attributes |= {"shell_complete": _below, **spelled}
        return click.Argument([parameter.name], help=parameter.description, **attributes)
    flag = flag or f"--{parameter.name.replace('_', '-')}"
    if not attributes.get("is_flag"):
        attributes.setdefault("metavar", "PATH" if parameter.name in PATHS else "TEXT")
    elif parameter.default is True and "/" not in flag:
        flag = f"{flag}/--no-{flag[2:]}"
    default = None if required else parameter.default
    shown = default not in (None, False, "", ())
    attributes |= {"default": default, "show_default": shown, "multiple": is_many, **spelled}
    return click.Option([*flag.split(), parameter.name], help=parameter.description, **attributes)


def _below(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Return the words that make another command of a command's name, and that there may be files."""
    below = context.command.below if isinstance(context.command, VerbCommand) else {}
    is_first = not context.params.get(parameter.name or "")
    items = [
        CompletionItem(name, help=each.get_short_help_str(completion.HELP))
        for name, each in below.items()
        if is_first and name.startswith(incomplete)
    ]
    if parameter.name in PATHS:
        items.append(CompletionItem(incomplete, type="file"))
    return items


def _attributes(annotation: Any) -> dict[str, Any]:
    """Return the attributes of click for values of an annotated type."""
    if get_origin(annotation) in (Union, UnionType):
        members = [each for each in get_args(annotation) if each is not NoneType]
        many = [each for each in members if get_origin(each) is list]
        return _attributes((many or members)[0])
    if annotation is bool:
        return {"is_flag": True}
    if annotation == Span:
        return {"type": lines_from, "metavar": "A-B"}
    if get_origin(annotation) is Annotated:
        return {"type": number_from(get_args(annotation)[1].ge), "metavar": "N"}
    if get_origin(annotation) is Literal:
        return {"type": click.Choice(get_args(annotation)), "metavar": None}
    return {"is_many": True} if get_origin(annotation) is list else {}


def place(context: click.Context, _: click.Parameter, value: Any) -> Any:
    """Return paths as seen from the root of the workspace."""
    call = context.ensure_object(Call)
    return [*map(call.path, value)] if isinstance(value, tuple) else value and call.path(value)


def pattern_places(context: click.Context, _: click.Parameter, names: tuple[str, ...]) -> list[str]:
    """Return paths and patterns as seen from the root of the workspace. A pattern without a slash is of all
    below the current folder, unless a file there has that name."""
    call = context.ensure_object(Call)
    places = []
    for name in names:
        path = call.path(name)
        if path == name:
            places.append(name)
        elif "/" in name or SPECIAL.isdisjoint(name) or os.path.lexists(name):
            places.append(os.path.normpath(path) if name else name)
        else:
            places.append(f"{path.removesuffix(name)}**/{name}")
    return places


@contextmanager
def usage(of: str | None = None) -> Iterator[None]:
    """Report a ValueError of a verb as wrong usage, of an option or argument if named."""
    try:
        yield
    except ValueError as error:
        message = f"{str(error)[:1].upper()}{str(error)[1:].removesuffix('.')}."
        raise (
            click.BadParameter(message, param_hint=of) if of else click.UsageError(message)
        ) from error


def global_options(*, hidden: bool) -> list[click.Option]:
    """Return the options of every command. A click option belongs to one command."""

    def option(name: str, help: str, **more: Any) -> click.Option:
        return click.Option(
            [name],
            help=help,
            expose_value=False,
            is_eager=True,
            callback=_keep,
            hidden=hidden,
            **more,
        )

    return [
        option(
            "--workspace",
            "The workspace. Paths are relative to it. Default: the nearest parent with "
            "sightline.toml or .git, else the current folder.",
            metavar="DIR",
            shell_complete=completion.folders,
        ),
        option(
            "--session",
            "The session whose view to use. Default: $SIGHTLINE_SESSION, else cli.",
            metavar="ID",
            shell_complete=completion.sessions,
        ),
        option(
            "--store",
            "URL of the store. Default: $SIGHTLINE_STORE, else a file in your state folder.",
            metavar="URL",
        ),
        option("--json", "Print one JSON object.", is_flag=True),
        option("--quiet", "Print only the answer and errors.", is_flag=True),
        option("--no-color", "Print no colours. $NO_COLOR does the same.", is_flag=True),
        option("--debug", "Print a traceback with an error.", is_flag=True),
    ]


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    # Given twice, the later one stands; not given here, what stood before the command stays.
    if value not in (None, False) and option.name:
        setattr(context.ensure_object(Call), option.name, value)


LAST = 2**53
"""A line further down than any file goes."""


def lines_from(text: str) -> Span:
    """Return the lines A-B, both included; A alone is one line, A- goes on to the end."""
    return _range(text, 1)


def place_from(text: str) -> Span:
    """Return lines as lines_from does; A-B with B one less than A is the place before line A."""
    return _range(text, 0)


def _range(text: str, least: int) -> Span:
    """Return a range of at least so many lines."""
    first, dash, last = text.partition("-")
    if not first.isdecimal() or int(first) < 1 or not (last.isdecimal() or not last):
        raise click.BadParameter(f"{text!r} is not a range of lines such as 10-20.")
    span = int(first), int(last) if last else LAST if dash else int(first)
    if span[1] - span[0] + 1 < least:
        raise click.BadParameter(f"{text!r} ends before it begins.")
    return span


def age_from(text: str) -> int:
    """Return a length of time in microseconds."""
    with usage_of_type():
        return duration_us(text)


def size_from(text: str) -> int:
    """Return a size in bytes."""
    with usage_of_type():
        return size_bytes(text)


@contextmanager
def usage_of_type() -> Iterator[None]:
    """Report a ValueError as a bad value of the option that is being read."""
    try:
        yield
    except ValueError as wrong:
        raise click.BadParameter(f"{wrong}.") from None


def number_from(least: int) -> Callable[[str | int], int]:
    """Return the type of whole numbers from the least one on."""

    def number(text: str | int) -> int:
        if str(text).isdecimal() and least <= int(text) <= NUMBER_MAX:
            return int(text)
        raise click.BadParameter(f"{str(text)!r} is not a whole number from {least} on.")

    return number


def last_sessions(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option for the number of sessions that are not present."""
    return click.option(
        "--last",
        type=count_from,
        default=LAST_SESSIONS,
        metavar="N|all",
        help=f"Also list the last N sessions that are not present. Default: {LAST_SESSIONS}.",
    )(function)


def count_from(text: str | int) -> int | None:
    """Return a number from 1 on, or None for "all"."""
    if text == "all":
        return None
    if str(text).isdecimal() and int(text) > 0:
        return int(text)
    raise click.BadParameter(f"{text!r} is neither a number from 1 on nor 'all'.")
