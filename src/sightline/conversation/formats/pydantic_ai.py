"""Pydantic AI messages, dumped: requests and responses, each with parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.conversation.formats.authorship import KINDS, author
from sightline.conversation.formats.chat import read
from sightline.conversation.formats.parts import (
    Message,
    Part,
    Role,
    at,
    changed,
    foldable,
    stubbed,
    text_of,
)
from sightline.conversation.window.blocks import Kind

NAME = "pydantic-ai"
BESIDE = True
FIRST = ALONE = False

RESULTS = ("tool-return", "retry-prompt")


def owns(message: Message) -> bool:
    held = message.get("parts")
    known = message.get("kind") in ("request", "response") and isinstance(held, list)
    return known and all(isinstance(each, dict) and "part_kind" in each for each in held or ())


def role(message: Message) -> Role:
    if message["kind"] == "response":
        return "model"
    held = message["parts"]
    return "tool" if held and all(map(_is_result, held)) else "user"


def _is_result(part: Mapping[str, Any]) -> bool:
    """A retry-prompt without a tool asks for another answer in words."""
    return part["part_kind"] in RESULTS and part.get("tool_name") is not None


def parts(message: Message) -> list[Part]:
    return [
        each
        for number, part in enumerate(message["parts"])
        for each in _parts(("parts", number), part)
    ]


def _parts(place: tuple[str, int], part: Mapping[str, Any]) -> list[Part]:
    kind = part["part_kind"]
    content = part.get("content")
    if kind == "user-prompt" and isinstance(content, list):
        return [_prompted((*place, "content", n), each) for n, each in enumerate(content)]
    if kind == "user-prompt":
        return [_prompted((*place, "content"), content)]
    ids = part.get("tool_call_id"), part.get("tool_name")
    if _is_result(part):
        error = kind == "retry-prompt" or part.get("outcome") in ("failed", "denied")
        told = "" if content is None else text_of(content)
        return [Part(place, "result", told, *ids, None, error)]
    if kind == "tool-call":
        given = read(part.get("args"))
        told = text_of(part.get("args") or "")
        return [Part(place, "call", told, *ids, given, fixed=not foldable(given))]
    return [_said(place, kind, content, part)]


def _prompted(place: tuple[str | int, ...], content: Any) -> Part:
    if isinstance(content, str):
        return Part(place, KINDS[author(content)], content, fixed=True)
    kind = content.get("kind") if isinstance(content, dict) else None
    media = str(content.get("media_type", "")) if isinstance(content, dict) else ""
    if kind == "image-url" or media.startswith("image/"):
        return Part(place, "image", "", pictures=1)
    if kind in ("document-url", "binary"):
        return Part(place, "document", "", pictures=1)
    return Part(place, "unknown", text_of(content), fixed=True)


def _said(place: tuple[str, int], kind: str, content: Any, part: Mapping[str, Any]) -> Part:
    if kind == "text":
        return Part(place, "text", text_of(content or ""))
    if kind == "thinking":
        return Part(place, "thinking", text_of(content or part.get("signature") or ""), fixed=True)
    if kind in ("system-prompt", "retry-prompt"):
        return Part(place, "system", text_of(content or ""), fixed=True)
    folded: Kind = "summary" if kind == "compaction" else "unknown"
    return Part(place, folded, text_of(part), fixed=True)


def put(message: Message, part: Part, text: str) -> Message:
    if part.kind == "call":
        given = stubbed(part.given, text)
        spelled = isinstance(at(message, part.place).get("args"), str)
        return changed(message, (*part.place, "args"), text_of(given) if spelled else given)
    if len(part.place) > len(("parts", 0)):  # in a prompt
        return changed(message, part.place, text)
    return changed(message, (*part.place, "content"), text)


def named(message: Message, part: Part, call: str) -> Message:
    return changed(message, (*part.place, "tool_call_id"), call)


def left(message: Message) -> Message | None:
    held = message["parts"]
    return None if all(each["part_kind"] == "thinking" for each in held) else message


def result(_message: Message, part: Part, text: str) -> Any:
    told = {"part_kind": "tool-return", "tool_name": part.tool, "content": text}
    return {**told, "tool_call_id": part.call}


def answering(raw: Sequence[Any]) -> Message:
    return {"kind": "request", "parts": list(raw)}


def user(text: str) -> Message:
    return {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}


def tailed(message: Message | None, text: str) -> list[Message]:
    if message is None:
        return [user(text)]
    part = {"part_kind": "user-prompt", "content": text}
    return [{**message, "parts": [*message["parts"], part]}]


def faults(message: Message) -> list[tuple[str, str]]:
    return [] if message["parts"] else [("I9", "it has no parts")]


def tidied(message: Message) -> Message | None:
    return message if message["parts"] else None
