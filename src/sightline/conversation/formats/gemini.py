"""Gemini contents: parts; as many functionResponses as functionCalls, in a content of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.conversation.formats.authorship import KINDS, author
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

NAME = "gemini"
BESIDE = FIRST = True
ALONE = False

CALLS = ("functionCall", "function_call")
RESPONSES = ("functionResponse", "function_response")
MEDIA = ("inlineData", "inline_data", "fileData", "file_data")
SIGNED = ("thoughtSignature", "thought_signature")


def owns(message: Message) -> bool:
    held = message.get("parts")
    if "kind" in message or message.get("role", "user") not in ("user", "model", "function"):
        return False
    return isinstance(held, list) and all(isinstance(each, dict) for each in held)


def role(message: Message) -> Role:
    if message.get("role") == "model":
        return "model"
    held = message["parts"]
    return "tool" if held and all(key(each, RESPONSES) for each in held) else "user"


def key(part: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The one of these names that a part has."""
    return next((name for name in names if name in part), None)


def parts(message: Message) -> list[Part]:
    model = message.get("role") == "model"
    return [_part(at, each, model=model) for at, each in enumerate(message["parts"])]


def _part(number: int, part: Mapping[str, Any], *, model: bool) -> Part:
    place = ("parts", number)
    if call := key(part, CALLS):
        given = part[call].get("args")
        fixed = key(part, SIGNED) is not None or not foldable(given)
        ids = part[call].get("id"), part[call].get("name")
        return Part(place, "call", text_of(given or {}), *ids, given, fixed=fixed)
    if answer := key(part, RESPONSES):
        return _result(place, part[answer])
    if part.get("thought"):
        loose = key(part, SIGNED) is None
        return Part(place, "thinking", part.get("text") or "", fixed=True, loose=loose)
    if key(part, MEDIA):
        return Part(place, "image", "", pictures=1, fixed=model)
    if "text" not in part:
        return Part(place, "unknown", text_of(part), fixed=True)
    text = part["text"] or ""
    if model:
        return Part(place, "text", text, fixed=key(part, SIGNED) is not None)
    return Part(place, KINDS[author(text)], text, fixed=True)


def _result(place: tuple[str, int], answer: Mapping[str, Any]) -> Part:
    told = answer.get("response")
    known = told if isinstance(told, dict) else {}
    error = bool(known.get("error"))
    text = known.get("error") if error else known.get("output", known.get("content", told))
    said = "" if text is None else text_of(text)
    return Part(place, "result", said, answer.get("id"), answer.get("name"), error=error)


def put(message: Message, part: Part, text: str) -> Message:
    held = at(message, part.place)
    if part.kind == "call":
        place = (*part.place, key(held, CALLS) or "", "args")
        return changed(message, place, stubbed(part.given, text))
    if part.kind == "result":
        place = (*part.place, key(held, RESPONSES) or "", "response")
        return changed(message, place, {"error" if part.error else "output": text})
    return changed(message, part.place, {"text": text})


def named(message: Message, part: Part, call: str) -> Message:
    held = at(message, part.place)
    place = (*part.place, key(held, CALLS + RESPONSES) or "", "id")
    inner = {**at(message, place[:-1]), "id": call}
    return changed(message, place[:-1], inner)


def left(message: Message) -> Message | None:
    held = message["parts"]
    return None if all(each.get("thought") for each in held) else message


def result(_message: Message, part: Part, text: str) -> Any:
    told = {"name": part.tool, "response": {"error": text}}
    return {"functionResponse": {"id": part.call, **told} if part.call is not None else told}


def answering(raw: Sequence[Any]) -> Message:
    return {"role": "user", "parts": list(raw)}


def user(text: str) -> Message:
    return {"role": "user", "parts": [{"text": text}]}


def tailed(message: Message | None, text: str) -> list[Message]:
    if message is None or role(message) == "tool":
        return [user(text)] if message is None else [message, user(text)]
    return [{**message, "parts": [*message["parts"], {"text": text}]}]


def faults(message: Message) -> list[tuple[str, str]]:
    held = message["parts"]
    if not held:
        return [("I9", "it has no parts")]
    if any(key(each, RESPONSES) for each in held) and role(message) != "tool":
        return [("I3", "results and other parts stand in one content")]
    return []


def tidied(message: Message) -> Message | None:
    return message if message["parts"] else None


def merged(first: Message, second: Message) -> Message:
    """Two contents of the model's as one: a call may not follow another of its contents."""
    return {**first, "parts": [*first["parts"], *second["parts"]]}
