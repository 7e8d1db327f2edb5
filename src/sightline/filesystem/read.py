"""Read a file so that the revision is that of the very bytes returned."""

from __future__ import annotations

import errno
import os
import stat
from hashlib import sha256

from sightline.errors import Unverifiable
from sightline.filesystem.file_state import FileState, Kind, Pieces
from sightline.filesystem.folder import Folder
from sightline.filesystem.system_calls import READ, Calls
from sightline.model.path import quoted
from sightline.model.revision import MISSING, UNKNOWN, Revision, StatSignature, as_link, revision_of

CHUNK = 1 << 20

ANSWER_LIMIT = 64 << 20
"""The limit, in bytes, of the data in the answer to a failed comparison."""

PAUSES_S = (0.0, 0.001, 0.002, 0.004, 0.008)
"""Pauses before each attempt at a file that changes while it is read. A save takes about a
millisecond; a file that is written for longer is better judged later than waited for."""

EMPTIED_NS = 50_000_000
"""The age up to which an empty file counts as changing: most programs empty a file before they save
it."""

_HINTS = {
    errno.EACCES: "Check who may write to the file and its folder.",
    errno.EPERM: "Check who may write to the file and its folder.",
    errno.ENOSPC: "Free some space on that disk and try again.",
    errno.EDQUOT: "Free some space on that disk and try again.",
    errno.EROFS: "The file system is mounted read-only: work on a copy, or mount it writable.",
    errno.EBUSY: "Another program keeps saving this file: try again when it is done.",
    errno.ENOTDIR: (
        "A file stands where a folder of this path would have to be: choose another path."
    ),
}


class CountedPieces:
    """Hands pieces on, and counts them. count: of all pieces so far."""

    def __init__(self, inner: Pieces) -> None:
        self._inner = inner
        self.count = 0

    def begin(self) -> None:
        self._inner.begin()

    def take(self, piece: bytes) -> None:
        self.count += 1
        self._inner.take(piece)


def read(
    calls: Calls, root: str, path: str, limit: int | None = None, beyond: Pieces | None = None
) -> FileState:
    """Return the state of a canonical path. Content of more than `limit` bytes is hashed in pieces
    and not returned; `beyond` takes them. Never raises for the disk's state."""
    state: FileState | None = None
    for pause_s in PAUSES_S:
        if pause_s:
            calls.sleep(pause_s)
        started_ns = calls.time_ns()
        try:
            with Folder(calls, root, path) as folder:
                state = _read_once(folder, limit, started_ns, beyond)
        except OSError as error:
            state = failed(path, error, started_ns)
        if state is not None and not _is_just_emptied(state):
            return state
    return state or FileState(path, "unreadable", UNKNOWN, None, None, started_ns, "changing")


def _is_just_emptied(state: FileState) -> bool:
    signature = state.signature
    if state.kind != "file" or signature is None or signature.size:
        return False
    return abs(state.read_at_ns - signature.mtime_ns) < EMPTIED_NS


def content_of(folder: Folder, name: str) -> Revision:
    """Return what a replacement compares of an entry of an open folder: the revision of a file, the
    target of a symlink (as_link), MISSING, or UNKNOWN for anything else. OSError when it cannot be
    read."""
    calls = folder.calls
    try:
        mode = calls.lstat(folder.prefix + name, dir_fd=folder.fd).st_mode
        if stat.S_ISLNK(mode):
            target = _link_target(folder, name)
            return UNKNOWN if target is None else as_link(target)
        if not stat.S_ISREG(mode):
            return UNKNOWN
        fd = calls.open(folder.prefix + name, READ, dir_fd=folder.fd)
    except FileNotFoundError:
        return MISSING
    try:
        return _hash(calls, fd)[0]
    finally:
        os.close(fd)


def signature_of(found: os.stat_result) -> StatSignature:
    """Return the parts of a stat that tell one state of a file from another."""
    return StatSignature(
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_dev,
        found.st_ino,
        found.st_mode,
    )


def failed(path: str, error: OSError, at_ns: int) -> FileState:
    """Return the state of a path that the system refused to read: missing, a symlink in the way, or
    unreadable."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return FileState(path, "missing", MISSING, read_at_ns=at_ns)
    if error.errno == errno.ELOOP:
        return FileState(
            path, "symlink", UNKNOWN, read_at_ns=at_ns, why="a folder became a symlink"
        )
    why = error.strerror or type(error).__name__
    return FileState(path, "unreadable", UNKNOWN, read_at_ns=at_ns, why=why)


def refusal(path: str, error: OSError) -> Unverifiable:
    """Return the error for a write that the disk refused, with a hint what to do about it."""
    reason = f"{error.strerror or type(error).__name__}. The file is as it was."
    if error.errno == errno.ENOTDIR:
        reason = "a file stands where its folder was. Nothing was changed."
    hint = _HINTS.get(error.errno or 0, "Check the disk, then try again.")
    return Unverifiable(path, f"{quoted(path)} could not be written: {reason}", hint)


def _read_once(
    folder: Folder, limit: int | None, started_ns: int, beyond: Pieces | None
) -> FileState | None:
    """Read once; return None when the file changed meanwhile."""
    calls, path, name = folder.calls, folder.path, folder.prefix + folder.name
    found = calls.lstat(name, dir_fd=folder.fd)
    if not stat.S_ISREG(found.st_mode):
        # lstat decides, because opening a device can have effects of its own.
        kind: Kind = "directory" if stat.S_ISDIR(found.st_mode) else "special"
        target = None
        if stat.S_ISLNK(found.st_mode):
            kind, target = "symlink", _link_target(folder, folder.name)
        return FileState(path, kind, UNKNOWN, None, signature_of(found), started_ns, None, target)
    fd = calls.open(name, READ, dir_fd=folder.fd)
    try:
        before = calls.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            return None
        data: bytes | None = None
        if limit is None or before.st_size <= limit:
            data = _read_whole(calls, fd, before.st_size)
            revision, size = revision_of(data), len(data)
        else:
            revision, size = _hash(calls, fd, beyond)
        signature = signature_of(calls.fstat(fd))
    finally:
        os.close(fd)
    if size != signature.size or signature != signature_of(before):
        return None
    why = None if data is not None else "too_large"
    return FileState(
        path, "file", revision, data, signature, started_ns, why, names=before.st_nlink
    )


def _link_target(folder: Folder, name: str) -> str | None:
    """Return the target of a symlink; None where it is no Unicode."""
    target: str = folder.calls.readlink(folder.prefix + name, dir_fd=folder.fd)
    try:
        target.encode()
    except UnicodeEncodeError:
        return None
    return target


def _read_whole(calls: Calls, fd: int, size: int) -> bytes:
    """Read a file of a known size, and once more to notice growth."""
    data = calls.read(fd, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while data and sum(map(len, parts)) <= size:
        data = calls.read(fd, size + 1)
        parts.append(data)
    return b"".join(parts)


def _hash(calls: Calls, fd: int, beyond: Pieces | None = None) -> tuple[Revision, int]:
    """Return the revision of a file's content, and its size in bytes. beyond: takes the content."""
    digest, size = sha256(), 0
    if beyond is not None:
        beyond.begin()
    while chunk := calls.read(fd, CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if beyond is not None:
            beyond.take(chunk)
    if beyond is not None:
        beyond.take(b"")
    return digest.hexdigest(), size
