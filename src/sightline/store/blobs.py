"""Texts by the hash of their bytes: many at once in packs, others as rows, large ones as files of
their own.

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
from sightline.store.codec import raw
from sightline.store.faults import SAVE, os_fault
from sightline.store.private import make_folder, write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeVar

    from sightline.core.revision import Revision
    from sightline.store.packs import Pack, Packs

    T = TypeVar("T")
    Run = Callable[[str, Sequence[Any]], list[Any]]

LARGE_BYTES = 1 << 20
"""What is larger than this once packed is a file."""

WORTH_PACKING = 128
"""Bytes below which packing cannot win."""


NAME_LENGTH = 62
"""Of a file: the digits of a revision without the two that its folder is called by."""

FEW = 3
"""New texts of one write that stay rows of their own: the texts of an edit, which a hook keeps."""

KEPT = "SELECT revision, length(body) FROM blobs"
ONE_KEPT = (
    "SELECT 1 FROM blobs WHERE revision = ? UNION ALL SELECT 1 FROM packed WHERE revision = ?"
)
WHICH_KEPT = (
    "SELECT revision FROM blobs WHERE revision IN ({0})"
    " UNION ALL SELECT lower(hex(revision)) FROM packed WHERE revision IN ({0})"
)
PUT = "INSERT OR IGNORE INTO blobs VALUES (?,?,?,?)"
PUT_AHEAD = "INSERT OR REPLACE INTO ahead VALUES "
NEWEST = "SELECT coalesce(max(position), 0) FROM events"

TOGETHER = 200
"""Texts of one statement: a statement for each takes longer than all that is in it."""


SPARSE_AT_ONCE = 4
"""Packs written anew in one transaction: some milliseconds of the writers' lock."""


class Packed(Value):
    """Bytes as they are stored. form: raw or zlib; body None: they stand in a file."""

    revision: Revision
    data: bytes
    form: str | None = None
    body: bytes | None = None


class Batch(Value):
    """What is to be kept in one transaction. alone: as rows and files; and those that were kept
    already, without a form."""

    alone: tuple[Packed, ...]
    packs: tuple[Pack, ...] = ()


class Blobs:
    """The blobs table and the folder beside the store. run: one statement on its connection."""

    def __init__(self, run: Run, folder: str) -> None:
        self._run = run
        self._folder = folder
        self._packs: Packs | None = None

    def pack(self, texts: Iterable[bytes]) -> Batch:
        """Do the slow part ahead of the transaction, of those that are not kept already."""
        named = {revision_of(data): data for data in texts}
        kept = self._kept_of(list(named))
        small = {
            revision: data
            for revision, data in named.items()
            if revision not in kept and 0 < len(data) <= LARGE_BYTES
        }
        if len(small) <= FEW:
            small = {}
        alone = [
            Packed(revision, data) if revision in kept else self._pack(revision, data)
            for revision, data in named.items()
            if revision not in small
        ]
        return Batch(tuple(alone), _together(small) if small else ())

    def put(self, batch: Batch, *, ahead: bool = False) -> None:
        """Keep packed bytes. Inside a transaction; a purge or another's append may have come
        between. ahead: of a fact that is to name them."""
        since = self._run(NEWEST, ())[0][0] if ahead else 0
        alone = list(batch.alone)
        for pack in batch.packs:
            alone += self._put_pack(pack, since)
        kept = self._kept_of([each.revision for each in alone])
        for each in alone:
            if each.revision not in kept:
                self._put(each)
        if ahead:
            for some in _chunks(alone):
                marks = ",".join(["(?,?)"] * len(some))
                rows = [value for each in some for value in (each.revision, since)]
                self._run(f"{PUT_AHEAD}{marks}", rows)

    def get(self, revision: Revision) -> bytes | None:
        """The bytes of a revision, checked against it. StoreError when they are not those."""
        rows = self._run("SELECT form, body FROM blobs WHERE revision = ?", (revision,))
        data: bytes | None
        if rows:
            form, body = rows[0]
            if body is None and (body := self._read(revision)) is None:
                return None
            data = self._unpacked(form, body)
        elif not self._kept(revision) or (data := self.packs().get(revision)) is None:
            return None
        if data is None or revision_of(data) != revision:
            raise StoreError(f"The kept text {revision} in {self._folder} is damaged.", SAVE)
        return data

    def packs(self) -> Packs:
        """Those of this store; most hooks need none."""
        if self._packs is None:
            from sightline.store.packs import Packs

            self._packs = Packs(self._run)
        return self._packs

    def any_large(self) -> bool:
        """Whether any text was ever a file of its own."""
        return os.path.isdir(self._folder)

    def remove(self, revision: Revision, *, large: bool) -> bool:
        """Forget bytes that are a row, or, large, those that are a file; False when there were
        none such. Inside a transaction. The file goes with tidy(), once that is committed: else
        a crash in between would leave a row without its bytes."""
        asked = "SELECT body IS NULL FROM blobs WHERE revision = ?"
        rows = self._run(asked, (revision,))
        if not rows:
            gone = not large and self._kept(revision) and self.packs().remove(revision)
        elif gone := bool(rows[0][0]) is large:
            self._run("DELETE FROM blobs WHERE revision = ?", (revision,))
        if gone:
            self._run("DELETE FROM ahead WHERE revision = ?", (revision,))
        return gone

    def kept(self) -> list[KeptText]:
        """Every text with the room it takes."""
        ahead = dict(self._run("SELECT revision, position FROM ahead", ()))
        alone = [
            KeptText(revision, self._file_bytes(revision) if size is None else size)
            for revision, size in self._run(KEPT, ())
        ]
        found = [*alone, *self.packs().kept()]
        found.sort(key=lambda each: each.revision)
        return [
            each.replace(since=max(each.since, since))
            if (since := ahead.get(each.revision, 0))
            else each
            for each in found
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

    def mend(self) -> bool:
        """Write anew some packs of which most was forgotten; False when there is none. Inside a
        transaction."""
        packs = self.packs()
        sparse = packs.sparse(SPARSE_AT_ONCE)
        packs.rewrite(sparse)
        return bool(sparse)

    def files_bytes(self) -> int:
        """What the files of their own take."""
        return sum(map(self._file_bytes, self._filed_all()))

    def broken(self) -> list[str]:
        """One sentence for each blob whose bytes are not what their name says."""
        wrong = []
        alone = [name for (name,) in self._run("SELECT revision FROM blobs ORDER BY revision", ())]
        for revision in [*alone, *self.packs().names()]:
            try:
                self.get(revision)
            except StoreError as error:
                wrong.append(error.message)
        return wrong

    def _kept(self, revision: Revision) -> bool:
        return bool(self._run(ONE_KEPT, (revision, raw(revision))))

    def _kept_of(self, revisions: Sequence[Revision]) -> set[Revision]:
        """Those of these that are kept."""
        kept: set[Revision] = set()
        for some in _chunks(revisions):
            asked = WHICH_KEPT.format(",".join("?" * len(some)))
            rows = self._run(asked, [*some, *map(raw, some)])
            kept.update(revision for (revision,) in rows)
        return kept

    def _put(self, packed: Packed) -> None:
        if packed.form is None or (packed.body is None and not self._filed(packed.revision)):
            packed = self._pack(packed.revision, packed.data)
        self._run(PUT, (packed.revision, len(packed.data), packed.form, packed.body))

    def _put_pack(self, pack: Pack, since: int) -> list[Packed]:
        """Keep a pack, without those of its texts that somebody kept meanwhile, which are
        answered."""
        kept = self._kept_of(list(pack.texts))
        if not kept:
            self.packs().put(pack, since)
            return []
        for left in _together({r: data for r, data in pack.texts.items() if r not in kept}):
            self.packs().put(left, since)
        return [Packed(revision, pack.texts[revision]) for revision in kept]

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


def _together(texts: dict[Revision, bytes]) -> tuple[Pack, ...]:
    from sightline.store.packs import together

    return tuple(together(texts))


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
