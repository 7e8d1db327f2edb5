"""A file lease: tells that nobody has a file open for writing, and that somebody comes to write.

A program that opened a file before a rename keeps a descriptor of an inode without a name: what it
saves then is lost without a trace. Under a read lease (Linux, own files) nobody has the file open
for writing, and a program that tries waits in open() until the lease ends. Elsewhere there is no
lease, and only the comparison of the old inode after the rename notices a save in between.
"""

from __future__ import annotations

import errno
import os
import sys
from time import monotonic, sleep
from typing import Self

from sightline.filesystem.folder import Folder
from sightline.filesystem.system_calls import READ

if sys.platform == "linux":
    import fcntl

SIGURG = 23
"""signal.SIGURG on Linux, without the cost of importing signal and enum."""

TimedStat = tuple[int, os.stat_result]
"""A time before a stat, by time.time_ns(), and the stat."""

PATIENCE_S = 0.25
"""How long to wait for a writer to close: a save takes milliseconds, a logger never ends."""


class Lease:
    """A lease on an entry of an open folder, for the length of a with block. Where no lease is granted
    (unsupported, another user's file, a writer that stays), nobody is known to wait, and the file is
    not known to be unwritten."""

    def __init__(self, folder: Folder, name: str, patience_s: float = PATIENCE_S) -> None:
        self._folder = folder
        self._name = name
        self._patience_s = patience_s
        self._fd = -1
        self._is_granted = False

    def __enter__(self) -> Self:
        if sys.platform != "linux":
            return self
        folder = self._folder
        try:
            self._fd = folder.calls.open(folder.at(self._name), READ, dir_fd=folder.fd)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ELOOP):
                raise
            return self  # no file any more: the caller's comparison notices
        try:
            self._is_granted = _request_lease(self._fd, self._patience_s)
        except BaseException:
            os.close(self._fd)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)  # ends the lease, too

    def is_quiet(self) -> bool:
        """Return whether no writer is known to wait."""
        return not self._is_granted or self._is_unbroken()

    def stat_if_unwritten(self) -> TimedStat | None:
        """Return the file's stat; None unless it is known that nobody wrote since the lease began."""
        if not self._is_granted:
            return None
        calls = self._folder.calls
        timed = calls.time_ns(), calls.fstat(self._fd)
        return timed if self._is_unbroken() else None

    def _is_unbroken(self) -> bool:
        return sys.platform == "linux" and fcntl.fcntl(self._fd, fcntl.F_GETLEASE) == fcntl.F_RDLCK


def _request_lease(fd: int, patience_s: float) -> bool:
    """Ask for a lease until it is granted or patience ends; return whether it was granted."""
    # The kernel signals the holder when a writer comes. SIGIO would end the process; SIGURG is
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
