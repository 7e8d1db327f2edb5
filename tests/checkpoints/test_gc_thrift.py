"""Checkpoints that were taken by themselves keep to their room, with nobody running gc."""

from __future__ import annotations

import os

import pytest

from sightline.checkpoints.gc import keep_to_room
from sightline.checkpoints.take import with_manifests
from sightline.model.events import BlobPurged, CheckpointDropped
from sightline.model.revision import revision_of

ROOM, SIZE, TURNS = 64_000, 8_000, 200


def texts(session):
    return sum(each.size for each in session._context.store.texts())


def turns(place, session, count):
    """Turns in which an agent edits, and a program writes something large. The most that is kept
    at the end of one."""
    most = 0
    for _ in range(count):
        number = session.turn()
        place.put("data/results.bin", os.urandom(SIZE))
        session.edit("a.py", f"{number - 1}\n", f"{number}\n")
        most = max(most, texts(session))
    return most


@pytest.fixture
def small(place):
    """A session whose checkpoints may take the room of eight files."""
    place.put("a.py", "0\n")
    s = place.session(checkpoint_bytes=ROOM)
    s.read("a.py")
    return s


@pytest.mark.wide
def test_over_two_hundred_turns_the_room_stays_bounded(place, small):
    place.put("data/results.bin", b"asked for")
    asked = small.checkpoint("before all of it")
    assert turns(place, small, TURNS) < ROOM + 18 * (SIZE + 1_000)
    standing = small.checkpoints()
    assert standing[0].id == asked.id
    assert standing[-1].label == "before a.py"
    assert len(standing) < 40
    newest, last = standing[-1], place.text("a.py")
    small.rewind(newest)
    assert place.text("a.py") == f"{int(last) - 1}\n"
    small.rewind(asked, force_paths=["data/results.bin"])
    assert (place.text("a.py"), place.text("data/results.bin")) == ("0\n", "asked for")
    facts = [r.fact for r in small._context.store.timeline(kinds=[CheckpointDropped, BlobPurged])]
    assert facts


@pytest.mark.wide
def test_what_somebody_asked_for_is_never_dropped_by_itself(place, small):
    for n in range(20):
        place.put("data/results.bin", os.urandom(SIZE))
        small.checkpoint(f"label {n}" if n % 2 else "")
    assert keep_to_room(small._context, small._context.settings) == ()
    assert len(small.checkpoints()) == 20
    turns(place, small, 20)
    asked = [each for each in small.checkpoints() if each.why == "asked"]
    assert len(asked) == 20


@pytest.mark.wide
def test_what_stands_can_be_read_whole(place, small):
    turns(place, small, 40)
    store = small._context.store
    for _, manifest in with_manifests(small._context):
        assert manifest is not None
        assert all(store.blob(row[0]) is not None for row in manifest.rows.values())
    assert store.verify() == []


@pytest.mark.wide
def test_what_an_edit_replaced_stays(place, small):
    """It is named by the edit: how long that is kept, a person says."""
    small.write("a.py", "0\nmine\n")
    place.put("b.bin", os.urandom(SIZE))
    small.write("a.py", "0\n")
    turns(place, small, 40)
    assert small._context.store.blob(revision_of(b"0\nmine\n")) is not None


def test_within_its_room_nothing_goes(place, small):
    turns(place, small, 5)
    assert keep_to_room(small._context, small._context.settings) == ()
    assert len(small.checkpoints()) == 5
