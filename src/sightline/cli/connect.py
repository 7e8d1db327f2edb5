"""Connections of agents on this machine, for init, up and doctor."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from shutil import which

from sightline.agents.claude_code import hook_settings, settings
from sightline.agents.claude_code.hook_command import ENTRY
from sightline.agents.claude_code.hook_settings import Hook
from sightline.agents.claude_code.settings import (
    Kind,
    RegisteredHook,
    Scope,
    connected,
    disconnected,
)
from sightline.agents.settings_file import Change, backup_of, read, text_of
from sightline.api.folders import settings_of
from sightline.errors import SettingsError
from sightline.hooks.http_endpoint import http_settings

AGENTS = {hook_settings.AGENT: "Claude Code"}
"""Agent that can be connected -> the name people call it."""


def found_agents(root: str) -> list[str]:
    """Return the agents that this user has, or has used in this workspace. root may be empty."""
    folders = [config_dir(), os.path.join(root, ".claude")] if root else [config_dir()]
    there = which("claude") is not None or any(map(os.path.isdir, folders))
    return [hook_settings.AGENT] if there else []


PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def entry_script() -> str:
    """Return the script that a command hook runs."""
    return os.path.join(PACKAGE, "hooks", ENTRY)


def hooks_for(root: str, scope: Scope, kind: Kind = "command") -> dict[str, Hook]:
    """Return the hooks of a scope that call this installation, by event. SettingsError."""
    if not sys.executable:
        raise SettingsError(
            "Sightline cannot find out which Python runs it.", "Run this command from a shell."
        )
    place = settings.words_for(scope, settings_file(scope, root))
    commands = hook_settings.command_hooks(os.path.abspath(sys.executable), entry_script(), place)
    if kind == "command":
        return commands

    url, token = http_settings(settings_of(root, None).state_home, root)
    return hook_settings.with_http(commands, hook_settings.http_hook(url, token))


def settings_file(scope: Scope, root: str) -> str:
    """Return the file with Claude Code's settings of a scope."""
    return settings.settings_file(scope, root, config_dir())


def plan(root: str, scope: Scope, kind: Kind = "command", *, remove: bool = False) -> Change:
    """Plan the change of a settings file that connects or disconnects the agent. SettingsError."""
    path = settings_file(scope, root)
    return disconnected(path) if remove else connected(path, hooks_for(root, scope, kind))


def private_files(root: str, change: Change) -> list[str]:
    """Return the files of a change of the local settings, relative to the root: they are for this
    machine alone."""
    return [
        os.path.relpath(path, root).replace(os.sep, "/")
        for path in (change.path, backup_of(change.path))
    ]


def connections(
    root: str, scopes: Iterable[Scope] = settings.SCOPES
) -> dict[Scope, list[RegisteredHook]]:
    """Return the scopes that have hooks of Sightline, with these hooks. SettingsError."""
    named = {scope: registered(settings_file(scope, root)) for scope in scopes}
    return {scope: found for scope, found in named.items() if found}


def registered(path: str) -> list[RegisteredHook]:
    """Return the hooks of Sightline in a settings file. SettingsError."""
    data = read(path)
    if data is None or not data.strip():
        return []
    with settings.named(path):
        return settings.registered_hooks(text_of(path, data))


def config_dir() -> str:
    """Return the folder of Claude Code's user settings."""
    return os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
