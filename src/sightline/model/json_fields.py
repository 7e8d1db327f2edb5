"""Read the fields of foreign JSON, and check their types."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from msgspec import ValidationError, convert

Row = dict[str, Any]

T = TypeVar("T")


def read_fields(raw: object, kind: type[T]) -> T:
    """Return the fields of a JSON object as a Struct. Unknown fields are ignored. ValueError, which
    goes to a log and so names no value."""
    try:
        return convert(raw, kind)
    except ValidationError as error:
        raise ValueError(f"The payload does not fit: {error}.") from None


def nested(value: object, *keys: str) -> Any:
    """Return the value at the end of a path of keys through objects; None where no object is."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def objects(value: object) -> list[Row]:
    """Return the objects in a list; none for any other value."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


STRINGS_MAX = 1_000
"""Strings of a JSON value, and values inside one another, that are read."""


def strings(value: object) -> tuple[str, ...]:
    """Return all strings in a JSON value, in order, without the keys of objects."""
    found: list[str] = []
    waiting = [value]
    for _ in range(10 * STRINGS_MAX):
        if not waiting or len(found) == STRINGS_MAX:
            break
        each = waiting.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, dict):
            waiting += reversed(each.values())
        elif isinstance(each, list):
            waiting += reversed(each)
    return tuple(found)


def text_parts(content: object) -> list[Row]:
    """Return the parts of a message's content without blank texts; a text alone is one part."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    return [
        part for part in parts if part.get("type") != "text" or str(part.get("text", "")).strip()
    ]


def parse_row(line: bytes) -> Row | None:
    """Return the object on a line; None for a damaged line: recordings have lines cut in half or
    run together."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
