"""Formats: the messages of every provider and framework as blocks, and decisions back into them.

A format is an adapter (parts.Adapter: a module that says of one message which parts it has, and puts
texts in their place) and all that is the same for every adapter. Messages are mappings as JSON has
them; they are never changed in place, and what is not known in them passes through.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from sightline.conversation.formats import (
    anthropic,
    chat,
    gemini,
    langchain,
    pydantic_ai,
    responses,
)
from sightline.conversation.formats.parse_blocks import Known
from sightline.conversation.formats.parts import Adapter, Message, is_of, shape
from sightline.conversation.formats.problems import Problem, problems
from sightline.conversation.formats.projection import project, replaced, with_tail
from sightline.conversation.formats.removal import groups
from sightline.conversation.formats.repair import repaired
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

NAMES = ("anthropic", "chat", "responses", "gemini", "litellm", "langchain", "pydantic-ai")

ORDER = ("chat", "anthropic", "responses", "gemini", "langchain", "pydantic-ai")
"""In which formats are tried: plain text between a user and an assistant is of several."""


class Format(Struct, frozen=True):
    """A format by its name. What reads it is loaded when it is first used."""

    name: str

    @property
    def adapter(self) -> Adapter:
        """What this format alone knows."""
        return ADAPTERS[self.name]

    def blocks(
        self,
        messages: Sequence[Message],
        count: Callable[[str], int],
        start: int = 0,
        known: Known | None = None,
    ) -> list[Block]:
        """The blocks of messages, in the order in which they are written down: of those from index
        `start` on. count: tokens of a text. known: of the messages before, as a call up to there
        left it; it goes on with it, so that appending costs what is appended."""
        from sightline.conversation.formats.parse_blocks import blocks

        return blocks(self.adapter, messages, count, start, known)

    def known(self) -> Known:
        """What is known before the first message."""
        return Known()

    def project(
        self, messages: Sequence[Message], blocks: Sequence[Block], decisions: Iterable[Decision]
    ) -> list[Message]:
        """The view of messages: with all decisions carried out. ValueError where one of them
        cannot be."""
        return project(self.adapter, messages, blocks, decisions)

    def replaced(self, message: Message, parts: Mapping[int, str]) -> Message:
        """A copy of a message in which parts, by their numbers, say something else."""
        return replaced(self.adapter, message, parts)

    def without(
        self, messages: Sequence[Message], parts: Collection[tuple[int, int]]
    ) -> list[Message]:
        """The messages without these parts, each by its message and its number in it. ValueError
        where they are no closed groups."""
        blocks = self.blocks(messages, len)
        places = {(block.message, block.part): at for at, block in enumerate(blocks)}
        gone = tuple(places[message, part] for message, part in parts)
        return self.project(messages, blocks, [Decision(dropped=gone)])

    def groups(self, messages: Sequence[Message], blocks: Sequence[Block]) -> list[tuple[int, ...]]:
        """The blocks that may be dropped, in groups that go together."""
        return groups(self.adapter, messages, blocks)

    def with_tail(self, messages: Sequence[Message], after: int, text: str) -> list[Message]:
        """The messages with a text behind one of the user's; of results, behind all that answer
        the same calls. ValueError behind one of the model's."""
        return with_tail(self.adapter, messages, after, text)

    def problems(self, messages: Sequence[Message], *, sending: bool = False) -> list[Problem]:
        """What a provider would refuse. sending: the messages are about to be sent, so that no
        call may wait for its result, and the last one is the user's."""
        return problems(self.adapter, messages, sending=sending)

    def repaired(self, messages: Sequence[Message]) -> list[Message]:
        """Without problems; what is right stays as it is."""
        return repaired(self.adapter, messages)


FORMATS = {name: Format(name) for name in NAMES}


def detect(messages: Sequence[Message]) -> str:
    """The name of the format that all messages have. ValueError where there is none, saying which
    message is of no format, or of another one than those before it."""
    if not messages:
        raise ValueError("there is no message, so no format can be told: name it")
    left = [FORMATS[name] for name in ORDER]
    for number, message in enumerate(messages):
        own = [each for each in left if _owns(each, message)]
        if not own:
            raise ValueError(_unlike(number, message, left))
        left = own
    if left[0].name == "chat" and any("thinking_blocks" in message for message in messages):
        return "litellm"
    return left[0].name


def _owns(format: Format, message: object) -> bool:
    return is_of(format.adapter, message)


def _unlike(number: int, message: Message, left: Sequence[Format]) -> str:
    others = [name for name in ORDER if _owns(FORMATS[name], message)]
    if number and others:
        before = " or ".join(each.name for each in left)
        return (
            f"message {number} is of format {' or '.join(others)}, those before it of {before}: "
            "one conversation has one format"
        )

    return f"message {number} is of no known format ({', '.join(NAMES)}): {shape(message)}"
