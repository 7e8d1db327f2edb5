"""Find hooks of others that could put their own text in the place of the one that ours hands over."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sightline.agents.claude_code.hook_settings import is_ours, managed_files
from sightline.agents.json_fields import nested, objects, parse_row

WHOLE_NAMES = re.compile(r"[\w|, ]+")
"""A matcher of words and bars alone stands for whole names, any other for a regular expression."""


def rewriters(
    tool: str,
    arguments: Sequence[str],
    roots: Iterable[str],
    environ: Mapping[str, str],
    home: str,
) -> list[str]:
    """Return the files with hooks of others before a tool; see agents.dialect.Dialect.rewriters."""
    own = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    files = [os.path.join(own, "settings.json")]
    files += [
        os.path.join(root, ".claude", name)
        for root in roots
        for name in ("settings.json", "settings.local.json")
    ]
    files += managed_files()
    read = {file: _read(file) for file in dict.fromkeys(files)}
    for number, given in enumerate(in_command_line(arguments), 1):
        read[f"--settings ({number})"] = given
    enabled = {
        name
        for settings in read.values()
        for name, is_on in (nested(settings, "enabledPlugins") or {}).items()
        if is_on
    }
    for folder in [*_installed(own, enabled), *after(arguments, "--plugin-dir")]:
        file = os.path.join(folder, "hooks", "hooks.json")
        read[file] = _read(file)
        read[folder] = _read(os.path.join(folder, ".claude-plugin", "plugin.json"))
    return [file for file, settings in read.items() if _may_rewrite(settings, tool)]


def _may_rewrite(settings: Any, tool: str) -> bool:
    hooks = nested(settings, "hooks", "PreToolUse")
    return any(
        not is_ours(hook)
        for group in objects(hooks)
        if _matches(group.get("matcher"), tool)
        for hook in objects(group.get("hooks"))
    )


def _matches(matcher: object, tool: str) -> bool:
    if not isinstance(matcher, str) or matcher in ("", "*"):
        return True
    if WHOLE_NAMES.fullmatch(matcher):
        return tool in re.split(r"[|, ]+", matcher)
    try:
        return re.search(matcher, tool) is not None
    except re.error:
        return True  # nobody knows what the client makes of it


def _installed(own: str, enabled: set[str]) -> Iterator[str]:
    """Yield the folders of the plugins that are enabled. own: the folder of the user's settings."""
    installed = nested(_read(os.path.join(own, "plugins", "installed_plugins.json")), "plugins")
    for name, places in (installed or {}).items() if isinstance(installed, dict) else ():
        for place in objects(places if isinstance(places, list) else [places]):
            path = place.get("installPath")
            if name in enabled and isinstance(path, str):
                yield path


def in_command_line(arguments: Sequence[str]) -> Iterator[Any]:
    """Yield the settings that the command line gives, as a file or as JSON."""
    for value in after(arguments, "--settings"):
        yield parse_row(value.encode()) if value.lstrip().startswith("{") else _read(value)


def after(arguments: Sequence[str], option: str) -> Iterator[str]:
    """Yield the values of an option: behind it, or behind its equals sign."""
    for at, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == option and equals:
            yield value
        elif argument == option and at + 1 < len(arguments):
            yield arguments[at + 1]


def _read(path: str) -> Any:
    """Return the object of a JSON file; None where there is none."""
    try:
        with open(path, "rb") as file:
            return parse_row(file.read())
    except OSError:
        return None
