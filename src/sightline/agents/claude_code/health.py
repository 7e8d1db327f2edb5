"""Check Claude Code on this machine: the client, our hooks in its settings, its transcripts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from shutil import which
from typing import Any

from sightline.agents.claude_code import hook_settings, settings
from sightline.agents.claude_code.hook_settings import Hook, files_of
from sightline.agents.claude_code.recordings import folder_name
from sightline.agents.claude_code.settings import Kind, RegisteredHook, Scope
from sightline.agents.claude_code.transcripts import unhooked
from sightline.agents.settings_file import read, text_of
from sightline.agents.settings_text import BadSettings, Settings
from sightline.errors import SettingsError
from sightline.history.doctor import Finding

VERSION_WITHIN_S = 10.0
MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": r"C:\Program Files\ClaudeCode\managed-settings.json",
}
"""Where an administrator's settings are; elsewhere the Linux path."""


def client() -> Finding:
    """Report the client on PATH."""
    program = which("claude")
    if program is None:
        return Finding(hook_settings.AGENT, "warning", "absent", {})
    version, why = version_of(program)
    if why:
        return Finding(hook_settings.AGENT, "unknown", "silent", {"program": program, "why": why})
    return Finding(hook_settings.AGENT, "ok", "here", {"version": version, "program": program})


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


def switched_off(paths: Iterable[str]) -> Finding | None:
    """Report a settings file that disables every hook."""
    managed = MANAGED.get(sys.platform, "/etc/claude-code/managed-settings.json")
    for path in (*paths, managed):
        try:
            found = Settings(text_of(path, read(path) or b"{}"))
        except (SettingsError, BadSettings):
            continue  # the check of the file's hooks reports this
        for key in ("disableAllHooks", *(["allowManagedHooksOnly"] if path == managed else [])):
            item = found.find(found.top, key)
            if item is not None and found.value(item.at) is True:
                return Finding("hooks", "problem", "off", {"path": path, "key": key})
    return None


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
