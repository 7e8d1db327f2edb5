"""Read and replace another program's settings file, and keep a copy beside it."""

from __future__ import annotations

import os
import stat

from msgspec import Struct

from sightline.errors import SettingsError
from sightline.filesystem.private_files import write_file

FILE_BYTES_MAX = 16 << 20
BACKUP = ".sightline-backup"


class Change(Struct, frozen=True):
    """A change of a file. before, after: the file's bytes, None for no file. keep: whether to copy
    `before` beside the file. drop: whether to remove that copy. restores: whether `after` is that
    copy."""

    path: str
    before: bytes | None
    after: bytes | None
    keep: bool = False
    drop: bool = False
    restores: bool = False

    @property
    def is_one(self) -> bool:
        """Return whether anything changes."""
        return self.before != self.after or self.drop


def read(path: str) -> bytes | None:
    """Return the file's bytes, links followed; None for no file. SettingsError."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > FILE_BYTES_MAX:
            raise SettingsError(
                f"{path} is not a plain file of up to {FILE_BYTES_MAX >> 20} MiB.",
                "Put a settings file there, or remove it.",
            )
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failed(path, "read", error) from error


def backup_of(path: str) -> str:
    """Return the path of the copy of the file from before Sightline changed it."""
    return path + BACKUP


def text_of(path: str, data: bytes) -> str:
    """Return the file's text, a byte order mark included. SettingsError."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise SettingsError(
            f"{path} is not UTF-8: line {line}, byte {column}.", "Save it as UTF-8 and try again."
        ) from error


def carry_out(change: Change) -> None:
    """Make a change, whole or not at all; links are followed. SettingsError, also when the file
    differs from `before`."""
    path = change.path
    if read(path) != change.before:
        raise SettingsError(f"{path} was changed just now by somebody else.", "Try again.")
    try:
        if change.keep and change.before is not None and not os.path.lexists(backup_of(path)):
            write_file(backup_of(path), change.before)  # the first copy is the user's own
        if change.after is None:
            os.unlink(os.path.realpath(path))
        elif change.after != change.before:
            _replace(os.path.realpath(path), change.after)
        if change.drop:
            os.unlink(backup_of(path))
    except OSError as error:
        raise _failed(error.filename or path, "written", error) from error


def _replace(target: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        before: os.stat_result | None = os.stat(target)
    except FileNotFoundError:
        before = None
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "the file is write-protected", target)
    write_file(target, data, before)


def _failed(path: str, verb: str, error: OSError) -> SettingsError:
    return SettingsError(
        f"{path} cannot be {verb}: {error.strerror}. Nothing was changed.",
        "Check the permissions of the file and its folder.",
    )
