"""Find and repair the faults of single formats that show only across messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sightline.conversation.formats import anthropic, gemini, responses
from sightline.conversation.formats.parts import Adapter, Message, Place, removed

Fault = tuple[str, int, str]
"""The violated invariant, the index of the message, and the reason."""

MARKS_MAX = 4
"""Cache marks that Anthropic accepts."""

BEGINNING = "(The beginning of this conversation is missing.)"
USER_FIRST = ("anthropic", "gemini", "pydantic-ai")
"""Formats whose first message is the user's."""


def chain_faults(adapter: Adapter, messages: Sequence[Message]) -> Iterator[Fault]:
    """Return the faults across the messages of a conversation."""
    first = next((n for n, each in enumerate(messages) if adapter.role(each) != "system"), None)
    if first is not None and _starts_with_model(adapter, messages[first]):
        yield "I9", first, "the first message is the model's, not the user's"
    if adapter.NAME == anthropic.NAME:
        for number, _, why in _surplus_marks(messages):
            yield "I12", number, why
    elif adapter.NAME == responses.NAME:
        for number in responses.lone_reasoning(messages):
            yield "I6", number, "its reasoning lost the item that it led to"
    elif adapter.NAME == gemini.NAME:
        for number in gemini.repeated_contents(messages):
            yield "I7", number, "it calls, and follows another content of the model's"


def repair_chain(adapter: Adapter, messages: Sequence[Message]) -> list[Message]:
    """Return the messages without these faults."""
    repaired = list(messages)
    if adapter.NAME == anthropic.NAME:
        for number, place, _ in list(_surplus_marks(messages)):
            repaired[number] = removed(repaired[number], [(*place, "cache_control")])
    elif adapter.NAME == responses.NAME:
        while lone := set(responses.lone_reasoning(repaired)):
            repaired = [each for number, each in enumerate(repaired) if number not in lone]
    elif adapter.NAME == gemini.NAME:
        repeated = set(gemini.repeated_contents(messages))
        repaired = []
        for number, message in enumerate(messages):
            if number in repeated:
                repaired[-1] = gemini.merged(repaired[-1], message)
            else:
                repaired.append(message)
    if repaired and _starts_with_model(adapter, repaired[0]):
        return [adapter.user_message(BEGINNING), *repaired]
    return repaired


def _starts_with_model(adapter: Adapter, first: Message) -> bool:
    return adapter.NAME in USER_FIRST and adapter.role(first) == "model"


def _surplus_marks(messages: Sequence[Message]) -> Iterator[tuple[int, Place, str]]:
    """Return the cache marks that have to go: the oldest above four, and a mark for an hour behind a
    shorter one."""
    marks = [
        (number, place, block["cache_control"].get("ttl") == "1h")
        for number, message in enumerate(messages)
        for place, block in _blocks(message["content"], ("content",))
        if isinstance(block.get("cache_control"), dict)
    ]
    for number, place, _ in marks[:-MARKS_MAX]:
        yield number, place, f"there are more than {MARKS_MAX} marks for the cache"
    has_short = False
    for number, place, is_hour in marks[-MARKS_MAX:]:
        if is_hour and has_short:
            yield number, place, "a mark for an hour stands behind one for five minutes"
        has_short = has_short or not is_hour


def _blocks(content: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    """Return the blocks of a content, with blocks nested in results before their result."""
    for number, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict):
            yield from _blocks(block.get("content"), (*place, number, "content"))
            yield (*place, number), block
