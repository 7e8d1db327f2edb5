"""The rows of Claude Code's transcripts, read from a place on and within bounds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import IO, Any

Row = dict[str, Any]

LINE_MAX = 16 << 20
"""Bytes of a row that is still read; a longer one is passed over."""

PART_MAX = 64 << 20
"""Bytes that are read in one go at most."""


def rows(
    file: IO[bytes], offset: int, wanted: Sequence[bytes], upto: int = PART_MAX
) -> Iterator[tuple[int, Row | None]]:
    """Where each row ends, and the row where it holds one of these byte strings and is an object.
    A last row without its newline is still being written: it is left for the next time."""
    file.seek(offset)
    for end, line in _lines(file, offset, offset + upto):
        yield end, _parsed(line) if any(word in line for word in wanted) else None


def time_of(row: Mapping[str, Any]) -> int | None:
    """A row's time, UTC microseconds since 1970; None where it does not say that of any zone."""
    try:
        moment = datetime.fromisoformat(row["timestamp"])
    except (KeyError, TypeError, ValueError):
        return None
    return int(moment.timestamp() * 1000) * 1000 if moment.tzinfo else None


def model_of(row: Mapping[str, Any]) -> str | None:
    """The model that a row's message is of; None where the client itself wrote it, or a person."""
    message = row.get("message")
    model = message.get("model") if isinstance(message, dict) else None
    return model if isinstance(model, str) and not model.startswith("<") else None


def _lines(file: IO[bytes], at: int, end: int) -> Iterator[tuple[int, bytes]]:
    while at < end:
        line = file.readline(LINE_MAX)
        if line.endswith(b"\n"):
            at += len(line)
            yield at, line
        elif len(line) < LINE_MAX:
            return
        else:
            skipped = _skipped(file, len(line), end - at)
            if skipped is None:
                return
            at += skipped
            yield at, b""


def _skipped(file: IO[bytes], size: int, most: int) -> int | None:
    """How long the line is that was begun, up to `most`; None when it has no end yet. Cut short,
    its rest is no JSON and is passed over as well."""
    while size < most:
        part = file.readline(LINE_MAX)
        size += len(part)
        if part.endswith(b"\n"):
            return size
        if len(part) < LINE_MAX:
            return None
    return size


def _parsed(line: bytes) -> Row | None:
    """None for a damaged row: recordings have some, cut in half or run together."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
