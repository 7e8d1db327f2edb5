"""The content of files in the tree of an attempt. A large file is hashed and copied in pieces, and its
bytes are never held."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from hashlib import sha256

from msgspec import Struct

from sightline.model.revision import Revision, as_link, revision_of

CHUNK = 1 << 20
"""Bytes of a file that are held at a time."""


class FileBytes(Struct, frozen=True):
    """The content of a file. data: None for no file, and for a large one. kind: file, link, large,
    other, or secret for one whose content was not sent. digest, size: of a large file; source: the
    place of a large file that is still to be copied, and whose digest is not known yet."""

    data: bytes | None
    mode: int | None = None
    kind: str = "file"
    digest: Revision = ""
    size: int = 0
    source: str = ""

    @property
    def is_missing(self) -> bool:
        """Return whether there is no file."""
        return self.data is None and self.kind == "file"

    @property
    def length(self) -> int:
        """Return the number of bytes."""
        return self.size if self.kind == "large" else len(self.data or b"")

    @property
    def revision(self) -> Revision | None:
        """Return the revision of the content, of a symlink model.revision.as_link(); None for no file."""
        if self.is_missing:
            return None
        if self.kind == "large":
            return self.digest
        data = self.data or b""
        return as_link(os.fsdecode(data)) if self.kind == "link" else revision_of(data)


NO_FILE = FileBytes(None)


def is_folder(path: str) -> bool:
    """Return whether a folder is at a path, and no symlink to one."""
    return os.path.isdir(path) and not os.path.islink(path)


def is_executable(file: FileBytes) -> bool:
    """Return whether the owner of a file may execute it."""
    return bool((file.mode or 0) & 0o100)


def read_bytes(top: str, name: str, limit: int, *, is_hashed: bool = True) -> FileBytes:
    """Return the content of a file below a folder, as content_of() does; below a symlink there is none."""
    parts = name.split("/")
    if any(os.path.islink(os.path.join(top, *parts[:n])) for n in range(1, len(parts))):
        return NO_FILE
    return content_of(os.path.join(top, name), limit, is_hashed=is_hashed)


def content_of(path: str, limit: int, *, is_hashed: bool = True) -> FileBytes:
    """Return the content of a file; a symlink's is its target, and a folder is no file. limit: bytes above
    which a file is large. is_hashed: look for the digest of a large file; else name its place."""
    try:
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode):
            return NO_FILE
        if stat.S_ISLNK(found.st_mode):
            return FileBytes(os.fsencode(os.readlink(path)), None, "link")
        if not stat.S_ISREG(found.st_mode):
            return FileBytes(b"", None, "other")
        mode = stat.S_IMODE(found.st_mode)
        if found.st_size <= limit:
            with open(path, "rb") as file:
                return FileBytes(file.read(), mode)
        if not is_hashed:
            return FileBytes(None, mode, "large", size=found.st_size, source=path)
        digest, size = _copy(path, None)
        return FileBytes(None, mode, "large", digest, size)
    except (FileNotFoundError, NotADirectoryError):
        return NO_FILE


def put(top: str, name: str, content: FileBytes) -> FileBytes:
    """Write a file of the beginning of an attempt, or delete it, and the folders that it leaves empty.
    Deletions come first: they make room. Return the content as written."""
    target = os.path.join(top, name)
    if content.is_missing:
        if os.path.lexists(target) and not is_folder(target):  # a repository within is no file
            os.unlink(target)
        with suppress(OSError):  # a folder holds more
            for above in range(name.count("/"), 0, -1):
                os.rmdir(os.path.join(top, *name.split("/")[:above]))
        return content
    if content.kind == "other":
        return content
    if is_folder(target):  # a file or a symlink took its place
        shutil.rmtree(target)
    elif os.path.lexists(target):
        os.unlink(target)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if content.kind == "link":
        os.symlink(os.fsdecode(content.data or b""), target)
        return content
    written = content
    if content.source:
        digest, size = _copy(content.source, target)
        written = FileBytes(None, content.mode, "large", digest, size)
    else:
        with open(target, "wb") as file:
            file.write(content.data or b"")
    os.chmod(target, content.mode or 0o600)
    return written


def _copy(source: str, target: str | None) -> tuple[Revision, int]:
    """Return the digest and the size of a file, and write its content to another one. target: None to
    write nothing."""
    digest, size = sha256(), 0
    with open(source, "rb") as file, open(target or os.devnull, "wb") as copy:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if target is not None:
                copy.write(chunk)
    return digest.hexdigest(), size
