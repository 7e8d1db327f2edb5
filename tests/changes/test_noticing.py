"""What an observer records of a disk that other sessions write at the same time."""

from __future__ import annotations

import pytest

from sightline.changes.attribution import detect_changes
from sightline.model.events import Changed, WriteIntended
from sightline.model.revision import MISSING, revision_of
from sightline.testing import MemoryWorkspace, make_session


@pytest.fixture
def tree():
    return MemoryWorkspace({"a.txt": "one\n"})


@pytest.fixture
def ground(tree):
    """That of a session which was shown the file."""
    session = make_session(tree, id="observer")
    session.read("a.txt")
    return session._context


def test_a_save_of_somebody_else_is_noticed(tree, ground):
    tree.put("a.txt", "two\n")
    [fact] = detect_changes(ground, ground.look("a.txt"))
    assert isinstance(fact, Changed)
    assert (fact.cause.kind, fact.after) == ("external", revision_of(b"two\n"))


def test_what_was_found_before_a_recorded_write_is_no_change_after_it(tree, ground):
    found = ground.look("a.txt")
    writer = make_session(tree, id="writer")
    writer.read("a.txt")
    writer.edit("a.txt", "one", "two")
    assert detect_changes(ground, found) == []


def test_a_write_recorded_while_it_is_being_looked_at_is_no_change(tree, ground, monkeypatch):
    """The disk has the new bytes, the row asked for first has not yet, the journal no more."""
    writer = make_session(tree, id="writer")
    writer.read("a.txt")
    row = ground.store.disk("a.txt")
    writer.edit("a.txt", "one", "two")
    rows = iter([row, ground.store.disk("a.txt")])
    monkeypatch.setattr(ground.store, "disk", lambda path: next(rows))
    assert detect_changes(ground, ground.look("a.txt")) == []


def test_a_file_that_a_move_under_way_took_was_not_deleted_by_others(tree, ground):
    found = ground.look("a.txt")
    intent = WriteIntended("b.txt", MISSING, found.revision, owner=ground.owner, src="a.txt")
    ground.append([intent])
    tree.move_if("a.txt", "b.txt", found.revision)
    assert detect_changes(ground, ground.look("a.txt")) == []
