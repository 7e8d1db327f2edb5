"""Drop checkpoints until the texts of the remaining ones fit into their room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.take import with_manifests
from sightline.model.events import ASKED, CheckpointDropped
from sightline.model.revision import Revision
from sightline.store.retention import SIZE, KeptText

SPARE = 8
"""Automatic dropping frees one part in so many of the room in addition, so that it is not due again
soon."""


class Candidate(Struct, frozen=True):
    """A checkpoint and the texts that it names. stays: it is never dropped; automatic: nobody asked
    for it."""

    checkpoint: str
    texts: frozenset[Revision]
    stays: bool = False
    automatic: bool = False


def drop_checkpoints(
    context: SessionContext,
    kept: Iterable[KeptText],
    room: int,
    *,
    only_automatic: bool = False,
    dry_run: bool = False,
) -> dict[str, Revision]:
    """Drop checkpoints until the texts of the others take no more than `room` bytes. Return the ids
    of the dropped ones with their manifests. The newest one stays, and those that somebody gave a
    label. only_automatic: keep all that somebody asked for. StoreError."""
    sizes = {each.revision: each.size for each in kept}
    manifests: dict[str, Revision] = {}
    candidates: list[Candidate] = []
    for checkpoint, manifest in with_manifests(context):
        manifests[checkpoint.id] = checkpoint.manifest
        rows = [] if manifest is None else manifest.rows.values()
        texts = frozenset(row[0] for row in rows if len(row) == 2)
        asked = checkpoint.why == ASKED
        stays = asked and (only_automatic or bool(checkpoint.label))
        candidates.append(Candidate(checkpoint.id, texts, stays, not asked))
    dropped = choose_dropped(candidates, sizes, room)
    if dropped and only_automatic:
        dropped = choose_dropped(candidates, sizes, room - room // SPARE)
    if dropped and not dry_run:
        context.append([CheckpointDropped(each, SIZE) for each in dropped])
    return {each: manifests[each] for each in dropped}


def choose_dropped(
    candidates: Iterable[Candidate], sizes: Mapping[Revision, int], room: int
) -> list[str]:
    """Choose the checkpoints to drop: automatic ones first, then others, each oldest first.
    candidates: oldest first; the newest one stays. sizes: bytes of the stored texts."""
    every = list(candidates)
    droppable = [each for each in every[:-1] if not each.stays]
    droppable.sort(key=lambda each: not each.automatic)
    staying = [each for each in every[:-1] if each.stays] + every[-1:]
    last_user: dict[Revision, int] = {}
    for index, each in enumerate(droppable + staying):
        last_user.update(dict.fromkeys(each.texts, index))
    freed = [0] * len(every)
    for revision, index in last_user.items():
        freed[index] += sizes.get(revision, 0)
    total, dropped = sum(freed), []
    for each, size in zip(droppable, freed, strict=False):
        if total <= room:
            break
        dropped.append(each.checkpoint)
        total -= size
    return dropped
