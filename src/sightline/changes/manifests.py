"""Reading manifests back: a step at a time, from the whole one that they begin with."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from msgspec import Struct

from sightline.changes import words
from sightline.changes.session_context import SessionContext
from sightline.errors import StoreError
from sightline.model.manifest import EMPTY, Manifest, Step, Whole, decode, fold
from sightline.model.revision import Revision
from sightline.store.port import Store


class Reader:
    """Reads manifests; one that is a step from the one read before costs only the step. steps: of
    the one read last; whole: the one that it begins with."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: tuple[Revision | None, Manifest] = (None, EMPTY)
        self.steps = 0
        self.whole: Whole | None = None
        self._bases: dict[Revision, Revision | None] = {}

    def read(self, revision: Revision) -> Manifest | None:
        """The manifest of a revision; None when it is not kept. StoreError when it is damaged."""
        waiting: list[Step] = []
        at: Revision | None = revision
        first = revision
        while at != self._last[0] and at is not None:
            data = self._store.blob(at)
            if data is None:
                return None
            try:
                kept = decode(data)
            except ValueError as wrong:
                raise StoreError(*words.unreadable(at, wrong)) from wrong
            self.steps = self.steps if waiting else kept.steps
            waiting.append(kept.step)
            self._bases[at] = kept.base
            first, at = at, kept.base
        found = self._last[1]
        if at is None:
            found = fold(EMPTY, waiting.pop())
            self.whole = Whole(first, found)
        for taken in reversed(waiting):
            found = fold(found, taken)
        self._last = (revision, found)
        return found

    def forerunners(self, revision: Revision) -> Iterator[Revision]:
        """A manifest that was read, and those that it is a step from, back to a whole one."""
        at: Revision | None = revision
        while at is not None:
            yield at
            at = self._bases[at]


class StoredManifest(Struct, frozen=True):
    """A manifest that is stored. steps: the number of its forerunners back to `whole`."""

    manifest: Manifest
    revision: Revision | None = None
    steps: int = 0
    whole: Whole | None = None


def kept(ground: SessionContext, revision: Revision) -> Manifest | None:
    """A manifest by its revision; None when it is not kept any more. StoreError."""
    found = at_hand(ground, revision)
    if found is None:
        found = Reader(ground.store).read(revision)
        if found is not None:
            READ_MANIFEST[ground.store] = StoredManifest(found, revision)
    return found


def at_hand(ground: SessionContext, revision: Revision) -> Manifest | None:
    """A manifest that was read or made before; None where it was not, or others were since."""
    for last in (NEWEST_MANIFEST.get(ground.store), READ_MANIFEST.get(ground.store)):
        if last is not None and last.revision == revision:
            return last.manifest
    return None


NEWEST_MANIFEST: WeakKeyDictionary[Store, StoredManifest] = WeakKeyDictionary()
"""The newest manifest that was read or made, by store: reading it takes longer than a step."""

READ_MANIFEST: WeakKeyDictionary[Store, StoredManifest] = WeakKeyDictionary()
"""The manifest that was asked for last: who asks for a checkpoint by its name asks for it next."""


def folder_of(path: str) -> str:
    """The folder that a path is in: "" or ending in "/"."""
    return path[: path.rfind("/") + 1]
