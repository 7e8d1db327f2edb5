"""Words on shell commands that an agent ran."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTH = 200
NAMED = 20
"""Paths at most in one answer."""


def short(command: str, *, background: bool = False) -> str:
    """A command as its facts name it: its first line."""
    first, _, rest = command.strip().partition("\n")
    cut = first[:LENGTH]
    name = f"{cut}…" if rest or cut != first else cut
    return f"{name} (goes on in the background)" if background else name


def outdated(paths: Sequence[str]) -> str:
    """What the agent was shown of these files, its own command has changed."""
    names = ", ".join(paths[:NAMED])
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return (
        f"Sightline: this command changed lines you were shown of {names}{more}."
        " Read them again before you edit them."
    )


def not_walked(seconds: float) -> str:
    """Why files that commands made are not looked for."""
    return f"the workspace could not be searched for what commands made within {seconds:g} s"
