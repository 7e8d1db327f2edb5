"""Find, add and remove our hooks in Claude Code's settings, and plan the change of a settings file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from msgspec import Struct

from sightline.agents.claude_code.hook_command import ENTRY
from sightline.agents.claude_code.hook_settings import (
    EVENTS,
    TIMEOUT_S,
    Hook,
    command_hooks,
    is_ours,
)
from sightline.agents.settings_file import Change, backup_of, read, text_of
from sightline.agents.settings_text import BadSettings, Item, Settings
from sightline.errors import SettingsError

Kind = Literal["command", "http"]
Scope = Literal["user", "project", "local"]

SCOPES: tuple[Scope, ...] = ("user", "project", "local")

BLANK = "\ufeff \t\r\n"


class RegisteredHook(Struct, frozen=True):
    """One of our hooks in a settings file."""

    event: str
    matcher: str
    hook: Hook


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


def registered_hooks(text: str) -> list[RegisteredHook]:
    """Return our hooks in a settings file's text. BadSettings."""
    settings = Settings(text)
    return [
        RegisteredHook(event, _matcher(settings.value(group.at)), settings.value(hook.at))
        for event in _events(settings)
        for group, hook in _places(settings, event)
    ]


def registered(text: str, hooks: Mapping[str, Hook]) -> str:
    """Return the text with these hooks (event -> hook) as the only ones of ours. A person's
    additions to one of them, such as another timeout, stay. BadSettings."""
    settings = Settings(text if text.strip(BLANK) else "{}\n")
    for event in [event for event in _events(settings) if event not in hooks]:
        _cut(settings, event)
    for event, hook in hooks.items():
        _put(settings, event, hook)
    return settings.text


def removed(text: str) -> str:
    """Return the text without our hooks, and without the containers that held only them.
    BadSettings."""
    settings = Settings(text)
    for event in _events(settings):
        _cut(settings, event)
    return settings.text


def connected(path: str, hooks: Mapping[str, Hook]) -> Change:
    """Return the change to a file with these hooks of ours (event -> hook) and no other of ours.
    SettingsError."""
    before = read(path)
    text = "" if before is None else text_of(path, before)
    with named(path):
        after = registered(text, hooks).encode()
    has_ours = bool(text.strip(BLANK)) and bool(registered_hooks(text))
    return Change(path, before, after, keep=before is not None and not has_ours)


def disconnected(path: str) -> Change:
    """Return the change to a file without our hooks: the same bytes as before them, unless the file
    was changed otherwise since; no file, if there was none. The copy beside the file goes in each
    case. SettingsError."""
    before = read(path)
    if before is None:
        return Change(path, None, None)
    text = text_of(path, before)
    backup = read(backup_of(path))
    with named(path):
        after = removed(text)
        changed = Settings(after)
        is_empty = not changed.items(changed.top)
    drop = backup is not None
    if after == text:
        return Change(path, before, before, drop=drop)
    if backup is not None and _without_ours(backup) == after:
        return Change(path, before, backup, drop=True, restores=True)
    return Change(path, before, None if is_empty and not drop else after.encode(), drop=drop)


@contextmanager
def named(path: str) -> Iterator[None]:
    """Name the settings file in an error about its text. SettingsError."""
    try:
        yield
    except BadSettings as bad:
        raise SettingsError(
            f"{path} is not valid: {bad}. Nothing was changed.", "Correct it there and try again."
        ) from None


def _without_ours(backup: bytes) -> str | None:
    """Return the text of a copy after our hooks were added and removed: empty containers lose their
    white space that way. None for a copy that is not valid."""
    hooks = command_hooks("python", f"sightline/{ENTRY}", "")
    try:
        return removed(registered(backup.decode(), hooks))
    except (BadSettings, UnicodeDecodeError):
        return None


def _put(settings: Settings, event: str, hook: Hook) -> None:
    places = list(_places(settings, event))
    if len(places) == 1:
        group, item = places[0]
        old = settings.value(item.at)
        if _matcher(settings.value(group.at)) == EVENTS[event] and old.get("type") == hook["type"]:
            kept = {
                key: value for key, value in old.items() if key != "args"
            }  # of an older version
            new = {**kept, **hook, "timeout": old.get("timeout", TIMEOUT_S)}
            if new != old:
                settings.replace(item, new)
            return
    _cut(settings, event)
    if settings.find(settings.top, "hooks") is None:
        settings.add(settings.top, {}, "hooks")
    top = settings.find(settings.top, "hooks")
    assert top is not None
    _expect(settings, top, "{", "an object of hooks")
    matcher = {"matcher": EVENTS[event]} if EVENTS[event] else {}
    new_group = {**matcher, "hooks": [dict(hook)]}
    list_ = settings.find(top.at, event)
    if list_ is None:
        settings.add(top.at, [new_group], event)
        return
    _expect(settings, list_, "[", f"a list of {event} hooks")
    settings.add(list_.at, new_group)


def _expect(settings: Settings, item: Item, sign: str, what: str) -> None:
    if settings.text[item.at] != sign:
        raise settings.wrong(item.at, f"{what} has to stand here")


def _cut(settings: Settings, event: str) -> None:
    """Remove our hooks of an event, and the containers that are empty without them."""
    while place := next(_places(settings, event), None):
        top = settings.find(settings.top, "hooks")
        assert top is not None
        list_ = settings.find(top.at, event)
        assert list_ is not None
        group, hook = place
        hooks = settings.find(group.at, "hooks")
        assert hooks is not None
        around = [(hooks.at, hook), (list_.at, group), (top.at, list_), (settings.top, top)]
        for at, item in around:
            last = len(settings.items(at)) == 1
            if not last or at == settings.top:
                settings.cut(at, item)
                break


def _events(settings: Settings) -> list[str]:
    """Return the events that have a hook of ours."""
    top = settings.find(settings.top, "hooks")
    if top is None or settings.text[top.at] != "{":
        return []
    events = dict.fromkeys(item.key for item in settings.items(top.at) if item.key)
    return [event for event in events if next(_places(settings, event), None)]


def _places(settings: Settings, event: str) -> Iterator[tuple[Item, Item]]:
    """Yield our hooks of an event, each after its group."""
    list_ = _inside(settings, settings.find(settings.top, "hooks"), "{", event)
    if list_ is None or settings.text[list_.at] != "[":
        return
    for group in settings.items(list_.at):
        hooks = _inside(settings, group, "{", "hooks")
        if hooks is None or settings.text[hooks.at] != "[":
            continue
        for hook in settings.items(hooks.at):
            value = settings.value(hook.at)
            if isinstance(value, dict) and is_ours(value):
                yield group, hook


def _inside(settings: Settings, item: Item | None, sign: str, key: str) -> Item | None:
    if item is None or settings.text[item.at] != sign:
        return None
    return settings.find(item.at, key)


def _matcher(group: Mapping[str, Any]) -> str:
    matcher = group.get("matcher") or ""
    return matcher if isinstance(matcher, str) else ""
