"""Find, add and remove our hooks in Claude Code's settings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from sightline.agents.claude_code.hook_settings import EVENTS, TIMEOUT_S, Hook, is_ours
from sightline.agents.settings_text import Item, Settings

Scope = Literal["user", "project", "local"]

SCOPES: tuple[Scope, ...] = ("user", "project", "local")


class RegisteredHook(Struct, frozen=True):
    """One of our hooks in a settings file."""

    event: str
    matcher: str
    hook: Hook


def settings_file(scope: Scope, root: str, home: str, config_dir: str | None) -> str:
    """Return the path of a scope's settings. config_dir: $CLAUDE_CONFIG_DIR, which moves
    ~/.claude."""
    if scope == "user":
        return os.path.join(config_dir or os.path.join(home, ".claude"), "settings.json")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return os.path.join(root, ".claude", name)


def registered_hooks(text: str) -> list[RegisteredHook]:
    """Return our hooks in a settings file's text. BadSettings."""
    settings = Settings(text)
    return [
        RegisteredHook(event, _matcher(settings.value(group.at)), settings.value(hook.at))
        for event in _events(settings)
        for group, hook in _places(settings, event)
    ]


def up_to_date(text: str, hooks: Mapping[str, Hook]) -> bool:
    """Return whether exactly these hooks of ours are in the text. BadSettings."""
    return registered(text, hooks) == text


def registered(text: str, hooks: Mapping[str, Hook]) -> str:
    """Return the text with these hooks (event -> hook) as the only ones of ours. A person's
    additions to one of them, such as another timeout, stay. BadSettings."""
    settings = Settings(text if text.strip("\ufeff \t\r\n") else "{}\n")
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


def is_empty(text: str) -> bool:
    """Return whether the text sets nothing."""
    settings = Settings(text)
    return not settings.items(settings.top)


def _put(settings: Settings, event: str, hook: Hook) -> None:
    places = list(_places(settings, event))
    if len(places) == 1:
        group, item = places[0]
        old = settings.value(item.at)
        if _matcher(settings.value(group.at)) == EVENTS[event] and old.get("type") == hook["type"]:
            new = {**old, **hook, "timeout": old.get("timeout", TIMEOUT_S)}
            if new != old:
                settings.replace(item, new)
            return
    _cut(settings, event)
    if settings.find(settings.top, "hooks") is None:
        settings.add(settings.top, {}, "hooks")
    top = settings.find(settings.top, "hooks")
    assert top is not None
    _expect(settings, top, "{", "an object of hooks")
    list_ = settings.find(top.at, event)
    if list_ is None:
        settings.add(top.at, [_group(event, hook)], event)
        return
    _expect(settings, list_, "[", f"a list of {event} hooks")
    settings.add(list_.at, _group(event, hook))


def _group(event: str, hook: Hook) -> dict[str, Any]:
    matcher = {"matcher": EVENTS[event]} if EVENTS[event] else {}
    return {**matcher, "hooks": [dict(hook)]}


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
