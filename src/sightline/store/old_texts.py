"""Rewrite the texts of a store of version 0.1.0 as zstd frames, when a newer version first opens it.

0.1.0 kept a text as a row (raw or packed by zlib), as a file in a folder beside the store, as a
part of a pack of many texts, or as a patch of an older text. Each transaction rewrites some texts
and removes their old form. A process that is killed leaves the remaining texts for the next process
that opens the store, and several processes share the work.

This module checks no text: the bytes of a damaged text are kept under its revision, so that a read
of the text raises the same error as before.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from sightline.model.revision import Revision
from sightline.store.blobs import Blobs
from sightline.store.sqlite_errors import os_fault

Run = Callable[[str, Sequence[Any]], list[Any]]

AT_ONCE_BYTES = 8 << 20
"""Bytes of texts in one transaction; other processes wait some tenths of a second."""

ROW_COST = 1 << 10
"""Bytes that each text counts beside its own."""

STEP_BYTES = 1 << 10
"""Bytes of a zlib stream that are unpacked at once: the last step before a damage is lost, too."""

PUT_AHEAD = "INSERT OR REPLACE INTO kept_ahead SELECT id, ? FROM texts WHERE revision = ?"


def rewrite_some(run: Run, file: str) -> bool:
    """Rewrite some old texts inside a transaction; False when the store has no old text any more.
    Then the folder of texts that were files is removed: until then a committed row may need a file."""
    run("PRAGMA secure_delete = ON", ())  # a secret must not stay behind in the old form
    rewriting = _Rewriting(run, f"{file}-blobs")
    for rewrite in (rewriting.row, rewriting.pack, rewriting.patch):
        while rewriting.room > 0 and rewrite():
            pass
    if rewriting.room < AT_ONCE_BYTES:
        return True
    _remove_folder(rewriting.folder)
    return False


class _Rewriting:
    """One transaction. room: bytes that it may still rewrite."""

    def __init__(self, run: Run, folder: str) -> None:
        self.folder = folder
        self.room = AT_ONCE_BYTES
        self._run = run
        self._blobs = Blobs(run, folder)

    def row(self) -> bool:
        """Rewrite a text that is a row or a file; False when there is none."""
        for revision, form, body in self._run("SELECT revision, form, body FROM blobs LIMIT 1", ()):
            packed = _read(self.folder, revision) if body is None else body
            self._keep(revision, _inflate(packed) if form == "zlib" else packed)
            self._run("DELETE FROM blobs WHERE revision = ?", (revision,))
            return True
        return False

    def pack(self) -> bool:
        """Rewrite the texts of a pack; False when there is none."""
        for number, since, lengths, body in self._run(
            "SELECT pack, coalesce(since, 0), coalesce(lengths, ''), coalesce(body, x'')"
            " FROM packed LEFT JOIN packs ON id = pack LIMIT 1",
            (),
        ):
            ends = [0, *accumulate(map(int, lengths.split()))]
            data = _inflate(body)
            rows = self._run("SELECT revision, place FROM packed WHERE pack = ?", (number,))
            for revision, place in rows:
                part = slice(*ends[place : place + 2]) if place + 1 < len(ends) else slice(0)
                self._keep(revision.hex(), data[part], since=since)
            self._run("DELETE FROM packed WHERE pack = ?", (number,))
            self._run("DELETE FROM packs WHERE id = ?", (number,))
            return True
        return False

    def patch(self) -> bool:
        """Rewrite a patch, after the text that it changes; False when there is none."""
        for key, base, head, tail, form, body in self._run(
            "SELECT revision, base, head, tail, form, body FROM patched ORDER BY depth LIMIT 1", ()
        ):
            before = self._blobs.sound(base.hex()) or b""
            middle = _inflate(body) if form == "zlib" else body
            data = b"".join((before[:head], middle, before[len(before) - tail :]))
            self._keep(key.hex(), data, base.hex())
            self._run("DELETE FROM patched WHERE revision = ?", (key,))
            return True
        return False

    def _keep(
        self, revision: Revision, data: bytes, like: Revision | None = None, since: int = 0
    ) -> None:
        self._blobs.put(self._blobs.pack({revision: data}, {revision: like} if like else None))
        ahead = self._run("SELECT position FROM ahead WHERE revision = ?", (revision,))
        newest = max([since, *(position for (position,) in ahead)])
        if newest:
            self._run(PUT_AHEAD, (newest, revision))
        self.room -= len(data) + ROW_COST


def _inflate(body: bytes) -> bytes:
    """Return the bytes of a zlib stream, or the bytes before a damage."""
    inflating = zlib.decompressobj()
    data = bytearray()
    try:
        for start in range(0, len(body), STEP_BYTES):
            data += inflating.decompress(body[start : start + STEP_BYTES])
    except zlib.error:
        return bytes(data)
    return bytes(data)


def _read(folder: str, revision: Revision) -> bytes:
    """Return the bytes of a file; none where the file is missing."""
    path = os.path.join(folder, revision[:2], revision[2:])
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise os_fault(error, path) from error


def _remove_folder(folder: str) -> None:
    """Remove the folder of texts that were files."""
    try:
        for at, _, names in os.walk(folder, topdown=False):
            for name in names:
                os.unlink(os.path.join(at, name))
            os.rmdir(at)
    except FileNotFoundError:  # another process removes it as well
        return
    except OSError as error:
        raise os_fault(error, folder) from error
