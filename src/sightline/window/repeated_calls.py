"""Find calls that an agent made again and again, with the same arguments and the same answer."""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec import Struct

from sightline.messages.blocks import Block
from sightline.messages.formats.parts import parse_arguments

AT_LEAST = 3
"""Repetitions from which a call is worth a word."""


class RepeatedCall(Struct, frozen=True):
    """A call that was made several times since a file was last changed, and had the same answer each
    time. arguments: their JSON; times: how often; steps: numbers of the answers that made it.

    tool: its name.
    """

    tool: str
    arguments: str
    times: int
    steps: tuple[int, ...]


def repeated_calls(blocks: Iterable[Block], at_least: int = AT_LEAST) -> tuple[RepeatedCall, ...]:
    """Return the calls repeated without a change between them, by the first time. A change of a file
    by the agent, or another answer, begins the count anew."""
    waiting: dict[str | None, tuple[str, str, int]] = {}
    current: dict[tuple[str, str], tuple[str, list[int]]] = {}
    repeated: dict[tuple[str, str], RepeatedCall] = {}
    for block in blocks:
        if block.kind == "call":
            waiting[block.call] = block.tool or "", _canonical(block.text), block.step
        elif block.kind == "result" and block.call in waiting:
            tool, arguments, step = waiting.pop(block.call)
            if block.deed in ("edit", "write") and not block.error:
                current.clear()
                continue
            answer, steps = current.get((tool, arguments), (None, []))
            steps = [*steps, step] if answer == block.text else [step]
            current[tool, arguments] = block.text, steps
            if len(steps) >= at_least:
                repeated[tool, arguments] = RepeatedCall(tool, arguments, len(steps), tuple(steps))
    return tuple(repeated.values())


def _canonical(text: str) -> str:
    """Return arguments with their keys in order."""
    arguments = parse_arguments(text)
    return text if arguments is text else json.dumps(arguments, sort_keys=True, ensure_ascii=False)
