"""Put our hooks into Claude Code's settings, find them there, and take them out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from shutil import which

from sightline.agents.claude_code import health, hook_settings
from sightline.agents.connection import Place, Program, RegisteredHook, Scope
from sightline.agents.grouped_hooks import GroupedHooks, Hook
from sightline.filesystem.process import running_in
from sightline.model.findings import Finding
from sightline.recordings.claude_code.recorded_sessions import config_dir

SCOPES: tuple[Scope, ...] = ("user", "project", "local")


def settings_file(scope: Scope, root: str, config_dir: str) -> str:
    """Return the path of a scope's settings. config_dir: the folder of the user's own."""
    if scope == "user":
        return os.path.join(config_dir, "settings.json")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return os.path.join(root, ".claude", name)


def words_for(scope: Scope, path: str) -> str:
    """Return words that name a scope's settings file to a person in any place of the project."""
    if scope == "user":
        return path
    return f".claude/{os.path.basename(path)} of this project"


class ClaudeCodeSettings(GroupedHooks):
    """Hooks in the settings of the user, of the project, or of one person in the project."""

    scopes = SCOPES
    kinds = ("command", "http")
    events = hook_settings.EVENTS

    def is_here(self, place: Place) -> bool:
        """See Connection."""
        folders = [config_dir(place.environ, place.home)]
        folders += [os.path.join(place.root, ".claude")] if place.root else []
        return which(health.PROGRAM) is not None or any(map(os.path.isdir, folders))

    def file(self, scope: Scope, place: Place) -> str:
        """See Connection."""
        own = config_dir(place.environ, place.home)
        return settings_file(scope, place.root, own)

    def hooks(self, scope: Scope, place: Place, program: Program) -> dict[str, Hook]:
        """See GroupedHooks."""
        words = words_for(scope, self.file(scope, place))
        commands = hook_settings.command_hooks(program.python, program.script, words)
        if not program.url:
            return commands
        return hook_settings.with_http(
            commands, hook_settings.http_hook(program.url, program.token)
        )

    def is_ours(self, hook: Hook) -> bool:
        """See GroupedHooks."""
        return hook_settings.is_ours(hook)

    def as_registered(self, event: str, hook: Hook) -> RegisteredHook:
        """See GroupedHooks."""
        if hook.get("type") == "http":
            headers = dict(hook.get("headers") or {})
            return RegisteredHook(event, url=str(hook.get("url")), headers=headers)
        files = tuple(hook_settings.files_of(hook))
        return RegisteredHook(event, tuple(hook_settings.started(hook)), files)

    def health(self, place: Place, scopes: Sequence[Scope]) -> Iterator[Finding]:
        """See Connection."""
        yield health.client()
        files = [self.file(scope, place) for scope in self.scopes]
        off = health.switched_off(files, place.environ)
        if off is not None:
            yield off
        if scopes:
            yield from health.started_without(running_in(place.root, health.PROGRAM), scopes)

    def transcript(self, place: Place) -> Iterator[Finding]:
        """See Connection."""
        yield health.transcript(place.root, config_dir(place.environ, place.home))


CONNECTION = ClaudeCodeSettings()
