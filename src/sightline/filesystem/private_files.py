"""Files and folders that only their owner may read, whatever the umask, and their durability."""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def make_folder(path: str) -> None:
    """Make a folder and its missing parents, 0700; existing folders stay as they are."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent != path:
        make_folder(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # another process was first
        return
    os.chmod(path, 0o700)  # a umask may have taken our own rights away


def new_file(path: str) -> int:
    """Create a file, 0600, and return its descriptor. FileExistsError."""
    descriptor = os.open(
        path, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0), 0o600
    )
    os.chmod(path, 0o600)
    return descriptor


def write_file(path: str, data: bytes) -> None:
    """Put a whole file at `path`. It is on the platter when this returns."""
    aside = aside_of(path)
    with open(new_file(aside), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)
    sync_folder(os.path.dirname(path))


def publish(aside: str, path: str) -> None:
    """Give the finished file `aside` its name. FileExistsError when `path` exists; `aside` is gone
    in both cases."""
    try:
        if os.name == "nt":
            os.rename(aside, path)  # never replaces, on Windows
        else:
            os.link(aside, path)
    finally:
        if os.path.lexists(aside):
            os.unlink(aside)
    sync_folder(os.path.dirname(path))


def aside_of(path: str) -> str:
    """Return a name beside `path` that nobody else uses."""
    return f"{path}.{os.urandom(6).hex()}.new"


def sync_folder(path: str) -> None:
    """Make the names in a folder power-safe. Windows does that without being asked."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Locked:
    """A lock on one file: one holder at a time among all processes and threads. It ends with its process."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1

    def __enter__(self) -> None:
        self._descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        if sys.platform == "win32":
            msvcrt.locking(self._descriptor, msvcrt.LK_LOCK, 1)
        else:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
