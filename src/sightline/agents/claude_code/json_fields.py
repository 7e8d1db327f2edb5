"""Read the fields of foreign JSON, and check their types."""

from __future__ import annotations

from typing import TypeVar

from msgspec import ValidationError, convert

T = TypeVar("T")


def read_fields(raw: object, kind: type[T]) -> T:
    """Return the fields of a JSON object as a Struct. Unknown fields are ignored. ValueError, which
    goes to a log and so names no value."""
    try:
        return convert(raw, kind)
    except ValidationError as error:
        raise ValueError(f"The payload does not fit: {error}.") from None
