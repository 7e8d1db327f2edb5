"""Texts by the hash of their bytes: edits as patches of the text before, many at once in packs,
others as rows, large ones as files of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from sightline.errors import StoreError
from sightline.model.revision import Revision, named, revision_of
from sightline.model.value import Value
from sightline.store.blob_files import Files
from sightline.store.blob_patches import Patch, Patches, patched
from sightline.store.codec import raw
from sightline.store.compression import LARGE_BYTES, Packed, smaller, unpacked
from sightline.store.lru import Held
from sightline.store.packs import Pack, Packs, together
from sightline.store.sqlite_errors import SAVE

T = TypeVar("T")
Run = Callable[[str, Sequence[Any]], list[Any]]

FEW = 3
"""New texts of one write that stay rows of their own: the texts of an edit, which a hook keeps."""

KEPT_IN = {
    "blobs": "SELECT revision FROM blobs WHERE revision IN ({0})",
    "packed": "SELECT lower(hex(revision)) FROM packed WHERE revision IN ({1})",
    "patched": "SELECT lower(hex(revision)) FROM patched WHERE revision IN ({1})",
}
"""Table -> which of so many texts, by revisions and by their bytes, it holds."""

PLACES = (
    "WITH RECURSIVE places (at) AS"
    " (SELECT 1 UNION ALL SELECT at + 32 FROM places WHERE at + 32 < length(?1)) "
)
MANY_KEPT_IN = {
    "blobs": "SELECT revision FROM places CROSS JOIN blobs"
    " ON revision = lower(hex(substr(?1, at, 32)))",
    "packed": "SELECT lower(hex(revision)) FROM places CROSS JOIN packed"
    " ON revision = substr(?1, at, 32)",
    "patched": "SELECT lower(hex(revision)) FROM places CROSS JOIN patched"
    " ON revision = substr(?1, at, 32)",
}
"""The same of any number, by the bytes of all revisions in one: that is always the same statement,
and takes a third of the time of one with a mark for each, which is read anew."""

HOLDING = "SELECT EXISTS (SELECT 1 FROM blobs), EXISTS (SELECT 1 FROM patched)"
PUT = "INSERT OR IGNORE INTO blobs VALUES (?,?,?,?)"
PUT_AHEAD = "INSERT OR REPLACE INTO ahead VALUES "
NEWEST = "SELECT coalesce(max(position), 0) FROM events"

SMALL_BYTES = 8 << 10
"""Few texts of so much are packed sooner than it is known whether they are kept."""

TOGETHER = 200
"""Texts of one statement: a statement for each takes longer than all that is in it."""

EDITED_BYTES = 4 << 20
"""Of edited texts that are held, for each is likely to be edited again."""

TRIES = 3
"""How often a text is looked for that is there: it may be kept otherwise from one look to the
next."""


class Batch(Value):
    """What is to be kept in one transaction. alone: as rows and files; and those that were kept
    already, without a form. patches: each of a text that was kept, or stands before it here."""

    alone: tuple[Packed, ...]
    packs: tuple[Pack, ...] = ()
    patches: tuple[Patch, ...] = ()


class Blobs:
    """All texts of a store. run: one statement on its connection; folder: of those that are files.
    All that writes or forgets is called inside a transaction."""

    def __init__(self, run: Run, folder: str) -> None:
        self._run = run
        self.folder = folder
        self._files: Files | None = None
        self._edited = Held(EDITED_BYTES)
        self._packs: Packs | None = None
        self._patches: Patches | None = None

    def pack(
        self,
        texts: Iterable[bytes] | dict[Revision, bytes],
        like: Mapping[Revision, Revision] | None = None,
    ) -> Batch:
        """Do the slow part ahead of the transaction, of those that are not kept already. like:
        text -> one that it resembles."""
        every = named(texts)
        if not like and len(every) <= FEW and sum(map(len, every.values())) <= SMALL_BYTES:
            return Batch(tuple([self._pack(*each) for each in every.items()]))
        kept = self._kept_of(list(every))
        patches = self._patched(every, kept, like) if like else {}
        for revision in every.keys() & (like or {}):
            self._edited.put(revision, every[revision], len(every[revision]))
        small = {
            revision: data
            for revision, data in every.items()
            if revision not in kept and revision not in patches and 0 < len(data) <= LARGE_BYTES
        }
        if len(small) <= FEW:
            small = {}
        alone = [
            Packed(revision, data) if revision in kept else self._pack(revision, data)
            for revision, data in every.items()
            if revision not in small and revision not in patches
        ]
        packs = _together(small) if small else ()
        return Batch(tuple(alone), packs, tuple(patches.values()))

    def put(self, batch: Batch, *, ahead: bool = False) -> None:
        """Keep packed bytes. A purge or another's append may have come between. ahead: of a fact
        that is to name them."""
        since = self._run(NEWEST, ())[0][0] if ahead else 0
        alone = list(batch.alone)
        if batch.packs:
            alone += self._put_packs(batch.packs, since)
        names = [*(each.revision for each in alone), *(each.revision for each in batch.patches)]
        kept = self._kept_of(names)
        for each in alone:
            if each.revision not in kept:
                self.put_alone(each)
        for patch in batch.patches:
            if patch.revision not in kept:
                self.put_patch(patch)
        if ahead:
            for some in _chunks(names):
                marks = ",".join(["(?,?)"] * len(some))
                self._run(PUT_AHEAD + marks, [value for name in some for value in (name, since)])

    def get(self, revision: Revision) -> bytes | None:
        """The bytes of a revision, checked against it. StoreError when they are not those."""
        for _ in range(TRIES):
            data = self._found(revision)
            if data is not None or not self.is_kept(revision):
                break
        else:
            data = b""
        if data is not None and revision_of(data) != revision:
            raise StoreError(f"The kept text {revision} in {self.folder} is damaged.", SAVE)
        return data

    @property
    def files(self) -> Files:
        """Those of this store that are large; most hooks need none."""
        if self._files is None:
            self._files = Files(self.folder)
        return self._files

    def packs(self) -> Packs:
        """Those of this store; most hooks need none."""
        if self._packs is None:
            self._packs = Packs(self._run)
        return self._packs

    def patches(self) -> Patches:
        """Those of this store; what only reads seldom needs any."""
        if self._patches is None:
            self._patches = Patches(self._run)
        return self._patches

    def is_kept(self, revision: Revision) -> bool:
        """Whether the text is there, in whatever form."""
        return bool(self._kept_of([revision]))

    def _kept_of(self, revisions: Sequence[Revision]) -> set[Revision]:
        """Those of these that are kept."""
        if not revisions:
            return set()
        if len(revisions) > FEW:
            return self._kept_in(self._holding(), revisions)
        values = [*revisions, *map(raw, revisions)]
        return {revision for (revision,) in self._run(_which_kept(len(revisions)), values)}

    def _kept_in(self, tables: Sequence[str], revisions: Sequence[Revision]) -> set[Revision]:
        """Those of many that these tables hold."""
        if not tables:
            return set()
        rows = self._run(_which_of_many(tables), (b"".join(map(raw, revisions)),))
        return {revision for (revision,) in rows}

    def _holding(self) -> tuple[str, ...]:
        """The tables that may hold any text: a first checkpoint asks for ten thousand, twice, when
        the others are empty."""
        [(alone, patches)] = self._run(HOLDING, ())
        return (*["blobs"] * alone, "packed", *["patched"] * patches)

    def _found(self, revision: Revision) -> bytes | None:
        """The bytes that are kept as those of a revision; None when they are not there whole."""
        data = self._whole(revision)
        if data is not None or not self._run(
            "SELECT 1 FROM patched WHERE revision = ?", (raw(revision),)
        ):
            return data

        root, steps = self.patches().steps(revision)
        data = self._whole(root)
        for head, tail, form, body in reversed(steps):
            middle = unpacked(form, body)
            if data is None or middle is None:
                return None
            data = patched(data, head, tail, middle)
        return data

    def _whole(self, revision: Revision) -> bytes | None:
        """The same of a text that rests on no other."""
        rows = self._run("SELECT form, body FROM blobs WHERE revision = ?", (revision,))
        if rows:
            form, body = rows[0]
            body = self.files.read(revision) if body is None else body
            return None if body is None else unpacked(form, body)
        if self._run("SELECT 1 FROM packed WHERE revision = ?", (raw(revision),)):
            return self.packs().get(revision)
        return None

    def put_alone(self, packed: Packed) -> None:
        lost = packed.body is None and not self.files.has(packed.revision)
        if packed.form is None or lost:
            packed = self._pack(packed.revision, packed.data)
        self._run(PUT, (packed.revision, len(packed.data), packed.form, packed.body))

    def _put_packs(self, packs: Sequence[Pack], since: int) -> list[Packed]:
        """Keep packs, and answer those of their texts that somebody kept meanwhile."""
        texts = {name: data for pack in packs for name, data in pack.texts.items()}
        beside = self._kept_in([each for each in self._holding() if each != "packed"], [*texts])
        whole = [pack for pack in packs if beside.isdisjoint(pack.texts)]
        for pack in packs:
            if not beside.isdisjoint(pack.texts):
                left = {name: data for name, data in pack.texts.items() if name not in beside}
                whole += _together(left)
        kept = beside | self.packs().put(whole, since)
        return [Packed(name, texts[name]) for name in kept]

    def put_patch(self, patch: Patch) -> None:
        """Keep a patch, or all of the text where it has nothing to rest on."""
        if not (self.is_kept(patch.base) and self.patches().put(patch)):
            self.put_alone(Packed(patch.revision, patch.data))

    def _patched(
        self,
        every: Mapping[Revision, bytes],
        kept: set[Revision],
        like: Mapping[Revision, Revision],
    ) -> dict[Revision, Patch]:
        """Those of the texts that are kept best as patches of the ones that they are like."""
        made: dict[Revision, Patch] = {}
        before: set[Revision] = set(kept)
        for revision, data in every.items():
            base = like.get(revision)
            if base is not None and revision not in kept:
                there = every[base] if base in before else self.sound(base, every)
                patch = there is not None and as_patch(revision, data, base, there)
                if patch:
                    made[revision] = patch
            before.add(revision)
        return made

    def sound(self, base: Revision, every: Mapping[Revision, bytes]) -> bytes | None:
        """The bytes of a text that others may rest on; None when it is not kept, or damaged."""
        if base in every:
            return None  # it is to be kept with this one, and comes after it
        held: bytes | None = self._edited.get(base)
        try:
            return self.get(base) if held is None else held
        except StoreError:
            return None

    def _pack(self, revision: Revision, data: bytes) -> Packed:
        form, body = smaller(data)
        if len(body) <= LARGE_BYTES:
            return Packed(revision, data, form, body)
        self.files.write(revision, body)
        return Packed(revision, data, form)


@lru_cache(maxsize=FEW + 1)
def _which_kept(count: int) -> str:
    """The statement that tells which of so many texts are kept, by revisions and their bytes."""
    first = ",".join([f"?{number}" for number in range(1, count + 1)])
    again = ",".join([f"?{number}" for number in range(count + 1, 2 * count + 1)])
    return " UNION ALL ".join(KEPT_IN.values()).format(first, again)


def _which_of_many(tables: Sequence[str]) -> str:
    """The statement that tells which of any number of texts these tables hold."""
    return PLACES + " UNION ALL ".join([MANY_KEPT_IN[table] for table in tables])


def _together(texts: dict[Revision, bytes]) -> tuple[Pack, ...]:
    return tuple(together(texts))


def as_patch(revision: Revision, data: bytes, base: Revision, before: bytes) -> Patch | None:
    from sightline.store.blob_patches import patch

    return patch(revision, data, base, before, smaller)


def _chunks(every: Sequence[T]) -> Iterator[Sequence[T]]:
    return (every[start : start + TOGETHER] for start in range(0, len(every), TOGETHER))
