"""The texts of shell commands. A fact names a command by the revision of its text, so the text can be
forgotten while the fact stays as it is."""

from __future__ import annotations

from msgspec import structs

from sightline.model.events import Cause
from sightline.model.revision import Revision
from sightline.store.port import Texts

FORGOTTEN = "[forgotten]"
"""What people read in the place of a command whose text was forgotten."""


def bytes_of_command(text: str) -> bytes:
    """Return the bytes that are kept of a command. text: without its secrets (shell_parsing.secrets)."""
    return text.encode("utf-8", "surrogatepass")


def text_of_command(store: Texts, command: Revision | None) -> str:
    """Return the text of a command; "" where it was forgotten: whoever judges by the text knows nothing
    of such a command then."""
    data = None if command is None else store.blob(command)
    return "" if data is None else data.decode("utf-8", "surrogatepass")


def shown_command(store: Texts, command: Revision) -> str:
    """Return the text of a command for people."""
    return text_of_command(store, command) or FORGOTTEN


def suspected(session: str, command: Revision) -> Cause:
    """Return a command as the cause of a change that may be somebody else's."""
    return Cause("command", session, None, "likely", "guess", command)


def worded(store: Texts, cause: Cause) -> Cause:
    """Return a cause with the text of its command as its detail."""
    if cause.command is None:
        return cause
    return structs.replace(cause, detail=shown_command(store, cause.command))
