"""What a model asks for in a structured answer, to have it before its next turn: folders to list."""

from __future__ import annotations

from collections.abc import Mapping
from json import loads
from typing import Any

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.conversation import message_chain
from sightline.errors import SightlineError
from sightline.model.events import ListingRequested
from sightline.notices import warnings
from sightline.search import words
from sightline.search.listing import list_directory

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


class ListingRequest(Struct, frozen=True):
    """A folder that is to be listed, as search.listing takes it."""

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


PART = "listings"

PER_TURN = 5
"""Listings that one turn delivers; further ones are named as not delivered."""

ENTRIES_MAX = 400
"""Of one listing, however many were asked for."""


class Waiting(Struct, frozen=True):
    """A listing that was asked for and not delivered. digests: what it is delivered as, one for each
    time it was asked for. over: of more than a turn delivers."""

    asked: ListingRequested
    digests: tuple[str, ...]
    over: bool


def request(ground: SessionContext, answer: object) -> list[ListingRequest]:
    """Note what an answer asks for; the next briefing delivers it. ValueError, and nothing noted,
    for what is no request."""
    asked = listings(answer)
    if asked:
        ground.append([_fact(each) for each in asked])
    return asked


def waiting(ground: SessionContext) -> list[Waiting]:
    """What was asked for and not delivered yet, in the order it was asked for."""
    rows = list(message_chain.along(ground, [ListingRequested]))
    told = warnings.delivered(ground, PART) if rows else set()
    found: dict[ListingRequested, list[str]] = {}
    for row in rows:
        if isinstance(row.fact, ListingRequested) and str(row.position) not in told:
            found.setdefault(row.fact, []).append(str(row.position))
    every = enumerate(found.items())
    return [Waiting(asked, tuple(digests), at >= PER_TURN) for at, (asked, digests) in every]


def answer(ground: SessionContext, each: Waiting, most: int = ENTRIES_MAX) -> str:
    """The listing as it is now, of so many entries at most, or why there is none, in words."""
    asked = each.asked
    if each.over:
        return words.unlisted(
            asked.folder, f"{PER_TURN} listings are made for one turn: ask again."
        )
    try:
        found = list_directory(
            ground,
            asked.folder,
            recursive=asked.recursive,
            filter=asked.filter,
            depth=asked.depth,
            limit=min(asked.limit, most),
        )
    except SightlineError as error:
        return words.unlisted(asked.folder, f"{error.message} {error.hint}".strip())
    except ValueError as error:  # the filter is no pattern
        return words.unlisted(asked.folder, str(error))
    return words.asked(found)


def _fact(asked: ListingRequest) -> ListingRequested:
    return ListingRequested(asked.path, asked.recursive, asked.filter, asked.depth, asked.limit)
