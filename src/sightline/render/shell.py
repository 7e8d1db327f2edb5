"""Words on shell commands that an agent ran."""

from __future__ import annotations

LENGTH = 200


def short(command: str, *, background: bool = False) -> str:
    """A command as its facts name it: its first line."""
    first, _, rest = command.strip().partition("\n")
    cut = first[:LENGTH]
    name = f"{cut}…" if rest or cut != first else cut
    return f"{name} (goes on in the background)" if background else name


def not_walked(seconds: float) -> str:
    """Why files that commands made are not looked for."""
    return f"the workspace could not be searched for what commands made within {seconds:g} s"
