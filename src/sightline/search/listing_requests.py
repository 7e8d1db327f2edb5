"""Folder listings that a model requests in a structured answer, delivered before its next turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct, structs

from sightline.changes.session_context import SessionContext
from sightline.errors import SightlineError, without_calls
from sightline.messages import message_chain
from sightline.model.events import ListingRequested
from sightline.notices.delivery import delivered_digests
from sightline.search import words
from sightline.search.listing import list_directory

REQUESTS_MAX = 100
"""Requests of one answer; a turn delivers PER_TURN of them."""

CHARACTERS_MAX = 4_096
"""Characters of a path, and of a filter."""

Name = Annotated[str, Meta(min_length=1, max_length=CHARACTERS_MAX)]
Positive = Annotated[int, Meta(ge=1)]


class ListingRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A request for a listing, with the parameters of search.listing."""

    path: Annotated[Name, Meta(description="Relative to the workspace; . for all.")]
    recursive: Annotated[bool, Meta(description="With the folders below it.")] = False
    filter: Annotated[Name | None, Meta(description="A pattern such as *.py.")] = None
    depth: Annotated[Positive, Meta(description="Levels, where recursive.")] = 3
    limit: Annotated[Positive, Meta(description="Entries at most.")] = 200


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


def facts(requests: Iterable[ListingRequest]) -> list[ListingRequested]:
    """Return the facts of these requests, each once; the next briefing delivers the listings."""
    return [ListingRequested(*structs.astuple(each)) for each in dict.fromkeys(requests)]


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
        return words.unlisted(
            asked.folder, f"{error.message} {error.next_step.worded(without_calls)}".strip()
        )
    except ValueError as error:  # an invalid filter
        return words.unlisted(asked.folder, str(error))
    return words.requested_listing(found)
