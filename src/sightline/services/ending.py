"""Deleting a session: no fact goes away, so it is ended, and forgets what it was shown."""

from __future__ import annotations

from sightline.core.events import RewindEnded, SessionEnded
from sightline.core.value import Value
from sightline.errors import SessionError
from sightline.render import several
from sightline.services.presence import present

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.services.ground import Ground


DELETED = "deleted"
"""Why a session ended that was deleted: what it left for people to see to is gone with it."""


class Forgotten(Value):
    """A session that was deleted: of how many files it knew, and how many claims it had."""

    session: str
    files: int
    claims: int


def delete(ground: Ground, session: str, *, force: bool = False) -> Forgotten:
    """End a session, drop what it knows and its claims. Taken up again it begins with nothing.

    SessionError when there is none of that id, and, unless forced, when it is at work.
    """
    state = ground.store.session(session)
    if state is None:
        raise SessionError(*several.no_session(session))
    if present(ground, state) and not force:
        raise SessionError(*several.still_held(session, state.owner or ""))
    files = len(ground.store.known(session))
    claims = sum(each.session == session for each in ground.store.claims().values())
    facts = [RewindEnded(0), SessionEnded(DELETED)]  # what it knew at 0 is nothing
    ground.store.append(session, facts, at=ground.clock())
    return Forgotten(session, files, claims)
