"""Pydantic AI messages, dumped: requests and responses, each with parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sightline.messages.blocks import Kind
from sightline.messages.formats.parts import (
    Message,
    Part,
    Place,
    Role,
    call_part,
    changed,
    put_arguments,
    text_of,
    text_part,
)

NAME = "pydantic-ai"
BESIDE = FIRST = True
HOLDER = "parts"
FIELDS: tuple[str, ...] = ()
OMITTED: tuple[str, ...] = ()

RESULTS = ("tool-return", "retry-prompt")


def is_own(message: Message) -> bool:
    content = message.get("parts")
    if message.get("kind") not in ("request", "response") or not isinstance(content, list):
        return False
    return all(isinstance(part, dict) and "part_kind" in part for part in content)


def role(message: Message) -> Role:
    if message["kind"] == "response":
        return "model"
    content = message["parts"]
    return "tool" if content and all(map(_is_result, content)) else "user"


def _is_result(part: Mapping[str, Any]) -> bool:
    """Return whether a part is a result. A retry-prompt without a tool asks for another text."""
    return part["part_kind"] in RESULTS and part.get("tool_name") is not None


def parts(message: Message) -> list[Part]:
    found: list[Part] = []
    for number, part in enumerate(message["parts"]):
        place, content = ("parts", number), part.get("content")
        if part["part_kind"] != "user-prompt":
            found.append(_part(place, part))
        elif isinstance(content, list):
            found += [_prompt((*place, "content", n), item) for n, item in enumerate(content)]
        else:
            found.append(_prompt((*place, "content"), content))
    return found


def _part(place: Place, part: Mapping[str, Any]) -> Part:
    kind, content = part["part_kind"], part.get("content")
    ids = part.get("tool_call_id"), part.get("tool_name")
    if _is_result(part):
        error = kind == "retry-prompt" or part.get("outcome") in ("failed", "denied")
        return Part(place, "result", "" if content is None else text_of(content), *ids, None, error)
    if kind == "tool-call":
        return call_part(place, *ids, part.get("args"))
    if kind == "text":
        return Part(place, "text", text_of(content or ""))
    if kind == "thinking":
        return Part(place, "thinking", text_of(content or part.get("signature") or ""), fixed=True)
    if kind in ("system-prompt", "retry-prompt"):
        return Part(place, "system", text_of(content or ""), fixed=True)
    folded: Kind = "summary" if kind == "compaction" else "unknown"
    return Part(place, folded, text_of(part), fixed=True)


def _prompt(place: Place, content: Any) -> Part:
    if isinstance(content, str):
        return text_part(place, content, "user")
    fields = content if isinstance(content, dict) else {}
    kind, media = fields.get("kind"), str(fields.get("media_type", ""))
    if kind == "image-url" or media.startswith("image/"):
        return Part(place, "image", "", pictures=1)
    if kind in ("document-url", "binary"):
        return Part(place, "document", "", pictures=1)
    return Part(place, "unknown", text_of(content), fixed=True)


def with_text(message: Message, part: Part, text: str) -> Message:
    if part.kind == "call":
        return put_arguments(message, (*part.place, "args"), part, text)
    is_prompt = len(part.place) > len(("parts", 0))
    return changed(message, part.place if is_prompt else (*part.place, "content"), text)


def with_id(message: Message, part: Part, call: str) -> Message:
    return changed(message, (*part.place, "tool_call_id"), call)


def without_empty(message: Message) -> Message | None:
    is_thinking = all(part["part_kind"] == "thinking" for part in message["parts"])
    return None if is_thinking else message


def make_result(_message: Message, part: Part, text: str) -> Any:
    fields = {"part_kind": "tool-return", "tool_name": part.tool, "content": text}
    return {**fields, "tool_call_id": part.call}


def user_message(text: str, _like: Message) -> Message:
    return {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}


def with_tail(message: Message, text: str) -> list[Message]:
    part = {"part_kind": "user-prompt", "content": text}
    return [{**message, "parts": [*message["parts"], part]}]


def find_faults(message: Message) -> list[tuple[str, str]]:
    return [] if message["parts"] else [("I9", "it has no parts")]


def without_faults(message: Message) -> Message | None:
    return message if message["parts"] else None
