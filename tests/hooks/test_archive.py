"""Recordings read in as archives."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sightline.hooks.archive import Origin, import_recording
from sightline.model.events import Cause, Changed, Imported, Seen, SessionStarted, TurnBegan
from sightline.model.hook_events import Began, Compacted, Prompted, Shown, Stopped, Wrote
from sightline.model.revision import MISSING, UNKNOWN, revision_of
from sightline.store.memory import MemoryStore

ROOT = "/home/me/demo"
ORIGIN = Origin("claude-code", "/t/s1.jsonl", "d1", "s1", ROOT)
NOW = 1_800_000_000_000_000
BEFORE = "one\ntwo\nthree\n"
AFTER = "one\n2\nthree\n"


def edit(before=BEFORE, content=AFTER, **more):
    return Wrote(f"{ROOT}/a.py", "c1", before, content=content, **more)


TOLD = [
    (10, Began("startup", "some-model")),
    (10, Prompted("fix it")),
    (20, Shown(f"{ROOT}/a.py", None, BEFORE)),
    (30, edit()),
    (40, Prompted("and that")),
    (50, Shown("/elsewhere/b.py", None, "x\n")),
    (60, Stopped()),
]


@pytest.fixture
def store():
    return MemoryStore()


def read(store, told=TOLD, origin=ORIGIN, **more):
    return import_recording(store, lambda: NOW, origin, told, **more)


def facts(store, *kinds):
    return [r.fact for r in store.timeline(session="archive:s1", kinds=kinds or None)]


def text(store, path="a.py", session="archive:s1"):
    return store.blob(store.knowledge(session, path).belief.text).decode()


def test_a_recording_is_a_session_of_its_own_at_its_own_time(store):
    made = read(store)
    assert made == store.position() == 8
    (state,) = store.sessions()
    assert (state.id, state.agent, state.turn) == ("archive:s1", "claude-code", 2)
    assert (state.model, state.started, state.ended) == ("some-model", 10, 60)
    assert {recorded.recorded_at for recorded in store.timeline()} == {NOW}
    assert facts(store, SessionStarted) == [SessionStarted("claude-code")]
    assert facts(store, TurnBegan) == [TurnBegan(1, "fix it"), TurnBegan(2)]


def test_its_agent_knew_what_it_was_shown_and_wrote(store):
    read(store)
    knowledge = store.knowledge("archive:s1", "a.py")
    assert (knowledge.belief.shown, knowledge.belief.lines) == (((1, 3),), 3)
    assert text(store) == AFTER
    (changed,) = facts(store, Changed)
    assert (changed.before, changed.after) == tuple(
        revision_of(t.encode()) for t in (BEFORE, AFTER)
    )
    assert changed.cause == Cause("agent", "archive:s1")
    assert list(store.known("archive:s1")) == ["a.py"]


def test_nothing_of_it_stands_on_disk_now(store):
    read(store)
    assert store.disks() == {}
    assert store.pending() == []
    assert store.verify() == []


def test_the_same_recording_is_read_in_once(store):
    read(store)
    at = store.position()
    assert read(store) == 0
    assert store.position() == at
    assert facts(store, Imported) == [Imported("/t/s1.jsonl", "d1")]


@pytest.mark.wide
@given(st.integers(0, len(TOLD)))
def test_a_recording_that_has_grown_gives_what_is_newer(count):
    whole, parts = MemoryStore(), MemoryStore()
    read(whole)
    read(parts, [each for each in TOLD if each[0] <= 10 * count])
    read(parts, origin=structs.replace(ORIGIN, digest="d2"))
    kinds = (SessionStarted, TurnBegan, Seen, Changed)
    assert facts(parts, *kinds) == facts(whole, *kinds)
    assert text(parts) == text(whole)


def test_a_sub_agent_is_the_archives_own(store):
    read(store)
    read(store, origin=Origin("claude-code", "/t/a.jsonl", "d", "s1/x-1", ROOT, "s1"))
    assert store.session("archive:s1/x-1").parent == "archive:s1"


def test_lines_of_a_file_that_was_never_shown_whole(store):
    part = partial(Shown, f"{ROOT}/a.py")
    read(store, [(1, part((3, 4), "c\nd\n")), (2, part((1, 1), "a")), (3, part((4, 4), "D\n"))])
    assert text(store) == "a\n\nc\nD\n"
    assert store.knowledge("archive:s1", "a.py").belief.shown == ((1, 1), (3, 4))
    assert {fact.revision for fact in facts(store, Seen)} == {UNKNOWN}


def test_an_edit_of_a_text_that_others_changed_leaves_their_lines_unseen(store):
    """Its agent was shown "three" and not the user's "3"."""
    read(store, [(1, Shown("a.py", None, BEFORE)), (2, edit("one\ntwo\n3\n", "one\n2\n3\n"))])
    assert text(store) == "one\n2\nthree\n"


def test_an_edit_of_a_file_never_shown_is_known_by_its_new_lines(store):
    read(store, [(1, edit())])
    assert store.knowledge("archive:s1", "a.py").belief.shown == ((2, 2),)


def test_a_file_that_was_made_is_known_whole(store):
    read(store, [(1, edit(None, "a\r\nb\r\n", whole=True))])
    (changed,) = facts(store, Changed)
    assert (changed.before, changed.change) == (MISSING, "created")
    assert text(store) == "a\nb\n"


def test_an_edit_whose_text_is_not_told_is_recorded_without_it(store):
    read(store, [(1, edit(None, None, known_before=False))])
    assert facts(store, Changed)[0].after == UNKNOWN
    assert store.known("archive:s1") == {}


def test_a_compaction_takes_the_text_out_of_the_window(store):
    told = [(1, Shown("a.py", None, BEFORE)), (1, Compacted()), (1, Shown("a.py", (2, 2), "two\n"))]
    read(store, told)
    belief = store.knowledge("archive:s1", "a.py").belief
    assert (belief.shown, belief.held) == (((1, 3),), ((2, 2),))


def test_texts_that_must_not_be_stored_are_not(store):
    read(store, may_store=lambda path: path != "a.py")
    assert store.blob(revision_of(BEFORE.encode())) is None
    assert store.knowledge("archive:s1", "a.py").belief.lines == 3


def test_paths_of_another_machine_are_found_below_its_own_root(store):
    origin = structs.replace(ORIGIN, root="D:\\demo")
    read(
        store,
        [(1, Shown("D:\\demo\\src\\a.py", None, "x\n")), (2, Shown("C:\\b", None, "y"))],
        origin,
    )
    assert list(store.known("archive:s1")) == ["src/a.py"]


def test_the_mark_at_the_beginning_of_a_file_is_no_part_of_its_text(store):
    read(store, [(1, Shown("a.py", None, "x\n")), (2, edit("\ufeffx\n", "\ufeffy\n"))])
    assert text(store) == "y\n"


def test_half_a_character_does_not_stop_it(store):
    read(store, [(1, Shown("a.py", None, "x \ud83d\n"))])
    assert text(store) == "x ?\n"
