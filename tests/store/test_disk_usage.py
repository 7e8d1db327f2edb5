"""What an embedded store takes on disk, and giving back what was freed."""

from __future__ import annotations

import os

import pytest
from tests.store.contract import seen

from sightline.store.port import Append
from sightline.store.sqlite_file import open_file


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "store.db")


def filled(file, texts, size=20_000):
    store = open_file(file)
    store.keep([os.urandom(size) for _ in range(texts)])
    return store


def empty_of_texts(store):
    listed = [each.revision for each in store.texts()]
    return store.purge(lambda: listed, "age", session="s", at=1)


@pytest.mark.wide
def test_room_is_given_back_while_another_has_the_store_open(file):
    store, other = filled(file, 500), open_file(file)
    empty_of_texts(store)
    assert store.room().free > 5 << 20
    returned = store.tidy()
    other.keep([b"meanwhile"])
    assert returned > 5 << 20
    assert store.room().free <= 2 << 20
    assert store.verify() == other.verify() == []
    store.close()
    other.close()
    assert os.path.getsize(file) < 4 << 20


@pytest.mark.wide
def test_the_room_by_kind_adds_up_to_the_files(file):
    store = filled(file, 3, size=2 << 20)
    store.append(Append("s", [seen(f"f{n}") for n in range(500)], at=1, texts=[b"text" * 50]))
    store._base.checkpoint()
    room = store.room()
    assert room.texts == sum(each.size for each in store.texts()) > 6 << 20
    assert room.facts > 500 * 50
    inside = room.facts + room.views + room.caches + room.texts + room.free
    assert inside == os.path.getsize(file)
    assert room.total == inside + room.log
    store.close()


@pytest.mark.wide
def test_a_store_that_cannot_shrink_uses_its_room_again(file):
    """One that was made before stores could give pages back."""
    store = filled(file, 200)
    store._base.run("PRAGMA auto_vacuum = NONE")
    store._base.run("VACUUM")
    store._base.checkpoint()
    before = os.path.getsize(file)
    empty_of_texts(store)
    assert store.tidy() == 0
    store.keep([os.urandom(20_000) for _ in range(150)])
    store._base.checkpoint()
    assert os.path.getsize(file) <= before + (1 << 20)
    assert store.verify() == []
    store.close()
