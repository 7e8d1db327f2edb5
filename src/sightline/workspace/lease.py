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
from contextlib import contextmanager
from time import monotonic, sleep

from sightline.workspace.syscalls import READ

if sys.platform == "linux":
    import fcntl

SIGURG = 23
"""signal.SIGURG on Linux, without the cost of importing signal and enum."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sightline.workspace.folder import Folder

PATIENCE_S = 0.25
"""How long to wait for a writer to close: a save takes milliseconds, a logger never ends."""


@contextmanager
def lease(
    folder: Folder, name: str, patience_s: float = PATIENCE_S
) -> Iterator[Callable[[], bool]]:
    """Hold a lease on an entry of an open folder; the value asks whether nobody waits to write.

    Without a lease (unsupported, another's file, a writer that stays) the answer is always yes.
    """
    if sys.platform != "linux":
        yield lambda: True
        return
    try:
        fd = folder.calls.open(folder.at(name), READ, dir_fd=folder.fd)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ELOOP):
            raise
        yield lambda: True  # no file any more: the caller compares next, and sees it
        return
    try:
        if _taken(fd, patience_s):
            yield lambda: fcntl.fcntl(fd, fcntl.F_GETLEASE) == fcntl.F_RDLCK
        else:
            yield lambda: True
    finally:
        os.close(fd)  # gives the lease back, too


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
