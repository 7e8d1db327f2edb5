"""Texts that go: what is kept, and what it takes, letting go of it, and of the room that is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sightline.errors import StoreError
from sightline.model.revision import Revision
from sightline.store.blobs import Blobs, as_patch
from sightline.store.compression import Packed
from sightline.store.retention import KeptText

Run = Callable[[str, Sequence[Any]], list[Any]]

KEPT = "SELECT revision, length(body) FROM blobs"

SPARSE_AT_ONCE = 4
"""Packs written anew in one transaction: some milliseconds of the writers' lock."""

PATCH_BYTES = 160
"""What a patch takes beside its bytes: two revisions, and two indexes."""


class Forgetting:
    """The same texts as those of `blobs`. run: one statement on its connection. All but what only
    lists is called inside a transaction."""

    def __init__(self, run: Run, blobs: Blobs) -> None:
        self._run = run
        self._blobs = blobs

    def any_large(self) -> bool:
        """Whether any text was ever a file of its own."""
        return self._blobs.files.used()

    def remove(self, revision: Revision, *, large: bool) -> bool:
        """Forget bytes that are a row, or, large, those that are a file; False when there were
        none such. The file goes with tidy(), once that is committed: else a crash in between
        would leave a row without its bytes."""
        rows = self._run("SELECT body IS NULL FROM blobs WHERE revision = ?", (revision,))
        filed = bool(rows and rows[0][0])
        if filed is not large or not (rows or self._blobs.is_kept(revision)):
            return False
        self._rest_elsewhere(revision)
        # All of them: a sightline of before packs, still running, may have kept it once more.
        self._run("DELETE FROM blobs WHERE revision = ?", (revision,))
        self._blobs.packs().remove(revision)
        self._blobs.patches().remove(revision)
        self._run("DELETE FROM ahead WHERE revision = ?", (revision,))
        return True

    def kept(self) -> list[KeptText]:
        """Every text with the room it takes."""
        ahead = dict(self._run("SELECT revision, position FROM ahead", ()))
        found = [
            *(
                KeptText(name, size or self._blobs.files.size(name))
                for name, size in self._run(KEPT, ())
            ),
            *(KeptText(name, size + PATCH_BYTES) for name, size in self._blobs.patches().kept()),
            *self._blobs.packs().kept(),
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
        listed = (
            self._blobs.files.every() if named is None else filter(self._blobs.files.has, named)
        )
        return sum(
            [self._blobs.files.remove(each) for each in listed if not self._blobs.is_kept(each)]
        )

    def mend(self) -> bool:
        """Write anew some packs of which most was forgotten; False when there is none."""
        packs = self._blobs.packs()
        sparse = packs.sparse(SPARSE_AT_ONCE)
        packs.rewrite(sparse)
        return bool(sparse)

    def files_bytes(self) -> int:
        """What the files of their own take."""
        return sum(map(self._blobs.files.size, self._blobs.files.every()))

    def broken(self) -> list[str]:
        """One sentence for each blob whose bytes are not what their name says."""
        wrong = []
        alone = [name for (name,) in self._run("SELECT revision FROM blobs ORDER BY revision", ())]
        patches = [name for name, _ in self._blobs.patches().kept()]
        for revision in [*alone, *self._blobs.packs().names(), *patches]:
            try:
                self._blobs.get(revision)
            except StoreError as error:
                wrong.append(error.message)
        return wrong

    def _rest_elsewhere(self, revision: Revision) -> None:
        """Keep otherwise what rests on a text that goes. What is damaged stays so, and says it."""
        patches = self._blobs.patches()
        base = patches.base(revision)
        for name in patches.resting(revision):
            data = self._blobs.sound(name, {})
            if data is None:
                continue
            there = None if base is None else self._blobs.sound(base, {})
            patches.remove(name)
            patch = None if base is None or there is None else as_patch(name, data, base, there)
            if patch:
                self._blobs.put_patch(patch)
            else:
                self._blobs.put_alone(Packed(name, data))
            base = base or name
