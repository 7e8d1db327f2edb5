"""TODO: module docstring"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping

PROTOCOL = "sightline-hook-2"
MINE, NOT_MINE, GO = b"m", b"n", b"g"

PAYLOAD_MAX = 64 << 20
"""Bytes of one payload; a larger one is not read whole."""
LATE = ".late"
"""What the name of a socket has more in its mark."""


def run_folder(environ: Mapping[str, str], home: str) -> str:
    """Where every answerer of this user has a socket."""
    return os.path.join(state_base(environ, home), "run")


def state_base(environ: Mapping[str, str], home: str, platform: str = sys.platform) -> str:
    """The state folder as far as it can be told without reading settings: the same as theirs,
    unless the user's settings file moves it."""
    asked = environ.get("SIGHTLINE_HOME", "")
    if asked:
        return os.path.join(home, asked[2:]) if asked.startswith("~/") else asked
    if platform == "darwin":
        return os.path.join(home, "Library/Application Support/sightline")
    windows = platform == "win32"
    named = environ.get("LOCALAPPDATA" if windows else "XDG_STATE_HOME", "")
    fallback = "AppData/Local" if windows else ".local/state"
    folder = named if os.path.isabs(named) else os.path.join(home, fallback)
    return os.path.join(folder, "sightline")


def own_settings(environ: Mapping[str, str]) -> str:
    """The variables that change what is judged. An answerer with others is not asked."""
    return "\x01".join(
        f"{key}={environ[key]}"
        for key in sorted(environ)
        if key.startswith("SIGHTLINE_") or key == "XDG_CONFIG_HOME"
    )


def key_of(folder: str) -> str:
    """Six letters for a folder. No hash is worth its import: a key that stands for two folders
    costs a question. The disk is not asked, because it may not answer."""
    return f"{int.from_bytes(os.fsencode(folder), 'big') % 0xFFFFFD:06x}"


def stamp() -> str:
    """Which installation this is, and of when: what another one's code judges may differ. Every
    way of installing writes the package's files anew, so one of them tells."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = os.stat(os.path.join(package, "__init__.py"))
    return f"{found.st_dev}-{found.st_ino}-{found.st_mtime_ns}"


def uid_of_peer(peer: socket) -> int | None:
    """The user at the other end; None where the system does not say (the folder is private)."""
    import _socket

    if not hasattr(_socket, "SO_PEERCRED"):
        return None
    found = peer.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(found[4:8], sys.byteorder)  # struct ucred: pid, uid, gid


def private(folder: str) -> bool:
    """Whether a folder is this user's, and nobody else may enter it. OSError."""
    found = os.stat(folder)
    return found.st_uid == os.getuid() and not found.st_mode & 0o077
