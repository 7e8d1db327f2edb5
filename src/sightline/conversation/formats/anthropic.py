"""Anthropic Messages: content is a text or blocks; results come first in the next user message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.conversation.formats.authorship import KINDS, author
from sightline.conversation.formats.parts import (
    Message,
    Part,
    Role,
    body,
    changed,
    foldable,
    stubbed,
    text_of,
)

NAME = "anthropic"
BESIDE = FIRST = True
ALONE = False

THINKING = ("thinking", "redacted_thinking")
OTHERS = (
    "image_url",
    "input_",
    "output_",
    "file",
    "refusal",
    "video_url",
    "reasoning",
    "tool_call",
)
"""How the types of parts begin that are OpenAI's or LangChain's."""


def owns(message: Message) -> bool:
    content = message.get("content")
    if message.get("role") not in ("user", "assistant") or not isinstance(content, str | list):
        return False
    if message.get("tool_calls") or message.get("type") not in (None, "message"):
        return False
    return isinstance(content, str) or all(_is_block(each) for each in content)


def _is_block(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and not kind.startswith(OTHERS)


def role(message: Message) -> Role:
    return "model" if message["role"] == "assistant" else "user"


def parts(message: Message) -> list[Part]:
    content = message["content"]
    model = message["role"] == "assistant"
    if isinstance(content, str):
        return [_told(("content",), content, message, model=model)]
    return [_part(at, block, message, model=model) for at, block in enumerate(content)]


def _part(at: int, block: Any, message: Message, *, model: bool) -> Part:
    place = ("content", at)
    kind = block.get("type")
    if kind == "text":
        return _told(place, block.get("text", ""), message, model=model)
    if kind == "tool_use":
        given = block.get("input")
        text = text_of(given)
        tool, fixed = block.get("name"), not foldable(given)
        return Part(place, "call", text, block.get("id"), tool, given, fixed=fixed)
    if kind == "tool_result":
        text, pictures = body(block.get("content"))
        error = bool(block.get("is_error"))
        return Part(place, "result", text, block.get("tool_use_id"), error=error, pictures=pictures)
    if kind in THINKING:
        text = block.get("thinking") or block.get("data", "")
        return Part(place, "thinking", text, fixed=True, loose=True)
    if kind in ("image", "document"):
        text, pictures = body([block])
        return Part(place, kind, text, pictures=pictures, fixed=model)
    return Part(place, "unknown", text_of(block), fixed=True)


def _told(place: tuple[Any, ...], text: str, message: Message, *, model: bool) -> Part:
    if model:
        return Part(place, "text", text)
    summed = message.get("isSummary") or message.get("isCompactSummary")
    whose = "summary" if summed else author(text)
    return Part(place, KINDS[whose], text, fixed=True)


def put(message: Message, part: Part, text: str) -> Message:
    if part.kind == "call":
        place = (*part.place, "input")
        return changed(message, place, stubbed(part.given, text))
    if part.kind == "result":
        return changed(message, (*part.place, "content"), text)
    if part.place == ("content",):
        return changed(message, part.place, text)
    block = message["content"][part.place[1]]
    marked = {"cache_control": block["cache_control"]} if "cache_control" in block else {}
    return changed(message, part.place, {"type": "text", "text": text, **marked})


def named(message: Message, part: Part, call: str) -> Message:
    key = "id" if part.kind == "call" else "tool_use_id"
    return changed(message, (*part.place, key), call)


def left(message: Message) -> Message | None:
    content = message.get("content")
    if not content:
        return None
    only = all(each.get("type") in THINKING for each in content) if content else False
    return None if only and isinstance(content, list) else message


def result(_message: Message, part: Part, text: str) -> Any:
    return {"type": "tool_result", "tool_use_id": part.call, "content": text, "is_error": True}


def answering(raw: Sequence[Any]) -> Message:
    return {"role": "user", "content": list(raw)}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def tailed(message: Message | None, text: str) -> list[Message]:
    if message is None:
        return [user(text)]
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [{**message, "content": [*blocks, {"type": "text", "text": text}]}]


def faults(message: Message) -> list[tuple[str, str]]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    found = [] if blocks else [("I9", "it has no content")]
    if blocks and blocks[-1].get("type") in THINKING and message["role"] == "assistant":
        found.append(("I5", "it ends with thinking"))
    return found + [fault for block in blocks for fault in _block_faults(block)]


def _block_faults(block: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    kind = block.get("type")
    if kind == "text" and not str(block.get("text") or "").strip():
        found.append(("I9", "a text in it is blank"))
    if kind == "thinking" and not block.get("signature"):
        found.append(("I5", "its thinking has no signature"))
    if kind in THINKING and "cache_control" in block:
        found.append(("I12", "its thinking is marked for the cache"))
    return found


def tidied(message: Message) -> Message | None:
    content = message["content"]
    if isinstance(content, str):
        return message if content.strip() else None
    kept = [each for each in map(_unmarked, content) if not _block_faults(each)]
    while kept and kept[-1].get("type") in THINKING and message["role"] == "assistant":
        kept.pop()
    return {**message, "content": kept} if kept else None


def _unmarked(block: Mapping[str, Any]) -> Mapping[str, Any]:
    if block.get("type") not in THINKING or "cache_control" not in block:
        return block
    return {key: value for key, value in block.items() if key != "cache_control"}
