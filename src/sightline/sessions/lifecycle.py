"""Name sessions, and delete them: a deleted session is ended and forgets what it was shown."""

from __future__ import annotations

import os

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.errors import SessionError
from sightline.model.events import RewindEnded, SessionEnded
from sightline.sessions import words
from sightline.sessions.presence import is_present
from sightline.store.port import Append

DELETED = "deleted"
"""SessionEnded.reason of a deleted session: its warnings and conversation are gone as well."""

UNNAMED = "library"
"""The agent's name where a program gives none; it may resume any session."""

ID_LENGTH_MAX = 200


class Forgotten(Struct, frozen=True):
    """A session that was deleted, with the number of files it knew and of its claims."""

    session: str
    files: int
    claims: int


def delete(context: SessionContext, session: str, *, force: bool = False) -> Forgotten:
    """End a session, and drop its knowledge and its claims. A resumed session begins with nothing.
    SessionError for an unknown id, and, without force, for a session that is at work."""
    state = context.store.session(session)
    if state is None:
        raise SessionError(*words.no_session(session))
    if is_present(context, state) and not force:
        raise SessionError(*words.still_held(session, state.owner or ""))
    files = len(context.store.known(session))
    claims = sum(each.session == session for each in context.store.claims().values())
    facts = [RewindEnded(0), SessionEnded(DELETED)]  # at position 0 a session knows nothing
    context.store.append(Append(session, facts, at=context.clock()))
    return Forgotten(session, files, claims)


def id_for(session: str | None) -> str:
    """Return a checked session id, or a new one for None. SessionError."""
    if session is None:
        return f"s-{os.urandom(5).hex()}"
    if session.strip() and session.isprintable() and len(session) <= ID_LENGTH_MAX:
        return session
    raise SessionError(
        f"Not a session id: {session!r:.60}.",
        f"Use 1 to {ID_LENGTH_MAX} printable characters.",
    )
