"""The settings as their user sees and changes them: each value with its source, and the user's file."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from tomlkit import dumps, parse
from tomlkit.exceptions import TOMLKitError

from sightline.config.schema import KEYS, POLICIES, checked, checked_value, from_environment, known
from sightline.config.settings import (
    Settings,
    load_settings,
    parsed_file,
    user_settings_file,
    workspace_tables,
)
from sightline.errors import SettingsError
from sightline.filesystem.private_files import write_file

LISTS = ("never_store", "protect")
"""Settings whose lists of all sources count."""

BUILT_IN = "built in"


class SettingView(Struct, frozen=True):
    """A setting. value: as it holds; source: "built in", a file, a variable such as $SIGHTLINE_POLICY, or
    "the command line"; a list has several, because each adds to it. may_tighten: whether a workspace may
    make it stricter.

    name: the name in a settings file.
    """

    name: str
    value: Any
    source: tuple[str, ...]
    may_tighten: bool


def user_file() -> str:
    """Return the path of this user's settings file, whether or not it exists."""
    return user_settings_file(os.environ, os.path.expanduser("~"), sys.platform)


def explained(root: str, store: str | None = None) -> list[SettingView]:
    """Return every setting of a workspace, in the order of the reference. store: a URL that the user named
    in a command. SettingsError for a fault in the user's own settings."""
    users, home = user_file(), os.path.expanduser("~")
    flags = {"store": store}
    settings = load_settings(
        root, environ=os.environ, home=home, platform=sys.platform, flags=flags
    )
    given: list[tuple[str, Mapping[str, Any]]] = [(users, checked(parsed_file(users), users))]
    for key, value in from_environment(os.environ).items():
        given.append((f"${KEYS[key].variable}", {key: value}))
    given += [("the command line", {"store": store})] if store is not None else []
    own = workspace_tables(root, users)[0]
    return [_explained(key, settings, given, own) for key in KEYS]


def named(root: str, name: str, store: str | None = None) -> SettingView:
    """Return one setting, as explained does. SettingsError for a name that no setting has."""
    known(name)
    return next(each for each in explained(root, store) if each.name == name)


def names() -> list[str]:
    """Return the names of all settings."""
    return [*KEYS]


def _explained(
    key: str,
    settings: Settings,
    given: list[tuple[str, Mapping[str, Any]]],
    own: list[tuple[str, dict[str, Any]]],
) -> SettingView:
    """Return a setting. given: the user's sources, later ones win; own: the workspace's files."""
    users = [source for source, table in given if key in table]
    tighter = [(name, table[key]) for name, table in own if key in table]
    if key in LISTS or key == "policies":
        built_in = [BUILT_IN] if key in LISTS else []
        value = _joined(key, settings)
        sources = (*built_in, *users[-1:], *(name for name, _ in tighter))
        return SettingView(key, value, sources or (BUILT_IN,), KEYS[key].shared)
    value = _strictest(settings) if key == "policy" else getattr(settings, key)
    source = users[-1] if users else BUILT_IN
    lasting = next((table[key] for _, table in reversed(given) if key in table), None)
    if tighter and value != lasting:
        source = next((name for name, tight in tighter if tight == value), source)
    return SettingView(key, value, (source,), KEYS[key].shared)


def _joined(key: str, settings: Settings) -> Any:
    """Return the list or table that all sources make together."""
    if key == "policies":
        return {glob: policy for source in settings.sources for glob, policy in source.policies}
    patterns = (each for source in settings.sources for each in getattr(source, key))
    return list(dict.fromkeys(patterns))


def _strictest(settings: Settings) -> str:
    """Return the policy of a file that no pattern names."""
    return max((source.policy for source in settings.sources), key=POLICIES.index)


def set_value(name: str, text: str | None) -> None:
    """Write a setting into the user's file, whose comments and order stay. text: the value as TOML, or a text
    without quotes; None takes the setting out, so that the built-in value holds. SettingsError, and nothing
    written, for an unknown setting, a wrong value, and a file that is not right afterwards."""
    known(name)
    path = user_file()
    before = dumped = ""
    table = parsed_file(path)
    if table or os.path.exists(path):
        with open(path, encoding="utf-8", newline="") as file:
            before = file.read()
    try:
        document = parse(before)
        document.pop(name, None) if text is None else document.update({name: _value_of(name, text)})
        dumped = dumps(document)
        checked(tomllib.loads(dumped), path)
    except (TOMLKitError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: {error}.", "Correct it there.") from error
    if dumped != before:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        target = os.path.realpath(path)
        write_file(target, dumped.encode(), os.stat(target) if os.path.exists(target) else None)


def _value_of(name: str, text: str) -> Any:
    """Return the value that a text at a shell means: TOML, where it is that; else the text. SettingsError."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    checked_value(name, value)
    return value
