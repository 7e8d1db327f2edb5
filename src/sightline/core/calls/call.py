"""Call: what a model asked a tool to do, whatever format said so."""

from __future__ import annotations

from json import loads

from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeGuard

IDS = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "callID", "id")
NAMES = ("name", "tool_name", "toolName", "tool")
ARGUMENTS = ("arguments", "args", "input", "rawInput")
NESTED = ("function", "custom", "state")
"""Where formats put a call's name or its arguments a level deeper."""


class Call(Value):
    """One call. id: "" where the format has none. arguments: None where they are no object, or
    cannot be read; then text is what stands there instead (a patch, a JSON text that is cut)."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    text: str = ""


def field(value: object, *names: str) -> Any:
    """The first of these that a mapping has, or an object as its attribute; None when none is."""
    for name in names:
        found = value.get(name) if is_mapping(value) else getattr(value, name, None)
        if found is not None:
            return found
    return None


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is looked into by keys."""
    return isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "get"))


def made(value: object) -> Call | None:
    """The call that a value describes, by whichever names its format has; None where it names no
    tool."""
    within = [value, *(inner for name in NESTED if (inner := field(value, name)) is not None)]
    name = _first(within, NAMES, str)
    if not name:
        return None
    return call(_first(within, IDS, str) or "", name, _first(within, ARGUMENTS, object))


def call(id: str, name: str, given: object) -> Call:
    """A call by its arguments as they were found: an object, or its JSON text, or another text."""
    if given is None or given == "":
        return Call(id, name, {})
    if isinstance(given, str):
        return Call(id, name, _object(given), given)
    if is_mapping(given):
        return Call(id, name, given)
    fields = getattr(given, "__dict__", None)  # a client library's own class
    return Call(id, name, fields)


def _first(within: list[object], names: tuple[str, ...], kind: type) -> Any:
    found = (field(value, each) for value in within for each in names)
    return next((each for each in found if each is not None and isinstance(each, kind)), None)


def _object(text: str) -> Mapping[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
