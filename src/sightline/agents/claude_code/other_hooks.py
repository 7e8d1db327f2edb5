"""Find hooks of others that could put their own text in the place of the one that ours hands over."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from glob import escape, glob
from typing import Any

from sightline.agents.claude_code.hook_settings import (
    folders,
    is_ours,
    managed_files,
    settings_files,
)
from sightline.model.hook_events import Surroundings
from sightline.model.json_fields import nested, objects, parse_row

WHOLE_NAMES = re.compile(r"[\w|, ]+")
"""A matcher of words and bars alone stands for whole names, any other for a regular expression."""


def rewriters(tool: str, around: Surroundings) -> list[str]:
    """Return the files with hooks of others before a tool; see agents.dialect."""
    own, *_ = folders(around)
    files = [*settings_files(around), *managed_files()]
    read = {file: _read(file) for file in dict.fromkeys(files)}
    for number, given in enumerate(in_command_line(around.arguments), 1):
        read[f"--settings ({number})"] = given
    enabled = {
        name
        for settings in read.values()
        for name, is_on in (nested(settings, "enabledPlugins") or {}).items()
        if is_on
    }
    plugins = [*_installed(own, enabled), *after(around.arguments, "--plugin-dir")]
    for folder in plugins:
        file = os.path.join(folder, "hooks", "hooks.json")
        read[file] = _read(file)
        read[folder] = _read(os.path.join(folder, ".claude-plugin", "plugin.json"))
    found = [file for file, settings in read.items() if _may_rewrite(settings, tool)]
    return [*found, *_in_frontmatter([*folders(around), *plugins], tool)]


FRONTMATTER = ("skills/**/SKILL.md", "agents/**/*.md", "commands/**/*.md")
"""The files of a folder of the client, or of a plugin, whose beginnings may hold hooks: they run while the
skill, the agent or the command is at work, which no hook is told."""

MATCHER = re.compile(
    r"""\s*["']?matcher["']?\s*:\s*(?:"([^"]*)"|'([^']*)'|([^\s#"'|>&{[][^#]*))?\s*(?:#.*)?"""
)
"""A line with a matcher: in quotes, or plain; no group for a form that is not read."""

FRONTMATTER_MAX = 1 << 16
"""Characters of such a beginning that are read."""


def _in_frontmatter(folders: Sequence[str], tool: str) -> list[str]:
    paths = [
        path
        for folder in dict.fromkeys(folders)
        for pattern in FRONTMATTER
        for path in sorted(glob(os.path.join(escape(folder), pattern), recursive=True))
    ]
    return [path for path in paths if _frontmatter_matches(_beginning(path), tool)]


def _beginning(path: str) -> list[str]:
    """Return the lines between the first two lines of three dashes; none where a file does not begin so."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            first, *lines = file.read(FRONTMATTER_MAX).splitlines() or [""]
    except OSError:
        return []
    return lines[: lines.index("---")] if first.rstrip() == "---" and "---" in lines else []


def _frontmatter_matches(lines: Sequence[str], tool: str) -> bool:
    """Return whether a beginning may hold a hook before a tool. YAML has many forms: the usual one, a list
    of groups below `PreToolUse:`, is read; any other one counts."""
    begins = [number for number, line in enumerate(lines) if "PreToolUse" in line]
    if not begins:
        return False
    start = lines[begins[0]]
    if start.strip().strip("\"':") != "PreToolUse":
        return True
    depth = _depth(start)
    block = []
    for line in lines[begins[0] + 1 :]:
        if line.strip() and (_depth(line), line.lstrip()[:1] == "-") < (depth, True):
            break
        block.append(line)
    groups = _groups(block)
    return not groups or any(_matches(_matcher(group), tool) for group in groups)


def _groups(block: Sequence[str]) -> list[list[str]]:
    """Return the entries of a YAML list, each as its lines, without the dash of its first one."""
    dashes = [_depth(line) for line in block if line.lstrip()[:1] == "-"]
    groups: list[list[str]] = []
    for line in block:
        if dashes and _depth(line) == min(dashes) and line.lstrip()[:1] == "-":
            groups.append([line.replace("-", " ", 1)])
        elif groups:
            groups[-1].append(line)
    return groups


def _matcher(group: Sequence[str]) -> str:
    """Return the matcher of a group of hooks; "", which stands for all tools, where none is read."""
    for line in group:
        if found := MATCHER.fullmatch(line):
            return next((value for value in found.groups() if value is not None), "").strip()
    return ""


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _may_rewrite(settings: Any, tool: str) -> bool:
    hooks = nested(settings, "hooks", "PreToolUse")
    return any(
        not is_ours(hook) and hook.get("async") is not True  # nobody waits for its answer
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
