"""Files and folders that only their owner may read, whatever the umask, and their durability."""

from __future__ import annotations

import errno
import os
import stat
import sys

from sightline.errors import StoreError
from sightline.model.path import quoted

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


def check_private(folder: str, *below: str) -> None:
    """Refuse a folder of ours, or one `below` it, that another user owns or may write to, or that
    is a symlink: another user could put links there, and have us write through them. StoreError.
    The folder itself may be reached by a symlink of the user's own."""
    if os.name == "nt":
        return
    user = os.geteuid()
    if os.path.lexists(folder) and os.lstat(folder).st_uid not in (user, 0):
        raise _not_private(folder, "belongs to another user")
    home = os.path.realpath(folder)
    parent = os.path.dirname(home)
    if os.path.isdir(parent):
        mode = os.stat(parent).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise _not_private(home, f"is in {quoted(parent)}, where every user may rename it")
    for path in (home, *(os.path.join(home, name) for name in below)):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(found.st_mode):
            raise _not_private(path, "is no folder, but a symlink or a file")
        if found.st_uid != user:
            raise _not_private(path, "belongs to another user")
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise _not_private(path, "may be written by other users")


def _not_private(path: str, why: str) -> StoreError:
    return StoreError(
        f"{quoted(path)} {why}, so Sightline keeps nothing there.",
        "Give it to yourself alone (chown, chmod 700), or set SIGHTLINE_HOME to another folder.",
    )


def open_own(path: str, flags: int) -> int:
    """Open a file in a folder of ours, made 0600 with O_CREAT, and return its descriptor. OSError
    for a symlink, and for what is no regular file of this user."""
    more = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags | more, 0o600)
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and (os.name == "nt" or found.st_uid == os.geteuid()):
        return descriptor
    os.close(descriptor)
    raise PermissionError(errno.EPERM, "not a file of this user", path)


def new_file(path: str) -> int:
    """Create a file, 0600, and return its descriptor. FileExistsError."""
    descriptor = os.open(
        path, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0), 0o600
    )
    os.chmod(path, 0o600)
    return descriptor


def write_file(path: str, data: bytes, like: os.stat_result | None = None) -> None:
    """Put a whole file at `path`, or leave all as it is. It is on the platter when this returns.
    like: of a file whose owner and permissions the new one gets."""
    aside = aside_of(path)
    try:
        with open(new_file(aside), "wb") as file:
            file.write(data)
            file.flush()
            if like is not None:
                made = os.fstat(file.fileno())
                if os.name != "nt" and (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
                    os.chown(aside, like.st_uid, like.st_gid)
                os.chmod(aside, stat.S_IMODE(like.st_mode))
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        if os.path.lexists(aside):
            os.unlink(aside)
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
        self._descriptor = open_own(self._path, os.O_CREAT | os.O_RDWR)
        if sys.platform == "win32":
            msvcrt.locking(self._descriptor, msvcrt.LK_LOCK, 1)
        else:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
