"""Fields of JSON that others wrote, taken out with a check of their type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KINDS = {str: "text", bool: "true or false", dict: "an object", list: "a list", int: "a number"}


def needed(raw: Mapping[str, Any], field: str) -> str:
    """A text that has to be there. ValueError."""
    value = optional(raw, field)
    if value is None:
        raise ValueError(f"The payload has no {field}.")
    return value


def optional(raw: Mapping[str, Any], field: str) -> str | None:
    """A text, None where it is missing or null. ValueError."""
    value = raw.get(field)
    return None if value is None else checked(value, str, field)


def flag(raw: Mapping[str, Any], field: str) -> bool:
    """True or false; false where it is missing or null. ValueError."""
    value = raw.get(field)
    return False if value is None else bool(checked(value, bool, field))


def inner(raw: Mapping[str, Any], field: str) -> dict[str, Any]:
    """An object that has to be there. ValueError."""
    made: dict[str, Any] = checked(raw.get(field), dict, field)
    return made


def checked(value: Any, kind: type, field: str) -> Any:
    """A value of that type. ValueError, which goes to a log and so names no value."""
    if type(value) is not kind:
        there = KINDS.get(type(value), "nothing" if value is None else "something else")
        raise ValueError(f"The payload's {field} is not {KINDS[kind]}: it is {there}.")
    return value
