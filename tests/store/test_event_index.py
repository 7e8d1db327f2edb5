"""Rules that say what a fact means for the rows of a store."""

from __future__ import annotations

from msgspec import structs

from sightline.model.events import Belief, Cause, Changed, Seen
from sightline.model.projections import DiskFile
from sightline.model.revision import MISSING
from sightline.model.session_ids import ARCHIVE
from sightline.store.event_index import redundant

BELIEF = Belief("r2", ((1, 9),), ((1, 9),), 9)


def test_only_observations_can_be_redundant():
    disk = DiskFile("a", "r2", 1, 10, mode=0o644)
    observed = Changed("a", "r1", "r2", "content", Cause("external"))
    assert redundant(disk, observed)
    assert redundant(disk, structs.replace(observed, mode=0o644))
    assert not redundant(disk, structs.replace(observed, mode=0o755))
    assert not redundant(disk, structs.replace(observed, after="r3"))
    assert not redundant(disk, structs.replace(observed, intent=1))
    assert not redundant(disk, structs.replace(observed, belief=BELIEF))
    assert not redundant(disk, Seen("a", "r2", ((1, 9),), "read", BELIEF))
    assert not redundant(disk, observed, f"{ARCHIVE}s")
    assert redundant(None, structs.replace(observed, after=MISSING))
    assert not redundant(None, observed)
