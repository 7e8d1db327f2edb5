"""Checkpoints that are dropped so that all together keep to their room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, structs

from sightline.changes.manifests import Reader
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.take import with_manifests
from sightline.model.events import ASKED, CheckpointDropped
from sightline.model.manifest import Manifest
from sightline.model.results import Checkpoint
from sightline.model.revision import Revision
from sightline.store.port import Store
from sightline.store.retention import SIZE, KeptText

SPARE = 8
"""A part of the room that is made free beyond what has to be."""


def prune(
    context: SessionContext, kept: Iterable[KeptText], room: int, *, dry_run: bool
) -> tuple[str, ...]:
    """Drop checkpoints until the texts of the others take no more than `room` bytes; their ids.
    Those that nobody asked for go first, whatever label they bear. Of the others one with a label
    stays, and the newest of all does. StoreError."""
    sizes = {each.revision: each.size for each in kept}
    held = [_held(checkpoint, found) for checkpoint, found in with_manifests(context)]
    gone = dropping(held, sizes, room)
    if gone and not dry_run:
        context.append([CheckpointDropped(each, SIZE) for each in gone])
    return tuple(gone)


def prune_unasked(
    context: SessionContext, kept: Iterable[KeptText], room: int
) -> dict[str, Revision]:
    """The same by itself: none that somebody asked for goes, and some more of the others do, so
    that it need not be done again soon. The ids of those that went, with their manifests."""
    sizes = {each.revision: each.size for each in kept}
    manifests: dict[str, Revision] = {}
    held: list[Held] = []
    for checkpoint, found in with_manifests(context):
        manifests[checkpoint.id] = checkpoint.manifest
        each = _held(checkpoint, found)
        held.append(each if each.unasked else structs.replace(each, stays=True))
    gone = dropping(held, sizes, room) and dropping(held, sizes, room - room // SPARE)
    if gone:
        context.append([CheckpointDropped(each, SIZE) for each in gone])
    return {each: manifests[each] for each in gone}


def _held(checkpoint: Checkpoint, found: Manifest | None) -> Held:
    rows = [] if found is None else found.rows.values()
    texts = frozenset(row[0] for row in rows if len(row) == 2)
    unasked = checkpoint.why != ASKED
    return Held(checkpoint.id, texts, bool(checkpoint.label) and not unasked, unasked)


class Holding:
    """What the manifests of checkpoints need: the texts they name, and their forerunners."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = Reader(store)

    def of(self, manifest: Revision) -> Iterator[Revision]:
        """All that reading this one and what it names takes. StoreError when it is damaged: then
        nothing can be told of what it needs."""
        found = self._reader.read(manifest)
        if found is not None:
            yield from self._reader.forerunners(manifest)
            yield from (row[0] for row in found.rows.values() if len(row) == 2)


class Held(Struct, frozen=True):
    """A checkpoint and the texts that it names. stays: it is never dropped (somebody gave it a
    label); unasked: it was taken by itself."""

    checkpoint: str
    texts: frozenset[Revision]
    stays: bool = False
    unasked: bool = False


def dropping(held: Iterable[Held], sizes: Mapping[Revision, int], room: int) -> list[str]:
    """The checkpoints to drop until the texts of all others take no more than `room` bytes: first
    those that nobody asked for, oldest first, then others. held: oldest first; those that stay do
    so whatever they take, and the newest does. sizes: of the texts that are kept."""
    every = list(held)
    may_go = [each for each in every[:-1] if not each.stays]
    leaving = sorted(may_go, key=lambda each: not each.unasked)
    staying = [each for each in every[:-1] if each.stays] + every[-1:]
    needed_by: dict[Revision, int] = {}
    for index, each in enumerate(leaving + staying):
        needed_by.update(dict.fromkeys(each.texts, index))
    freed = [0] * len(every)
    for revision, index in needed_by.items():
        freed[index] += sizes.get(revision, 0)
    total, gone = sum(freed), []
    for each, size in zip(leaving, freed, strict=False):
        if total <= room:
            break
        gone.append(each.checkpoint)
        total -= size
    return gone
