"""Put a new file at a name in one step, and take it back when it displaced a save.

The two names are exchanged, so the name always holds a whole file, and the temporary file holds exactly
the displaced content. Then the displaced content is compared. Unexpected content goes back by the
same step.

A program that opened a file before a rename keeps a descriptor of an inode without a name: what it
saves then is lost without a trace. A lease (Linux, own files) prevents that: nobody has the file open for
writing, and a program that tries waits in open() until the lease ends. Elsewhere there is no lease,
and only the comparison after the exchange notices a save in between.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Generator
from time import monotonic, sleep
from typing import Self

from sightline.errors import Unverifiable
from sightline.filesystem.folder import Folder
from sightline.filesystem.read import content_of
from sightline.filesystem.system_calls import READ
from sightline.filesystem.temp_file import remove
from sightline.model.revision import Revision

if sys.platform == "linux":
    import fcntl

ROUNDS = 8
"""How often a write gives way to other programs that are saving the same file."""

SIGURG = 23
"""signal.SIGURG on Linux, without the cost of importing signal and enum."""

TimedStat = tuple[int, os.stat_result]
"""A time before a stat, by time.time_ns(), and the stat."""

PATIENCE_S = 0.25
"""How long to wait for a writer to close: a save takes milliseconds, a logger never ends."""


def swap_in(
    swap: Swap, expected: Revision, new: Revision
) -> Generator[Folder, None, TimedStat | None]:
    """Put the temporary file at the name if that displaces the `expected` content; otherwise leave
    everything as it was. Return the stat of the file at the name; None unless it is known that nobody
    wrote to it meanwhile. new: the content of the temporary file."""
    folder = swap.folder
    for _ in range(ROUNDS):
        # Both are leased: a program that comes to write to either file waits until it is decided
        # which of the two keeps the name.
        with Lease(folder, folder.name) as old, Lease(folder, swap.temp) as ours:
            if content_of(folder, folder.name) != expected:
                return None
            swap.exchange()
            try:
                yield folder
                if content_of(folder, swap.temp) == expected and old.is_quiet():
                    folder.calls.unlink(folder.prefix + swap.temp, dir_fd=folder.fd)
                    return ours.stat_if_unwritten()
            except OSError:
                swap.undo()
                raise
            swap.undo()
        # A program that came to write to our file while it had the name goes first: a lease is not
        # granted before that program has closed the file.
        with Lease(folder, swap.temp):
            is_saved_over = content_of(folder, swap.temp) != new
        if is_saved_over:
            # That save came last, so it stays, as it would have without us.
            swap.exchange()
            remove(folder, swap.temp)
            return None
    raise OSError(errno.EBUSY, "other programs keep saving it")


class Swap:
    """A name and its temporary file. is_done: they have changed places; spare: a name for the steps
    where the system cannot exchange two names."""

    def __init__(self, folder: Folder, temp: str, spare: str) -> None:
        self.folder, self.temp, self.spare = folder, temp, spare
        self.is_done = False

    def exchange(self) -> None:
        """Let the two names change places, in one step where the system has such a step."""
        folder = self.folder
        temp, name = folder.prefix + self.temp, folder.prefix + folder.name
        try:
            folder.calls.exchange(temp, name, dir_fd=folder.fd)
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            self._exchange_by_steps(temp, name, folder.prefix + self.spare)
        self.is_done = not self.is_done

    def undo(self) -> None:
        """Exchange the names again. Unverifiable, naming the file with the old content, when that
        fails."""
        try:
            self.exchange()
        except OSError as error:
            path = self.folder.path
            raise Unverifiable(
                path,
                f"{path} holds the new content, and could not be set back: {error.strerror}.",
                f"What it held before is beside it, in {self.temp}.",
            ) from error

    def discard(self) -> None:
        """Remove the temporary file, unless an undo failed and it holds the old content."""
        if not self.is_done:
            remove(self.folder, self.temp)

    def _exchange_by_steps(self, temp: str, name: str, spare: str) -> None:
        calls, fd = self.folder.calls, self.folder.fd
        try:
            calls.link(name, spare, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
                raise
            # No links here: for a moment nothing stands at the name, and clean() knows that.
            calls.replace(name, spare, src_dir_fd=fd, dst_dir_fd=fd)
        try:
            calls.replace(temp, name, src_dir_fd=fd, dst_dir_fd=fd)
            calls.replace(spare, temp, src_dir_fd=fd, dst_dir_fd=fd)
        except OSError:
            calls.replace(spare, name, src_dir_fd=fd, dst_dir_fd=fd)
            # Renaming one of two links onto the other does nothing: the second is still there.
            remove(self.folder, self.spare)
            raise


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
            self._fd = folder.calls.open(folder.prefix + self._name, READ, dir_fd=folder.fd)
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
