"""The folder of a canonical path, held open: a symlink put there later is not followed. Folders that a write
makes, or whose place a file takes: only empty ones ever go."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Self

from sightline.filesystem.system_calls import FOLDER, Calls

ASIDE = ".sightline-"
"""The beginning of the names of temporary files beside the file that a write is for."""

HELD = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
SEARCH = FOLDER | getattr(os, "O_PATH", 0)


class Folder:
    """An open folder: `fd` names it in dir_fd arguments, and `prefix` + name names an entry of it.

    Every step down is opened without following symlinks: ELOOP when a folder above the path became
    a symlink since the path was located, ENOENT or ENOTDIR when it is gone. Where the system has no
    dir_fd (Windows), fd is None and entries are named in full. make: make missing folders.
    """

    def __init__(self, calls: Calls, root: str, path: str, *, make: bool = False) -> None:
        self.calls = calls
        self.path = path
        *above, self.name = path.split("/")
        self._made: list[str] = []
        self.prefix = "" if HELD else "/".join([root, *above, ""])
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def sync(self) -> None:
        """Make the folder's entries power-safe, where folders can be synced."""
        if self.fd is None:
            return
        fd = self.calls.open(".", FOLDER, dir_fd=self.fd)
        try:
            self.calls.fsync(fd)
        finally:
            os.close(fd)

    def unmake(self) -> None:
        """Remove the folders that were made on the way here, unless they are no longer empty."""
        for folder in reversed(self._made):
            try:
                self.calls.rmdir(folder)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                    raise

    def close(self) -> None:
        """Close the folder; a second call does nothing."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def _descend(self, root: str, above: list[str], *, make: bool) -> None:
        reached = root
        for part in above:
            reached = f"{reached}/{part}"
            name = part if HELD else reached
            try:
                below = self._step(name)
            except FileNotFoundError:
                if not make:
                    raise
                self._make(name, reached)
                below = self._step(name)
            if self.fd is not None:
                os.close(self.fd)
            self.fd = below

    def _make(self, name: str, full: str) -> None:
        try:
            self.calls.mkdir(name, dir_fd=self.fd)
        except FileExistsError:
            return
        self._made.append(full)
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


def emptied(root: str, folder: str, without: Collection[str]) -> tuple[str, ...] | None:
    """See Workspace.emptied."""
    found: list[str] = []
    waiting = [folder]
    try:
        while waiting:
            found.append(waiting.pop())
            with os.scandir(f"{root}/{found[-1]}") as entries:
                for entry in entries:
                    path = f"{found[-1]}/{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    elif path not in without:
                        return None
    except OSError:
        return None
    return tuple(found)


def remove_folders(calls: Calls, root: str, folders: Iterable[str]) -> tuple[str, ...]:
    """See Workspace.remove_folders."""
    removed: list[str] = []
    for path in sorted(folders, reverse=True):
        with suppress(OSError), Folder(calls, root, path) as above:
            calls.rmdir(above.prefix + above.name, dir_fd=above.fd)
            removed.append(path)
            above.sync()
    return tuple(removed)


def make_folders(calls: Calls, root: str, folders: Iterable[str]) -> tuple[str, ...]:
    """See Workspace.make_folders."""
    made: list[str] = []
    for path in sorted(folders):
        with suppress(OSError), Folder(calls, root, path, make=True) as above:
            calls.mkdir(above.prefix + above.name, dir_fd=above.fd)
            made.append(path)
            above.sync()
    return tuple(made)
