"""Locks on paths: one writer for each path among all threads and processes of this machine."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from threading import get_ident
from time import monotonic, sleep
from zlib import crc32

from sightline.errors import Unverifiable
from sightline.filesystem.open_files import enough_files
from sightline.filesystem.private_files import make_folder

STRIPES = 64
"""Lock files of a workspace: few enough to leave lying about, enough that two writers of
different files seldom wait for each other."""

_STRIPE = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)

_holding: dict[int, Locked] = {}
"""Thread of this process -> the lock that it holds, of any workspace."""


class Locked:
    """A context that holds the stripes (lock files in `folder`) of path keys, locked in one order.

    A thread that holds a lock may not ask for another, because two such threads could wait for each
    other: RuntimeError. Unverifiable when another process keeps a stripe longer than patience_s.
    """

    def __init__(self, folder: str, paths: Sequence[str], patience_s: float) -> None:
        self._folder = folder
        self._paths = paths
        self._patience_s = patience_s
        self._locked: list[int] = []

    def __enter__(self) -> None:
        thread = get_ident()
        if thread in _holding:
            raise RuntimeError("this thread holds a workspace lock already: lock all paths at once")
        try:
            _holding[thread] = self
            until = monotonic() + self._patience_s
            for stripe in sorted(
                {crc32(path.encode("utf-8", "surrogatepass")) % STRIPES for path in self._paths}
            ):
                self._locked.append(_open_stripe(f"{self._folder}/{stripe:02}"))
                _wait(self._locked[-1], self._paths[0], until)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        while self._locked:
            _unlock(self._locked[-1])
            os.close(self._locked.pop())
        _holding.pop(get_ident(), None)  # last: release_left looks there


def release_left() -> None:
    """Release the lock that this thread still holds because a signal interrupted its release."""
    if (left := _holding.get(get_ident())) is not None:
        left.__exit__()


def _open_stripe(file: str) -> int:
    with enough_files():
        try:
            return os.open(file, _STRIPE, 0o600)
        except FileNotFoundError:
            make_folder(os.path.dirname(file))
            return os.open(file, _STRIPE, 0o600)


def _wait(fd: int, path: str, until: float) -> None:
    pause_s = 0.0005
    while not _try_lock(fd):
        if monotonic() > until:
            raise Unverifiable(
                path,
                f"Another process is writing {path} and does not finish.",
                "Try again. If this error stays, look for a stopped sightline process.",
            )
        sleep(pause_s)
        pause_s = min(pause_s * 2, 0.02)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                return False
            raise
        return True

    def _unlock(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(fd: int) -> None:
        # Before closing, because a child forked meanwhile shares the descriptor.
        fcntl.flock(fd, fcntl.LOCK_UN)
