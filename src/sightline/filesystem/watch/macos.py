"""The part of watching that is special to macOS."""

from __future__ import annotations

import ctypes
import os

REMOTE = frozenset(("afpfs", "macfuse", "nfs", "osxfuse", "smbfs", "webdav"))
"""File systems behind which others write without events here."""

_KIND_AT, _KIND_LENGTH, _ROOM = 72, 16, 4096
"""Where struct statfs (with 64-bit inodes) names the file system, and more room than it takes."""


def eventless(root: str) -> str | None:
    """Return why a folder sends no events, as in Eyes.why; None when it does."""
    libc = ctypes.CDLL(None, use_errno=True)
    function = getattr(libc, "statfs$INODE64", None) or libc.statfs
    room = ctypes.create_string_buffer(_ROOM)
    if function(os.fsencode(root), room) != 0:
        return None  # not there yet: watching it reports that
    return eventless_kind(room.raw)


def eventless_kind(statfs: bytes) -> str | None:
    """Return why a folder sends no events, from the bytes of its statfs."""
    kind = os.fsdecode(statfs[_KIND_AT : _KIND_AT + _KIND_LENGTH].partition(b"\0")[0])
    return f"filesystem:{kind}" if kind in REMOTE else None


def spelled(place: str) -> str:
    """Return a full path of an event as the workspace spells it: unchanged."""
    return place
