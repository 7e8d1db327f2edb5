"""Load manifests. A stored manifest is a chain of steps from one that is stored whole."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.config.settings import Settings
from sightline.errors import StoreError
from sightline.filesystem.tree_index import Tree
from sightline.model.manifest import EMPTY, Manifest, Step, Whole, decode
from sightline.model.revision import Revision
from sightline.store.port import Store


class StoredManifest(Struct, frozen=True):
    """A manifest that is stored. steps: the number of its forerunners back to `whole`. tree,
    settings: where this process captured it, the look at the tree, and the settings then."""

    manifest: Manifest
    revision: Revision | None = None
    steps: int = 0
    whole: Whole | None = None
    tree: Tree | None = None
    settings: Settings | None = None


NEWEST_MANIFEST: WeakKeyDictionary[Store, StoredManifest] = WeakKeyDictionary()
"""The newest manifest of each store: reading it takes longer than a step from it."""

LOADED_MANIFEST: WeakKeyDictionary[Store, StoredManifest] = WeakKeyDictionary()
"""The manifest that was loaded last of each store, because it is often asked for again."""


class Reader:
    """Reads manifests. A manifest that is a step from the one read before costs only that step.
    steps: the number of forerunners of the manifest read last; whole: the one it begins with."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: tuple[Revision | None, Manifest] = (None, EMPTY)
        self.steps = 0
        self.whole: Whole | None = None
        self._bases: dict[Revision, Revision | None] = {}

    def read(self, revision: Revision) -> Manifest | None:
        """Return the manifest of a revision; None when it is not kept. StoreError when it is
        damaged."""
        steps: list[Step] = []
        at: Revision | None = revision
        first = revision
        while at != self._last[0] and at is not None:
            data = self._store.blob(at)
            if data is None:
                return None
            try:
                stored = decode(data)
            except ValueError as error:
                raise StoreError(
                    f"The list of files {at} in the store cannot be read: {error}.",
                    "Run sightline doctor. If a newer sightline wrote it, upgrade this one.",
                ) from error
            self.steps = self.steps if steps else stored.steps
            steps.append(stored.step)
            self._bases[at] = stored.base
            first, at = at, stored.base
        manifest = self._last[1]
        if at is None:
            manifest = EMPTY.after(steps.pop())
            self.whole = Whole(first, manifest)
        for step in reversed(steps):
            manifest = manifest.after(step)
        self._last = (revision, manifest)
        return manifest

    def forerunners(self, revision: Revision) -> Iterator[Revision]:
        """Yield a manifest that was read, and those that it is a step from, back to a whole one."""
        at: Revision | None = revision
        while at is not None:
            yield at
            at = self._bases[at]


def stored_manifest(context: SessionContext, revision: Revision) -> Manifest | None:
    """Return a manifest by its revision; None when it is not kept any more. StoreError when it is
    damaged."""
    manifest = at_hand(context, revision)
    if manifest is None:
        manifest = Reader(context.store).read(revision)
        if manifest is not None:
            LOADED_MANIFEST[context.store] = StoredManifest(manifest, revision)
    return manifest


def at_hand(context: SessionContext, revision: Revision) -> Manifest | None:
    """Return a manifest that is in memory; None where it is not."""
    for last in (NEWEST_MANIFEST.get(context.store), LOADED_MANIFEST.get(context.store)):
        if last is not None and last.revision == revision:
            return last.manifest
    return None
