"""The names in git's index: the files that git tracks, whatever its ignore files say."""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections.abc import Sequence

from sightline.filesystem.system_calls import READ

INDEX_BYTES = 256 << 20
"""The limit of an index."""

_FIXED = 42
"""Bytes of an entry before the hash of its object and its flags: times, place, kind, owner and size."""

_LONG = 0x4000
"""The flag of an entry with two more bytes of flags."""


class Tracked:
    """The files that an index tracks. file: the index. Names are relative to the top of its tree."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._stamp: tuple[int, ...] | None = None
        self._names: Sequence[str] | None = None
        self.changes = 0
        """How often another index was found."""

    def refresh(self) -> None:
        """Forget the names if the index changed."""
        try:
            found = os.lstat(self._file)
            is_readable = stat.S_ISREG(found.st_mode) and found.st_size <= INDEX_BYTES
            stamp = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
        except OSError:
            is_readable, stamp = False, (0, 0, 0, 0)
        if stamp != self._stamp:
            self._stamp = stamp
            self._names = None if is_readable else ()
            self.changes += 1

    def holds(self, path: str, *, folder: bool) -> bool:
        """Return whether git tracks a file, or any file in a folder."""
        names, asked = self._names, f"{path}/" if folder else path
        if names is None:
            names = self._names = names_of(_bytes(self._file))
        at = bisect_left(names, asked)
        return at < len(names) and (names[at].startswith(asked) if folder else names[at] == asked)


def names_of(index: bytes) -> Sequence[str]:
    """Return the names in an index, in order; none where it is in a form that is not known."""
    if index[:4] != b"DIRC" or (version := int.from_bytes(index[4:8], "big")) not in (2, 3, 4):
        return ()
    for digest in (20, 32):  # SHA-1, SHA-256
        names = _names(index, version, digest)
        if names is not None:
            return names
    return ()


def _names(index: bytes, version: int, digest: int) -> Sequence[str] | None:
    """Return the names where the hash of each object has so many bytes; None where it has not."""
    names: list[str] = []
    at, last, flags_at = 12, b"", _FIXED - 2 + digest
    for _ in range(int.from_bytes(index[8:12], "big")):
        flags = int.from_bytes(index[at + flags_at : at + flags_at + 2], "big")
        begin = at + flags_at + (4 if flags & _LONG else 2)
        if version == 4:
            cut, begin = _number(index, begin)
            end = index.find(b"\0", begin)
            name = last[: max(len(last) - cut, 0)] + index[begin:end]
            after = end + 1
        else:
            end = index.find(b"\0", begin)
            name = index[begin:end]
            after = at + ((end - at) // 8 + 1) * 8
        if end < 0 or min(flags & 0xFFF, 0xFFF) != min(len(name), 0xFFF):
            return None
        names.append(name.decode("utf-8", "surrogateescape"))
        at, last = after, name
    return sorted(names)


def _number(index: bytes, at: int) -> tuple[int, int]:
    """Return a number as version 4 writes it, and the offset behind it."""
    value = 0
    while at < len(index):
        byte = index[at]
        at += 1
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            break
        value += 1
    return value, at


def _bytes(file: str) -> bytes:
    try:
        with open(os.open(file, READ), "rb") as opened:
            return opened.read(INDEX_BYTES)
    except OSError:
        return b""
