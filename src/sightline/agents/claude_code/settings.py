"""Our hooks in Claude Code's settings: which they are, how they are told, put in and taken out."""

from __future__ import annotations

import os

from sightline.agents.settings_text import Settings
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Literal

    from sightline.agents.settings_text import Item

    Hook = Mapping[str, Any]
    Scope = Literal["user", "project", "local"]

AGENT = "claude-code"
ENTRY = "hook_entry.py"
"""The name of the script that our command hooks run: it tells them from everybody else's."""

URL_PATH = f"/hook/{AGENT}"
"""Where a running `up` answers hooks of the http kind: it tells those."""

TIMEOUT_S = 10
"""When the client stops waiting for a hook; a hook of ours ends itself before that."""

START = "import sys;__file__=sys.argv.pop(1);exec(open(__file__).read())"
"""Runs the script that is named next. Python itself ends with 2 when a script is not there any
more, by which the client means that the call is refused; this ends with 1, and the agent goes on."""

_EDITS = "Edit|Write|MultiEdit|NotebookEdit"

EVENTS = {
    "SessionStart": "",
    "InstructionsLoaded": "",
    "UserPromptSubmit": "",
    "PreToolUse": f"{_EDITS}|Bash",
    "PostToolUse": f"Read|{_EDITS}|Bash|Grep",
    "PostToolUseFailure": f"{_EDITS}|Bash",
    "PostToolBatch": "",
    "FileChanged": "",
    "SubagentStart": "",
    "SubagentStop": "",
    "Stop": "",
    "SessionEnd": "",
}
"""The events that are asked for -> for which tools ("" for all there is)."""

SCOPES: tuple[Scope, ...] = ("user", "project", "local")


class Found(Value):
    """A hook of ours in a settings file."""

    event: str
    matcher: str
    hook: Hook


def settings_file(scope: Scope, root: str, home: str, config_dir: str | None) -> str:
    """Where the settings of a scope are. config_dir: $CLAUDE_CONFIG_DIR, which moves ~/.claude."""
    if scope == "user":
        return os.path.join(config_dir or os.path.join(home, ".claude"), "settings.json")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return os.path.join(root, ".claude", name)


def command_hook(python: str, script: str) -> Hook:
    """A process for every event: no shell in between, and an interpreter that loads no packages."""
    args = ["-I", "-S", "-c", START, script, AGENT]
    return {"type": "command", "command": python, "args": args, "timeout": TIMEOUT_S}


def http_hook(url: str, token: str) -> Hook:
    """No process: a running `up` is asked."""
    headers = {"Authorization": f"Bearer {token}"}
    return {"type": "http", "url": url, "headers": headers, "timeout": TIMEOUT_S}


def wanted(command: Hook, http: Hook | None = None) -> dict[str, Hook]:
    """Event -> its hook. With http the first event stays a command, which needs no `up`."""
    return {event: http if http and event != "SessionStart" else command for event in EVENTS}


def is_ours(hook: Hook) -> bool:
    """Whether a hook was put there by us."""
    if hook.get("type") == "http":
        url = hook.get("url")
        return isinstance(url, str) and url.startswith("http://127.0.0.1:") and URL_PATH in url
    args = hook.get("args")
    words = [hook.get("command"), *(args if isinstance(args, list) else [])]
    paths = [word.replace("\\", "/") for word in words if isinstance(word, str)]
    return any("sightline/" in path and f"/{ENTRY}" in path for path in paths)


def found(text: str) -> list[Found]:
    """Our hooks in a settings file's text. BadSettings."""
    settings = Settings(text)
    return [
        Found(event, _matcher(settings.value(group.at)), settings.value(hook.at))
        for event in _events(settings)
        for group, hook in _places(settings, event)
    ]


def up_to_date(text: str, hooks: Mapping[str, Hook]) -> bool:
    """Whether exactly these hooks of ours are there. BadSettings."""
    return registered(text, hooks) == text


def registered(text: str, hooks: Mapping[str, Hook]) -> str:
    """The text with these hooks (event -> hook) as the only ones of ours. What a person added to
    one of them, such as another timeout, stays. BadSettings."""
    settings = Settings(text if text.strip("\ufeff \t\r\n") else "{}\n")
    for event in [event for event in _events(settings) if event not in hooks]:
        _cut(settings, event)
    for event, hook in hooks.items():
        _put(settings, event, hook)
    return settings.text


def removed(text: str) -> str:
    """The text without our hooks, and without what stood there for them alone. BadSettings."""
    settings = Settings(text)
    for event in _events(settings):
        _cut(settings, event)
    return settings.text


def is_empty(text: str) -> bool:
    """Whether nothing is set in it."""
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
    """Take out our hooks of an event, and what is empty without them."""
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
    """The events that have a hook of ours."""
    top = settings.find(settings.top, "hooks")
    if top is None or settings.text[top.at] != "{":
        return []
    events = dict.fromkeys(item.key for item in settings.items(top.at) if item.key)
    return [event for event in events if next(_places(settings, event), None)]


def _places(settings: Settings, event: str) -> Iterator[tuple[Item, Item]]:
    """Our hooks of an event, each after the group it stands in."""
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
