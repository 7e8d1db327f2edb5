"""OpenAI Chat Completions, and LiteLLM, which adds thinking_blocks: calls beside the text, a message
for each result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import loads
from typing import Any

from sightline.conversation.formats.authorship import told
from sightline.conversation.formats.parts import (
    Message,
    Part,
    Place,
    Role,
    at,
    body,
    changed,
    foldable,
    stubbed,
    text_of,
)

NAME = "chat"
BESIDE = FIRST = ALONE = True

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "model",
    "tool": "tool",
    "function": "tool",
}
OTHERS = (
    *("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "server_tool_use"),
    *("input_text", "input_image", "input_file", "output_text"),
)
"""Types of parts that are Anthropic's, or of Responses."""

THINKING = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
SEALED = "reasoning_details"
"""May hold what a later call has to be proved with."""


def owns(message: Message) -> bool:
    content = message.get("content")
    if message.get("role") not in ROLES or message.get("type") is not None:
        return False
    if "parts" in message:
        return False
    whole = content is None or isinstance(content, str)
    return whole or (isinstance(content, list) and all(map(_is_content, content)))


def _is_content(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return isinstance(kind, str) and kind not in OTHERS


def role(message: Message) -> Role:
    return ROLES[message["role"]]


def parts(message: Message) -> list[Part]:
    whose = ROLES.get(message["role"], "user")
    if whose == "tool":
        return [_result(message)]
    found = [*_thought(message)] if whose == "model" else []
    content = message.get("content")
    if isinstance(content, list):
        found += [_content(("content", at), each, whose) for at, each in enumerate(content)]
    elif content or (content == "" and not found and not message.get("tool_calls")):
        found.append(told(("content",), content, whose))
    return found + _calls(message)


def _thought(message: Message) -> list[Part]:
    known = [key for key in THINKING if message.get(key)]
    return [
        Part((key,), "thinking", text_of(message[key]), fixed=True, loose=key != SEALED)
        for key in known
    ]


def _result(message: Message) -> Part:
    text, pictures = body(message.get("content"))
    call = message.get("tool_call_id", next(iter(message.get("tool_call_ids") or ()), None))
    return Part((), "result", text, call, message.get("name"), pictures=pictures)


def _content(place: Place, part: Any, whose: Role) -> Part:
    kind = part.get("type")
    if kind in ("text", "refusal"):
        return told(place, part.get("text") or part.get("refusal") or "", whose)
    if kind in ("image_url", "file", "document"):
        return Part(place, "image" if kind == "image_url" else "document", "", pictures=1)
    return Part(place, "unknown", text_of(part), fixed=True)


def _calls(message: Message) -> list[Part]:
    found = []
    for number, each in enumerate(message.get("tool_calls") or ()):
        key = "custom" if "custom" in each else "function"
        what = each.get(key) or {}
        place = ("tool_calls", number)
        text = what.get("input" if key == "custom" else "arguments")
        found.append(_call(place, each.get("id"), what.get("name"), text))
    old = message.get("function_call")
    if old:
        found.append(_call(("function_call",), None, old.get("name"), old.get("arguments")))
    return found


def _call(place: Place, call: Any, tool: Any, text: Any) -> Part:
    given = read(text)
    return Part(place, "call", text_of(text or ""), call, tool, given, fixed=not foldable(given))


def read(text: Any) -> Any:
    """Arguments out of their JSON; the text itself where it is none."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return text

    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def put(message: Message, part: Part, text: str) -> Message:
    if part.kind == "result":
        return {**message, "content": text}
    if part.kind != "call":
        new = text if part.place == ("content",) else {"type": "text", "text": text}
        return changed(message, part.place, new)
    place = (*part.place, *_where(message, part))
    given = stubbed(part.given, text)
    return changed(message, place, text_of(given) if isinstance(at(message, place), str) else given)


def _where(message: Message, part: Part) -> Place:
    if part.place == ("function_call",):
        return ("arguments",)
    custom = "custom" in message["tool_calls"][part.place[1]]
    return ("custom", "input") if custom else ("function", "arguments")


def named(message: Message, part: Part, call: str) -> Message:
    if part.kind == "result":
        return {**message, "tool_call_id": call}
    return changed(message, (*part.place, "id"), call)


def left(message: Message) -> Message | None:
    kept = {key: value for key, value in message.items() if key != "tool_calls" or value}
    if "content" not in kept:
        kept["content"] = None
    if kept.get("tool_calls") or kept["content"] or kept.get("function_call"):
        return kept
    return None


def result(_message: Message, part: Part, text: str) -> Any:
    if part.place == ("function_call",):
        return {"role": "function", "name": part.tool, "content": text}
    return {"role": "tool", "tool_call_id": part.call, "content": text}


def answering(raw: Sequence[Any]) -> Message:
    raise NotImplementedError("a result is a message of its own")


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def tailed(message: Message | None, text: str) -> list[Message]:
    if message is None or message["role"] != "user":
        return [user(text)] if message is None else [message, user(text)]
    content = message["content"]
    if isinstance(content, str):
        return [{**message, "content": f"{content}\n\n{text}"}]
    return [{**message, "content": [*(content or ()), {"type": "text", "text": text}]}]


def faults(message: Message) -> list[tuple[str, str]]:
    broken = [each for each in message.get("tool_calls") or () if _is_broken(each)]
    found = [("I11", f"the arguments of {each.get('id')} are not a JSON object") for each in broken]
    return found if parts(message) else [("I9", "it has no content")]


def _is_broken(call: Mapping[str, Any]) -> bool:
    given = (call.get("function") or {}).get("arguments") or {}
    blank = isinstance(given, str) and not given.strip()
    return not blank and not isinstance(read(given), dict)


def tidied(message: Message) -> Message | None:
    if not parts(message):
        return None
    for number, each in enumerate(message.get("tool_calls") or ()):
        if _is_broken(each):
            given = {"unreadable": each["function"]["arguments"]}
            place = ("tool_calls", number, "function", "arguments")
            message = changed(message, place, text_of(given))
    return message
