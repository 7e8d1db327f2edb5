"""Files that stand beside the one they are for, while a write is under way."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress

from sightline.filesystem.file_state import Link
from sightline.filesystem.folder import ASIDE, Folder
from sightline.filesystem.system_calls import WRITE, Calls
from sightline.model.revision import revision_of

_CREATE = WRITE | os.O_CREAT | os.O_EXCL


def aside_names(path: str, token: str) -> tuple[str, str, str]:
    """Beside a file: new content being written, then whole (and, once exchanged, what was
    displaced), and a file that is being removed."""
    if "/" in token or len(token) > 100:
        raise ValueError(f"{token!r} cannot be part of a file name")
    name = path[path.rfind("/") + 1 :]
    # A digest of the name, because the name itself may be as long as a name can be.
    stem = f"{ASIDE}{revision_of(name.encode())[:12]}-{token or 'write'}"
    return f"{stem}.part", f"{stem}.new", f"{stem}.old"


class Aside:
    """A new file beside another, with the attributes of `like`, an open one: first none, then
    written, then synced. What it may wait for is left to whoever carries that out."""

    def __init__(self, folder: Folder, name: str, new: bytes, like: int | None) -> None:
        self._folder = folder
        self._name = name
        self._new = new
        self._like = like
        self._fd = -1

    def write(self) -> None:
        """Make it and write all of it. OSError."""
        calls, folder = self._folder.calls, self._folder
        # Private until it has the old file's rights; a new file gets what the umask leaves.
        mode = 0o666 if self._like is None else 0o600
        self._fd = calls.open(folder.at(self._name), _CREATE, mode, dir_fd=folder.fd)
        write_all(calls, self._fd, self._new)
        if self._like is not None:
            copy_attributes(calls, self._like, self._fd)

    def begin_to_sync(self) -> None:
        """Let the disk begin with it, while others are written."""
        with suppress(OSError):  # what fails here fails again when it is synced
            self._folder.calls.write_back(self._fd)

    def sync(self) -> None:
        """Make it power-safe. OSError."""
        self._folder.calls.fsync(self._fd)

    def close(self) -> os.stat_result:
        """Let go of it; how it stands."""
        fd, self._fd = self._fd, -1
        try:
            return self._folder.calls.fstat(fd)
        finally:
            os.close(fd)

    def discard(self) -> None:
        """Remove it, if it was made."""
        if self._fd >= 0:
            os.close(self._fd)
            remove(self._folder, self._name)


def write_aside(
    folder: Folder, part: str, aside: str, new: bytes | Link, like: int | None
) -> Generator[Aside | None, None, os.stat_result]:
    """Write a whole file beside the path, synced, with the attributes of `like`; a stat of it. A
    symlink is there at once, and its folder is what makes it last."""
    calls = folder.calls
    if isinstance(new, Link):
        yield None
        calls.symlink(new.target, folder.at(aside), dir_fd=folder.fd)
        return calls.lstat(folder.at(aside), dir_fd=folder.fd)
    made = Aside(folder, part, new, like)
    try:
        yield made
    except BaseException:
        made.discard()
        raise
    try:
        stood = made.close()
        calls.replace(folder.at(part), folder.at(aside), src_dir_fd=folder.fd, dst_dir_fd=folder.fd)
    except BaseException:
        remove(folder, part)
        raise
    return stood


def put_back(folder: Folder, kept: str) -> None:
    """Give a file its name again; what was made there meanwhile is newer and stays."""
    try:
        folder.calls.move(
            folder.at(kept), folder.at(folder.name), src_fd=folder.fd, dst_fd=folder.fd
        )
    except FileExistsError:
        remove(folder, kept)


def remove(folder: Folder, name: str) -> None:
    """Remove an entry that may be gone already."""
    try:
        folder.calls.unlink(folder.at(name), dir_fd=folder.fd)
    except FileNotFoundError:
        return


def write_all(calls: Calls, fd: int, data: bytes) -> None:
    """Write all of it, however little the system takes at once."""
    left = memoryview(data)
    while left:
        left = left[calls.write(fd, left) :]


def copy_attributes(calls: Calls, source: int, target: int) -> None:
    """Give one open file the owner, ACL, attributes and mode of another, and never more rights
    than the other had. OSError when the disk refuses what a file's owner may do."""
    wanted = calls.fstat(source)
    mode = _own(calls, wanted, target)
    _copy_xattrs(calls, source, target)
    if hasattr(os, "fchmod"):
        # Last, because giving a file away drops its set-id bits.
        calls.fchmod(target, mode)


def _own(calls: Calls, wanted: os.stat_result, target: int) -> int:
    """Owner and group as far as we may give them; answers the mode that is safe with them."""
    mode = stat.S_IMODE(wanted.st_mode)
    made = calls.fstat(target)
    if not hasattr(os, "fchown") or (made.st_uid, made.st_gid) == (wanted.st_uid, wanted.st_gid):
        return mode
    try:
        calls.fchown(target, wanted.st_uid, wanted.st_gid)
        return mode
    except PermissionError:
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
    try:
        calls.fchown(target, -1, wanted.st_gid)
        return mode
    except PermissionError:
        # Another group than the old one may now do no more than everybody could.
        return mode & (~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3)


if sys.platform == "linux":

    def _copy_xattrs(calls: Calls, source: int, target: int) -> None:
        wanted, inherited = _xattrs(calls, source), _xattrs(calls, target)
        for name in inherited.keys() - wanted.keys():
            # A folder's default ACL would give rights that the old file did not.
            with _allowed(name):
                calls.removexattr(target, name)
        for name, value in wanted.items():
            if inherited.get(name) != value:
                with _allowed(name):
                    calls.setxattr(target, name, value)

    def _xattrs(calls: Calls, fd: int) -> dict[str, bytes]:
        try:
            return {name: calls.getxattr(fd, name) for name in calls.listxattr(fd)}
        except OSError as error:
            if error.errno == errno.ENOTSUP:
                return {}
            raise

    @contextmanager
    def _allowed(name: str) -> Iterator[None]:
        # Security modules and root's own attributes are not the owner's to set.
        try:
            yield
        except OSError as error:
            system = name.startswith(("security.", "trusted."))
            if not system or error.errno not in (errno.ENOTSUP, errno.EPERM, errno.EACCES):
                raise

else:

    def _copy_xattrs(calls: Calls, source: int, target: int) -> None:
        """No call of Python's standard library reads them here."""
