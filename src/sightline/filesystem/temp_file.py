"""Temporary files beside the file that a write is for."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

from sightline.filesystem.file_state import FileCopy, Link
from sightline.filesystem.folder import ASIDE, Folder
from sightline.filesystem.system_calls import READ, WRITE, Calls

CHUNK = 1 << 20
"""Bytes of a copied file that are held at a time."""


def temp_names(path: str, token: str) -> tuple[str, str, str]:
    """Return the names of a write's temporary files: for new content while it is written; for new
    content that is whole (and for the displaced content after the swap); for a file that is being removed."""
    if not token or "/" in token or len(token) > 100:
        raise ValueError(f"{token!r} cannot be part of a file name")
    name = path[path.rfind("/") + 1 :]
    # A digest of the name, because the name itself may be as long as a name can be.
    stem = f"{ASIDE}{sha256(name.encode()).hexdigest()[:12]}-{token}"
    return f"{stem}.part", f"{stem}.new", f"{stem}.old"


def write_temp_file(
    folder: Folder, part: str, name: str, new: bytes | Link | FileCopy, like: int | None
) -> os.stat_result:
    """Write a whole, synced file beside the path, and return its stat. A symlink needs no sync of its
    own: the sync of its folder stores it. like: an open file whose attributes the new one gets."""
    calls = folder.calls
    if isinstance(new, Link):
        calls.symlink(new.target, folder.prefix + name, dir_fd=folder.fd)
        return calls.lstat(folder.prefix + name, dir_fd=folder.fd)
    # Private until it has the old file's rights; a new file gets what the umask leaves.
    mode = 0o666 if like is None else 0o600
    flags = WRITE | os.O_CREAT | os.O_EXCL
    fd = calls.open(folder.prefix + part, flags, mode, dir_fd=folder.fd)
    try:
        try:
            if isinstance(new, FileCopy):
                _copy(calls, new, fd)
            else:
                write_all(calls, fd, new)
            if like is not None:
                copy_attributes(calls, like, fd)
            calls.fsync(fd)
            written = calls.fstat(fd)
        finally:
            os.close(fd)
        calls.replace(
            folder.prefix + part, folder.prefix + name, src_dir_fd=folder.fd, dst_dir_fd=folder.fd
        )
    except BaseException:
        remove(folder, part)
        raise
    return written


def put_back(folder: Folder, name: str) -> None:
    """Rename a temporary file to the path again. A newer file that stands there stays."""
    try:
        folder.calls.move(
            folder.prefix + name, folder.prefix + folder.name, src_fd=folder.fd, dst_fd=folder.fd
        )
    except FileExistsError:
        remove(folder, name)


def remove(folder: Folder, name: str) -> None:
    """Remove an entry of a folder; one that is gone already is no error."""
    with suppress(FileNotFoundError):
        folder.calls.unlink(folder.prefix + name, dir_fd=folder.fd)


def write_all(calls: Calls, fd: int, data: bytes) -> None:
    """Write data to an open file in as many calls as the system needs."""
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[calls.write(fd, unwritten) :]


def _copy(calls: Calls, copied: FileCopy, fd: int) -> None:
    """Write the content of another file to an open file. OSError where the other is not as it was."""
    digest, source = sha256(), calls.open(copied.source, READ)
    try:
        while chunk := calls.read(source, CHUNK):
            digest.update(chunk)
            write_all(calls, fd, chunk)
    finally:
        os.close(source)
    if digest.hexdigest() != copied.content:
        raise OSError(errno.EBUSY, "the file that is copied changed meanwhile")


def copy_attributes(calls: Calls, source: int, target: int) -> None:
    """Give an open file the owner, ACL, attributes and mode of another, and never more rights than
    the other had. OSError when the disk refuses what a file's owner may do."""
    mode = _copy_owner(calls, calls.fstat(source), target)
    _copy_xattrs(calls, source, target)
    if hasattr(os, "fchmod"):
        # Last, because giving a file away drops its set-id bits.
        calls.fchmod(target, mode)


def _copy_owner(calls: Calls, wanted: os.stat_result, target: int) -> int:
    """Copy owner and group as far as we may; return the mode that is safe with them."""
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
        # A group other than the old one may do no more than everybody could.
        return mode & (~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3)


if sys.platform == "linux":

    def _copy_xattrs(calls: Calls, source: int, target: int) -> None:
        wanted, inherited = _xattrs(calls, source), _xattrs(calls, target)
        for name in inherited.keys() - wanted.keys():
            # A folder's default ACL would give rights that the old file did not.
            with _tolerated(name):
                calls.removexattr(target, name)
        for name, value in wanted.items():
            if inherited.get(name) != value:
                with _tolerated(name):
                    calls.setxattr(target, name, value)

    def _xattrs(calls: Calls, fd: int) -> dict[str, bytes]:
        try:
            return {name: calls.getxattr(fd, name) for name in calls.listxattr(fd)}
        except OSError as error:
            if error.errno == errno.ENOTSUP:
                return {}
            raise

    @contextmanager
    def _tolerated(name: str) -> Iterator[None]:
        """Pass over refusals for attributes of security modules and of root: no owner may set them."""
        try:
            yield
        except OSError as error:
            system = name.startswith(("security.", "trusted."))
            if not system or error.errno not in (errno.ENOTSUP, errno.EPERM, errno.EACCES):
                raise

else:

    def _copy_xattrs(calls: Calls, source: int, target: int) -> None:
        """Do nothing: Python's standard library has no such calls on this system."""
