"""What is Windows's own in watching."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_REMOTE = 4
"""What GetDriveTypeW answers for a drive of another machine."""


def eventless(root: str) -> str | None:
    """Why a folder sends no events, as in Eyes.why: shares send some, and nobody says which."""
    if root.startswith(("\\\\", "//")):
        return "filesystem:share"
    kernel: Any = vars(ctypes)["windll"].kernel32
    drive = os.path.splitdrive(root)[0]
    return "filesystem:share" if kernel.GetDriveTypeW(f"{drive}\\") == _REMOTE else None


def spelled(place: str) -> str:
    """A full path that an event named, as the workspace spells it: whole names for those that
    were cut to eight letters, "/" between them."""
    whole = os.path.realpath(place) if "~" in place else place
    return whole.replace("\\", "/")
