"""A conversation that a product recorded, as messages of a format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from msgspec import Struct

Message = Mapping[str, Any]


class NotOurs(ValueError):
    """A file that another product recorded, or no recording."""


class Unread(Struct, frozen=True):
    """A file without a conversation that can be read. why: the end of a sentence; recognised: the file
    has the form of a product's recordings."""

    path: str
    why: str
    recognised: bool = True


class Conversation(Struct, frozen=True):
    """A recorded conversation.

    format: name as in messages.formats.format; times: of each message, UTC microseconds, None
    where unknown; borders: indexes of the messages before which the context began anew; source: path
    of the recording; agent: the product; session: the product's id of the conversation;
    passed_over: number of damaged rows; folder: absolute, in which every command begins, "" where
    that is unknown; set_aside: messages that the format cannot hold, each with
    the reason; they are not among the messages.
    """

    format: str
    messages: tuple[Message, ...]
    times: tuple[int | None, ...]
    borders: tuple[int, ...]
    source: str
    agent: str
    session: str
    passed_over: int = 0
    folder: str = ""
    set_aside: tuple[str, ...] = ()

    def segments(self) -> Iterator[tuple[tuple[Message, ...], tuple[int | None, ...]]]:
        """Return the messages from border to border, with their times."""
        edges = [0, *self.borders, len(self.messages)]
        for first, after in pairwise(edges):
            if first < after:
                yield self.messages[first:after], self.times[first:after]
