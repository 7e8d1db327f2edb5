"""What a model asks for in a structured answer, to have it before its next turn: folders to list."""

from __future__ import annotations

from sightline.core.lean import loads
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KEY = "listings"

REQUESTS_MAX = 100
"""Of one answer; of these a turn delivers a few."""

CHARACTERS_MAX = 4_096
"""Of a path, and of a filter."""

LISTINGS_SCHEMA: dict[str, Any] = {
    "type": "array",
    "description": "Folders whose listing you want to have before your next turn.",
    "items": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Relative to the workspace; . for all."},
            "recursive": {"type": "boolean", "description": "With the folders below it."},
            "filter": {"type": "string", "description": "A pattern such as *.py."},
            "depth": {"type": "integer", "minimum": 1, "description": "Levels, where recursive."},
            "limit": {"type": "integer", "minimum": 1, "description": "Entries at most."},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
}
"""JSON Schema of `listings` in the structured answer of a model, for hosts that ask for one."""

_KINDS: dict[str, tuple[type, str]] = {
    "path": (str, "a text"),
    "recursive": (bool, "true or false"),
    "filter": (str, "a text"),
    "depth": (int, "a whole number"),
    "limit": (int, "a whole number"),
}


class ListingRequest(Value):
    """A folder that is to be listed, as services.listing takes it."""

    path: str
    recursive: bool = False
    filter: str | None = None
    depth: int = 3
    limit: int = 200


def listings(answer: object) -> list[ListingRequest]:
    """The folders that an answer asks for, each once. answer: the object, its JSON, or the list of
    requests; each request an object as LISTINGS_SCHEMA has it, or a path. ValueError says what is wrong."""
    requests = _requests(loads(answer) if isinstance(answer, str | bytes) else answer)
    if len(requests) > REQUESTS_MAX:
        raise ValueError(
            f"An answer asks for {REQUESTS_MAX} listings at most, not {len(requests)}."
        )
    return list(dict.fromkeys([_listing(each) for each in requests]))


def _requests(answer: object) -> list[Any]:
    asked = answer.get(KEY, []) if isinstance(answer, dict) else answer
    if isinstance(asked, list | tuple):
        return [*asked]
    raise ValueError(f'"{KEY}" is a list of objects with a "path", not {asked!r:.80}.')


def _listing(asked: object) -> ListingRequest:
    given = {"path": asked} if isinstance(asked, str) else asked
    if not isinstance(given, dict) or "path" not in given:
        raise ValueError(f'A request is an object with a "path", not {asked!r:.80}.')
    return ListingRequest(**_checked({name: v for name, v in given.items() if v is not None}))


def _checked(given: Mapping[str, Any]) -> Mapping[str, Any]:
    for name, value in given.items():
        if name not in _KINDS:
            raise ValueError(f"A request has no {name!r:.80}; it has {', '.join(_KINDS)}.")
        kind, words = _KINDS[name]
        if type(value) is not kind:
            raise ValueError(f"{name} of a request is {words}, not {value!r:.80}.")
        if isinstance(value, str) and not 0 < len(value) <= CHARACTERS_MAX:
            raise ValueError(f"{name} of a request has 1 to {CHARACTERS_MAX} characters.")
        if type(value) is int and value < 1:
            raise ValueError(f"{name} of a request is a number from 1 on, not {value}.")
    return given
