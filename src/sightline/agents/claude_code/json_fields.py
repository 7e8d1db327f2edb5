"""Read fields of foreign JSON, and check their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KINDS = {str: "text", bool: "true or false", dict: "an object", list: "a list", int: "a number"}


def needed(raw: Mapping[str, Any], field: str) -> str:
    """Return a text that has to be there. ValueError."""
    value = optional(raw, field)
    if value is None:
        raise ValueError(f"The payload has no {field}.")
    return value


def optional(raw: Mapping[str, Any], field: str) -> str | None:
    """Return a text; None where it is missing or null. ValueError."""
    value = raw.get(field)
    return None if value is None else checked(value, str, field)


def flag(raw: Mapping[str, Any], field: str) -> bool:
    """Return a boolean; False where it is missing or null. ValueError."""
    value = raw.get(field)
    return False if value is None else bool(checked(value, bool, field))


def inner(raw: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Return an object that has to be there. ValueError."""
    made: dict[str, Any] = checked(raw.get(field), dict, field)
    return made


def checked(value: Any, kind: type, field: str) -> Any:
    """Return a value of this type. ValueError, which goes to a log and so names no value."""
    if type(value) is not kind:
        there = KINDS.get(type(value), "nothing" if value is None else "something else")
        raise ValueError(f"The payload's {field} is not {KINDS[kind]}: it is {there}.")
    return value
