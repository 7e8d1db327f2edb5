"""Connect a product whose JSON settings hold hooks in groups: event -> groups with a matcher -> hooks.

    {"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "…", "timeout": 10}]}]}}

Claude Code began with this shape, and many products took it over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from sightline.agents.connection import BLANK, Connection, Place, Program, RegisteredHook, Scope
from sightline.agents.hook_line import ENTRY, program_of
from sightline.agents.settings_text import Item, Settings

Hook = Mapping[str, Any]


class GroupedHook(Struct, frozen=True):
    """One of our hooks, as the file has it, with the matcher of its group."""

    event: str
    matcher: str
    hook: Hook


class GroupedHooks(Connection):
    """A connection by grouped hooks. events: those that are asked for -> the matcher, "" for none."""

    events: Mapping[str, str] = {}

    def hooks(self, scope: Scope, place: Place, program: Program) -> dict[str, Hook]:
        """Return event -> the hook that calls a program."""
        raise NotImplementedError

    def is_ours(self, hook: Hook) -> bool:
        """Return whether a hook is one of ours, of this version or an older one."""
        return names_entry(hook.get("command"))

    def as_registered(self, event: str, hook: Hook) -> RegisteredHook:
        """Return what a hook of ours starts or asks."""
        command = str(hook.get("command"))
        return RegisteredHook(event, ("/bin/sh", "-c", command), program_of(command))

    def hooks_in(self, text: str) -> list[RegisteredHook]:
        """See Connection."""
        return [self.as_registered(each.event, each.hook) for each in self.grouped(text)]

    def with_hooks(self, text: str, scope: Scope, place: Place, program: Program) -> str:
        """See Connection."""
        return self.put(text, self.hooks(scope, place, program))

    def is_empty(self, text: str) -> bool:
        """See Connection."""
        settings = Settings(text)
        return not settings.items(settings.top)

    def grouped(self, text: str) -> list[GroupedHook]:
        """Return our hooks in a file's text. BadSettings."""
        settings = Settings(text)
        return [
            GroupedHook(event, _matcher(settings.value(group.at)), settings.value(hook.at))
            for event in self._events(settings)
            for group, hook in self._places(settings, event)
        ]

    def put(self, text: str, hooks: Mapping[str, Hook]) -> str:
        """Return the text with these hooks (event -> hook) as the only ones of ours. A person's
        additions to one of them, such as another timeout, stay. BadSettings."""
        settings = Settings(text if text.strip(BLANK) else "{}\n")
        for event in [event for event in self._events(settings) if event not in hooks]:
            self._cut(settings, event)
        for event, hook in hooks.items():
            self._put(settings, event, hook)
        return settings.text

    def without_hooks(self, text: str) -> str:
        """See Connection."""
        settings = Settings(text)
        for event in self._events(settings):
            self._cut(settings, event)
        return settings.text

    def _put(self, settings: Settings, event: str, hook: Hook) -> None:
        places = list(self._places(settings, event))
        matcher = self.events[event]
        if len(places) == 1:
            group, item = places[0]
            old = settings.value(item.at)
            if _matcher(settings.value(group.at)) == matcher and old.get("type") == hook["type"]:
                kept = {
                    key: value for key, value in old.items() if key != "args"
                }  # of an older version
                new = {**kept, **hook}
                if "timeout" in hook:
                    new["timeout"] = old.get("timeout", hook["timeout"])
                if new != old:
                    settings.replace(item, new)
                return
        self._cut(settings, event)
        if settings.find(settings.top, "hooks") is None:
            settings.add(settings.top, {}, "hooks")
        top = settings.find(settings.top, "hooks")
        assert top is not None
        _expect(settings, top, "{", "an object of hooks")
        new_group = {**({"matcher": matcher} if matcher else {}), "hooks": [dict(hook)]}
        list_ = settings.find(top.at, event)
        if list_ is None:
            settings.add(top.at, [new_group], event)
            return
        _expect(settings, list_, "[", f"a list of {event} hooks")
        settings.add(list_.at, new_group)

    def _cut(self, settings: Settings, event: str) -> None:
        """Remove our hooks of an event, and the containers that are empty without them."""
        while place := next(self._places(settings, event), None):
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

    def _events(self, settings: Settings) -> list[str]:
        """Return the events that have a hook of ours."""
        top = settings.find(settings.top, "hooks")
        if top is None or settings.text[top.at] != "{":
            return []
        events = dict.fromkeys(item.key for item in settings.items(top.at) if item.key)
        return [event for event in events if next(self._places(settings, event), None)]

    def _places(self, settings: Settings, event: str) -> Iterator[tuple[Item, Item]]:
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
                if isinstance(value, dict) and self.is_ours(value):
                    yield group, hook


def names_entry(*words: object) -> bool:
    """Return whether one of the words of a command names the script of our hooks."""
    paths = [word.replace("\\", "/") for word in words if isinstance(word, str)]
    return any("sightline/" in path and f"/{ENTRY}" in path for path in paths)


def _expect(settings: Settings, item: Item, sign: str, what: str) -> None:
    if settings.text[item.at] != sign:
        raise settings.wrong(item.at, f"{what} has to stand here")


def _inside(settings: Settings, item: Item | None, sign: str, key: str) -> Item | None:
    if item is None or settings.text[item.at] != sign:
        return None
    return settings.find(item.at, key)


def _matcher(group: Mapping[str, Any]) -> str:
    matcher = group.get("matcher") or ""
    return matcher if isinstance(matcher, str) else ""
