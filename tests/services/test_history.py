"""What happened, as values: the timeline, a verdict's reasons, all sessions at once."""

from __future__ import annotations

import pytest

from sightline.config import Settings
from sightline.core.events import FACTS, WriteAbandoned, WriteIntended
from sightline.core.revision import MISSING, revision_of
from sightline.services import history
from sightline.services.opening import start
from sightline.store.memory import MemoryStore
from sightline.testing import FixedClock, MemoryWorkspace


class World:
    """A store and a workspace in memory, a clock, and sessions over them."""

    def __init__(self):
        self.store = MemoryStore()
        self.tree = MemoryWorkspace({"a.py": "one\ntwo\n", "b.py": "x\n"})
        self.clock = FixedClock()

    def session(self, id, agent="tester"):
        return start(
            self.store, self.tree, Settings("/state"), id=id, agent=agent, clock=self._tick
        )

    def survey(self):
        return history.survey(self.store, self.tree, Settings("/state"), self._tick)

    def kinds(self, **asked):
        return [entry.kind for entry in history.entries(self.store, **asked)]

    def _tick(self):
        self.clock.advance(us=1)
        return self.clock()


@pytest.fixture
def world():
    return World()


def test_every_fact_but_the_journal_has_a_word():
    assert set(FACTS) - set(history._KINDS) == {WriteIntended.__name__, WriteAbandoned.__name__}


def test_every_named_field_is_one_of_its_fact():
    for name, field in history._DETAILS.items():
        assert field in FACTS[name]._fields
    for name, fields in history._REVISIONS.items():
        assert {field for field in fields if field} <= set(FACTS[name]._fields)


def test_entries_tell_of_all_sessions_in_order(world):
    world.session("s1").read("a.py")
    world.session("s2", agent="other").edit("a.py", "one", "1")
    told = list(history.entries(world.store))
    assert [(e.session, e.kind) for e in told] == [
        ("s1", "session"), ("s1", "seen"), ("s2", "session"), ("s2", "changed"),
    ]  # fmt: skip
    assert told[-1].agent == "other"
    assert told[1].lines == ((1, 2),)
    assert told[1].after == told[-1].before


def test_entries_can_be_narrowed_and_cut(world):
    session = world.session("s1")
    session.read("a.py")
    session.read("b.py")
    assert world.kinds(path="b.py") == ["seen"]
    assert world.kinds(session="nobody") == []
    assert world.kinds(newest=1) == ["seen"]


def test_a_file_that_goes_is_deleted_and_one_that_moves_has_moved(world):
    session = world.session("s1")
    session.read("a.py")
    session.move("a.py", "c.py")
    session.delete("c.py")
    moved, deleted = list(history.entries(world.store))[-2:]
    assert (moved.kind, moved.src, moved.path) == ("moved", "a.py", "c.py")
    assert (deleted.kind, deleted.after) == ("deleted", "missing")


def test_status_sees_each_session_with_its_own_eyes(world):
    world.session("s1").read("a.py")
    world.tree.put("a.py", "one\n2\n")
    world.session("s2").read("a.py")
    states = {
        found.session.id: [file.state for file in found.files]
        for found in history.status(world.survey())
    }
    assert states == {"s1": ["stale"], "s2": ["fresh"]}
    (only,) = history.status(world.survey(), "s2")
    assert only.session.id == "s2"


def test_surveying_begins_no_session(world):
    history.status(world.survey())
    assert history.sessions(world.store) == []


def test_sessions_count_their_files(world):
    world.session("s1").read("a.py")
    assert [(s.session.id, s.files) for s in history.sessions(world.store)] == [("s1", 1)]


def test_why_has_what_this_session_did_and_what_others_changed(world):
    session = world.session("s1")
    session.read("a.py")
    other = world.session("s2")
    other.read("a.py")
    other.edit("a.py", "two", "2")
    session.dropped()
    told = history.why(session._ground, "a.py")
    assert [entry.kind for entry in told.entries] == ["seen", "changed", "dropped"]
    assert (told.verdict.state, told.others) == ("stale", ("s2",))


def test_why_of_an_unseen_file_has_no_facts(world):
    world.session("s2").read("a.py")
    told = history.why(world.session("s1")._ground, "a.py")
    assert (told.entries, told.verdict.state, told.others) == ((), "unseen", ("s2",))


def test_why_says_how_much_it_leaves_out(world):
    session = world.session("s1")
    for _ in range(history.WHY_ENTRIES + 3):
        session.read("a.py")
    told = history.why(session._ground, "a.py")
    assert (len(told.entries), told.earlier) == (history.WHY_ENTRIES, 3)


def test_surveying_settles_the_write_of_a_dead_process(world):
    """Else the log would lack a change whose writer was killed before it could say so."""
    world.session("s1").read("a.py")
    world.tree.put("b.py", "written\n")
    intent = WriteIntended("b.py", MISSING, revision_of(b"written\n"), owner="elsewhere:1:1")
    world.store.append("s1", [intent], at=world.clock())
    assert "changed" not in world.kinds()
    world.survey()
    assert world.kinds(path="b.py") == ["changed"]
