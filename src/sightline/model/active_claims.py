"""Claims: a session's word that it is at work on paths or globs, folded from the timeline."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, structs

from sightline.model.events import ClaimReleased, ClaimRenewed, ClaimTaken, SessionEnded
from sightline.model.timeline import Recorded


class Claim(Struct, frozen=True):
    """What one session claims. It stands until expires_at (UTC microseconds), while its session
    is present; only who asks can tell that."""

    id: str
    session: str
    paths: tuple[str, ...]
    expires_at: int
    exclusive: bool
    taken_at: int
    position: int


CLAIMING = (ClaimTaken, ClaimRenewed, ClaimReleased, SessionEnded)
"""The kinds of fact that claims are stepped by."""


def step(states: dict[str, Claim], recorded: Recorded) -> None:
    """Step the claims, held as id -> state, by any session's fact. Only who took one can renew
    it; anybody may release one whose session is gone."""
    fact, session = recorded.fact, recorded.session
    if isinstance(fact, ClaimTaken):
        until, exclusive, at = fact.expires_at, fact.exclusive, recorded.happened_at
        place = recorded.position
        states[fact.claim] = Claim(fact.claim, session, fact.paths, until, exclusive, at, place)
    elif isinstance(fact, ClaimRenewed) and fact.claim in states:
        kept = states[fact.claim]
        if kept.session == session:
            renewed = structs.replace(kept, expires_at=fact.expires_at, position=recorded.position)
            states[fact.claim] = renewed
    elif isinstance(fact, ClaimReleased):
        states.pop(fact.claim, None)
    elif isinstance(fact, SessionEnded):
        for name in [each.id for each in states.values() if each.session == session]:
            del states[name]


def fold(log: Iterable[Recorded]) -> dict[str, Claim]:
    """The claims that were not released, folded from nothing."""
    states: dict[str, Claim] = {}
    for recorded in log:
        step(states, recorded)
    return states
