"""Linux's inotify: its calls, in a class that a test can make fail, and its events.

It is a page of ctypes: the libraries that were measured are slower or lose events (docs/design).
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator

from sightline.filesystem.watch.watcher import Lost

MODIFY, ATTRIB, CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF = 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED, ISDIR = 0x2000, 0x4000, 0x8000, 0x4000_0000
_ONLYDIR, _DONT_FOLLOW, _EXCL_UNLINK = 0x100_0000, 0x200_0000, 0x400_0000

MASK = (
    (MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE)
    | (DELETE_SELF | MOVE_SELF | _ONLYDIR | _DONT_FOLLOW | _EXCL_UNLINK)
)  # fmt: skip
"""Never OPEN or ACCESS: a search that reads the whole tree would fill the queue."""

_HEAD = struct.Struct("iIII")
_ROOM = 1 << 18
_READS = 64
"""The limit of reads for one answer, more than a full queue takes: a storm must not delay it."""


class Inotify:
    """One queue of the kernel's, and the folders it watches. OSError where a call fails: EMFILE when
    the user has no queue left, ENOSPC when no watch is left."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._add, self._remove = libc.inotify_add_watch, libc.inotify_rm_watch
        self._add.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        self.fd: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            raise _failed("inotify_init1")

    def add(self, folder: str) -> int:
        """Watch a folder and return the number of the watch; a watched folder has its number already."""
        watch: int = self._add(self.fd, os.fsencode(folder), MASK)
        if watch < 0:
            raise _failed(folder)
        return watch

    def remove(self, watch: int) -> None:
        """End a watch, unless the kernel ended it already."""
        self._remove(self.fd, watch)

    def read(self) -> bytes:
        """Return all waiting events; b"" where there are none."""
        parts = []
        for _ in range(_READS):
            try:
                parts.append(os.read(self.fd, _ROOM))
            except BlockingIOError:
                break
            if len(parts[-1]) < _ROOM >> 1:
                break  # not nearly full: the queue was empty then
        return b"".join(parts)

    def close(self) -> None:
        """Close the queue and all its watches."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def events(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the watch, the mask and the name (b"" for the folder itself) of each event."""
    at, end, head, size = 0, len(data), _HEAD.unpack_from, _HEAD.size
    while at < end:
        watch, mask, _cookie, length = head(data, at)
        at += size
        yield watch, mask, data[at : at + length].rstrip(b"\0")
        at += length


def _failed(what: str) -> OSError:
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code), what)


AS_FILE, AS_FOLDER = 1, 2
_FATES: tuple[tuple[int, Lost], ...] = (
    (DELETE_SELF, "gone"),
    (MOVE_SELF, "moved"),
    (UNMOUNT, "unmounted"),
)


class Batch:
    """Events that were read together. touched: watch -> name -> AS_FILE or AS_FOLDER or both. came,
    left: folders that appeared or were renamed away, as (watch, name). ended: watches that the kernel
    ended. fates: watch -> what happened to its folder."""

    def __init__(self, data: bytes) -> None:
        self.touched: dict[int, dict[bytes, int]] = {}
        self.came: list[tuple[int, bytes]] = []
        self.left: list[tuple[int, bytes]] = []
        self.ended: list[int] = []
        self.fates: dict[int, Lost] = {}
        self.overflow = False
        for watch, mask, name in events(data):
            if name:
                names = self.touched.setdefault(watch, {})
                names[name] = names.get(name, 0) | (AS_FOLDER if mask & ISDIR else AS_FILE)
                if mask & ISDIR and mask & MOVED_FROM:
                    self.left.append((watch, name))
                elif mask & ISDIR and mask & (CREATE | MOVED_TO):
                    self.came.append((watch, name))
                continue
            if mask & OVERFLOW:
                self.overflow = True
            elif mask & IGNORED:
                self.ended.append(watch)
            for bit, fate in _FATES:
                if mask & bit:
                    self.fates[watch] = fate
