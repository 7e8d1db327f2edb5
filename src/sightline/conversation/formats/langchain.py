"""LangChain messages, dumped: flat, as {"type": "ai", "data": ...}, or as dumps() writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.conversation.formats.authorship import told
from sightline.conversation.formats.parts import (
    PICTURES,
    Message,
    Part,
    Place,
    Role,
    at,
    body,
    changed,
    foldable,
    removed,
    stubbed,
    text_of,
)
from sightline.conversation.window.blocks import Kind

NAME = "langchain"
BESIDE = FIRST = ALONE = True

ROLES: dict[str, Role] = {
    "system": "system",
    "human": "user",
    "ai": "model",
    "tool": "tool",
    "function": "tool",
    "chat": "user",
    "HumanMessageChunk": "user",
    "AIMessageChunk": "model",
}
THINKING = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")
CALLS = ("tool_use", "tool_call", "function_call", "input_json_delta")
"""Parts of a content that say a call again that stands in tool_calls."""


def _home(message: Message) -> Place:
    """Where the fields are."""
    if isinstance(message.get("kwargs"), dict):
        return ("kwargs",)
    return ("data",) if isinstance(message.get("data"), dict) else ()


def _kind(message: Message) -> Any:
    return at(message, _home(message)).get("type") or message.get("type")


def owns(message: Message) -> bool:
    fields = at(message, _home(message))
    known = isinstance(_kind(message), str) and _kind(message) in ROLES
    return known and "role" not in message and isinstance(fields.get("content"), str | list)


def role(message: Message) -> Role:
    return ROLES[_kind(message)]


def parts(message: Message) -> list[Part]:
    home, whose = _home(message), role(message)
    fields = at(message, home)
    content = fields["content"]
    if whose == "tool":
        text, pictures = body(content)
        error = fields.get("status") == "error"
        ids = fields.get("tool_call_id"), fields.get("name")
        return [Part((), "result", text, *ids, None, error, pictures=pictures)]
    calls = list(fields.get("tool_calls") or ())
    found = []
    if isinstance(content, list):
        there = ((n, each) for n, each in enumerate(content) if not _again(each, calls))
        found = [_content((*home, "content", n), each, whose) for n, each in there]
    elif content or not calls:
        found = [told((*home, "content"), content, whose)]
    return found + [_call((*home, "tool_calls", n), each) for n, each in enumerate(calls)]


def _again(part: Any, calls: list[Any]) -> bool:
    """Whether a part of the content stands among the calls, too."""
    if not isinstance(part, dict) or part.get("type") not in CALLS:
        return False
    known = {each.get("id") for each in calls}
    return part.get("id") in known or part.get("call_id") in known or not part.get("id")


def _content(place: Place, part: Any, whose: Role) -> Part:
    if isinstance(part, str):
        return told(place, part, whose)
    kind = part.get("type")
    if kind == "text":
        return told(place, part.get("text") or "", whose)
    if kind in THINKING:
        loose = kind.endswith("thinking")  # Anthropic's; OpenAI's goes with its item
        return Part(place, "thinking", body([part])[0], fixed=True, loose=loose)
    if kind in PICTURES:
        picture: Kind = "image" if "image" in kind else "document"
        return Part(place, picture, "", fixed=whose == "model", pictures=1)
    return Part(place, "unknown", text_of(part), fixed=True)


def _call(place: Place, call: Mapping[str, Any]) -> Part:
    given = call.get("args")
    ids = call.get("id"), call.get("name")
    return Part(place, "call", text_of(given or {}), *ids, given, fixed=not foldable(given))


def put(message: Message, part: Part, text: str) -> Message:
    home = _home(message)
    if part.kind == "result":
        return changed(message, (*home, "content"), text)
    if part.kind == "call":
        given = stubbed(part.given, text)
        message = changed(message, (*part.place, "args"), given)
        return _said_again(message, part.call, given)
    whole = part.place == (*home, "content") or isinstance(at(message, part.place), str)
    return changed(message, part.place, text if whole else {"type": "text", "text": text})


def _said_again(message: Message, call: str | None, given: Any) -> Message:
    """With the same arguments wherever the call stands a second time."""
    home = _home(message)
    fields = at(message, home)
    content = fields.get("content")
    for number, each in enumerate(content if isinstance(content, list) else ()):
        name = "input" if isinstance(each, dict) and "input" in each else "args"
        if _again(each, [{"id": call}]) and name in each:
            message = changed(message, (*home, "content", number, name), given)
    raw = (fields.get("additional_kwargs") or {}).get("tool_calls") or ()
    for number, each in enumerate(raw):
        if each.get("id") == call and "function" in each:
            place = (*home, "additional_kwargs", "tool_calls", number, "function", "arguments")
            message = changed(message, place, text_of(given))
    return message


def named(message: Message, part: Part, call: str) -> Message:
    if part.kind == "result":
        return changed(message, (*_home(message), "tool_call_id"), call)
    doubles = [each for each in _doubles(message) if at(message, each).get("id") == part.call]
    for place in (part.place, *doubles):
        message = changed(message, (*place, "id"), call)
    return message


def _doubles(message: Message) -> list[Place]:
    """Where calls stand a second time."""
    home = _home(message)
    fields = at(message, home)
    content = fields.get("content")
    listed = content if isinstance(content, list) else ()
    places: list[Place] = [
        (*home, "content", n)
        for n, each in enumerate(listed)
        if isinstance(each, dict) and each.get("type") in CALLS
    ]
    extra = fields.get("additional_kwargs") or {}
    raw = extra.get("tool_calls") or ()
    return places + [(*home, "additional_kwargs", "tool_calls", n) for n in range(len(raw))]


def left(message: Message) -> Message | None:
    home = _home(message)
    fields = at(message, home)
    known = {each.get("id") for each in fields.get("tool_calls") or ()}
    gone = [p for p in _doubles(message) if at(message, p).get("id") not in known]
    message = removed(message, gone)
    fields = at(message, home)
    if "content" not in fields:
        message = changed(message, home, {**fields, "content": ""})
        fields = at(message, home)
    content = fields["content"]
    only = isinstance(content, list) and all(_is_thought(each) for each in content)
    return message if (content and not only) or known else None


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in THINKING


def result(_message: Message, part: Part, text: str) -> Any:
    return {"type": "tool", "content": text, "tool_call_id": part.call, "status": "error"}


def answering(raw: Sequence[Any]) -> Message:
    raise NotImplementedError("a result is a message of its own")


def user(text: str) -> Message:
    return {"type": "human", "content": text}


def tailed(message: Message | None, text: str) -> list[Message]:
    if message is None or role(message) != "user":
        return [user(text)] if message is None else [message, user(text)]
    content = at(message, _home(message))["content"]
    new = f"{content}\n\n{text}" if isinstance(content, str) else [*content, _text(text)]
    return [changed(message, (*_home(message), "content"), new)]


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def faults(message: Message) -> list[tuple[str, str]]:
    return [] if parts(message) else [("I9", "it has no content")]


def tidied(message: Message) -> Message | None:
    return message if parts(message) else None
