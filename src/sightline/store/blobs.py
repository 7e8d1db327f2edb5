"""Texts by the hash of their bytes: edits as patches of the text before, many at once in packs,
others as rows, large ones as files of their own.
"""

from __future__ import annotations

from functools import lru_cache

from sightline.core.retention import KeptText
from sightline.core.revision import revision_of
from sightline.core.value import Value
from sightline.errors import StoreError
from sightline.store.codec import raw
from sightline.store.faults import SAVE
from sightline.store.files import Files
from sightline.store.held import Held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from sightline.core.revision import Revision
    from sightline.store.packs import Pack, Packs
    from sightline.store.patches import Patch, Patches

    T = TypeVar("T")
    Run = Callable[[str, Sequence[Any]], list[Any]]

LARGE_BYTES = 1 << 20
"""What is larger than this once packed is a file."""

WORTH_PACKING = 128
"""Bytes below which packing cannot win."""

FEW = 3
"""New texts of one write that stay rows of their own: the texts of an edit, which a hook keeps."""

KEPT = "SELECT revision, length(body) FROM blobs"
WHICH_KEPT = (
    "SELECT revision FROM blobs WHERE revision IN ({0})"
    " UNION ALL SELECT lower(hex(revision)) FROM packed WHERE revision IN ({1})"
    " UNION ALL SELECT lower(hex(revision)) FROM patched WHERE revision IN ({1})"
)
PUT = "INSERT OR IGNORE INTO blobs VALUES (?,?,?,?)"
PUT_AHEAD = "INSERT OR REPLACE INTO ahead VALUES "
NEWEST = "SELECT coalesce(max(position), 0) FROM events"

TOGETHER = 200
"""Texts of one statement: a statement for each takes longer than all that is in it."""

SPARSE_AT_ONCE = 4
"""Packs written anew in one transaction: some milliseconds of the writers' lock."""

PATCH_BYTES = 160
"""What a patch takes beside its bytes: two revisions, and two indexes."""

EDITED_BYTES = 4 << 20
"""Of edited texts that are held, for each is likely to be edited again."""

TRIES = 3
"""How often a text is looked for that is there: it may be kept otherwise from one look to the
next."""


class Packed(Value):
    """Bytes as they are stored. form: raw or zlib; body None: they stand in a file."""

    revision: Revision
    data: bytes
    form: str | None = None
    body: bytes | None = None


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
        self._files = Files(folder)
        self._edited = Held(EDITED_BYTES)
        self._packs: Packs | None = None
        self._patches: Patches | None = None

    def pack(
        self, texts: Iterable[bytes], like: Mapping[Revision, Revision] | None = None
    ) -> Batch:
        """Do the slow part ahead of the transaction, of those that are not kept already. like:
        text -> one that it resembles."""
        named = {revision_of(data): data for data in texts}
        kept = self._kept_of(list(named))
        patches = self._patched(named, kept, like) if like else {}
        for revision in named.keys() & (like or {}):
            self._edited.put(revision, named[revision], len(named[revision]))
        small = {
            revision: data
            for revision, data in named.items()
            if revision not in kept and revision not in patches and 0 < len(data) <= LARGE_BYTES
        }
        if len(small) <= FEW:
            small = {}
        alone = [
            Packed(revision, data) if revision in kept else self._pack(revision, data)
            for revision, data in named.items()
            if revision not in small and revision not in patches
        ]
        packs = _together(small) if small else ()
        return Batch(tuple(alone), packs, tuple(patches.values()))

    def put(self, batch: Batch, *, ahead: bool = False) -> None:
        """Keep packed bytes. A purge or another's append may have come between. ahead: of a fact
        that is to name them."""
        since = self._run(NEWEST, ())[0][0] if ahead else 0
        alone = list(batch.alone)
        for pack in batch.packs:
            alone += self._put_pack(pack, since)
        names = [*(each.revision for each in alone), *(each.revision for each in batch.patches)]
        kept = self._kept_of(names)
        for each in alone:
            if each.revision not in kept:
                self._put(each)
        for patch in batch.patches:
            if patch.revision not in kept:
                self._put_patch(patch)
        if ahead:
            for some in _chunks(names):
                marks = ",".join(["(?,?)"] * len(some))
                self._run(PUT_AHEAD + marks, [value for name in some for value in (name, since)])

    def get(self, revision: Revision) -> bytes | None:
        """The bytes of a revision, checked against it. StoreError when they are not those."""
        for _ in range(TRIES):
            data = self._found(revision)
            if data is not None or not self._kept(revision):
                break
        else:
            data = b""
        if data is not None and revision_of(data) != revision:
            raise StoreError(f"The kept text {revision} in {self._files.folder} is damaged.", SAVE)
        return data

    def packs(self) -> Packs:
        """Those of this store; most hooks need none."""
        if self._packs is None:
            from sightline.store.packs import Packs

            self._packs = Packs(self._run)
        return self._packs

    def patches(self) -> Patches:
        """Those of this store; what only reads seldom needs any."""
        if self._patches is None:
            from sightline.store.patches import Patches

            self._patches = Patches(self._run)
        return self._patches

    def any_large(self) -> bool:
        """Whether any text was ever a file of its own."""
        return self._files.used()

    def remove(self, revision: Revision, *, large: bool) -> bool:
        """Forget bytes that are a row, or, large, those that are a file; False when there were
        none such. The file goes with tidy(), once that is committed: else a crash in between
        would leave a row without its bytes."""
        rows = self._run("SELECT body IS NULL FROM blobs WHERE revision = ?", (revision,))
        filed = bool(rows and rows[0][0])
        if filed is not large or not (rows or self._kept(revision)):
            return False
        self._rest_elsewhere(revision)
        # All of them: a sightline of before packs, still running, may have kept it once more.
        self._run("DELETE FROM blobs WHERE revision = ?", (revision,))
        self.packs().remove(revision)
        self.patches().remove(revision)
        self._run("DELETE FROM ahead WHERE revision = ?", (revision,))
        return True

    def kept(self) -> list[KeptText]:
        """Every text with the room it takes."""
        ahead = dict(self._run("SELECT revision, position FROM ahead", ()))
        found = [
            *(KeptText(name, size or self._files.size(name)) for name, size in self._run(KEPT, ())),
            *(KeptText(name, size + PATCH_BYTES) for name, size in self.patches().kept()),
            *self.packs().kept(),
        ]
        found.sort(key=lambda each: each.revision)
        return [
            each.replace(since=max(each.since, ahead[each.revision]))
            if each.revision in ahead
            else each
            for each in found
        ]

    def tidy(self, named: Iterable[Revision] | None = None) -> int:
        """Remove the files of texts that are not kept, of these alone if they are given; the
        bytes that were in them. Nobody can keep them anew in this transaction: who is about to
        looks again whether the file is there."""
        listed = self._files.every() if named is None else filter(self._files.has, named)
        return sum([self._files.remove(each) for each in listed if not self._kept(each)])

    def mend(self) -> bool:
        """Write anew some packs of which most was forgotten; False when there is none."""
        packs = self.packs()
        sparse = packs.sparse(SPARSE_AT_ONCE)
        packs.rewrite(sparse)
        return bool(sparse)

    def files_bytes(self) -> int:
        """What the files of their own take."""
        return sum(map(self._files.size, self._files.every()))

    def broken(self) -> list[str]:
        """One sentence for each blob whose bytes are not what their name says."""
        wrong = []
        alone = [name for (name,) in self._run("SELECT revision FROM blobs ORDER BY revision", ())]
        patches = [name for name, _ in self.patches().kept()]
        for revision in [*alone, *self.packs().names(), *patches]:
            try:
                self.get(revision)
            except StoreError as error:
                wrong.append(error.message)
        return wrong

    def _kept(self, revision: Revision) -> bool:
        return bool(self._kept_of([revision]))

    def _kept_of(self, revisions: Sequence[Revision]) -> set[Revision]:
        """Those of these that are kept."""
        kept: set[Revision] = set()
        for some in _chunks(revisions):
            rows = self._run(_which_kept(len(some)), [*some, *map(raw, some)])
            kept.update(revision for (revision,) in rows)
        return kept

    def _found(self, revision: Revision) -> bytes | None:
        """The bytes that are kept as those of a revision; None when they are not there whole."""
        data = self._whole(revision)
        if data is not None or not self._run(
            "SELECT 1 FROM patched WHERE revision = ?", (raw(revision),)
        ):
            return data
        from sightline.store.patches import patched

        root, steps = self.patches().steps(revision)
        data = self._whole(root)
        for head, tail, form, body in reversed(steps):
            middle = _unpacked(form, body)
            if data is None or middle is None:
                return None
            data = patched(data, head, tail, middle)
        return data

    def _whole(self, revision: Revision) -> bytes | None:
        """The same of a text that rests on no other."""
        rows = self._run("SELECT form, body FROM blobs WHERE revision = ?", (revision,))
        if rows:
            form, body = rows[0]
            body = self._files.read(revision) if body is None else body
            return None if body is None else _unpacked(form, body)
        if self._run("SELECT 1 FROM packed WHERE revision = ?", (raw(revision),)):
            return self.packs().get(revision)
        return None

    def _put(self, packed: Packed) -> None:
        lost = packed.body is None and not self._files.has(packed.revision)
        if packed.form is None or lost:
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

    def _put_patch(self, patch: Patch) -> None:
        """Keep a patch, or all of the text where it has nothing to rest on."""
        if not (self._kept(patch.base) and self.patches().put(patch)):
            self._put(Packed(patch.revision, patch.data))

    def _patched(
        self,
        named: Mapping[Revision, bytes],
        kept: set[Revision],
        like: Mapping[Revision, Revision],
    ) -> dict[Revision, Patch]:
        """Those of the texts that are kept best as patches of the ones that they are like."""
        made: dict[Revision, Patch] = {}
        before: set[Revision] = set(kept)
        for revision, data in named.items():
            base = like.get(revision)
            if base is not None and revision not in kept:
                there = named[base] if base in before else self._sound(base, named)
                patch = there is not None and _patch(revision, data, base, there)
                if patch:
                    made[revision] = patch
            before.add(revision)
        return made

    def _sound(self, base: Revision, named: Mapping[Revision, bytes]) -> bytes | None:
        """The bytes of a text that others may rest on; None when it is not kept, or damaged."""
        if base in named:
            return None  # it is to be kept with this one, and comes after it
        held: bytes | None = self._edited.get(base)
        try:
            return self.get(base) if held is None else held
        except StoreError:
            return None

    def _rest_elsewhere(self, revision: Revision) -> None:
        """Keep otherwise what rests on a text that goes. What is damaged stays so, and says it."""
        patches = self.patches()
        base = patches.base(revision)
        for name in patches.resting(revision):
            data = self._sound(name, {})
            if data is None:
                continue
            there = None if base is None else self._sound(base, {})
            patches.remove(name)
            patch = None if base is None or there is None else _patch(name, data, base, there)
            if patch:
                self._put_patch(patch)
            else:
                self._put(Packed(name, data))
            base = base or name

    def _pack(self, revision: Revision, data: bytes) -> Packed:
        form, body = _smaller(data)
        if len(body) <= LARGE_BYTES:
            return Packed(revision, data, form, body)
        self._files.write(revision, body)
        return Packed(revision, data, form)


@lru_cache(maxsize=16)
def _which_kept(count: int) -> str:
    """The statement that tells which of so many texts are kept, by revisions and their bytes."""
    first = ",".join([f"?{number}" for number in range(1, count + 1)])
    again = ",".join([f"?{number}" for number in range(count + 1, 2 * count + 1)])
    return WHICH_KEPT.format(first, again)


def _together(texts: dict[Revision, bytes]) -> tuple[Pack, ...]:
    from sightline.store.packs import together

    return tuple(together(texts))


def _patch(revision: Revision, data: bytes, base: Revision, before: bytes) -> Patch | None:
    from sightline.store.patches import patch

    return patch(revision, data, base, before, _smaller)


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


def _unpacked(form: str, body: bytes) -> bytes | None:
    """The bytes of a body; None when it is damaged."""
    if form == "raw":
        return body
    import zlib

    try:
        return zlib.decompress(body)
    except zlib.error:
        return None
