"""Large texts as files of their own, by their revision, in a folder beside the store.

A file is written, synced and named before the transaction that mentions it, so a row never
names bytes that are not there; a crash in between leaves a file that the next one to keep the
same bytes takes over.
"""

from __future__ import annotations

import os

from sightline.filesystem.private_files import make_folder, write_file
from sightline.model.revision import Revision
from sightline.store.sqlite_errors import os_fault

NAME_LENGTH = 62
"""Of a file: the digits of a revision without the two that its folder is called by."""


class Files:
    """The files below one folder, which is made when it is needed. Errors are StoreError."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def write(self, revision: Revision, body: bytes) -> None:
        """Put a packed text there, on the platter when this returns."""
        path = self._path(revision)
        try:
            make_folder(os.path.dirname(path))
            write_file(path, body)
        except OSError as error:
            raise os_fault(error, path) from error

    def read(self, revision: Revision) -> bytes | None:
        """A packed text; None when there is no such file."""
        path = self._path(revision)
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise os_fault(error, path) from error

    def has(self, revision: Revision) -> bool:
        """Whether a text is there."""
        return os.path.exists(self._path(revision))

    def used(self) -> bool:
        """Whether there ever was one."""
        return os.path.isdir(self.folder)

    def every(self) -> list[Revision]:
        """Of each file that has the name of a text; what is being written has another."""
        return [
            f"{os.path.basename(folder)}{name}"
            for folder, _, names in os.walk(self.folder)
            for name in names
            if len(name) == NAME_LENGTH
        ]

    def size(self, revision: Revision) -> int:
        """Bytes of a file; 0 when it is gone."""
        try:
            return os.path.getsize(self._path(revision))
        except FileNotFoundError:
            return 0

    def remove(self, revision: Revision) -> int:
        """Remove a file; the bytes that were in it."""
        path = self._path(revision)
        try:
            size = os.path.getsize(path)
            os.unlink(path)
        except OSError as error:
            raise os_fault(error, path) from error
        return size

    def _path(self, revision: Revision) -> str:
        return os.path.join(self.folder, revision[:2], revision[2:])
