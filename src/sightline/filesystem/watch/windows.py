"""The part of watching that is special to Windows."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_REMOTE = 4
"""The answer of GetDriveTypeW for a drive of another machine."""


def eventless(root: str) -> str | None:
    """Return why a folder sends no events, as in Eyes.why. Shares count as silent: they send only some
    events, and nobody says which."""
    if root.startswith(("\\\\", "//")):
        return "filesystem:share"
    kernel: Any = vars(ctypes)["windll"].kernel32
    drive = os.path.splitdrive(root)[0]
    return "filesystem:share" if kernel.GetDriveTypeW(f"{drive}\\") == _REMOTE else None


def spelled(place: str) -> str:
    """Return a full path of an event as the workspace spells it: whole names for names cut to eight
    letters, with "/" between them."""
    whole = os.path.realpath(place) if "~" in place else place
    return whole.replace("\\", "/")
