"""What only holds for one format and can only be seen across messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from sightline.conversation.formats import anthropic, gemini
from sightline.conversation.formats.parts import Adapter, Message, removed

Fault = tuple[str, int, str]
Place = tuple[str | int, ...]

MARKS_MAX = 4
BEGINNING = "(The beginning of this conversation is missing.)"
USER_FIRST = ("anthropic", "gemini", "pydantic-ai")


def faults(adapter: Adapter, messages: Sequence[Message]) -> Iterator[Fault]:
    """Which invariant, at which message, and why."""
    first = next((n for n, each in enumerate(messages) if adapter.role(each) != "system"), None)
    if first is not None and _headless(adapter, messages[first]):
        yield "I9", first, "the first message is the model's, not the user's"
    find = _FAULTS.get(adapter.NAME)
    if find:
        yield from find(messages)


def mended(adapter: Adapter, messages: Sequence[Message]) -> list[Message]:
    """Without those faults."""
    mend = _MENDED.get(adapter.NAME)
    left = mend(messages) if mend else list(messages)
    if left and _headless(adapter, left[0]):
        left = [adapter.user(BEGINNING), *left]
    return left


def merged(adapter: Adapter, first: Message, second: Message) -> Message | None:
    """Two messages of the model's as one, where they may not follow each other."""
    return gemini.merged(first, second) if adapter is gemini else None


def _headless(adapter: Adapter, first: Message) -> bool:
    return adapter.NAME in USER_FIRST and adapter.role(first) == "model"


def _cache_marks(messages: Sequence[Message]) -> list[tuple[int, Place, bool]]:
    """Where cache_control stands, in results too: in which message, where there, and whether for
    an hour."""
    found = []
    for number, message in enumerate(messages):
        for place, block in _blocks(message["content"], ("content",)):
            mark = block.get("cache_control")
            if isinstance(mark, dict):
                found.append((number, place, mark.get("ttl") == "1h"))
    return found


def _blocks(content: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    """The blocks of a content, each behind those that stand in it."""
    for number, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict):
            yield from _blocks(block.get("content"), (*place, number, "content"))
            yield (*place, number), block


def _too_many(messages: Sequence[Message]) -> Iterator[tuple[int, Place, str]]:
    """The marks that have to go: the oldest above four, and one for an hour behind a shorter
    one."""
    marks = _cache_marks(messages)
    for number, place, _ in marks[:-MARKS_MAX]:
        yield number, place, f"there are more than {MARKS_MAX} marks for the cache"
    short = False
    for number, place, hour in marks[-MARKS_MAX:]:
        if hour and short:
            yield number, place, "a mark for an hour stands behind one for five minutes"
        short = short or not hour


def _marked(messages: Sequence[Message]) -> Iterator[Fault]:
    for number, _, why in _too_many(messages):
        yield "I12", number, why


def _unmarked(messages: Sequence[Message]) -> list[Message]:
    left = list(messages)
    for number, place, _ in list(_too_many(messages)):
        left[number] = removed(left[number], [(*place, "cache_control")])
    return left


def _bare_reasoning(messages: Sequence[Message]) -> list[int]:
    """Reasoning without the item of the model's that it led to."""
    found = []
    for number, message in enumerate(messages[:-1]):
        if message.get("type") == "reasoning":
            after = messages[number + 1]
            ours = after.get("role") == "assistant" or after.get("type", "message") in _OURS
            found += [] if ours else [number]
    return found


_OURS = (
    *("function_call", "custom_tool_call", "local_shell_call", "reasoning", "web_search_call"),
    *("shell_call", "apply_patch_call", "computer_call", "mcp_call", "code_interpreter_call"),
    *("file_search_call", "tool_search_call", "image_generation_call"),
)


def _reasoned(messages: Sequence[Message]) -> Iterator[Fault]:
    for number in _bare_reasoning(messages):
        yield "I6", number, "its reasoning lost the item that it led to"


def _unreasoned(messages: Sequence[Message]) -> list[Message]:
    left = list(messages)
    while gone := _bare_reasoning(left):
        left = [each for number, each in enumerate(left) if number not in gone]
    return left


def _pairs(messages: Sequence[Message]) -> Iterator[int]:
    """Contents of the model's with a call that follow another one of its contents."""
    for number, (one, two) in enumerate(pairwise(messages), 1):
        models = one.get("role") == two.get("role") == "model"
        if models and any(gemini.key(each, gemini.CALLS) for each in two["parts"]):
            yield number


def _turned(messages: Sequence[Message]) -> Iterator[Fault]:
    for number in _pairs(messages):
        yield "I7", number, "it calls, and follows another content of the model's"


def _returned(messages: Sequence[Message]) -> list[Message]:
    left: list[Message] = []
    joined = set(_pairs(messages))
    for number, message in enumerate(messages):
        if number in joined:
            left[-1] = gemini.merged(left[-1], message)
        else:
            left.append(message)
    return left


_FAULTS: dict[str, Callable[[Sequence[Message]], Iterator[Fault]]] = {
    anthropic.NAME: _marked,
    "responses": _reasoned,
    gemini.NAME: _turned,
}
_MENDED: dict[str, Callable[[Sequence[Message]], list[Message]]] = {
    anthropic.NAME: _unmarked,
    "responses": _unreasoned,
    gemini.NAME: _returned,
}
