"""Recordings as segments of blocks, ready to be played."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from sightline.conversation.formats.format import FORMATS, Format
from sightline.conversation.formats.parts import parts_of
from sightline.conversation.recorded_conversation import Conversation, Message, NotOurs
from sightline.conversation.window.blocks import Block, Decision
from sightline.replay.played import Reader, Unread


class Segment(Struct, frozen=True):
    """A part of a conversation between two compactions. mended: its messages as they were recorded
    break a rule of their format, so they were mended before it is played."""

    format: Format
    messages: tuple[Message, ...]
    times: tuple[int | None, ...]
    blocks: tuple[Block, ...]
    mended: bool

    @property
    def tokens(self) -> int:
        """Of all its blocks."""
        return sum(block.tokens for block in self.blocks)

    def wrong(self, decisions: Sequence[Decision], came: int) -> str | None:
        """What its format does not allow in the view after these decisions."""
        upto = self.blocks[came].message if came < len(self.blocks) else len(self.messages)
        try:
            view = self.format.project(self.messages[:upto], self.blocks[:came], decisions)
        except ValueError as error:
            return str(error)
        found = self.format.problems(view, sending=True)
        return f"{found[0].invariant}: {found[0].why}" if found else None


def read(readers: Mapping[str, Reader], path: str) -> Conversation | Unread:
    """The conversation in a file, by the first reader that knows it. A file that one of them knows
    and cannot play is not shown to the others."""
    if os.path.exists(path) and not os.path.isfile(path):
        return Unread(path, "it is no file: a pipe or a device could be waited for without end")
    for reader in readers.values():
        try:
            return _readable(reader(path))
        except NotOurs:
            continue
        except OSError as error:
            return Unread(path, error.strerror or str(error))
        except ValueError as error:
            return Unread(path, str(error))
        except (AttributeError, KeyError, TypeError) as error:
            return Unread(path, f"a field in it holds something else than it should ({error})")
    return Unread(path, f"it is no recording of these: {', '.join(readers)}")


def _readable(of: Conversation) -> Conversation:
    """Without the messages that its format cannot read, counted as damaged rows. ValueError where
    none is left."""
    said = [_unreadable(of.format, number, each) for number, each in enumerate(of.messages)]
    kept = [number for number, why in enumerate(said) if why is None]
    if not kept:
        raise ValueError(said[0] if said else "it holds no messages")
    return structs.replace(
        of,
        messages=tuple(of.messages[number] for number in kept),
        times=tuple(of.times[number] for number in kept),
        borders=tuple(bisect_left(kept, border) for border in of.borders),
        passed_over=of.passed_over + len(said) - len(kept),
    )


def _unreadable(format: str, number: int, message: Message) -> str | None:
    try:
        parts_of(FORMATS[format].adapter, number, message)
    except ValueError as error:
        return str(error)
    return None


def segments(of: Conversation, count: Callable[[str], int]) -> Iterator[Segment]:
    """A conversation's segments. count: tokens of a text."""
    shape = FORMATS[of.format]
    for messages, times in of.segments():
        mended = bool(shape.problems(messages))
        if mended:
            told = {id(message): at for message, at in zip(messages, times, strict=True)}
            messages = tuple(shape.repaired(messages))
            times = tuple(told.get(id(message)) for message in messages)
        yield Segment(shape, messages, times, tuple(shape.blocks(messages, count)), mended)
