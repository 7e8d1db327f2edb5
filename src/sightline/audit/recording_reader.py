"""Find recordings, read them, and cut them into segments of blocks."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from sightline.audit.played import Reader, Unread
from sightline.errors import FileMissing
from sightline.messages.blocks import Block, Decision
from sightline.messages.formats.format import FORMATS, Format
from sightline.messages.formats.parts import parts_of
from sightline.messages.message_codec import BROKEN_MEDIA, has_broken_media
from sightline.messages.recorded_conversation import Conversation, Message, NotOurs

ENDINGS = (".jsonl", ".json", ".md", ".ndjson", ".traj")
"""Endings of recordings; other files of a folder are ignored."""


def find_recordings(paths: Sequence[str]) -> list[str]:
    """Return the named files, and the files of named folders that may be recordings, each once, in
    order. FileMissing for a path that does not exist."""
    found: dict[str, None] = {}
    for path in paths:
        if not os.path.exists(path):
            raise FileMissing(
                path, f"{path} does not exist.", "Name recordings, or folders of them."
            )
        if not os.path.isdir(path):
            found[path] = None
            continue
        for parent, folders, names in os.walk(path):
            folders.sort()
            files = (os.path.join(parent, name) for name in sorted(names))
            found |= dict.fromkeys(file for file in files if file.endswith(ENDINGS))
    return list(found)


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


def read(readers: Mapping[str, Reader], path: str) -> Conversation | Unread:
    """Return the conversation in a file, from the first reader that recognises its format. A file
    that a reader recognises and cannot read is not passed to the next reader."""
    if os.path.exists(path) and not os.path.isfile(path):
        why = "it is no file: a pipe or a device could be waited for without end"
        return Unread(path, why, recognised=False)
    for reader in readers.values():
        try:
            return _without_damage(reader(path))
        except NotOurs:
            continue
        except OSError as error:
            return Unread(path, error.strerror or str(error), recognised=False)
        except ValueError as error:
            return Unread(path, str(error))
        except (AttributeError, KeyError, TypeError) as error:
            return Unread(path, f"a field in it holds something else than it should ({error})")
    why = f"its format is none of these: {', '.join(readers)}"
    return Unread(path, why, recognised=False)


def _without_damage(conversation: Conversation) -> Conversation:
    """Set the messages aside that the format cannot hold: parts of another shape, or a picture whose
    base64 is broken. ValueError when none remains."""
    adapter = FORMATS[conversation.format].adapter
    intact: list[int] = []
    set_aside: list[str] = []
    for number, message in enumerate(conversation.messages):
        try:
            parts_of(adapter, number, message)
        except ValueError as error:
            set_aside.append(str(error))
            continue
        if has_broken_media(message):
            set_aside.append(f"message {number}: {BROKEN_MEDIA}")
        else:
            intact.append(number)
    if not intact:
        raise ValueError(set_aside[0] if set_aside else "it holds no messages")
    return structs.replace(
        conversation,
        messages=tuple(conversation.messages[number] for number in intact),
        times=tuple(conversation.times[number] for number in intact),
        borders=tuple(bisect_left(intact, border) for border in conversation.borders),
        set_aside=tuple(set_aside),
    )


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
