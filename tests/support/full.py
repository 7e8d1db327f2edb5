"""Stores and trees without room."""

from __future__ import annotations

import errno
import os

from msgspec import structs

from sightline.filesystem.system_calls import Calls
from sightline.store.sqlite import SqliteStore

ENDLESS = 1073741823
"""The most pages that SQLite gives a file."""


class FullStore:
    """Each store of this process has room for so many appends more, all stores together; then SQLite
    itself is full. patch: a MonkeyPatch, whose undo makes room again."""

    def __init__(self, patch, appends):
        self.left = appends
        append = SqliteStore.append

        def counted(store, given):
            self.left -= 1
            is_full = self.left < 0
            pages = store._base.run("PRAGMA page_count")[0][0] if is_full else ENDLESS
            store._base.run(f"PRAGMA max_page_count = {pages}")
            if is_full:
                given = with_text(given, os.urandom(1 << 20))
            try:
                return append(store, given)
            finally:
                store._base.run(f"PRAGMA max_page_count = {ENDLESS}")

        patch.setattr(SqliteStore, "append", counted)


def with_text(append, data):
    """An append that keeps one text more."""
    texts = append.texts.values() if isinstance(append.texts, dict) else append.texts
    return structs.replace(append, texts=[*texts, data])


class FullDisk:
    """The files below a folder have room for so many writes more, those of git aside."""

    def __init__(self, patch, folder, writes):
        self.left = writes

        def counted(fd, data):
            path = os.readlink(f"/proc/self/fd/{fd}")
            if path.startswith(f"{folder}/") and "/.git/" not in path:
                self.left -= 1
                if self.left < 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return os.write(fd, data)

        patch.setattr(Calls, "write", staticmethod(counted))
