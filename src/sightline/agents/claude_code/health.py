"""Check Claude Code on this machine: the client, our hooks in its settings, its transcripts."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shutil import which

from sightline.agents.claude_code import hook_settings, other_hooks
from sightline.agents.connection import Scope
from sightline.agents.settings_file import read, text_of
from sightline.agents.settings_text import BadSettings, Settings
from sightline.errors import SettingsError
from sightline.history.doctor import version_of
from sightline.model.findings import Finding
from sightline.model.json_fields import nested
from sightline.recordings.claude_code.recorded_sessions import folder_name
from sightline.recordings.claude_code.transcripts import unhooked

PROGRAM = "claude"
TITLE = "Claude Code"

LOWEST = (2, 1, 329)
"""The lowest version of the client that is supported: the payloads of hooks were recorded with it. 2.1.197
refuses every edit of a file that changed since it was read, also one that the guard lets through."""

OLD = "This version may refuse an edit that Sightline allows, because other lines of the file have changed."
UPDATE = (
    "Run: claude update. If you installed it by npm, use Node 22 or newer: npm on an older Node installs an "
    "old Claude Code."
)

FLAGS = ("--bare", "--safe-mode", "--restricted")
"""Options with which the client calls no hook that settings of a user or a project name."""

VARIABLES = ("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE")
"""Variables that have the same effect: the client sets them for --bare and --safe-mode."""

UNSET = ("", "0", "false", "no", "off")
"""Values with which a variable of the client counts as not set."""


MANAGED_ONLY = ("allowManagedHooksOnly", "strictPluginOnlyCustomization")
"""Keys that count in an administrator's settings alone: true, or for the second one a list that has "hooks"."""


def client() -> Finding:
    """Report the client on PATH, and whether its version is supported."""
    program = which(PROGRAM)
    if program is None:
        facts = {"program": PROGRAM, "title": TITLE}
        return Finding(hook_settings.AGENT, "warning", "absent", facts)
    version, why = version_of(program)
    if why:
        return Finding(hook_settings.AGENT, "unknown", "silent", {"program": program, "why": why})
    facts = {"version": version, "program": program}
    number = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    if number and tuple(map(int, number.groups())) < LOWEST:
        facts |= {
            "title": TITLE,
            "lowest": ".".join(map(str, LOWEST)),
            "why": OLD,
            "update": UPDATE,
        }
        return Finding(hook_settings.AGENT, "warning", "old", facts)
    return Finding(hook_settings.AGENT, "ok", "here", facts)


def switched_off(paths: Iterable[str], environ: Mapping[str, str]) -> Finding | None:
    """Report a settings file, or a variable of the shell, that leaves our hooks out. paths: of the settings
    of the user and the project."""
    managed = hook_settings.managed_files()
    for path in (*paths, *managed):
        try:
            found = Settings(text_of(path, read(path) or b"{}"))
        except (SettingsError, BadSettings):
            continue  # the check of the file's hooks reports this
        keys = ("disableAllHooks", *(MANAGED_ONLY if path in managed else ()))
        for key in keys:
            item = found.find(found.top, key)
            value = None if item is None else found.value(item.at)
            if value is True or (isinstance(value, list) and "hooks" in value):
                return Finding("hooks", "problem", "off", {"path": path, "key": key})
    for variable in VARIABLES:
        if environ.get(variable, "").lower() not in UNSET:
            return Finding("hooks", "problem", "off by variable", {"key": variable, "title": TITLE})
    return None


def started_without(
    running: Iterable[tuple[int, list[str]]], scopes: Sequence[Scope]
) -> Iterator[Finding]:
    """Report clients that were started with an option that leaves our hooks out. running: processes and
    their command lines (filesystem.process.running_in). scopes: the settings that name our hooks."""
    for pid, arguments in running:
        option = _leaving_out(arguments, scopes)
        if option:
            yield Finding(
                "hooks", "problem", "left out", {"pid": pid, "option": option, "title": TITLE}
            )


def _leaving_out(arguments: Sequence[str], scopes: Sequence[Scope]) -> str:
    """Return the option of a command line that leaves hooks out; "" for none."""
    for flag in FLAGS:
        if flag in arguments:
            return flag
    for given in other_hooks.after(arguments, "--setting-sources"):
        if not set(scopes) & {source.strip() for source in given.split(",")}:
            return f"--setting-sources {given}"
    if any(
        nested(given, "disableAllHooks") is True for given in other_hooks.in_command_line(arguments)
    ):
        return "--settings, whose disableAllHooks is true"
    return ""


def transcript(root: str, config_dir: str) -> Finding:
    """Report whether the newest recorded session of a folder can be read."""
    path = _newest(root, config_dir)
    if path is None:
        return Finding("transcript", "ok", "none", {})

    try:
        shown, _ = unhooked(path, 0, before=sys.maxsize)
        size = os.path.getsize(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return Finding("transcript", "unknown", "unreadable", {"path": path, "why": why})
    facts = {"path": path, "shown": len(shown), "bytes": size}
    return Finding("transcript", "ok", "read", facts)


def _newest(root: str, config_dir: str) -> str | None:
    """Return the newest transcript of a folder; the client keeps them under the folder's name."""
    folder = os.path.join(config_dir, "projects", folder_name(root))
    try:
        files = [entry for entry in os.scandir(folder) if entry.name.endswith(".jsonl")]
    except OSError:
        return None
    return max(files, key=lambda entry: entry.stat().st_mtime_ns).path if files else None
