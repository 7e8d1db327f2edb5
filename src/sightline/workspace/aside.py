"""Files that stand beside the one they are for, while a write is under way."""

from __future__ import annotations

import os

from sightline.core.revision import revision_of
from sightline.workspace import Link
from sightline.workspace.attributes import copy_attributes
from sightline.workspace.folder import ASIDE
from sightline.workspace.syscalls import WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from sightline.workspace.folder import Folder
    from sightline.workspace.syscalls import Calls

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


def write_aside(
    folder: Folder, part: str, aside: str, new: bytes | Link, like: int | None
) -> Generator[int | None, None, os.stat_result]:
    """Write a whole file beside the path, synced, with the attributes of `like`; a stat of it. A
    symlink is there at once, and its folder is what makes it last."""
    calls, name = folder.calls, folder.at(part)
    if isinstance(new, Link):
        yield None
        calls.symlink(new.target, folder.at(aside), dir_fd=folder.fd)
        return calls.lstat(folder.at(aside), dir_fd=folder.fd)
    # Private until it has the old file's rights; a new file gets what the umask leaves.
    fd = calls.open(name, _CREATE, 0o666 if like is None else 0o600, dir_fd=folder.fd)
    try:
        try:
            write_all(calls, fd, new)
            if like is not None:
                copy_attributes(calls, like, fd)
            yield fd
            made = calls.fstat(fd)
        finally:
            os.close(fd)
        calls.replace(name, folder.at(aside), src_dir_fd=folder.fd, dst_dir_fd=folder.fd)
        return made
    except BaseException:
        remove(folder, part)
        raise


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
