"""Putting new bytes where expected ones stand, and nothing else, ever."""

from __future__ import annotations

import errno
import os

from sightline.core.revision import MISSING, revision_of
from sightline.errors import Unverifiable
from sightline.workspace.aside import aside_names, put_back, remove, write_all, write_aside
from sightline.workspace.exchange import ROUNDS, Swap, swap_in
from sightline.workspace.folder import Folder
from sightline.workspace.lease import lease
from sightline.workspace.moving import clean
from sightline.workspace.reading import ANSWER_LIMIT, read, standing
from sightline.workspace.refusing import refusal
from sightline.workspace.syscalls import READ, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.revision import Revision
    from sightline.workspace import Found
    from sightline.workspace.syscalls import Calls

_EFFECTIVE = os.access in os.supports_effective_ids


def replace_if(
    calls: Calls, root: str, path: str, expected: Revision, new: bytes | None, token: str
) -> Found:
    """See Workspace.replace_if."""
    if not token:
        # These names are always the same: what a killed write left under them is in the way.
        clean(calls, root, path, aside_names(path, token))
    found = read(calls, root, path, ANSWER_LIMIT)
    if found.revision != expected or found.kind not in ("file", "missing"):
        return found
    try:
        with Folder(calls, root, path, make=new is not None and expected == MISSING) as folder:
            if expected == MISSING:
                _create(folder, new, token)
            elif new is None:
                _delete(folder, expected, token)
            else:
                _replace(folder, expected, new, token)
    except OSError as error:
        raise refusal(path, error) from error
    return read(calls, root, path, ANSWER_LIMIT)


def _replace(folder: Folder, expected: Revision, new: bytes, token: str) -> None:
    calls, name = folder.calls, folder.at(folder.name)
    old = calls.open(name, READ, dir_fd=folder.fd)
    try:
        if calls.fstat(old).st_nlink > 1:
            return _in_place(folder, expected, new)
        writable = calls.access(name, os.W_OK, dir_fd=folder.fd, effective_ids=_EFFECTIVE)
        part, aside, kept = aside_names(folder.path, token)
        write_aside(folder, part, aside, new, old)
    finally:
        os.close(old)
    swap = Swap(folder, aside, kept)
    try:
        if not writable:
            # The folder alone would let us, but a file made read-only was made so on purpose.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder.path)
        swap_in(swap, expected, revision_of(new))
    finally:
        swap.discard()


def _create(folder: Folder, new: bytes | None, token: str) -> None:
    if new is None:
        return
    calls, name = folder.calls, folder.at(folder.name)
    part, aside, _ = aside_names(folder.path, token)
    inode = None
    try:
        inode = write_aside(folder, part, aside, new, None)
        try:
            calls.move(folder.at(aside), name, src_fd=folder.fd, dst_fd=folder.fd)
        except FileExistsError:
            remove(folder, aside)
            return
        folder.sync()
    except OSError:
        _uncreate(folder, aside, inode)
        raise


def _delete(folder: Folder, expected: Revision, token: str) -> None:
    calls, name = folder.calls, folder.at(folder.name)
    kept = aside_names(folder.path, token)[2]
    for _ in range(ROUNDS):
        with lease(folder, folder.name) as quiet:
            if standing(folder, folder.name) != expected:
                return
            calls.move(name, folder.at(kept), src_fd=folder.fd, dst_fd=folder.fd)
            try:
                displaced = standing(folder, kept)
                folder.sync()
                if displaced == expected and quiet():
                    calls.unlink(folder.at(kept), dir_fd=folder.fd)
                    return
            except OSError:
                put_back(folder, kept)
                raise
            put_back(folder, kept)
    raise OSError(errno.EBUSY, "other programs keep saving it")


def _in_place(folder: Folder, expected: Revision, new: bytes) -> None:
    """Write into a file that has other names, too; they all keep it. Its old bytes are put back
    when the disk refuses in the middle."""
    calls = folder.calls
    fd = calls.open(folder.at(folder.name), WRITE, dir_fd=folder.fd)
    try:
        old = b"".join(iter(lambda: calls.read(fd, 1 << 20), b""))
        if revision_of(old) != expected:
            return
        try:
            _overwrite(calls, fd, new)
        except OSError:
            _restore(folder, fd, old)
            raise
    finally:
        os.close(fd)


def _restore(folder: Folder, fd: int, old: bytes) -> None:
    try:
        _overwrite(folder.calls, fd, old)
    except OSError as error:
        raise Unverifiable(
            folder.path,
            f"{folder.path} is half written, and could not be set back: {error.strerror}.",
            "Mend the disk; the content before the write is kept in the timeline.",
        ) from error


def _uncreate(folder: Folder, aside: str, inode: int | None) -> None:
    remove(folder, aside)
    if inode is not None and _inode(folder) == inode:
        remove(folder, folder.name)
    folder.unmake()


def _inode(folder: Folder) -> int | None:
    try:
        return folder.calls.lstat(folder.at(folder.name), dir_fd=folder.fd).st_ino
    except FileNotFoundError:
        return None


def _overwrite(calls: Calls, fd: int, data: bytes) -> None:
    calls.lseek(fd, 0, os.SEEK_SET)
    write_all(calls, fd, data)
    calls.ftruncate(fd, len(data))
    calls.fsync(fd)
