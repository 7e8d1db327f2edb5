"""Commands of the settings: settings, settings get, settings set."""

from __future__ import annotations

from json import dumps
from typing import Any

import click
from click.shell_completion import CompletionItem

from sightline.api.json_shapes import shape
from sightline.api.own_settings import explained, named, names, set_value, user_file
from sightline.cli import output
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.text.phrases import count, joined

SHOWN = 3
"""Members of a list that the table shows. `settings get` prints all."""


def completed(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a setting."""
    return [CompletionItem(name) for name in names() if name.startswith(incomplete)]


@command(example="settings")
@click.argument("what", required=False, type=click.Choice(["get", "set"]))
def settings(call: Call, what: str | None) -> None:
    """Show every setting, its value and where it comes from.

    The files of a workspace can only make a setting stricter, and only those that the table marks.
    """
    if what is not None:
        raise click.UsageError(f"Leave out the '--': sightline settings {what}")
    shown = explained(call.root, call.store)
    rows = [("SETTING", "VALUE", "FROM", "A WORKSPACE")]
    for each in shown:
        may = "may tighten it" if each.may_tighten else ""
        sources = ["your file" if source == user_file() else source for source in each.source]
        rows.append((each.name, _in_brief(each.value), joined(sources), may))
    lines = [output.tabled(rows), "", f"Your file: {user_file()}"]
    output.answer(call, {"settings": shape(shown), "file": user_file()}, "\n".join(lines))


@command(name="settings get", example="settings get policy")
@click.argument("name", shell_complete=completed)
def get(call: Call, name: str) -> None:
    """Print the value of one setting.

    It is TOML, as a settings file has it.
    """
    view = named(call.root, name, call.store)
    output.answer(call, shape(view), _toml(view.value))


@command(name="settings set", example="settings set policy block")
@click.argument("name", shell_complete=completed)
@click.argument("value", required=False)
@click.option(
    "--default", is_flag=True, help="Take the setting out: the built-in value holds again."
)
def set_setting(call: Call, name: str, value: str | None, *, default: bool) -> None:
    """Write a setting into your settings file.

    The comments and the order of the file stay.

    VALUE is TOML, such as 30, '["docs/**"]' or '{"docs/**" = "block"}'; a text needs no quotes.
    """
    if default == (value is not None):
        raise click.UsageError("Give a value, or --default.")
    set_value(name, value)
    view = named(call.root, name, call.store)
    words = f"{name} is {_in_brief(view.value)} now, from {joined(view.source)}."
    output.result(call, shape(view), output.fitted(words))


def _in_brief(value: Any) -> str:
    """Return a value for the table: a long list by its size."""
    if isinstance(value, list | tuple | dict) and len(value) > SHOWN:
        return count(len(value), "pattern")
    return _toml(value)


def _toml(value: Any) -> str:
    """Return a value as TOML; "none" for no value."""
    if isinstance(value, dict):
        pairs = (f"{_toml(name)} = {_toml(each)}" for name, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return "none" if value is None else dumps(value, ensure_ascii=False)
