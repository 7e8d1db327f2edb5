"""Reading a file so that the revision is that of the very bytes returned."""

from __future__ import annotations

import errno
import os
import stat
from hashlib import sha256

from sightline.filesystem.file_state import FileState, Kind
from sightline.filesystem.folder import Folder
from sightline.filesystem.system_calls import READ, Calls
from sightline.model.revision import MISSING, UNKNOWN, Revision, StatSignature, as_link, revision_of

CHUNK = 1 << 20
ANSWER_LIMIT = 64 << 20
"""Bytes that an answer to a failed comparison carries, so that it can be judged again."""

PAUSES_S = (0.0, 0.001, 0.002, 0.004, 0.008)
"""Waits between attempts at a file that changes while it is read: a save takes about a
millisecond, and one that writes for longer is better judged later than waited for."""


def read(calls: Calls, root: str, path: str, limit: int | None = None) -> FileState:
    """What stands at a canonical path; contents of more than `limit` bytes are hashed in chunks
    and not returned. Never raises for the disk's state."""
    for pause_s in PAUSES_S:
        if pause_s:
            calls.sleep(pause_s)
        started_ns = calls.time_ns()
        try:
            with Folder(calls, root, path) as folder:
                found = _once(folder, limit, started_ns)
        except OSError as error:
            found = failed(path, error, started_ns)
        if found is not None:
            return found
    return FileState(path, "unreadable", UNKNOWN, None, None, started_ns, "changing")


def standing(folder: Folder, name: str) -> Revision:
    """What an entry of an open folder is: the revision of its content, where it leads (as_link),
    MISSING, or UNKNOWN for what is neither file nor symlink. OSError when it cannot be read."""
    calls = folder.calls
    try:
        mode = calls.lstat(folder.at(name), dir_fd=folder.fd).st_mode
        if stat.S_ISLNK(mode):
            target = target_of(folder, name)
            return UNKNOWN if target is None else as_link(target)
        if not stat.S_ISREG(mode):
            return UNKNOWN
        fd = calls.open(folder.at(name), READ, dir_fd=folder.fd)
    except FileNotFoundError:
        return MISSING
    try:
        return _hashed(calls, fd)[0]
    finally:
        os.close(fd)


def target_of(folder: Folder, name: str) -> str | None:
    """Where a symlink of an open folder leads; None where that is no Unicode. OSError."""
    target: str = folder.calls.readlink(folder.at(name), dir_fd=folder.fd)
    try:
        target.encode()
    except UnicodeEncodeError:
        return None
    return target


def signature_of(found: os.stat_result) -> StatSignature:
    """What of a stat tells one state of a file from another."""
    return StatSignature(
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_dev,
        found.st_ino,
        found.st_mode,
    )


def failed(path: str, error: OSError, at_ns: int) -> FileState:
    """The answer when the system refused: nothing there, a symlink in the way, or unreadable."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return FileState(path, "missing", MISSING, read_at_ns=at_ns)
    if error.errno == errno.ELOOP:
        return FileState(
            path, "symlink", UNKNOWN, read_at_ns=at_ns, why="a folder became a symlink"
        )
    why = error.strerror or type(error).__name__
    return FileState(path, "unreadable", UNKNOWN, read_at_ns=at_ns, why=why)


def _once(folder: Folder, limit: int | None, started_ns: int) -> FileState | None:
    """One attempt; None when the file changed meanwhile."""
    calls, path, name = folder.calls, folder.path, folder.at(folder.name)
    standing = calls.lstat(name, dir_fd=folder.fd)
    if not stat.S_ISREG(standing.st_mode):
        # Told by lstat, because opening a device can have effects of its own.
        kind, signature = _kind(standing.st_mode), signature_of(standing)
        target = target_of(folder, folder.name) if kind == "symlink" else None
        return FileState(path, kind, UNKNOWN, None, signature, started_ns, target=target)
    fd = calls.open(name, READ, dir_fd=folder.fd)
    try:
        before = calls.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            return None
        data: bytes | None = None
        if limit is None or before.st_size <= limit:
            data = _whole(calls, fd, before.st_size)
            revision, size = revision_of(data), len(data)
        else:
            revision, size = _hashed(calls, fd)
        signature = signature_of(calls.fstat(fd))
    finally:
        os.close(fd)
    if size != signature.size or signature != signature_of(before):
        return None
    why = None if data is not None else "too_large"
    return FileState(path, "file", revision, data, signature, started_ns, why)


def _kind(mode: int) -> Kind:
    if stat.S_ISDIR(mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(mode) else "special"


def _whole(calls: Calls, fd: int, size: int) -> bytes:
    """The bytes of a file of that size, and one read more to notice that it grew."""
    data = calls.read(fd, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while data and sum(map(len, parts)) <= size:
        data = calls.read(fd, size + 1)
        parts.append(data)
    return b"".join(parts)


def _hashed(calls: Calls, fd: int) -> tuple[Revision, int]:
    digest, size = sha256(), 0
    while chunk := calls.read(fd, CHUNK):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size
