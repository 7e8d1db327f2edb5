"""Find out whether other programs have a file open for writing, and make them wait.

A program that opened a file before a rename keeps a descriptor of an inode without a name: what it
saves then is lost without a trace. So a file that a program holds open for writing is left to it.

The kernel tells by a lease (Linux, own files): it is granted only where nobody has the file open for
writing, and a program that comes to write waits in open() until the lease ends. Where there is no
lease (another owner's file, a network disk, another system), three looks stand in for it: the open
files of all processes that /proc lets us see, before and after the exchange; size and time of the
displaced file; and its content, once it has been quiet for QUIET_S. docs/how-it-decides.md says what
they cannot promise.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from time import monotonic, sleep
from typing import Literal, Self

from sightline.errors import Unverifiable
from sightline.filesystem.folder import Folder
from sightline.filesystem.mounts import NETWORK, TABLE, file_system
from sightline.filesystem.system_calls import READ, READ_LEASE, WRITE, WRITE_LEASE
from sightline.model.path import quoted

State = Literal["granted", "held", "none", "gone"]

TimedStat = tuple[int, os.stat_result]
"""A time before a stat, by time.time_ns(), and the stat."""

PATIENCE_S = 0.25
"""How long to wait for a writer to close: a save takes milliseconds, a logger never ends."""

QUIET_S = 0.06
"""How long a displaced file without a lease has to stay as it was: slow saves take 3 to 50 ms."""


class Lease:
    """A lease on an entry of an open folder, for the length of a with block.

    exclusive: the file is to be written in place; `fd` is open for that, and nobody else has the
    file open at all. state: "granted"; "held", where a program keeps it open for writing; "none",
    where no lease is to be had, and fd tells what can be known; "gone", where no file can be opened.
    """

    def __init__(self, folder: Folder, name: str, *, exclusive: bool = False) -> None:
        self._folder = folder
        self._name = name
        self._exclusive = exclusive
        self._began: os.stat_result | None = None
        self.fd = -1
        self.state: State = "gone"

    def __enter__(self) -> Self:
        try:
            self.state = self._take(READ, READ_LEASE)
            if self._exclusive and self.state in ("granted", "none"):
                self._close()
                state = self._take(WRITE, WRITE_LEASE)
                # Readers keep this lease from us; a writer would have kept the first one, too.
                self.state = "none" if state == "held" else state
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()  # ends the lease, too

    def refuse_writers(self) -> None:
        """Raise Unverifiable where a program has the file open for writing, and does not close it
        in a moment."""
        deadline = monotonic() + PATIENCE_S
        while self.state == "none" and (who := self._writer()) and monotonic() < deadline:
            sleep(0.01)
        who = self._writer() if self.state in ("held", "none") else None
        if who is None and self.state != "held":
            return
        path = self._folder.path
        raise Unverifiable(
            path,
            f"{quoted(path)} could not be written: {who or 'another program'} has it open for writing, and"
            " would lose what it writes next. The file is as it was.",
            "Close the file there, or let the program write it; then try again.",
        )

    def is_quiet(self) -> bool:
        """Return whether no known program writes to the file, or waits for the end of the lease."""
        if self.state == "granted":
            return self._is_unbroken()
        if self.state == "held":
            return False
        return self.state == "gone" or (self._is_as_it_was() and self._writer() is None)

    def stat_if_unwritten(self) -> TimedStat | None:
        """Return the file's stat; None unless it is known that nobody wrote since the lease began."""
        if self.state != "granted":
            return None
        calls = self._folder.calls
        try:
            timed = calls.time_ns(), calls.fstat(self.fd)
            return timed if self._is_unbroken() else None
        except OSError:
            return None

    def _take(self, flags: int, kind: int) -> State:
        folder = self._folder
        try:
            self.fd = folder.calls.open(folder.prefix + self._name, flags, dir_fd=folder.fd)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ELOOP):
                raise
            return "gone"  # no file any more: the caller's comparison notices
        self._began = folder.calls.fstat(self.fd)
        deadline = monotonic() + PATIENCE_S
        while True:
            try:
                folder.calls.lease(self.fd, kind)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EBUSY):
                    return "none"
            else:
                return "granted"
            if monotonic() > deadline:
                # A network disk refuses every lease in this way.
                return "none" if _is_shared(self.fd) else "held"
            sleep(0.0005)

    def _is_unbroken(self) -> bool:
        kind = WRITE_LEASE if self._exclusive else READ_LEASE
        return self._folder.calls.leased(self.fd) == kind

    def _is_as_it_was(self) -> bool:
        now, then = self._folder.calls.fstat(self.fd), self._began
        assert then is not None
        return (now.st_size, now.st_mtime_ns) == (then.st_size, then.st_mtime_ns)

    def _writer(self) -> str | None:
        return writer_of(self._folder.calls.fstat(self.fd), but=self.fd)

    def _close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def _is_shared(fd: int) -> bool:
    """Return whether a file is on a network disk."""
    try:
        with open(TABLE, encoding="utf-8", errors="surrogateescape") as mounts:
            table = mounts.read()
        real = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return False
    return file_system(real, table) in NETWORK


def writer_of(file: os.stat_result, *, but: int = -1) -> str | None:
    """Return the name of a program that has a file open for writing, as "name (process 12)"; None
    where none can be seen: only this user's processes tell, and only where there is a /proc. but: a
    descriptor of this process that does not count."""
    try:
        processes = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return None
    for process in processes:
        with suppress(OSError):  # it ended, or it is another user's
            for name in os.listdir(f"/proc/{process}/fd"):
                own = process == os.getpid() and int(name) == but
                if not own and _writes(process, name, file):
                    return f"{_name_of(process)} (process {process})"
    return None


def _writes(process: int, descriptor: str, file: os.stat_result) -> bool:
    """Return whether a process's descriptor is one of this file that can write."""
    try:
        found = os.stat(f"/proc/{process}/fd/{descriptor}")
        if (found.st_dev, found.st_ino) != (file.st_dev, file.st_ino):
            return False
        with open(f"/proc/{process}/fdinfo/{descriptor}", encoding="ascii") as lines:
            flags = next(line for line in lines if line.startswith("flags:"))
    except (OSError, StopIteration):
        return False
    return int(flags.split()[1], 8) & (os.O_WRONLY | os.O_RDWR) != 0


def _name_of(process: int) -> str:
    """Return a process's name. It chose the name itself, so only plain characters are passed on."""
    try:
        with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
            name = file.read().removesuffix("\n")
    except OSError:
        return "a program"
    return "".join(each if each.isprintable() else "?" for each in name) or "a program"
