"""The folder of a canonical path, held open, so that no symlink put there later is followed."""

from __future__ import annotations

import errno
import os
import stat
from types import TracebackType
from typing import Self

from sightline.filesystem.system_calls import FOLDER, Calls

ASIDE = ".sightline-"
"""How the names of files that a write leaves aside for a moment begin."""

HELD = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
SEARCH = FOLDER | getattr(os, "O_PATH", 0)


class Folder:
    """`fd` names the folder for dir_fd arguments and `at(name)` an entry of it.

    Every step down is opened without following symlinks: ELOOP when a folder above the path has
    become one since it was located, ENOENT or ENOTDIR when it is gone. Where the system has no
    dir_fd (Windows), fd is None and entries are named in full.
    """

    def __init__(self, calls: Calls, root: str, path: str, *, make: bool = False) -> None:
        self.calls = calls
        self.path = path
        *above, self.name = path.split("/")
        self.made: list[str] = []
        self._prefix = "" if HELD else "/".join([root, *above, ""])
        self.fd: int | None = None
        if HELD:
            self.fd = calls.open(root, SEARCH & ~os.O_NOFOLLOW)
        try:
            self._descend(root, above, make=make)
        except BaseException:
            self.unmake()
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def at(self, name: str) -> str:
        """How an entry of this folder is named in calls that take dir_fd=self.fd."""
        return self._prefix + name

    def sync(self) -> None:
        """Make the folder's entries power-safe, where folders can be synced."""
        if self.fd is None:
            return
        fd = self.calls.open(".", FOLDER, dir_fd=self.fd)
        try:
            self.calls.fsync(fd)
        finally:
            os.close(fd)

    def identity(self) -> tuple[int, int] | None:
        """Which folder it is, whatever it is called; None where folders cannot be held open."""
        if self.fd is None:
            return None
        found = self.calls.fstat(self.fd)
        return found.st_dev, found.st_ino

    def unmake(self) -> None:
        """Take back the folders made on the way here, unless something is in them by now."""
        for made in reversed(self.made):
            try:
                self.calls.rmdir(made)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                    raise

    def close(self) -> None:
        """Let go of the folder; more than once does no harm."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def _descend(self, root: str, above: list[str], *, make: bool) -> None:
        done = root
        for part in above:
            done = f"{done}/{part}"
            name = part if HELD else done
            try:
                below = self._step(name)
            except FileNotFoundError:
                if not make:
                    raise
                self._make(name, done)
                below = self._step(name)
            if self.fd is not None:
                os.close(self.fd)
            self.fd = below

    def _make(self, name: str, full: str) -> None:
        try:
            self.calls.mkdir(name, dir_fd=self.fd)
        except FileExistsError:
            return
        self.made.append(full)
        self.sync()

    def _step(self, name: str) -> int | None:
        try:
            if HELD:
                return self.calls.open(name, SEARCH, dir_fd=self.fd)
            found = self.calls.lstat(name)
        except NotADirectoryError as error:
            if stat.S_ISLNK(self.calls.lstat(name, dir_fd=self.fd).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error
            raise
        if stat.S_ISLNK(found.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        return None
