"""Gemini contents: parts; as many functionResponses as functionCalls, in a content of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

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
    value_at,
)

NAME = "gemini"
BESIDE = FIRST = True
HOLDER = "parts"
FIELDS: tuple[str, ...] = ("role", "parts")
OMITTED: tuple[str, ...] = ()

CALLS = ("functionCall", "function_call")
RESPONSES = ("functionResponse", "function_response")
MEDIA = ("inlineData", "inline_data", "fileData", "file_data")
SIGNATURES = ("thoughtSignature", "thought_signature")


def is_own(message: Message) -> bool:
    content = message.get("parts")
    if "kind" in message or message.get("role", "user") not in ("user", "model", "function"):
        return False
    if not isinstance(content, list):
        return False
    # a part of another host's message has a type
    return all(isinstance(part, dict) and "type" not in part for part in content)


def role(message: Message) -> Role:
    if message.get("role") == "model":
        return "model"
    content = message["parts"]
    return "tool" if content and all(_key(part, RESPONSES) for part in content) else "user"


def _key(part: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of these names that a part has."""
    return next((name for name in names if name in part), None)


def parts(message: Message) -> list[Part]:
    content = enumerate(message["parts"])
    return [_part(("parts", number), part, message.get("role")) for number, part in content]


def _part(place: Place, part: Mapping[str, Any], sender: Any) -> Part:
    is_signed = _key(part, SIGNATURES) is not None
    if call := _key(part, CALLS):
        ids = part[call].get("id"), part[call].get("name")
        return call_part(place, *ids, part[call].get("args"), fixed=is_signed)
    if key := _key(part, RESPONSES):
        answer = part[key]
        response = answer.get("response")
        fields = response if isinstance(response, dict) else {}
        output = fields.get("error") or fields.get("output", fields.get("content", response))
        text = "" if output is None else text_of(output)
        ids = answer.get("id"), answer.get("name")
        return Part(place, "result", text, *ids, error=bool(fields.get("error")))
    if part.get("thought"):
        return Part(place, "thinking", part.get("text") or "", fixed=True, loose=not is_signed)
    if _key(part, MEDIA):
        return Part(place, "image", "", pictures=1, fixed=sender == "model")
    if "text" not in part:
        return Part(place, "unknown", text_of(part), fixed=True)
    text = part["text"] or ""
    if sender == "model":
        return Part(place, "text", text, fixed=is_signed)
    return text_part(place, text, "user")


def with_text(message: Message, part: Part, text: str) -> Message:
    raw = value_at(message, part.place)
    if part.kind == "call":
        return put_arguments(message, (*part.place, _key(raw, CALLS) or "", "args"), part, text)
    if part.kind == "result":
        place = (*part.place, _key(raw, RESPONSES) or "", "response")
        return changed(message, place, {"error" if part.error else "output": text})
    return changed(message, part.place, {"text": text})


def with_id(message: Message, part: Part, call: str) -> Message:
    key = _key(value_at(message, part.place), CALLS + RESPONSES) or ""
    place = (*part.place, key)
    return changed(message, place, {**value_at(message, place), "id": call})


def without_empty(message: Message) -> Message | None:
    return None if all(part.get("thought") for part in message["parts"]) else message


def make_result(_message: Message, part: Part, text: str) -> Any:
    response = {"name": part.tool, "response": {"error": text}}
    return {"functionResponse": response if part.call is None else {"id": part.call, **response}}


def user_message(text: str, _like: Message) -> Message:
    return {"role": "user", "parts": [{"text": text}]}


def with_tail(message: Message, text: str) -> list[Message]:
    if role(message) == "tool":
        return [message, user_message(text, message)]
    return [{**message, "parts": [*message["parts"], {"text": text}]}]


def find_faults(message: Message) -> list[tuple[str, str]]:
    content = message["parts"]
    if not content:
        return [("I9", "it has no parts")]
    if any(_key(part, RESPONSES) for part in content) and role(message) != "tool":
        return [("I3", "results and other parts stand in one content")]
    return []


def without_faults(message: Message) -> Message | None:
    return message if message["parts"] else None


def repeated_contents(messages: Sequence[Message]) -> Iterator[int]:
    """Return the indexes of contents that belong into the model's content before, as one of both calls:
    the results follow directly, and a call follows the user."""
    numbered = enumerate(messages)
    for role, run in groupby(numbered, key=lambda each: each[1].get("role")):
        contents = list(run)
        if role == "model" and any(_key(p, CALLS) for _, each in contents for p in each["parts"]):
            yield from (number for number, _ in contents[1:])


def merged(first: Message, second: Message) -> Message:
    """Join two contents of the model."""
    return {**first, "parts": [*first["parts"], *second["parts"]]}
