"""Define the protocol of hook clients and daemons: constants, the run folder, its files, identity.

The client imports this module on every tool call, so it imports os and sys only.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROTOCOL = "sightline-hook-4"
MINE, NOT_MINE, GO = b"m", b"n", b"g"

ACCEPT_S = 0.25
"""Seconds within which a daemon must say MINE or NOT_MINE."""

PIECE = 1 << 16
"""Bytes that one call reads."""

PAYLOAD_MAX = 64 << 20
"""Bytes of the largest payload that is read whole."""

PIPE, ASK, SAY = ".fifo", ".ask", ".say"
"""The endings of a daemon's pipe, of a request, and of the pipe that the client reads."""

LATE = ".late"
"""The ending of the mark beside a pipe whose daemon did not say MINE in time."""

TOLD, OFF = ".told", ".off"
"""The endings of the notes that a session's user was told of an outage, and of an outage itself."""

OFF_S = 5.0
"""Seconds for which hooks take a noted outage for granted."""


def run_folder(environ: Mapping[str, str], home: str) -> str:
    """Return the folder that holds the pipes and requests of this user."""
    return os.path.join(state_base(environ, home), "run")


def state_base(environ: Mapping[str, str], home: str, platform: str = sys.platform) -> str:
    """Return the state folder without reading settings: the folder that settings name, too, unless
    the user's settings file moves it."""
    override = environ.get("SIGHTLINE_HOME", "")
    if override:
        return os.path.join(home, override[2:]) if override.startswith("~/") else override
    if platform == "darwin":
        return os.path.join(home, "Library/Application Support/sightline")
    windows = platform == "win32"
    base = environ.get("LOCALAPPDATA" if windows else "XDG_STATE_HOME", "")
    fallback = "AppData/Local" if windows else ".local/state"
    folder = base if os.path.isabs(base) else os.path.join(home, fallback)
    return os.path.join(folder, "sightline")


def own_settings(environ: Mapping[str, str]) -> str:
    """Join the variables that change a verdict. A client asks only a daemon with the same ones."""
    return "\x01".join(
        f"{key}={environ[key]}"
        for key in sorted(environ)
        if key.startswith("SIGHTLINE_") or key == "XDG_CONFIG_HOME"
    )


def outage_folders(environ: Mapping[str, str], home: str) -> list[str]:
    """Return the folders for notes of an outage: the run folder, and another one in case the state
    folder cannot be written."""
    if not hasattr(os, "getuid"):
        return [run_folder(environ, home)]
    other = environ.get("XDG_RUNTIME_DIR") or environ.get("TMPDIR") or "/tmp"  # noqa: S108 - private
    return [run_folder(environ, home), os.path.join(other, f"sightline-{os.getuid()}")]


def outage_name(project: str) -> str:
    """Return the name of the note of an outage. project: the folder as its host names it."""
    return key_of(project) + OFF


def outage_fields(
    fail: str, session: str, project: str, environ: Mapping[str, str], paths: Sequence[str]
) -> list[str]:
    """Return the fields of the note of an outage, which differ when a path was changed since. project: the
    folder as its host names it."""
    seen = [field for path in paths for field in (path, _change_of(path))]
    return [fail, session, project, own_settings(environ), *seen]


def _change_of(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return f"{status.st_ino}-{status.st_size}-{status.st_ctime_ns}"


def key_of(folder: str) -> str:
    """Return six letters for a folder, computed from the path alone: the disk may hang. Two folders
    with one key cost one question more, so no hash has to be imported."""
    return f"{int.from_bytes(os.fsencode(folder), 'big') % 0xFFFFFD:06x}"


def stamp(package: str = "") -> str:
    """Identify an installation and its time. Every installer writes the package's files anew, so
    the file __init__.py tells an upgrade. package: the folder of the package; "" for this one."""
    package = package or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    status = os.stat(os.path.join(package, "__init__.py"))
    return f"{status.st_dev}-{status.st_ino}-{status.st_mtime_ns}"


def is_private(folder: str) -> bool:
    """Return whether a folder is this user's and closed to everybody else. OSError."""
    status = os.stat(folder)
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o077
