"""Cut recordings at their head and their tail: a client was killed, a log was rotated, a person copied a part."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LISTS = ("messages", "history")
"""Fields of a document that hold its conversation."""

SPEAKER = "\n---\n\n**"
"""Stands before each message but the first of an export."""


def cuts(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield each part of a recording with the name of its cut. Rows are cut between two rows and inside a row; a
    document is cut between its messages, and stays a whole document."""
    data = path.read_bytes()
    if path.suffix == ".md":
        pieces = data.decode("utf-8", "replace").replace("\r\n", "\n").split(SPEAKER)
        for name, first, end in places(len(pieces)):
            kept = SPEAKER.join(pieces[first:end])
            yield name, (kept if not first else f"**{kept}").encode()
        return
    try:
        document = json.loads(data)
    except ValueError:
        yield from _cuts_of_rows(data.splitlines(keepends=True))
        return
    held = document
    for key in LISTS:
        if isinstance(document, dict) and isinstance(document.get(key), list):
            held = document[key]
            break
    else:
        key = ""
    for name, first, end in places(len(held)) if isinstance(held, list) else ():
        cut: Any = {**document, key: held[first:end]} if key else held[first:end]
        yield name, json.dumps(cut).encode()


def _cuts_of_rows(rows: list[bytes]) -> Iterator[tuple[str, bytes]]:
    for name, first, end in places(len(rows)):
        yield name, b"".join(rows[first:end])
        if first:
            half = rows[first - 1]
            yield f"{name} inside a row", b"".join([half[len(half) // 2 :], *rows[first:end]])
        elif end < len(rows):
            half = rows[end]
            yield f"{name} inside a row", b"".join([*rows[:end], half[: len(half) // 2]])


def places(count: int) -> Iterator[tuple[str, int, int]]:
    """Yield a name, the first and the end of each part of so many pieces. A part has two pieces at least."""
    shares = sorted({1, 2, 3, *(count * n // 8 for n in range(1, 8))})
    for share in (n for n in shares if 0 < n < count - 1):
        yield f"without the first {share}", share, count
        yield f"without the last {share}", 0, count - share
