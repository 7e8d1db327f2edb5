"""Check Claude Code on this machine: the client, our hooks in its settings, its transcripts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shutil import which
from typing import Any

from sightline.agents.claude_code import hook_settings, other_hooks, settings
from sightline.agents.claude_code.hook_settings import Hook, files_of
from sightline.agents.claude_code.recordings import folder_name
from sightline.agents.claude_code.settings import Kind, RegisteredHook, Scope
from sightline.agents.claude_code.transcripts import unhooked
from sightline.agents.json_fields import nested
from sightline.agents.settings_file import read, text_of
from sightline.agents.settings_text import BadSettings, Settings
from sightline.errors import SettingsError
from sightline.history.doctor import Finding

VERSION_WITHIN_S = 10.0

PROGRAM = "claude"

LOWEST = (2, 1, 329)
"""The lowest version of the client that is supported: the payloads of hooks were recorded with it. 2.1.197
refuses every edit of a file that changed since it was read, also one that the guard lets through."""

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
        return Finding(hook_settings.AGENT, "warning", "absent", {})
    version, why = version_of(program)
    if why:
        return Finding(hook_settings.AGENT, "unknown", "silent", {"program": program, "why": why})
    facts = {"version": version, "program": program}
    number = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    if number and tuple(map(int, number.groups())) < LOWEST:
        facts["lowest"] = ".".join(map(str, LOWEST))
        return Finding(hook_settings.AGENT, "warning", "old", facts)
    return Finding(hook_settings.AGENT, "ok", "here", facts)


def version_of(program: str) -> tuple[str, str]:
    """Return the first line that `program --version` prints, and the end of a sentence that says why
    it prints none; one of them is empty."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"does not answer within {VERSION_WITHIN_S:.0f} s"
    except OSError as error:
        return "", f"cannot be run: {error.strerror}"
    if done.returncode:
        return "", f"ends with exit code {done.returncode}"
    return done.stdout.strip().split("\n")[0], ""


def registration(scope: Scope, path: str, wanted: Mapping[str, Hook]) -> Finding | None:
    """Report our hooks in a settings file beside those that this installation would write; None
    where the file has none of ours. SettingsError."""
    text = text_of(path, read(path) or b"")
    if not text.strip():
        return None
    with settings.named(path):
        found = settings.registered_hooks(text)
        is_current = settings.registered(text, wanted) == text
    if not found:
        return None
    flag = "" if scope == "local" else f" --scope {scope}"
    agent = hook_settings.AGENT
    facts: dict[str, Any] = {"scope": scope, "path": path, "agent": agent, "flag": flag}
    missing = [file for file in files(found) if not os.path.isfile(file)]
    if missing:
        more = {**facts, "missing": missing[0]}
        return Finding("hooks", "problem", "gone", more, f"registration {scope}")
    if is_current:
        more = {**facts, "events": len(found), "kind": kind_of(found)}
        return Finding("hooks", "ok", "registered", more)
    is_elsewhere = any(
        files_of(each.hook) != files_of(wanted.get(each.event, {})) for each in found
    )
    if is_elsewhere and {hook.event for hook in found} == set(hook_settings.EVENTS):
        script = files_of(found[0].hook)[-1]
        return Finding("hooks", "warning", "elsewhere", {**facts, "script": script})
    return Finding("hooks", "problem", "outdated", facts, f"registration {scope}")


def kind_of(found: Iterable[RegisteredHook]) -> Kind:
    """Return "http" where hooks ask a running `up`, and "command" where they start processes."""
    return "http" if any(each.hook.get("type") == "http" for each in found) else "command"


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
            return Finding("hooks", "problem", "off by variable", {"key": variable})
    return None


def started_without(
    running: Iterable[tuple[int, list[str]]], scopes: Sequence[Scope]
) -> Iterator[Finding]:
    """Report clients that were started with an option that leaves our hooks out. running: processes and
    their command lines. scopes: the settings that name our hooks."""
    for pid, arguments in running:
        option = _leaving_out(arguments, scopes)
        if option:
            yield Finding("hooks", "problem", "left out", {"pid": pid, "option": option})


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


def files(found: Iterable[RegisteredHook]) -> list[str]:
    """Return the interpreters and scripts that hooks name."""
    return list(dict.fromkeys(file for each in found for file in files_of(each.hook)))
