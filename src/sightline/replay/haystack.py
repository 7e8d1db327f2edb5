"""Where a text stands in a conversation: which blocks literally hold it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from json import loads
from typing import Any

from sightline.conversation.window.blocks import Block

BETWEEN = "\0"
"""Stands between texts, so that nothing is found across two of them."""


class Haystack:
    """The texts of a segment's blocks as one, to be searched in one go."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        texts = [searchable(block) for block in blocks]
        self._text = BETWEEN.join(texts)
        self._starts: list[int] = []
        at = 0
        for text in texts:
            self._starts.append(at)
            at += len(text) + len(BETWEEN)
        self._found: dict[str, tuple[int, ...]] = {}

    def holders(self, needle: str, before: int) -> tuple[int, ...]:
        """The places of the blocks that hold a text, of those before a place; ascending."""
        if needle not in self._found:
            self._found[needle] = tuple(self._holders(needle))
        found = self._found[needle]
        return found[: bisect_left(found, before)]

    def _holders(self, needle: str) -> Iterator[int]:
        at = self._text.find(needle)
        while at >= 0:
            place = bisect_right(self._starts, at) - 1
            yield place
            if place + 1 == len(self._starts):
                return
            at = self._text.find(needle, self._starts[place + 1])


def searchable(block: Block) -> str:
    """All that the model can read in a block: its text, the arguments of a call as they are
    without JSON around them, and what it shows of files without the numbers of lines."""
    texts = [block.text]
    if block.kind == "call":
        texts += strings(arguments(block))
    texts += [each.text for each in block.excerpts]
    for each in block.rewrites:
        texts += [each.old or "", each.new]
    return BETWEEN.join(dict.fromkeys(texts))


def arguments(block: Block) -> Any:
    """What a call was given; its text where that is no JSON."""
    try:
        return loads(block.text)
    except (ValueError, RecursionError):
        return block.text


def strings(value: Any) -> Iterator[str]:
    """All texts in a JSON value, those in lists and objects too; not the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
