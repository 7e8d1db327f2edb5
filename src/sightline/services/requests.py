"""Listings that an agent asked for in its answer: delivered before its next turn, once."""

from __future__ import annotations

from sightline.core.events import ListingRequested
from sightline.core.requesting import listings
from sightline.core.value import Value
from sightline.errors import SightlineError
from sightline.render import listing as words
from sightline.services import warnings
from sightline.services.conversation import chain
from sightline.services.listing import list_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.requesting import ListingRequest
    from sightline.services.ground import Ground

PART = "listings"

PER_TURN = 5
"""Listings that one turn delivers; further ones are named as not delivered."""

ENTRIES_MAX = 400
"""Of one listing, however many were asked for."""


class Waiting(Value):
    """A listing that was asked for and not delivered. digests: what it is delivered as, one for each
    time it was asked for. over: of more than a turn delivers."""

    asked: ListingRequested
    digests: tuple[str, ...]
    over: bool


def request(ground: Ground, answer: object) -> list[ListingRequest]:
    """Note what an answer asks for; the next briefing delivers it. ValueError, and nothing noted,
    for what is no request."""
    asked = listings(answer)
    if asked:
        ground.append([_fact(each) for each in asked])
    return asked


def waiting(ground: Ground) -> list[Waiting]:
    """What was asked for and not delivered yet, in the order it was asked for."""
    rows = list(chain.along(ground, [ListingRequested]))
    told = warnings.delivered(ground, PART) if rows else set()
    found: dict[ListingRequested, list[str]] = {}
    for row in rows:
        if isinstance(row.fact, ListingRequested) and str(row.position) not in told:
            found.setdefault(row.fact, []).append(str(row.position))
    every = enumerate(found.items())
    return [Waiting(asked, tuple(digests), at >= PER_TURN) for at, (asked, digests) in every]


def made(ground: Ground, each: Waiting, most: int = ENTRIES_MAX) -> str:
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
