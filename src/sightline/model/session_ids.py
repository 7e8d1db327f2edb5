"""Ids of sessions that mean something, and how many sessions a page shows."""

from __future__ import annotations

import re

ARCHIVE = "archive:"
"""Prefix of the id of a session that was imported from a recording. Its facts say what its agent
knew and did then, and nothing of the present disk."""

NOBODY = ""
"""The session of changes that a watcher recorded while no session looked. No list of sessions has
it."""

AT_SHELL = "cli"
"""The session, and its agent, of a person or a script at a shell that names no session."""

LAST_SESSIONS = 10
"""The number of sessions that are not present which a page shows, unless asked for."""


def archived(session: str) -> bool:
    """Return whether a session was imported from a recording."""
    return session.startswith(ARCHIVE)


UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

BEGINNING = 13
"""Letters of a UUID that name a session: 48 bits, by chance or the millisecond when it was made."""


def short_id(session: str) -> str:
    """Return the beginning of an id that a program made up, which commands take for the whole id. An id that
    somebody chose, and a sub-agent's, stay whole."""
    return session[:BEGINNING] if UUID.fullmatch(session) else session
