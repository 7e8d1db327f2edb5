"""What readers of recordings have in common: whose a file is, told by its beginning; its rows or its
document; and messages put together with their times.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sightline.conversation.recorded_conversation import Conversation

Message = dict[str, Any]
Row = dict[str, Any]

HEAD_BYTES = 1 << 16
"""By which a document is recognised."""

ROWS_MAX = 20
ROW_BYTES_MAX = 1 << 18
"""How many rows of a file of rows tell whose it is, and how long each may be."""

MILLISECONDS = 1e11
"""Numbers from here on are no seconds since 1970, which would be the year 5138."""


def head(path: str) -> bytes:
    """The beginning of a file. OSError."""
    with open(path, "rb") as file:
        return file.read(HEAD_BYTES)


def first_rows(path: str) -> list[Row]:
    """The objects among the first lines of a file. OSError."""
    with open(path, "rb") as file:
        lines = [file.readline(ROW_BYTES_MAX) for _ in range(ROWS_MAX)]
    read = [_row(line) for line in lines if line.startswith(b"{")]
    return [row for row in read if row is not None]


def rows(path: str) -> tuple[list[Row], int]:
    """The objects in a file of rows, and how many lines are damaged: recordings have some, cut in
    half or run together. OSError."""
    with open(path, "rb") as file:
        read = [_row(line) for line in file if line.strip()]
    found = [row for row in read if row is not None]
    return found, len(read) - len(found)


def _row(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def document(path: str) -> tuple[Any, str]:
    """The JSON in a file, and a mark of its bytes, for recordings that have no id. OSError;
    ValueError, with words for a person, where it is damaged."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return json.loads(data), sha256(data).hexdigest()[:16]
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"its JSON is damaged ({error}): record it again, or take an earlier copy of it"
        ) from error


def moment(value: object) -> int | None:
    """A time as recordings tell it (ISO 8601, in UTC where it names no zone; seconds or
    milliseconds since 1970) as UTC microseconds; None where it is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value * (1000 if value > MILLISECONDS else 1_000_000))
    if not isinstance(value, str):
        return None

    try:
        told = datetime.fromisoformat(value)
    except ValueError:
        return None
    told = told if told.tzinfo else told.replace(tzinfo=UTC)
    return int(told.timestamp() * 1000) * 1000


class Telling:
    """Messages as they are found, one after the other."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.times: list[int | None] = []
        self.borders: list[int] = []

    def add(self, message: Message, at: int | None = None) -> None:
        """A message. at: UTC microseconds."""
        self.messages.append(message)
        self.times.append(at)

    def begin_anew(self) -> None:
        """What comes now is all that the model still reads."""
        if self.messages and self.borders[-1:] != [len(self.messages)]:
            self.borders.append(len(self.messages))

    def conversation(
        self, format: str, agent: str, path: str, session: str, passed_over: int = 0
    ) -> Conversation:
        """All of it. ValueError, with words for a person, where there is no message."""
        if not self.messages:
            raise ValueError(f"it is a recording of {agent}, but it holds no messages")
        told = tuple(self.messages), tuple(self.times), tuple(self.borders)
        return Conversation(format, *told, path, agent, session, passed_over)
