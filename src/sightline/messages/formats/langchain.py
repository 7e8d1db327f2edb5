"""LangChain messages, dumped: flat, as {"type": "ai", "data": ...}, or as dumps() writes them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sightline.messages.formats.parts import (
    Message,
    Part,
    Place,
    Role,
    call_part,
    changed,
    content_part,
    content_text,
    put_arguments,
    removed,
    text_of,
    text_part,
    value_at,
)

NAME = "langchain"
BESIDE = FIRST = True
HOLDER = ""
FIELDS: tuple[str, ...] = ()
OMITTED: tuple[str, ...] = ()

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
"""Types of content parts that repeat a call of tool_calls."""


def _home(message: Message) -> Place:
    """Return the place of the message's fields."""
    if isinstance(message.get("kwargs"), dict):
        return ("kwargs",)
    return ("data",) if isinstance(message.get("data"), dict) else ()


def _fields(message: Message) -> Any:
    return value_at(message, _home(message))


def _type(message: Message) -> Any:
    return _fields(message).get("type") or message.get("type")


def is_own(message: Message) -> bool:
    kind = _type(message)
    known = isinstance(kind, str) and kind in ROLES and "role" not in message
    return known and isinstance(_fields(message).get("content"), str | list)


def role(message: Message) -> Role:
    return ROLES[_type(message)]


def parts(message: Message) -> list[Part]:
    home, fields, sender = _home(message), _fields(message), role(message)
    content = fields["content"]
    if sender == "tool":
        text, pictures = content_text(content)
        error = fields.get("status") == "error"
        call, tool = fields.get("tool_call_id"), fields.get("name")
        return [Part((), "result", text, call, tool, None, error, pictures=pictures)]
    calls = list(fields.get("tool_calls") or ())
    ids = {call.get("id") for call in calls}
    found: list[Part] = []
    if isinstance(content, list):
        own = ((n, part) for n, part in enumerate(content) if not _repeats(part, ids))
        found = [_content((*home, "content", n), part, sender) for n, part in own]
    elif content or not calls:
        found = [text_part((*home, "content"), content, sender)]
    for number, call in enumerate(calls):
        place = (*home, "tool_calls", number)
        found.append(call_part(place, call.get("id"), call.get("name"), call.get("args")))
    return found


def _repeats(part: Any, ids: Collection[Any]) -> bool:
    """Return whether a part of the content repeats one of the calls with these ids."""
    if not isinstance(part, dict) or part.get("type") not in CALLS:
        return False
    return part.get("id") in ids or part.get("call_id") in ids or not part.get("id")


def _content(place: Place, part: Any, sender: Role) -> Part:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in THINKING:
        loose = kind.endswith("thinking")  # Anthropic's; OpenAI's belongs to its item
        return Part(place, "thinking", content_text([part])[0], fixed=True, loose=loose)
    return content_part(place, part, sender)


def with_text(message: Message, part: Part, text: str) -> Message:
    home = _home(message)
    if part.kind == "result":
        return changed(message, (*home, "content"), text)
    if part.kind == "call":
        message = put_arguments(message, (*part.place, "args"), part, text)
        arguments = value_at(message, part.place)["args"]
        for place in _copies(message):
            copy = value_at(message, place)
            key = "input" if "input" in copy else "args"
            if _repeats(copy, {part.call}) and key in copy:
                message = changed(message, (*place, key), arguments)
            elif "function" in copy and copy.get("id") == part.call:
                message = changed(message, (*place, "function", "arguments"), text_of(arguments))
        return message
    whole = part.place == (*home, "content") or isinstance(value_at(message, part.place), str)
    return changed(message, part.place, text if whole else {"type": "text", "text": text})


def with_id(message: Message, part: Part, call: str) -> Message:
    if part.kind == "result":
        return changed(message, (*_home(message), "tool_call_id"), call)
    copies = [p for p in _copies(message) if value_at(message, p).get("id") == part.call]
    for place in (part.place, *copies):
        message = changed(message, (*place, "id"), call)
    return message


def _copies(message: Message) -> Iterator[Place]:
    """Return the places that repeat calls: in the content, and in the provider's own form."""
    home, fields = _home(message), _fields(message)
    content = fields.get("content")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        if isinstance(part, dict) and part.get("type") in CALLS:
            yield (*home, "content", number)
    raw = (fields.get("additional_kwargs") or {}).get("tool_calls") or ()
    for number in range(len(raw)):
        yield (*home, "additional_kwargs", "tool_calls", number)


def without_empty(message: Message) -> Message | None:
    home = _home(message)
    ids = {call.get("id") for call in _fields(message).get("tool_calls") or ()}
    gone = [p for p in _copies(message) if value_at(message, p).get("id") not in ids]
    message = removed(message, gone)
    fields = _fields(message)
    content = fields.get("content", "")
    if "content" not in fields:
        message = changed(message, home, {**fields, "content": content})
    is_thinking = isinstance(content, list) and all(
        isinstance(part, dict) and part.get("type") in THINKING for part in content
    )
    return message if (content and not is_thinking) or ids else None


def make_result(message: Message, part: Part, text: str) -> Any:
    fields = {"type": "tool", "content": text, "tool_call_id": part.call, "status": "error"}
    return _dumped(fields, "ToolMessage", message)


def user_message(text: str, like: Message) -> Message:
    return _dumped({"type": "human", "content": text}, "HumanMessage", like)


def _dumped(fields: Message, name: str, like: Message) -> Message:
    """Return a message dumped in the way that another is: one reader takes all of a conversation."""
    home = _home(like)
    if home == ("kwargs",):
        own = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name]}
        return {**own, "kwargs": fields}
    return {"type": fields["type"], "data": fields} if home else fields


def with_tail(message: Message, text: str) -> list[Message]:
    if role(message) != "user":
        return [message, user_message(text, message)]
    content = _fields(message)["content"]
    part = {"type": "text", "text": text}
    new = f"{content}\n\n{text}" if isinstance(content, str) else [*content, part]
    return [changed(message, (*_home(message), "content"), new)]


def find_faults(message: Message) -> list[tuple[str, str]]:
    return [] if parts(message) else [("I9", "it has no content")]


def without_faults(message: Message) -> Message | None:
    return message if parts(message) else None
