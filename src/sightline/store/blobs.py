"""Texts by the hash of their bytes: small ones as rows, large ones as files of their own.

A file is written, synced and named before the transaction that mentions it, so a row never
names bytes that are not there; a crash in between leaves a file that the next one to keep the
same bytes takes over.
"""

from __future__ import annotations

import os

from sightline.core.retention import KeptText
from sightline.core.revision import revision_of
from sightline.core.value import Value
from sightline.errors import StoreError
from sightline.store.faults import SAVE, os_fault
from sightline.store.private import make_folder, write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeVar

    from sightline.core.revision import Revision

    T = TypeVar("T")
    Run = Callable[[str, Sequence[Any]], list[Any]]

LARGE_BYTES = 1 << 20
"""What is larger than this once packed is a file."""

WORTH_PACKING = 128
"""Bytes below which packing cannot win."""


NAME_LENGTH = 62
"""Of a file: the digits of a revision without the two that its folder is called by."""

KEPT = (
    "SELECT revision, length(body), position FROM blobs LEFT JOIN ahead USING (revision)"
    " ORDER BY revision"
)
WHICH_KEPT = "SELECT revision FROM blobs WHERE revision IN "
PUT = "INSERT OR IGNORE INTO blobs VALUES "
PUT_AHEAD = (
    "INSERT OR REPLACE INTO ahead"
    " SELECT column1, (SELECT coalesce(max(position), 0) FROM events) FROM (VALUES {})"
)

TOGETHER = 200
"""Texts of one statement: a statement for each takes longer than all that is in it."""


class Packed(Value):
    """Bytes as they are stored. form: raw or zlib; body None: they stand in a file."""

    revision: Revision
    data: bytes
    form: str | None = None
    body: bytes | None = None


class Blobs:
    """The blobs table and the folder beside the store. run: one statement on its connection."""

    def __init__(self, run: Run, folder: str) -> None:
        self._run = run
        self._folder = folder

    def pack(self, data: bytes) -> Packed:
        """Do the slow part ahead of the transaction, unless the bytes are kept already."""
        revision = revision_of(data)
        return Packed(revision, data) if self._kept(revision) else self._pack(revision, data)

    def pack_all(self, texts: Sequence[bytes]) -> list[Packed]:
        """The same of many."""
        revisions = [revision_of(data) for data in texts]
        kept: set[Revision] = set()
        for some in _chunks(revisions):
            marks = ",".join("?" * len(some))
            kept.update(revision for (revision,) in self._run(f"{WHICH_KEPT}({marks})", some))
        return [
            Packed(revision, data) if revision in kept else self._pack(revision, data)
            for revision, data in zip(revisions, texts, strict=True)
        ]

    def put(self, packed: Packed) -> None:
        """Keep packed bytes. Inside a transaction; a purge or another's append may have come
        between."""
        if packed.form is None:
            if self._kept(packed.revision):
                return
            packed = self._pack(packed.revision, packed.data)
        elif packed.body is None and not self._filed(packed.revision):
            packed = self._pack(packed.revision, packed.data)
        row = (packed.revision, len(packed.data), packed.form, packed.body)
        self._run(f"{PUT}(?,?,?,?)", row)

    def get(self, revision: Revision) -> bytes | None:
        """The bytes of a revision, checked against it. StoreError when they are not those."""
        rows = self._run("SELECT form, body FROM blobs WHERE revision = ?", (revision,))
        if not rows:
            return None
        form, body = rows[0]
        if body is None and (body := self._read(revision)) is None:
            return None
        data = self._unpacked(form, body)
        if data is None or revision_of(data) != revision:
            raise StoreError(f"The kept text {revision} in {self._folder} is damaged.", SAVE)
        return data

    def put_ahead(self, packed: Sequence[Packed]) -> None:
        """Keep packed bytes that no fact names yet. Inside a transaction."""
        for some in _chunks(packed):
            rows = [each for each in some if each.body is not None]
            values = [(each.revision, len(each.data), each.form, each.body) for each in rows]
            if rows:
                marks = ",".join(["(?,?,?,?)"] * len(rows))
                self._run(f"{PUT}{marks}", [value for row in values for value in row])
            for each in some:
                if each.body is None:
                    self.put(each)
            marks = ",".join(["(?)"] * len(some))
            self._run(PUT_AHEAD.format(marks), [each.revision for each in some])

    def any_large(self) -> bool:
        """Whether any text was ever a file of its own."""
        return os.path.isdir(self._folder)

    def remove(self, revision: Revision, *, large: bool) -> bool:
        """Forget bytes that are a row, or, large, those that are a file; False when there were
        none such. Inside a transaction. The file goes with tidy(), once that is committed: else
        a crash in between would leave a row without its bytes."""
        asked = "SELECT body IS NULL FROM blobs WHERE revision = ?"
        rows = self._run(asked, (revision,))
        if not rows or bool(rows[0][0]) is not large:
            return False
        self._run("DELETE FROM blobs WHERE revision = ?", (revision,))
        self._run("DELETE FROM ahead WHERE revision = ?", (revision,))
        return True

    def kept(self) -> list[KeptText]:
        """Every text with the room it takes."""
        rows = self._run(KEPT, ())
        return [
            KeptText(revision, self._file_bytes(revision) if size is None else size, since or 0)
            for revision, size, since in rows
        ]

    def tidy(self, named: Iterable[Revision] | None = None) -> int:
        """Remove the files of texts that are not kept, of these alone if they are given; the
        bytes that were in them. Inside a transaction, in which nobody can keep them anew: who is
        about to looks again whether the file is there."""
        listed = self._filed_all() if named is None else filter(self._filed, named)
        gone = 0
        for revision in [each for each in listed if not self._kept(each)]:
            path = self._path(revision)
            try:
                gone += os.path.getsize(path)
                os.unlink(path)
            except OSError as error:
                raise os_fault(error, path) from error
        return gone

    def files_bytes(self) -> int:
        """What the files of their own take."""
        return sum(map(self._file_bytes, self._filed_all()))

    def broken(self) -> list[str]:
        """One sentence for each blob whose bytes are not what their name says."""
        wrong = []
        for (revision,) in self._run("SELECT revision FROM blobs ORDER BY revision", ()):
            try:
                self.get(revision)
            except StoreError as error:
                wrong.append(error.message)
        return wrong

    def _kept(self, revision: Revision) -> bool:
        return bool(self._run("SELECT 1 FROM blobs WHERE revision = ?", (revision,)))

    def _pack(self, revision: Revision, data: bytes) -> Packed:
        form, body = _smaller(data)
        if len(body) <= LARGE_BYTES:
            return Packed(revision, data, form, body)
        path = self._path(revision)
        try:
            make_folder(os.path.dirname(path))
            write_file(path, body)
        except OSError as error:
            raise os_fault(error, path) from error
        return Packed(revision, data, form)

    def _filed(self, revision: Revision) -> bool:
        return os.path.exists(self._path(revision))

    def _filed_all(self) -> list[Revision]:
        """Of each file that has the name of a text; what is being written has another."""
        return [
            f"{os.path.basename(folder)}{name}"
            for folder, _, names in os.walk(self._folder)
            for name in names
            if len(name) == NAME_LENGTH
        ]

    def _file_bytes(self, revision: Revision) -> int:
        try:
            return os.path.getsize(self._path(revision))
        except FileNotFoundError:  # forgotten meanwhile
            return 0

    def _path(self, revision: Revision) -> str:
        return os.path.join(self._folder, revision[:2], revision[2:])

    def _read(self, revision: Revision) -> bytes | None:
        """The bytes in a file; None when the text was forgotten since its row was read."""
        path = self._path(revision)
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not self._kept(revision):
                return None
            raise os_fault(error, path) from error

    @staticmethod
    def _unpacked(form: str, body: bytes) -> bytes | None:
        """The bytes of a body; None when it is damaged."""
        if form == "raw":
            return body
        import zlib

        try:
            return zlib.decompress(body)
        except zlib.error:
            return None


def _chunks(every: Sequence[T]) -> Iterator[Sequence[T]]:
    return (every[start : start + TOGETHER] for start in range(0, len(every), TOGETHER))


def _smaller(data: bytes) -> tuple[str, bytes]:
    """The form that takes less room: zlib where it saves a tenth."""
    if len(data) >= WORTH_PACKING:
        import zlib

        body = zlib.compress(data, 1)
        if len(body) < len(data) * 0.9:
            return "zlib", body
    return "raw", data
