"""Formats: parse the messages of every provider and framework into blocks, and apply decisions.

A format is an adapter (parts.Adapter) and everything that is the same for all adapters. Messages are
mappings in the JSON of their provider. They are never changed in place, and unknown fields pass
through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from sightline.conversation.formats import (
    anthropic,
    chat,
    gemini,
    langchain,
    pydantic_ai,
    responses,
)
from sightline.conversation.formats.parse_blocks import BlockParser
from sightline.conversation.formats.parts import Adapter, Message, describe_shape, is_of
from sightline.conversation.formats.problems import Problem, find_problems, repair
from sightline.conversation.formats.projection import project
from sightline.conversation.window.blocks import Block, Decision

ADAPTERS: dict[str, Adapter] = {
    "anthropic": anthropic,
    "chat": chat,
    "responses": responses,
    "gemini": gemini,
    "litellm": chat,
    "langchain": langchain,
    "pydantic-ai": pydantic_ai,
}

ORDER = ("chat", "anthropic", "responses", "gemini", "langchain", "pydantic-ai")
"""Order in which formats are tried: several formats fit plain text."""


class Format(Struct, frozen=True):
    """A format, by its name."""

    name: str

    @property
    def adapter(self) -> Adapter:
        """Return the module of the wire format."""
        return ADAPTERS[self.name]

    def parser(self, count: Callable[[str], int]) -> BlockParser:
        """Return a parser for the messages of one conversation. count: tokens of a text."""
        return BlockParser(self.adapter, count)

    def blocks(self, messages: Sequence[Message], count: Callable[[str], int]) -> list[Block]:
        """Parse all messages of a conversation into blocks. count: tokens of a text."""
        parser = self.parser(count)
        return [block for message in messages for block in parser.parse(message)]

    def project(
        self, messages: Sequence[Message], blocks: Sequence[Block], decisions: Iterable[Decision]
    ) -> list[Message]:
        """Return the view of messages: with all decisions applied. ValueError for a decision that
        cannot be applied."""
        return project(self.adapter, messages, blocks, decisions)

    def problems(self, messages: Sequence[Message], *, sending: bool = False) -> list[Problem]:
        """Return why a provider would refuse messages. sending: the messages are
        about to be sent, so no call may wait for its result, and the last message is the user's."""
        return find_problems(self.adapter, messages, sending=sending)

    def repaired(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages without problems. Valid messages stay unchanged."""
        return repair(self.adapter, messages)


FORMATS = {name: Format(name) for name in ADAPTERS}


def detect(messages: Sequence[Message]) -> str:
    """Return the name of the format of all messages. ValueError, naming the first message of no
    format, or of another format than those before it."""
    if not messages:
        raise ValueError("there is no message, so no format can be told: name it")
    names = list(ORDER)
    for number, message in enumerate(messages):
        own = [name for name in names if is_of(ADAPTERS[name], message)]
        if not own:
            before = names if number else ()
            raise ValueError(f"message {number} is {describe_mismatch(message, before)}")
        names = own
    if names[0] == "chat" and any("thinking_blocks" in message for message in messages):
        return "litellm"
    return names[0]


def describe_mismatch(message: object, before: Sequence[str]) -> str:
    """Say why no format fits a message and those before it, as the end of "message 3 is …". before:
    the formats that fit the messages before; none for the first message."""
    others = [n for n in ORDER if n not in before and is_of(ADAPTERS[n], message)]
    if before and others:
        return (
            f"of format {' or '.join(others)}, those before it of {' or '.join(before)}: one"
            " conversation has one format"
        )
    return f"of no known format ({', '.join(ADAPTERS)}): {describe_shape(message)}"
