"""Note that the guard is off: tell the user once a session, and let later hooks not wait for it again.

The guard is off while the store or the settings cannot be used. The notes are in the run folder, or in
a folder for temporary files where the state folder cannot be written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from sightline.errors import SettingsError, SightlineError, StoreError
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.private_files import make_folder
from sightline.hooks.protocol import TOLD, is_private, outage_fields, outage_folders, outage_name
from sightline.model.revision import revision_of


def is_outage(error: Exception) -> bool:
    """Return whether a fault of one hook call is likely to meet every call, so that the guard is off. A
    ValueError is about the payload of that call."""
    known = (StoreError, SettingsError, OSError, DeadlinePassed)
    return isinstance(error, known) or not isinstance(error, (SightlineError, ValueError))


def tell_once(environ: Mapping[str, str], home: str, session: str, what: str) -> bool | None:
    """Note that the user is told of something in this session. Return whether that is new; None
    where no note can be written."""
    name = revision_of(f"{what} {session}".encode("utf-8", "surrogatepass"))[:16] + TOLD
    for folder in outage_folders(environ, home):
        try:
            _note(folder, name, b"", os.O_EXCL)
        except FileExistsError:
            return False
        except (OSError, SightlineError):
            continue
        return True
    return None


def note(
    environ: Mapping[str, str], home: str, session: str, paths: Sequence[str], *, fail: str
) -> None:
    """Note an outage that the user was told of in this session. paths: files and folders whose change
    may end it. fail: as the setting. Where no note can be written, each hook finds out by itself."""
    project = environ.get("CLAUDE_PROJECT_DIR", "")
    fields = outage_fields(fail, session, environ, paths)
    for folder in outage_folders(environ, home) if project else ():
        try:
            _note(folder, outage_name(project), os.fsencode("\0".join(fields)), os.O_TRUNC)
        except (OSError, SightlineError):
            continue
        return


def noted(environ: Mapping[str, str], home: str) -> list[str]:
    """Return the notes of an outage of this project."""
    name = outage_name(environ.get("CLAUDE_PROJECT_DIR", ""))
    paths = [os.path.join(folder, name) for folder in outage_folders(environ, home)]
    return [path for path in paths if os.path.exists(path)]


def forget(notes: Iterable[str]) -> None:
    """Remove notes of an outage that is over. Another hook may have removed them."""
    for note in notes:
        with suppress(OSError):
            os.unlink(note)


def _note(folder: str, name: str, data: bytes, flag: int) -> None:
    """Write a note. OSError, SightlineError; then no note is left by this call."""
    make_folder(folder)
    if not is_private(folder):
        raise PermissionError(1, "belongs to somebody else", folder)
    path = os.path.join(folder, name)
    descriptor = os.open(
        path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | flag, 0o600
    )
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
    except OSError:
        os.unlink(path)
        raise
