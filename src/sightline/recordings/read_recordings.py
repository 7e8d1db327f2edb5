"""Find recordings, and read the messages in one: a product's, or those that another program wrote."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from os import PathLike, fspath

from msgspec import structs

from sightline.errors import FileMissing, HistoryError
from sightline.messages.formats.format import FORMATS
from sightline.messages.formats.parts import parts_of
from sightline.messages.histories import NAME_ANOTHER, read_history
from sightline.messages.message_codec import BROKEN_MEDIA, has_broken_media
from sightline.messages.written_history import History
from sightline.recordings.product_readers import READERS
from sightline.recordings.recorded_conversation import Conversation, NotOurs, Unread

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


def read_recording(path: str) -> Conversation | Unread:
    """Return the conversation in a file, from the first reader that recognises it. A file that a reader
    recognises and cannot read is not passed to the next reader."""
    if os.path.exists(path) and not os.path.isfile(path):
        why = "it is no file: a pipe or a device could be waited for without end"
        return Unread(path, why, recognised=False)
    for reader in READERS.values():
        try:
            return _without_damage(reader.conversation(path))
        except NotOurs:
            continue
        except OSError as error:
            return Unread(path, error.strerror or str(error), recognised=False)
        except ValueError as error:
            return Unread(path, str(error))
        except (AttributeError, KeyError, TypeError) as error:
            return Unread(path, f"a field in it holds something else than it should ({error})")
    why = f"its format is none of these: {', '.join(READERS)}"
    return Unread(path, why, recognised=False)


def read_messages(path: str | PathLike[str], name: str | None = None) -> History:
    """Return the messages in a file: the newest part of a session that an agent recorded, or messages
    as a program sends them to a model. name: of the file, for error messages. HistoryError."""
    path = fspath(path)
    name = path if name is None else name
    found = read_recording(path)
    if not isinstance(found, Unread):
        return _newest_segment(found)
    if found.recognised:
        raise HistoryError(f"{name} holds no history to read: {found.why}.", NAME_ANOTHER)
    try:
        with open(path, "rb") as file:
            return read_history(file.read(), name)
    except OSError as error:
        raise HistoryError(
            f"{name} cannot be read: {error.strerror or error}.", NAME_ANOTHER
        ) from error


def _newest_segment(conversation: Conversation) -> History:
    """Return the newest segment of a recorded conversation, repaired where the recording ends in the
    middle."""
    *_, (messages, _) = conversation.segments()
    wire_format = FORMATS[conversation.format]
    if wire_format.problems(messages):
        messages = tuple(wire_format.repaired(messages))
    return History(
        messages,
        wire_format,
        "array",
        agent=conversation.agent,
        folder=conversation.folder,
        set_aside=conversation.set_aside,
    )


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
