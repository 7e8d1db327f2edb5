"""Ids of sessions that mean something, and how many sessions a page shows."""

from __future__ import annotations

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
