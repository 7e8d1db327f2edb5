"""A recorded conversation, whatever product recorded it, as messages of a format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from msgspec import Struct

Message = Mapping[str, Any]


class NotOurs(ValueError):
    """A file that another product recorded, or none."""


class Conversation(Struct, frozen=True):
    """format: as conversation.formats.format names it; times: of each message, UTC microseconds, None where it
    is not told; borders: where the context began anew: indices of messages; agent, source: which
    product's, and where it lies; session: the product's id of it; passed_over: damaged rows."""

    format: str
    messages: tuple[Message, ...]
    times: tuple[int | None, ...]
    borders: tuple[int, ...]
    source: str
    agent: str
    session: str
    passed_over: int = 0

    def segments(self) -> Iterator[tuple[tuple[Message, ...], tuple[int | None, ...]]]:
        """The messages from border to border, with their times."""
        edges = [0, *self.borders, len(self.messages)]
        for first, after in pairwise(edges):
            if first < after:
                yield self.messages[first:after], self.times[first:after]
