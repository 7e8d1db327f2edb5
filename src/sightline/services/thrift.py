"""Checkpoints that nobody asked for keep to their room by themselves.

What somebody asked for, and what the facts of a session name, is a person's to give up (gc).
"""

from __future__ import annotations

from sightline.core.retention import SIZE, Going
from sightline.services.pruning import Holding, prune_unasked
from sightline.services.retention import DAY_US, Needs, forget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.core.retention import KeptText
    from sightline.core.revision import Revision
    from sightline.services.ground import Ground
    from sightline.services.retention import Keeping

UNDER_WAY_US = 600 * 1_000_000
"""A text that was kept ahead of its checkpoint within this time may be waiting for it."""


def keep_to_room(ground: Ground, settings: Keeping) -> tuple[str, ...]:
    """Drop checkpoints that were taken by themselves, the oldest first and never the newest, where
    the texts of all take more than `checkpoint_bytes`, and forget the texts that only those needed.
    The ids of what was dropped. It reads all that is kept: not for who is waited for. StoreError.
    """
    store, room = ground.store, settings.checkpoint_bytes
    taken = store.room()
    if taken.texts + taken.files <= room:
        return ()
    kept = store.texts()
    dropped = prune_unasked(ground, kept, room)
    if dropped:
        before = ground.clock() - settings.keep_days * DAY_US
        needs = Needs(ground, before, dropped)
        free = set(_of(ground, dropped.values()))
        forget(ground, needs, list(_going(ground, needs, kept, free, before)))
        store.tidy()
    return tuple(dropped)


def _of(ground: Ground, manifests: Iterable[Revision]) -> Iterator[Revision]:
    """The texts that checkpoints need."""
    holding = Holding(ground.store)
    for manifest in manifests:
        yield from holding.of(manifest)


def _going(
    ground: Ground, needs: Needs, kept: Iterable[KeptText], free: set[Revision], before: int
) -> Iterator[Going]:
    """Those of the texts that nothing else needs, and that no fact named lately."""
    now = ground.clock()
    for each in kept:
        if each.revision not in free or each.revision in needs.revisions:
            continue
        mention = needs.mentions.newest.get(each.revision)
        at = 0 if mention is None else mention.at
        lists = mention is not None and each.revision in needs.manifests
        waiting = each.since and needs.recorded_at(each.since) > now - UNDER_WAY_US
        if (lists or at < before) and not waiting:
            yield Going(each.revision, mention.path if mention else None, each.size, at, SIZE)
