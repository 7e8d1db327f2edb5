"""All system calls that read or write a file, in one object that a test can make fail.

Listing folders and comparing stats call the system directly: they write nothing, and one more call
for each file would cost time.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from time import sleep, time_ns

if sys.platform == "linux":
    import fcntl

READ = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
"""Opening never waits for the other end of a FIFO and never follows a last-moment symlink."""

WRITE = READ & ~getattr(os, "O_NONBLOCK", 0) | os.O_RDWR
FOLDER = READ | getattr(os, "O_DIRECTORY", 0)

READ_LEASE, WRITE_LEASE = 0, 1
"""Kinds of lease, F_RDLCK and F_WRLCK on Linux: nobody else writes; nobody else has it open."""

SIGURG = 23
"""signal.SIGURG on Linux, without the cost of importing signal and enum."""

_RENAME = {"linux": "renameat2", "darwin": "renameatx_np"}
"""Per system: the C function that renames with flags."""

_EXCHANGE, _KEEP = 2, 4 if sys.platform == "darwin" else 1
"""Its flags: exchange the two names; do not replace a file."""


class Calls:
    """The system calls. Names are relative to the folder `dir_fd`; OSError when a call fails."""

    open = staticmethod(os.open)
    close = staticmethod(os.close)
    read = staticmethod(os.read)
    lstat = staticmethod(os.lstat)
    fstat = staticmethod(os.fstat)
    write = staticmethod(os.write)
    lseek = staticmethod(os.lseek)
    ftruncate = staticmethod(os.ftruncate)
    fsync = staticmethod(os.fsync)
    mkdir = staticmethod(os.mkdir)
    rmdir = staticmethod(os.rmdir)
    link = staticmethod(os.link)
    symlink = staticmethod(os.symlink)
    readlink = staticmethod(os.readlink)
    replace = staticmethod(os.replace)
    unlink = staticmethod(os.unlink)
    access = staticmethod(os.access)
    if sys.platform != "win32":
        fchmod = staticmethod(os.fchmod)
        fchown = staticmethod(os.fchown)
    if sys.platform == "linux":
        listxattr = staticmethod(os.listxattr)
        getxattr = staticmethod(os.getxattr)
        setxattr = staticmethod(os.setxattr)
        removexattr = staticmethod(os.removexattr)

    if sys.platform == "linux":

        def lease(self, fd: int, kind: int) -> None:
            """Take a lease on an open file, which ends when it is closed. EAGAIN where others have it
            open, another OSError where no lease is to be had."""
            # The kernel signals the holder when a writer comes. SIGIO would end the process; SIGURG
            # is ignored by default.
            fcntl.fcntl(fd, fcntl.F_SETSIG, SIGURG)
            fcntl.fcntl(fd, fcntl.F_SETLEASE, kind)

        def leased(self, fd: int) -> int:
            """Return the kind of lease that an open file has, another number for none."""
            return fcntl.fcntl(fd, fcntl.F_GETLEASE)

    else:

        def lease(self, fd: int, kind: int) -> None:
            """Raise ENOSYS: this system has no leases."""
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

        def leased(self, fd: int) -> int:
            """Return that there is none."""
            return -1

    time_ns = staticmethod(time_ns)
    sleep = staticmethod(sleep)

    def exchange(self, first: str, second: str, *, dir_fd: int | None) -> None:
        """Exchange two names in one step. ENOSYS where the system or the file system cannot."""
        _renameat(_EXCHANGE, first, second, dir_fd, dir_fd)

    def move(self, src: str, dst: str, *, src_fd: int | None, dst_fd: int | None) -> None:
        """Rename src to dst; EEXIST when dst exists."""
        try:
            _renameat(_KEEP, src, dst, src_fd, dst_fd)
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            self._claim(src, dst, src_fd, dst_fd)

    def _claim(self, src: str, dst: str, src_fd: int | None, dst_fd: int | None) -> None:
        try:
            self.link(src, dst, src_dir_fd=src_fd, dst_dir_fd=dst_fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
                raise
            # No links here: an empty file claims the name, and the rename takes it over.
            self.close(self.open(dst, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=dst_fd))
            self.replace(src, dst, src_dir_fd=src_fd, dst_dir_fd=dst_fd)
        else:
            self.unlink(src, dir_fd=src_fd)


@cache
def _rename_function() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """Return the function of the system that renames with flags; None where it has none. It returns the
    number of the error, 0 for none."""
    if sys.platform not in _RENAME:
        return None
    import ctypes  # most processes only look

    call = getattr(ctypes.CDLL(None, use_errno=True), _RENAME[sys.platform], None)
    return None if call is None else lambda *words: ctypes.get_errno() if call(*words) else 0


def _renameat(flag: int, src: str, dst: str, src_fd: int | None, dst_fd: int | None) -> None:
    function = _rename_function()
    if function is None or src_fd is None or dst_fd is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), src)
    code = function(src_fd, os.fsencode(src), dst_fd, os.fsencode(dst), flag)
    if code:
        # A file system that does not know the flag says so in one of three ways.
        if code in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            code = errno.ENOSYS
        raise OSError(code, os.strerror(code), src)
