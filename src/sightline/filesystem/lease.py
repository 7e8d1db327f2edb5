"""A file lease: to know that nobody has a file open for writing, and who comes meanwhile.

A rename leaves a program that opened the old file before it with a descriptor to an inode
without a name: what it saves then is lost without a trace. Under a read lease (Linux, own files)
nobody has the file open for writing; one who tries waits in open() until the lease is given back,
and the lease says that somebody waits. Elsewhere there is no lease, and only comparing the old
inode after the rename tells of a save in between.
"""

from __future__ import annotations

import errno
import os
import sys
from time import monotonic, sleep
from typing import Self

from msgspec import Struct

from sightline.filesystem.folder import Folder
from sightline.filesystem.system_calls import READ

if sys.platform == "linux":
    import fcntl

SIGURG = 23
"""signal.SIGURG on Linux, without the cost of importing signal and enum."""


Stood = tuple[int, os.stat_result]
"""A time before a stat, by time.time_ns(), and the stat."""

PATIENCE_S = 0.25
"""How long to wait for a writer to close: a save takes milliseconds, a logger never ends."""


class Gone(Struct, frozen=True):
    """A file that lost its last name, and is open still: to close it the system frees all that it
    had. None for no such file."""

    fd: int | None


class Lease:
    """A lease on an entry of an open folder, as long as it is entered. Without one (unsupported,
    another's file, a writer that stays) nobody is known to wait, and nothing to be unchanged."""

    def __init__(self, folder: Folder, name: str, patience_s: float = PATIENCE_S) -> None:
        self._folder = folder
        self._name = name
        self._patience_s = patience_s
        self._fd = -1
        self._held = False

    def __enter__(self) -> Self:
        if sys.platform != "linux":
            return self
        folder = self._folder
        try:
            self._fd = folder.calls.open(folder.at(self._name), READ, dir_fd=folder.fd)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ELOOP):
                raise
            return self  # no file any more: the caller compares next, and sees it
        try:
            self._held = _taken(self._fd, self._patience_s)
        except BaseException:
            os.close(self._fd)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)  # gives the lease back, too

    def hand_over(self) -> Gone:
        """The open file, for whoever closes it; the lease is given back."""
        fd, self._fd = self._fd, -1
        if sys.platform == "linux" and self._held:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            self._held = False
        return Gone(fd if fd >= 0 else None)

    def quiet(self) -> bool:
        """Whether nobody is known to wait for writing."""
        return not self._held or self._unbroken()

    def stands(self) -> Stood | None:
        """How the file stands, where nobody wrote to it since the lease was taken; None where that
        is not known."""
        if not self._held:
            return None
        calls = self._folder.calls
        stood = calls.time_ns(), calls.fstat(self._fd)
        return stood if self._unbroken() else None

    def _unbroken(self) -> bool:
        return sys.platform == "linux" and fcntl.fcntl(self._fd, fcntl.F_GETLEASE) == fcntl.F_RDLCK


def _taken(fd: int, patience_s: float) -> bool:
    # The kernel signals the holder when somebody comes: SIGIO would end the process, SIGURG is
    # ignored by default.
    fcntl.fcntl(fd, fcntl.F_SETSIG, SIGURG)
    deadline = monotonic() + patience_s
    while True:
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            return True
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EBUSY) or monotonic() > deadline:
                return False
        sleep(0.0005)
