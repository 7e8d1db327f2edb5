"""Anthropic Messages: content is a text or blocks; results come first in the next user message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    text_part,
)

NAME = "anthropic"
BESIDE = FIRST = True
HOLDER = "content"
FIELDS: tuple[str, ...] = ("role", "content")
OMITTED: tuple[str, ...] = ()

THINKING = ("thinking", "redacted_thinking")
OTHERS = (
    *("image_url", "input_", "output_", "file", "refusal", "video_url", "reasoning", "tool_call"),
)
"""Beginnings of the types of parts that are OpenAI's or LangChain's."""


def is_own(message: Message) -> bool:
    content = message.get("content")
    if message.get("role") not in ("user", "assistant") or not isinstance(content, str | list):
        return False
    if message.get("tool_calls") or message.get("type") not in (None, "message"):
        return False
    if isinstance(content, str):
        return True
    kinds = [block.get("type") if isinstance(block, dict) else None for block in content]
    return all(isinstance(kind, str) and not kind.startswith(OTHERS) for kind in kinds)


def role(message: Message) -> Role:
    return "model" if message["role"] == "assistant" else "user"


def parts(message: Message) -> list[Part]:
    content = message["content"]
    if isinstance(content, str):
        return [_text(("content",), content, message)]
    return [_part(("content", number), block, message) for number, block in enumerate(content)]


def _part(place: Place, block: Any, message: Message) -> Part:
    kind = block.get("type")
    if kind == "text":
        return _text(place, block.get("text", ""), message)
    if kind == "tool_use":
        return call_part(place, block.get("id"), block.get("name"), block.get("input"))
    if kind == "tool_result":
        text, pictures = content_text(block.get("content"))
        error = bool(block.get("is_error"))
        return Part(place, "result", text, block.get("tool_use_id"), error=error, pictures=pictures)
    if kind in THINKING:
        text = block.get("thinking") or block.get("data", "")
        return Part(place, "thinking", text, fixed=True, loose=True)
    return content_part(place, block, role(message))


def _text(place: Place, text: str, message: Message) -> Part:
    is_summary = message.get("isSummary") or message.get("isCompactSummary")
    if is_summary and role(message) == "user":
        return Part(place, "summary", text, fixed=True)
    return text_part(place, text, role(message))


def with_text(message: Message, part: Part, text: str) -> Message:
    if part.kind == "call":
        return put_arguments(message, (*part.place, "input"), part, text)
    if part.kind == "result":
        return changed(message, (*part.place, "content"), text)
    if part.place == ("content",):
        return changed(message, part.place, text)
    block = message["content"][part.place[1]]
    marks = {"cache_control": block["cache_control"]} if "cache_control" in block else {}
    return changed(message, part.place, {"type": "text", "text": text, **marks})


def with_id(message: Message, part: Part, call: str) -> Message:
    key = "id" if part.kind == "call" else "tool_use_id"
    return changed(message, (*part.place, key), call)


def without_empty(message: Message) -> Message | None:
    content = message.get("content") or []
    return None if all(_is_thinking(block) for block in content) else message


def _is_thinking(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in THINKING


def make_result(_message: Message, part: Part, text: str) -> Any:
    return {"type": "tool_result", "tool_use_id": part.call, "content": text, "is_error": True}


def user_message(text: str, _like: Message) -> Message:
    return {"role": "user", "content": text}


def with_tail(message: Message, text: str) -> list[Message]:
    return [{**message, "content": [*_blocks(message), {"type": "text", "text": text}]}]


def _blocks(message: Message) -> Sequence[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def find_faults(message: Message) -> list[tuple[str, str]]:
    blocks = _blocks(message)
    found = [] if blocks else [("I9", "it has no content")]
    if blocks and _is_thinking(blocks[-1]) and role(message) == "model":
        found.append(("I5", "it ends with thinking"))
    return found + [fault for block in blocks for fault in _faults_of(block)]


def _faults_of(block: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    kind = block.get("type")
    if kind == "text" and not str(block.get("text") or "").strip():
        found.append(("I9", "a text in it is blank"))
    if kind == "thinking" and not block.get("signature"):
        found.append(("I5", "its thinking has no signature"))
    if kind in THINKING and "cache_control" in block:
        found.append(("I12", "its thinking is marked for the cache"))
    return found


def without_faults(message: Message) -> Message | None:
    content = message["content"]
    if isinstance(content, str):
        return message if content.strip() else None
    blocks = (
        {key: value for key, value in block.items() if key != "cache_control"}
        if _is_thinking(block)
        else block
        for block in content
    )
    kept = [block for block in blocks if not _faults_of(block)]
    while kept and _is_thinking(kept[-1]) and role(message) == "model":
        kept.pop()
    return {**message, "content": kept} if kept else None
