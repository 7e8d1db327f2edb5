"""Folder listings that a model requests in a structured answer, delivered before its next turn."""

from __future__ import annotations

from json import loads
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, structs

from sightline.changes.session_context import SessionContext
from sightline.conversation import message_chain
from sightline.errors import SightlineError
from sightline.model.events import ListingRequested
from sightline.notices.delivery import delivered_digests
from sightline.search import words
from sightline.search.listing import list_directory

KEY = "listings"

REQUESTS_MAX = 100
"""Requests of one answer; a turn delivers PER_TURN of them."""

CHARACTERS_MAX = 4_096
"""Characters of a path, and of a filter."""

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
"""JSON Schema of `listings` in a model's structured answer, for hosts that ask for one."""

Name = Annotated[str, Meta(min_length=1, max_length=CHARACTERS_MAX)]
Positive = Annotated[int, Meta(ge=1)]

EXPECTED = (
    'Give an object with "path" (a text), and if you like with "recursive" (true or false), "filter" (a '
    'text), "depth" and "limit" (whole numbers from 1 on).'
)


class ListingRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A request for a listing, with the parameters of search.listing."""

    path: Name
    recursive: bool = False
    filter: Name | None = None
    depth: Positive = 3
    limit: Positive = 200


def listings(answer: object) -> list[ListingRequest]:
    """Return the listings that an answer requests, each once. answer: the object, its JSON, or the list
    of requests; each request an object of LISTINGS_SCHEMA, or a path. ValueError explains an invalid
    request."""
    parsed = loads(answer) if isinstance(answer, str | bytes) else answer
    requests = parsed.get(KEY, []) if isinstance(parsed, dict) else parsed
    if not isinstance(requests, list | tuple):
        raise ValueError(f'"{KEY}" is a list of objects with a "path", not {requests!r:.80}.')  # noqa: TRY004
    if len(requests) > REQUESTS_MAX:
        raise ValueError(
            f"An answer asks for {REQUESTS_MAX} listings at most, not {len(requests)}."
        )
    return list(dict.fromkeys([_listing(each) for each in requests]))


def _listing(request: object) -> ListingRequest:
    fields = {"path": request} if isinstance(request, str) else request
    if isinstance(fields, dict):
        fields = {name: value for name, value in fields.items() if value is not None}
    try:
        return convert(fields, ListingRequest)
    except ValidationError as error:
        raise ValueError(
            f"This request for a listing cannot be read: {error}. {EXPECTED}"
        ) from None


PART = "listings"

PER_TURN = 5
"""Listings that one turn delivers; the answer names further ones as not delivered."""

ENTRIES_MAX = 400
"""Entries of one delivered listing."""


class Waiting(Struct, frozen=True):
    """A requested listing that is not delivered yet. digests: identifiers of its delivery, one for each
    request; over: the turn delivers PER_TURN others first."""

    asked: ListingRequested
    digests: tuple[str, ...]
    over: bool


def request(context: SessionContext, answer: object) -> list[ListingRequest]:
    """Record the listings that an answer requests; the next briefing delivers them. ValueError for an
    invalid request; then nothing is recorded."""
    requests = listings(answer)
    if requests:
        context.append([ListingRequested(*structs.astuple(request)) for request in requests])
    return requests


def waiting(context: SessionContext) -> list[Waiting]:
    """Return the requested listings that are not delivered yet, in the order of the requests."""
    rows = list(message_chain.branch_facts(context, [ListingRequested]))
    delivered = delivered_digests(context, PART) if rows else set()
    found: dict[ListingRequested, list[str]] = {}
    for row in rows:
        if isinstance(row.fact, ListingRequested) and str(row.position) not in delivered:
            found.setdefault(row.fact, []).append(str(row.position))
    return [
        Waiting(asked, tuple(digests), number >= PER_TURN)
        for number, (asked, digests) in enumerate(found.items())
    ]


def answer(context: SessionContext, waiting: Waiting, most: int = ENTRIES_MAX) -> str:
    """Return the text of a current listing with at most so many entries, or why it failed."""
    asked = waiting.asked
    if waiting.over:
        why = f"{PER_TURN} listings are made for one turn: ask again."
        return words.unlisted(asked.folder, why)
    try:
        found = list_directory(
            context,
            asked.folder,
            recursive=asked.recursive,
            filter=asked.filter,
            depth=asked.depth,
            limit=min(asked.limit, most),
        )
    except SightlineError as error:
        return words.unlisted(asked.folder, f"{error.message} {error.hint}".strip())
    except ValueError as error:  # an invalid filter
        return words.unlisted(asked.folder, str(error))
    return words.requested_listing(found)
