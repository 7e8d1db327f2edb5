"""OpenAI Chat Completions, and LiteLLM, which adds thinking_blocks: calls stand beside the text, and
each result is a message."""

from __future__ import annotations

from typing import Any

from sightline.messages.formats.parts import (
    OPENAI_ROLES,
    Message,
    Part,
    Role,
    are_broken,
    call_part,
    changed,
    content_part,
    content_text,
    put_arguments,
    text_of,
    text_part,
)

NAME = "chat"
BESIDE = FIRST = True
HOLDER = ""
FIELDS: tuple[str, ...] = ()
OMITTED: tuple[str, ...] = (
    *("tool_calls", "function_call", "refusal", "audio", "annotations", "name"),
    *("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"),
    "provider_specific_fields",
)

ROLES: dict[str, Role] = {**OPENAI_ROLES, "tool": "tool", "function": "tool"}
OTHERS = (
    *("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "server_tool_use"),
    *("input_text", "input_image", "input_file", "output_text"),
)
"""Types of parts that belong to Anthropic, or to Responses."""

THINKING = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
SEALED = "reasoning_details"
"""Field that may hold signatures which later calls need."""


def is_own(message: Message) -> bool:
    content = message.get("content")
    if message.get("role") not in ROLES or message.get("type") is not None:
        return False
    if "parts" in message:
        return False
    if not isinstance(content, list):
        return content is None or isinstance(content, str)
    kinds = [part.get("type") if isinstance(part, dict) else None for part in content]
    return all(isinstance(kind, str) and kind not in OTHERS for kind in kinds)


def role(message: Message) -> Role:
    return ROLES[message["role"]]


def parts(message: Message) -> list[Part]:
    sender = ROLES.get(message["role"], "user")
    content, calls = message.get("content"), message.get("tool_calls") or ()
    if sender == "tool":
        text, pictures = content_text(content)
        call = message.get("tool_call_id", next(iter(message.get("tool_call_ids") or ()), None))
        error = message.get("is_error") is True  # a recording's own word, which is not sent
        name = message.get("name")
        return [Part((), "result", text, call, name, error=error, pictures=pictures)]
    thinking = [key for key in THINKING if message.get(key)] if sender == "model" else []
    found = [
        Part((key,), "thinking", text_of(message[key]), fixed=True, loose=key != SEALED)
        for key in thinking
    ]
    if isinstance(content, list):
        found += [content_part(("content", n), part, sender) for n, part in enumerate(content)]
    elif content or (content == "" and not found and not calls):
        found.append(text_part(("content",), content, sender))
    for number, call in enumerate(calls):
        key, given = _arguments_place(call)
        function = call.get(key) or {}
        place = ("tool_calls", number)
        found.append(call_part(place, call.get("id"), function.get("name"), function.get(given)))
    old = message.get("function_call")
    if old:
        found.append(call_part(("function_call",), None, old.get("name"), old.get("arguments")))
    return found


def _arguments_place(call: Message) -> tuple[str, str]:
    return ("custom", "input") if "custom" in call else ("function", "arguments")


def with_text(message: Message, part: Part, text: str) -> Message:
    if part.kind == "result":
        return {**message, "content": text}
    if part.kind != "call":
        new = text if part.place == ("content",) else {"type": "text", "text": text}
        return changed(message, part.place, new)
    if part.place == ("function_call",):
        return put_arguments(message, ("function_call", "arguments"), part, text)
    call = message["tool_calls"][part.place[1]]
    return put_arguments(message, (*part.place, *_arguments_place(call)), part, text)


def with_id(message: Message, part: Part, call: str) -> Message:
    if part.kind == "result":
        return {**message, "tool_call_id": call}
    return changed(message, (*part.place, "id"), call)


def without_empty(message: Message) -> Message | None:
    kept = {key: value for key, value in message.items() if key != "tool_calls" or value}
    kept.setdefault("content", None)
    if kept.get("tool_calls") or kept["content"] or kept.get("function_call"):
        return kept
    return None


def make_result(_message: Message, part: Part, text: str) -> Any:
    if part.place == ("function_call",):
        return {"role": "function", "name": part.tool, "content": text}
    return {"role": "tool", "tool_call_id": part.call, "content": text}


def user_message(text: str, _like: Message) -> Message:
    return {"role": "user", "content": text}


def with_tail(message: Message, text: str) -> list[Message]:
    if message["role"] != "user":
        return [message, user_message(text, message)]
    content = message["content"]
    if isinstance(content, str):
        return [{**message, "content": f"{content}\n\n{text}"}]
    return [{**message, "content": [*(content or ()), {"type": "text", "text": text}]}]


def _broken_calls(message: Message) -> list[tuple[int, Any]]:
    calls = enumerate(message.get("tool_calls") or ())
    return [(n, c) for n, c in calls if are_broken((c.get("function") or {}).get("arguments"))]


def _is_silent(message: Message) -> bool:
    """Return whether nothing stands beside the thoughts: providers ask for a content then, if an empty one."""
    beside = ("content", "tool_calls", "function_call")
    return not any(message.get(key) or message.get(key) == "" for key in beside)


def find_faults(message: Message) -> list[tuple[str, str]]:
    if not parts(message):
        return [("I9", "it has no content")]
    empty = []
    if message.get("content") == []:
        empty = [("I9", "its content is an empty list")]
    elif _is_silent(message):
        empty = [("I9", "its content is null, and it calls nothing")]
    broken = _broken_calls(message)
    return empty + [
        ("I11", f"the arguments of {c.get('id')} are not a JSON object") for _, c in broken
    ]


def without_faults(message: Message) -> Message | None:
    if not parts(message):
        return None
    if message.get("content") == []:
        message = {**message, "content": "" if role(message) == "tool" else None}
    if _is_silent(message):
        message = {**message, "content": ""}
    for number, call in _broken_calls(message):
        given = {"unreadable": call["function"]["arguments"]}
        place = ("tool_calls", number, "function", "arguments")
        message = changed(message, place, text_of(given))
    return message
