"""Plan the change of a settings file that connects Claude Code to Sightline, or disconnects it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sightline.agents.claude_code import hook_settings, settings
from sightline.agents.settings_file import Change, backup_of, read, text_of
from sightline.agents.settings_text import BadSettings
from sightline.errors import SettingsError

_ANY = hook_settings.wanted(
    hook_settings.command_hook("python", f"sightline/{hook_settings.ENTRY}")
)


def connected(path: str, wanted: Mapping[str, Mapping[str, Any]]) -> Change:
    """Return the change to a file with these hooks of ours (event -> hook) and no other of ours.
    SettingsError."""
    before = read(path)
    text = "" if before is None else text_of(path, before)
    try:
        after = settings.registered(text, wanted).encode()
    except BadSettings as bad:
        raise refused(path, bad) from None
    ours = before is not None and _holds_ours(text)
    return Change(path, before, after, keep=before is not None and not ours)


def disconnected(path: str) -> Change:
    """Return the change to a file without our hooks: the same bytes as before them, unless the file
    was changed otherwise since; no file, if there was none. SettingsError."""
    before = read(path)
    if before is None:
        return Change(path, None, None)
    text = text_of(path, before)
    backup = read(backup_of(path))
    try:
        after = settings.removed(text)
        empty = settings.is_empty(after)
    except BadSettings as bad:
        raise refused(path, bad) from None
    if after == text:
        return Change(path, before, before)
    if backup is None:
        return Change(path, before, None if empty else after.encode())
    if _without_ours(backup) == after:
        return Change(path, before, backup, drop=True)
    return Change(path, before, after.encode())


def refused(path: str, bad: BadSettings) -> SettingsError:
    """Return the error for a settings file that is not valid."""
    return SettingsError(
        f"{path} is not valid: line {bad.line}, column {bad.column}: {bad.why}."
        " Nothing was changed.",
        "Correct it there and try again.",
    )


def _holds_ours(text: str) -> bool:
    return bool(settings.registered_hooks(text)) if text.strip("\ufeff \t\r\n") else False


def _without_ours(backup: bytes) -> str | None:
    """Return the text of a copy after our hooks were added and removed: empty containers lose their
    white space that way. None for a copy that is not valid."""
    try:
        return settings.removed(settings.registered(backup.decode(), _ANY))
    except (BadSettings, UnicodeDecodeError):
        return None
