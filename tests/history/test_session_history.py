"""What happened, as values: the timeline, a verdict's reasons, all sessions at once."""

from __future__ import annotations

import pytest

from sightline.api.opening import start
from sightline.checkpoints.time_points import since
from sightline.config.settings import Settings
from sightline.history import session_history, workspace_status
from sightline.history.asked_sessions import knower
from sightline.history.session_history import LogQuery
from sightline.history.why import ENTRIES, why
from sightline.model.events import (
    FACTS,
    BatchEnded,
    SessionEnded,
    SessionForked,
    WriteAbandoned,
    WriteIntended,
)
from sightline.model.revision import MISSING, revision_of
from sightline.model.timeline import Since
from sightline.store.memory import MemoryStore
from sightline.store.port import Append
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
        return session_history.survey(self.store, self.tree, Settings("/state"), self._tick)

    def kinds(self, **asked):
        return [entry.kind for entry in session_history.select(self.store, LogQuery(**asked))]

    def _tick(self):
        self.clock.advance(us=1)
        return self.clock()


@pytest.fixture
def world():
    return World()


def test_every_fact_but_the_journal_has_a_word():
    journal = {kind.__name__ for kind in (WriteIntended, WriteAbandoned, BatchEnded)}
    journal |= {"TranscriptRead", "PromptFollowed", "StashDropped"}
    assert {name for name, kind in FACTS.items() if not kind.words} == journal


def test_every_named_field_is_one_of_its_fact():
    for kind in FACTS.values():
        assert kind.detail_field in ("", *kind.__struct_fields__)


def test_entries_tell_of_all_sessions_in_order(world):
    world.session("s1").read("a.py")
    world.session("s2", agent="other").edit("a.py", "one", "1")
    told = list(session_history.select(world.store, LogQuery()))
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


def test_kinds_are_the_words_that_entries_have(world):
    session = world.session("s1")
    session.read("a.py")
    session.edit("a.py", "one", "1")
    session.delete("a.py")
    assert world.kinds(kinds=("changed",)) == ["changed"]
    assert world.kinds(kinds=("deleted",)) == ["deleted"]
    assert world.kinds(kinds=("changed", "deleted", "seen")) == ["seen", "changed", "deleted"]
    assert world.kinds(kinds=("changed",), newest=1) == ["changed"]
    assert world.kinds(kinds=("claim",)) == []


def test_since_is_a_position_or_a_time(world):
    session = world.session("s1")
    session.read("a.py")
    position, time = world.store.position(), world.clock()
    world.clock.advance(seconds=3600)
    session.read("b.py")
    assert world.kinds(since=Since(position=position)) == ["seen"]
    assert world.kinds(since=Since(at=time + 1)) == ["seen"]
    assert world.kinds(since=since("30min", world.clock())) == ["seen"]
    assert len(world.kinds(since=since("2h", world.clock()))) == position + 1
    assert world.kinds(since=since("0", world.clock())) == world.kinds()


def test_following_tells_everything_once_whoever_records_it(world):
    session = world.session("s1")
    session.read("a.py")
    news = session_history.follow(world.store, LogQuery(kinds=("seen", "changed"), newest=1))
    assert [entry.path for entry in next(news)] == ["a.py"]
    assert next(news) == []
    session.read("b.py")
    session.turn()
    world.session("s2").edit("a.py", "one", "1")
    assert [(e.session, e.kind, e.path) for e in next(news)] == [
        ("s1", "seen", "b.py"), ("s2", "changed", "a.py"),
    ]  # fmt: skip
    assert next(news) == []


def test_a_session_says_whether_its_agent_is_there(world):
    world.session("s1").read("a.py")
    world.session("s2")
    world.store.append(Append("s2", [SessionEnded()], at=world.clock()))
    one, two = session_history.sessions(world.survey()).sessions
    assert (one.id, one.present, one.files, one.ended) == ("s1", True, 1, None)
    assert (two.id, two.present, two.files) == ("s2", False, 0)
    assert two.ended is not None
    assert one.last_sign is not None
    assert two.ended >= two.started
    assert one.last_sign >= one.started


def test_a_file_that_goes_is_deleted_and_one_that_moves_has_moved(world):
    session = world.session("s1")
    session.read("a.py")
    session.move("a.py", "c.py")
    session.delete("c.py")
    moved, deleted = list(session_history.select(world.store, LogQuery()))[-2:]
    assert (moved.kind, moved.src, moved.path) == ("moved", "a.py", "c.py")
    assert (deleted.kind, deleted.after) == ("deleted", "missing")


def test_status_sees_each_session_with_its_own_eyes(world):
    world.session("s1").read("a.py")
    world.tree.put("a.py", "one\n2\n")
    world.session("s2").read("a.py")
    states = {
        found.id: [file.state for file in found.files]
        for found in workspace_status.status(world.survey()).sessions
    }
    assert states == {"s1": ["stale"], "s2": ["fresh"]}
    (only,) = workspace_status.status(world.survey(), "s2").sessions
    assert only.id == "s2"


def test_surveying_begins_no_session(world):
    workspace_status.status(world.survey())
    assert session_history.sessions(world.survey()).sessions == ()


def test_sessions_count_their_files(world):
    world.session("s1").read("a.py")
    assert [(s.id, s.files) for s in session_history.sessions(world.survey()).sessions] == [
        ("s1", 1)
    ]


def test_why_has_what_this_session_did_and_what_others_changed(world):
    session = world.session("s1")
    session.read("a.py")
    other = world.session("s2")
    other.read("a.py")
    other.edit("a.py", "two", "2")
    session.dropped()
    told = why(session._context, "a.py")
    assert [entry.kind for entry in told.entries] == ["seen", "changed", "dropped"]
    assert (told.verdict.state, told.others) == ("stale", ("s2",))


def test_why_of_an_unseen_file_has_no_facts(world):
    world.session("s2").read("a.py")
    told = why(world.session("s1")._context, "a.py")
    assert (told.entries, told.verdict.state, told.others) == ((), "unseen", ("s2",))


def test_a_question_without_a_session_is_about_one_at_work_then_about_one_that_ended(world):
    world.session("s1").read("a.py")
    world.session("s2").read("a.py")
    world.session("s3").read("b.py")
    assert knower(world.survey(), "a.py") == "s2"
    world.store.append(Append("s2", [SessionEnded()], at=world.clock()))
    assert knower(world.survey(), "a.py") == "s1"
    world.store.append(Append("s1", [SessionEnded()], at=world.clock()))
    assert knower(world.survey(), "a.py") == "s2"
    assert knower(world.survey(), "c.py") is None


def test_why_goes_back_through_a_files_names(world):
    session = world.session("s1")
    session.read("a.py")
    session.move("a.py", "c.py")
    session.edit("c.py", "one", "1")
    told = why(session._context, "c.py")
    assert [(e.kind, e.path) for e in told.entries] == [
        ("seen", "a.py"), ("moved", "c.py"), ("changed", "c.py"),
    ]  # fmt: skip


def test_why_of_a_fork_tells_what_its_parent_was_shown(world):
    world.session("s1").read("a.py")
    world.session("s2")
    world.store.append(
        Append("s2", [SessionForked("s1", world.store.position())], at=world.clock())
    )
    world.session("s1").read("a.py", (1, 1))
    told = why(world.session("s2")._context, "a.py")
    assert [(e.session, e.kind) for e in told.entries] == [("s1", "seen")]


def test_why_names_the_lines_that_differ(world):
    session = world.session("s1")
    session.read("a.py")
    world.tree.put("a.py", "one\n2\n")
    told = why(session._context, "a.py")
    assert (told.differing, told.kept, told.policy) == (((2, 2),), True, "merge")
    for text in world.store.texts():
        world.store.purge(lambda gone=text: [gone.revision], "age", session="s1", at=1)
    assert why(session._context, "a.py").kept is False


def test_why_says_how_much_it_leaves_out(world):
    session = world.session("s1")
    for _ in range(ENTRIES + 3):
        session.read("a.py")
    told = why(session._context, "a.py")
    assert (len(told.entries), told.earlier) == (ENTRIES, 3)


def test_surveying_settles_the_write_of_a_dead_process(world):
    """Else the log would lack a change whose writer was killed before it could say so."""
    world.session("s1").read("a.py")
    world.tree.put("b.py", "written\n")
    intent = WriteIntended("b.py", MISSING, revision_of(b"written\n"), owner="elsewhere:1:1")
    world.store.append(Append("s1", [intent], at=world.clock()))
    assert "changed" not in world.kinds()
    world.survey()
    assert world.kinds(path="b.py") == ["changed"]
