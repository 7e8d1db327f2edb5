"""Claims of sessions on paths and globs, folded from the timeline."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, structs

from sightline.model.events import ClaimReleased, ClaimRenewed, ClaimTaken, SessionEnded
from sightline.model.timeline import Recorded


class Claim(Struct, frozen=True):
    """A claim of one session. It holds until expires_at (UTC microseconds), while its session is
    present, which the timeline does not know."""

    id: str
    session: str
    paths: tuple[str, ...]
    expires_at: int
    exclusive: bool
    taken_at: int
    position: int


CLAIMING = (ClaimTaken, ClaimRenewed, ClaimReleased, SessionEnded)
"""Kinds of fact that change claims."""


def step(states: dict[str, Claim], recorded: Recorded) -> None:
    """Step the claims (id -> claim) by a fact of any session. Only the session that took a claim
    can renew it; anybody may release it."""
    fact, session = recorded.fact, recorded.session
    if isinstance(fact, ClaimTaken):
        times = (fact.expires_at, fact.exclusive, recorded.happened_at, recorded.position)
        states[fact.claim] = Claim(fact.claim, session, fact.paths, *times)
    elif isinstance(fact, ClaimRenewed) and fact.claim in states:
        claim = states[fact.claim]
        if claim.session == session:
            states[fact.claim] = structs.replace(
                claim, expires_at=fact.expires_at, position=recorded.position
            )
    elif isinstance(fact, ClaimReleased):
        states.pop(fact.claim, None)
    elif isinstance(fact, SessionEnded):
        for name in [claim.id for claim in states.values() if claim.session == session]:
            del states[name]


def fold(log: Iterable[Recorded]) -> dict[str, Claim]:
    """Fold the claims that were not released from nothing."""
    states: dict[str, Claim] = {}
    for recorded in log:
        step(states, recorded)
    return states
