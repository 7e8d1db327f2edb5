"""Checkpoints that nobody asks for: when, how many, how long, and what is said where one fails."""

from __future__ import annotations

import threading
from io import StringIO

import pytest
from rich.console import Console
from tests.checkpoints.test_take import files

from sightline.checkpoints import capture
from sightline.checkpoints.compare import story
from sightline.checkpoints.take import keep_ahead
from sightline.cli.live.view import news
from sightline.errors import EditRefused, StoreError
from sightline.filesystem import scan, tree_index
from sightline.history import session_history
from sightline.history.overview import of_interest
from sightline.model.events import CheckpointMissed, CheckpointTaken
from sightline.model.manifest import PathChange
from sightline.model.revision import revision_of
from sightline.store.sqlite import SqliteStore
from sightline.testing import make_session


def told(session):
    return [(each.why, each.label, each.turn) for each in session.checkpoints()]


def missed(session):
    found = session._context.store.timeline(session=session.id, kinds=[CheckpointMissed])
    return [recorded.fact for recorded in found]


def edited(place, session):
    place.put("a.py", "one\ntwo\n")
    session.read("a.py")
    return session


@pytest.fixture
def one(place, s):
    """A session that was shown a file."""
    return edited(place, s)


# before a turn's first change


def test_a_session_that_never_began_a_turn_gets_none(one):
    one.edit("a.py", "one", "ONE")
    assert told(one) == []


def test_before_the_first_change_of_each_turn_and_no_other(place, one):
    for turn in (1, 2):
        one.turn()
        one.edit("a.py", "o" if turn == 1 else "0", "0" if turn == 1 else "o", count=None)
        one.create(f"b{turn}.py", "b\n")
        one.delete(f"b{turn}.py")
    assert told(one) == [("turn", "before a.py", 1), ("turn", "before a.py", 2)]
    first, second = one.checkpoints()
    assert files(one, first)["a.py"] != files(one, second)["a.py"]


def test_it_holds_what_stood_before_the_change(place, one):
    one.turn()
    one.edit("a.py", "one", "ONE")
    assert one.rewind(one.checkpoints()[0]).restored == ("a.py",)
    assert place.text("a.py") == "one\ntwo\n"


def test_asking_and_looking_is_no_change(one):
    one.turn()
    one.read("a.py")
    one.check("a.py")
    one.changes()
    assert told(one) == []


CHANGES = {
    "edit_lines": lambda s, place: s.edit_lines("a.py", 1, 1, "ONE\n"),
    "write": lambda s, place: s.write("a.py", "x\n"),
    "patch": lambda s, place: s.patch("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one\n+ONE\n"),
    "create": lambda s, place: s.create("a.py2", "x\n"),
    "delete": lambda s, place: s.delete("a.py"),
    "move": lambda s, place: s.move("a.py", "b.py"),
    "apply": lambda s, place: s.apply([{"path": "a.py", "content": "x\n"}]),
}


@pytest.mark.parametrize("verb", CHANGES)
def test_every_verb_that_changes_files_counts(place, one, verb):
    one.turn()
    CHANGES[verb](one, place)
    ((why, label, turn),) = told(one)
    assert (why, turn) == ("turn", 1)
    assert label.startswith("before a.py")


def test_a_write_of_the_hosts_own_counts(place, one):
    one.turn()
    with one.writing("a.py", "x\n"):
        place.put("a.py", "x\n")
    assert told(one) == [("turn", "before a.py", 1)]


def test_a_command_counts_and_gives_it_its_name(place, one):
    one.turn()
    with one.ran("make all"):
        place.put("out.txt", "x\n")
    assert told(one) == [("turn", "before a command", 1)]


def test_several_files_at_once_are_counted_in_its_label(place, one):
    place.put("b.py", "b\n")
    one.read("b.py")
    one.turn()
    one.apply([{"path": path, "content": "x\n"} for path in ("a.py", "b.py")])
    assert told(one) == [("turn", "before a.py and 1 more", 1)]


def test_one_that_was_asked_for_in_the_turn_is_enough(one):
    one.turn()
    one.checkpoint("mine")
    one.edit("a.py", "one", "ONE")
    assert told(one) == [("asked", "mine", 1)]


def test_two_processes_of_a_session_take_one(place, one):
    other = place.session("s")
    one.turn()
    start = threading.Barrier(2)

    def create(session, path):
        start.wait()
        session.create(path, "x\n")

    both = [threading.Thread(target=create, args=a) for a in ((one, "x.py"), (other, "y.py"))]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert [why for why, _, _ in told(one)] == ["turn"]


def test_each_session_has_its_own(place, one):
    two = edited(place, place.session("t"))
    for session in (one, two):
        session.turn()
        session.edit("a.py", "two", f"by {session.id}\ntwo")
    assert [each.session for each in one.checkpoints()] == ["s", "t"]


def test_none_where_the_settings_say_off(place):
    session = edited(place, place.session(checkpoints="off"))
    session.turn()
    session.edit("a.py", "one", "ONE")
    assert told(session) == []


# after edits


def test_after_each_edit(place):
    session = edited(place, place.session(checkpoints="edits"))
    session.turn()
    session.edit("a.py", "one", "ONE")
    session.edit("a.py", "two", "TWO")
    assert told(session) == [("edits", "after a.py", 1)] * 2
    newest = files(session, session.checkpoints()[-1])
    assert newest["a.py"].revision == revision_of(place.bytes("a.py"))


def test_after_so_many_edits_with_what_was_edited(place):
    session = edited(place, place.session(checkpoints="edits", checkpoint_every=3))
    session.edit("a.py", "one", "ONE")
    session.create("b.py", "b\n")
    assert told(session) == []
    session.move("b.py", "c.py")
    session.create("d.py", "d\n")
    assert told(session) == [("edits", "after a.py and 2 more", 0)]


def test_only_edits_of_these_paths_count(place):
    more = {"checkpoints": "edits", "checkpoint_paths": ("src/*.py", "!src/gen_*")}
    session = edited(place, place.session(**more))
    session.edit("a.py", "one", "ONE")
    session.create("src/gen_x.py", "x\n")
    assert told(session) == []
    session.create("src/x.py", "x\n")
    assert told(session) == [("edits", "after src/x.py", 0)]


def test_what_others_changed_does_not_count(place):
    session = edited(place, place.session(checkpoints="edits", checkpoint_every=2))
    place.put("a.py", "the user's\n")
    session.read("a.py")
    session.edit("a.py", "user", "agent")
    assert told(session) == []


def test_commands_and_the_hosts_writes_count(place):
    session = edited(place, place.session(checkpoints="edits"))
    with session.ran("echo > b.py"):
        place.put("b.py", "\n")
    place.put("a.py", "x\n")
    session.wrote("a.py", content="x\n")
    assert told(session) == [("edits", "after b.py", 0), ("edits", "after a.py", 0)]


# its time


def times_up(monkeypatch, after):
    """monotonic() of covering, that jumps once so many files were asked for."""
    ticks = iter(range(1_000_000))
    monkeypatch.setattr(capture, "ALWAYS", 0)
    monkeypatch.setattr(capture, "monotonic", lambda: 0.0 if next(ticks) < after else 1e18)


def test_what_there_is_no_time_for_is_listed_and_comes_with_the_next(monkeypatch):
    made_up = {f"d/{n:02}.txt": f"{n}\n" for n in range(30)}
    session = make_session({"a.py": "one\ntwo\n", **made_up})
    session.read("a.py")
    for turn in range(1, 4):
        session.turn()
        with monkeypatch.context() as patched:
            times_up(patched, 15)
            session.create(f"new{turn}.py", "x\n")
    found = session.checkpoints()
    assert [each.files for each in found] == [12, 24, 33]
    assert {each.reason for each in found[0].not_covered} == {capture.NO_TIME}
    assert [len(each.not_covered) for each in found] == [19, 8, 0]
    between = [each.changed for each in story(session._context).chapters]
    assert between == [None, (), (PathChange("new2.py", "added"),)], (
        "what was left out did not come"
    )
    assert missed(session) == []


@pytest.fixture
def ticking(monkeypatch):
    """A disk whose clock steps finely: the times of a file vouch for it at once."""
    monkeypatch.setattr(scan, "TICK_NS", 0)


@pytest.mark.usefixtures("ticking")
def test_texts_that_were_stored_ahead_take_no_time(monkeypatch):
    texts = {f"d/{n:02}.txt": f"{n}\n" for n in range(30)}
    session = make_session({"a.py": "one\ntwo\n", **texts})
    pauses = []
    keep_ahead(session._context, lambda: pauses.append(len(pauses)))
    session.read("a.py")
    session.turn()
    with monkeypatch.context() as patched:
        times_up(patched, 3)
        session.create("new.py", "x\n")
    (only,) = session.checkpoints()
    assert (only.files, only.not_covered, pauses) == (31, (), [0])
    assert all(session._context.store.blob(revision_of(text.encode())) for text in texts.values())


def test_no_more_is_stored_ahead_than_checkpoints_may_take(place):
    context = place.session(checkpoint_bytes=10)._context
    small, large = b"small\n", b"much larger\n"
    for name, text in (("a.txt", small), ("b.txt", large)):
        place.put(name, text.decode())
    keep_ahead(context, lambda: None)
    assert context.store.stored_among(map(revision_of, (small, large))) == set()


@pytest.mark.usefixtures("ticking")
def test_a_text_that_is_deleted_while_a_checkpoint_is_taken_is_stored_again(place, s, monkeypatch):
    context, text = edited(place, s)._context, revision_of(b"one\ntwo\n")
    keep_ahead(context, lambda: None)
    real = SqliteStore.stored_among
    asked: list[str] = []

    def answer_and_delete(self, revisions):
        found = real(self, revisions)
        if text in found and not asked:
            asked.append(text)
            self.purge(lambda: [text], "age", session="other", at=1)
        return found

    monkeypatch.setattr(SqliteStore, "stored_among", answer_and_delete)
    s.checkpoint("mine")
    assert asked == [text]
    assert context.store.blob(text) == b"one\ntwo\n"
    assert [each.label for each in s.checkpoints()] == ["mine"]


def test_a_walk_that_takes_too_long_is_given_up_once_in_a_turn(place, monkeypatch):
    session = edited(place, place.session(checkpoint_auto_ms=1))
    monkeypatch.setattr(tree_index, "monotonic", lambda: 1e18)
    session.turn()
    session.edit("a.py", "one", "ONE")
    session.edit("a.py", "two", "TWO")
    assert place.text("a.py") == "ONE\nTWO\n"
    assert told(session) == []
    (only,) = missed(session)
    assert (only.label, only.why) == ("before a.py", "turn")
    assert "no time" in only.reason
    assert "no time" in str(session._context.missed)


# one that fails


def test_a_full_store_is_said_and_the_edit_goes_on(place, one, monkeypatch):
    real = SqliteStore.append

    def full(self, append):
        if any(isinstance(fact, CheckpointTaken) for fact in append.facts):
            raise StoreError("The disk is full.", "Make room.")
        return real(self, append)

    monkeypatch.setattr(SqliteStore, "append", full)
    one.turn()
    one.edit("a.py", "one", "ONE")
    assert place.text("a.py") == "ONE\ntwo\n"
    assert [fact.reason for fact in missed(one)] == ["No checkpoint was taken: The disk is full."]
    assert told(one) == []


def test_a_store_that_takes_nothing_refuses_the_edit_as_ever(place, one, monkeypatch):
    one.turn()

    def full(self, *_, **__):
        raise StoreError("The disk is full.", "Make room.")

    monkeypatch.setattr(SqliteStore, "append", full)
    with pytest.raises(StoreError, match="full"):
        one.edit("a.py", "one", "ONE")
    assert place.text("a.py") == "one\ntwo\n"


def test_one_before_an_edit_that_is_refused_serves_the_next(place, one):
    one.turn()
    with pytest.raises(EditRefused):
        one.edit("a.py", "never there", "x")
    one.edit("a.py", "one", "ONE")
    assert told(one) == [("turn", "before a.py", 1)]


def test_a_name_that_somebody_gave_comes_before_the_same_of_ones_own(one):
    mine = one.checkpoint("before a.py")
    one.turn()
    one.edit("a.py", "one", "ONE")
    assert one.rewind("before a.py", dry_run=True).checkpoint == mine.id


def test_what_was_edited_since_the_last_one_goes_by_those_that_were_asked_for(one):
    one.checkpoint()
    for old, new in (("one", "ONE"), ("two", "TWO")):
        one.turn()
        one.edit("a.py", old, new)
    one.create("b.py", "b\n")
    assert [each.path for each in one.edited_since()] == ["a.py", "b.py"]
    assert [each.path for each in one.edited_since(one.checkpoints()[-1])] == ["a.py", "b.py"]


def test_up_is_quiet_about_them_but_for_one_that_failed(place, one, monkeypatch):
    one.turn()
    one.edit("a.py", "one", "ONE")
    one.checkpoint("mine")
    one.turn()
    monkeypatch.setattr(tree_index, "monotonic", lambda: 1e18)
    one.edit("a.py", "two", "TWO")
    events = of_interest(session_history.select(one._context.store, session_history.LogQuery()))
    console = Console(file=StringIO(), width=100, color_system=None, _environ={})
    with console.capture() as capture:
        console.print(news(events, 100, lambda _: "12:00:00"))
    said = [line.rstrip() for line in capture.get().splitlines()]
    kept = [line for line in said if "kept" in line]
    assert len(kept) == 2
    assert kept[0].endswith(" mine")
    assert "not kept  No checkpoint was taken: there was no time" in kept[1]
