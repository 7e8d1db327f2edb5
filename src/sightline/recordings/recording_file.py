"""Read files of recordings: their beginning, rows or document; and collect messages with their
times."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sightline.model.json_fields import Row, parse_row
from sightline.recordings.recorded_conversation import Conversation

HEAD_BYTES = 1 << 16
"""By which a document is recognised."""

ROWS_MAX = 20
ROW_BYTES_MAX = 1 << 18
"""How many rows of a file of rows tell whose it is, and how long each may be."""

MILLISECONDS = 1e11
"""Numbers from here on are no seconds since 1970, which would be the year 5138."""


def head(path: str) -> bytes:
    """Return the beginning of a file. OSError."""
    with open(path, "rb") as file:
        return file.read(HEAD_BYTES)


def first_rows(path: str) -> list[Row]:
    """Return the objects among the first lines of a file. OSError."""
    with open(path, "rb") as file:
        lines = [file.readline(ROW_BYTES_MAX) for _ in range(ROWS_MAX)]
    read = [parse_row(line) for line in lines if line.startswith(b"{")]
    return [row for row in read if row is not None]


class Rows:
    """The objects in a file of rows, read one by one while they are iterated. damaged: lines without
    an object so far. OSError while it is iterated."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.damaged = 0

    def __iter__(self) -> Iterator[Row]:
        with open(self.path, "rb") as file:
            for line in file:
                if (row := parse_row(line)) is not None:
                    yield row
                elif line.strip():
                    self.damaged += 1


def document(path: str) -> tuple[Any, str]:
    """Return the JSON in a file, and a digest of its bytes, for recordings without an id. OSError;
    ValueError, with a message for a person, for damaged JSON."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return json.loads(data), sha256(data).hexdigest()[:16]
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"its JSON is damaged ({error}): record it again, or take an earlier copy of it"
        ) from error


def moment(value: object) -> int | None:
    """Return a recorded time (ISO 8601, in UTC where it names no zone; seconds or milliseconds
    since 1970) as UTC microseconds; None for any other value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value * (1000 if value > MILLISECONDS else 1_000_000))
    if not isinstance(value, str):
        return None

    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return int(time.timestamp() * 1000) * 1000


class Telling:
    """Messages of a recording, collected one after the other. folder: absolute, in which every command
    begins; "" where that is unknown."""

    def __init__(self) -> None:
        self.messages: list[Row] = []
        self.times: list[int | None] = []
        self.borders: list[int] = []
        self.folder = ""

    def add(self, message: Row | None, at: int | None = None) -> None:
        """Add a message; nothing for None. at: UTC microseconds."""
        if message is not None:
            self.messages.append(message)
            self.times.append(at)

    def add_text(self, role: str, text: object, at: int | None) -> None:
        """Add a message of one text; nothing for a blank text or another value."""
        if isinstance(text, str) and text.strip():
            self.add({"role": role, "content": text}, at)

    def begin_anew(self) -> None:
        """Begin the context anew: the model does not read the earlier messages any more."""
        if self.messages and self.borders[-1:] != [len(self.messages)]:
            self.borders.append(len(self.messages))

    def conversation(
        self, format: str, agent: str, path: str, session: str, passed_over: int = 0
    ) -> Conversation:
        """Return the whole conversation. ValueError, with a message for a person, for no
        message."""
        if not self.messages:
            raise ValueError(f"it is a recording of {agent}, but it holds no messages")
        told = tuple(self.messages), tuple(self.times), tuple(self.borders)
        return Conversation(format, *told, path, agent, session, passed_over, self.folder)
