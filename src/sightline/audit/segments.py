"""Cut recorded conversations into segments of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from sightline.messages.blocks import Block, Decision
from sightline.messages.formats.format import FORMATS, Format
from sightline.recordings.recorded_conversation import Conversation, Message


class Segment(Struct, frozen=True):
    """A part of a conversation between two compactions. mended: its recorded messages break a rule of
    their format and were repaired."""

    format: Format
    messages: tuple[Message, ...]
    times: tuple[int | None, ...]
    blocks: tuple[Block, ...]
    mended: bool

    @property
    def tokens(self) -> int:
        """Tokens of all blocks."""
        return sum(block.tokens for block in self.blocks)

    def problem(self, decisions: Sequence[Decision], added: int) -> str | None:
        """Return what the format does not allow in the view of the first `added` blocks after these
        decisions; None for a valid view, and where the recorded messages are no more valid."""
        upto = self.blocks[added].message if added < len(self.blocks) else len(self.messages)
        messages = self.messages[:upto]
        try:
            view = self.format.project(messages, self.blocks[:added], decisions)
        except ValueError as error:
            return str(error)
        problems = self.format.problems(view, sending=True)
        if not problems or self.format.problems(messages, sending=True):
            return None
        return f"{problems[0].invariant}: {problems[0].why}"


def segments(conversation: Conversation, count: Callable[[str], int]) -> Iterator[Segment]:
    """Yield a conversation's segments. count: tokens of a text."""
    shape = FORMATS[conversation.format]
    for messages, times in conversation.segments():
        mended = bool(shape.problems(messages))
        if mended:
            recorded = {id(message): at for message, at in zip(messages, times, strict=True)}
            messages = tuple(shape.repaired(messages))
            times = tuple(recorded.get(id(message)) for message in messages)
        yield Segment(shape, messages, times, tuple(shape.blocks(messages, count)), mended)
