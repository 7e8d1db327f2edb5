"""Deleting a session: no fact goes away, so it is ended, and forgets what it was shown."""

from __future__ import annotations

import os

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.errors import SessionError
from sightline.model.events import RewindEnded, SessionEnded
from sightline.sessions import words
from sightline.sessions.presence import present

DELETED = "deleted"
"""Why a session ended that was deleted: what it left for people to see to is gone with it."""


class Forgotten(Struct, frozen=True):
    """A session that was deleted: of how many files it knew, and how many claims it had."""

    session: str
    files: int
    claims: int


def delete(context: SessionContext, session: str, *, force: bool = False) -> Forgotten:
    """End a session, drop what it knows and its claims. Taken up again it begins with nothing.

    SessionError when there is none of that id, and, unless forced, when it is at work.
    """
    state = context.store.session(session)
    if state is None:
        raise SessionError(*words.no_session(session))
    if present(context, state) and not force:
        raise SessionError(*words.still_held(session, state.owner or ""))
    files = len(context.store.known(session))
    claims = sum(each.session == session for each in context.store.claims().values())
    facts = [RewindEnded(0), SessionEnded(DELETED)]  # what it knew at 0 is nothing
    context.store.append(session, facts, at=context.clock())
    return Forgotten(session, files, claims)


UNNAMED = "library"
"""The agent's name when a program gives none; it may resume any session."""

ID_LENGTH_MAX = 200


def id_for(session: str | None) -> str:
    """A session's id as it was asked for, or a new one. SessionError."""
    if session is None:
        return f"s-{os.urandom(5).hex()}"
    if session.strip() and session.isprintable() and len(session) <= ID_LENGTH_MAX:
        return session
    raise SessionError(
        f"Not a session id: {session!r:.60}.",
        f"Use 1 to {ID_LENGTH_MAX} printable characters.",
    )
