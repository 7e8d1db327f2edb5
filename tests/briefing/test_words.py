"""The block that tells what was going on: its budget holds, and what must stand goes last."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from sightline.briefing.contents import Held, Memory, Stale, Work
from sightline.briefing.words import LEAST, beginning, block, ending
from sightline.model.agent_work import Todo
from sightline.text.tokens import estimate

FULL = Memory(
    request="Mend the parser",
    step="mend it",
    pending=(Todo("mend it", "in_progress"), Todo("test it", "proposed")),
    done=(Todo("read it", "done"),),
    done_count=3,
    refresh=(Stale("a.py", "changed", "somebody"), Stale("b.py", "moved", "git", "c.py")),
    changed=(Work("d.py", "created"), Work("e.py", "moved", "f.py")),
    working=(Held("g.py", ((1, 9),), 9), Held("h.py", ((1, 4),), 9)),
    result="Shall I go on?",
)


def test_it_reads_as_a_person_would_write_it():
    assert block(FULL, 1_500).text.split("\n")[1:] == [
        "The user asked last:",
        "- Mend the parser",
        "To do, 2 open:",
        "- now: mend it",
        "- test it",
        "Changed since you were shown them; read them again before you rely on them:",
        "- a.py was changed by somebody",
        "- b.py was renamed to c.py by git",
        "Changed by you:",
        "- created d.py",
        "- moved e.py (from f.py)",
        "Done (1 of 3, the last ones):",
        "- read it",
        "Your last answer ended:",
        "- Shall I go on?",
        "Files that you worked with, the newest first:",
        "- g.py",
        "- h.py (lines 1-4 of 9)",
        "Go on with the first open to-do. Do not do again what is done.",
    ]


def test_to_dos_have_their_details_and_changed_files_their_turns():
    todos = (
        Todo("mend it", "in_progress", "in a.py, lines 3 to 5", ("a.py", "b.py"), 4),
        Todo("test it", "proposed", turn=4),
    )
    changed = (Work("a.py", "modified", turn=5), Work("b.py", "created", turn=3))
    memory = Memory(
        pending=todos,
        changed=changed,
        result="Mended half",
        is_summary=True,
        next_steps=("mend the rest",),
        turn=5,
    )
    heading, *lines = block(memory, 1_500).text.split("\n")
    assert heading.startswith("Where this session stands in turn 5")
    assert lines == [
        "To do, 2 open:",
        "- now: mend it (in a.py, lines 3 to 5); files: a.py, b.py; since turn 4",
        "- test it",
        "Changed by you:",
        "- modified a.py, turn 5 (this turn)",
        "- created b.py, turn 3 (2 turns ago)",
        "Your last answer:",
        "- Mended half",
        "You offered to go on with:",
        "- mend the rest",
        "Go on with the first open to-do. Do not do again what is done.",
    ]


TEXTS = st.text(min_size=1, max_size=300)
PATHS = st.text(min_size=1, max_size=60)
MEMORIES = st.builds(
    Memory,
    request=st.none() | TEXTS,
    pending=st.lists(st.builds(Todo, TEXTS, st.just("proposed")), max_size=30).map(tuple),
    done=st.lists(st.builds(Todo, TEXTS, st.just("done")), max_size=5).map(tuple),
    done_count=st.integers(5, 9),
    refresh=st.lists(
        st.builds(Stale, PATHS, st.sampled_from(["changed", "deleted"]), TEXTS), max_size=30
    ).map(tuple),
    changed=st.lists(st.builds(Work, PATHS, st.just("modified")), max_size=30).map(tuple),
    working=st.lists(st.builds(Held, PATHS, st.just(((1, 3),)), st.just(9)), max_size=10).map(
        tuple
    ),
    result=st.none() | TEXTS,
    unread=st.integers(0, 1),
)
MUST = {"pending", "refresh", "changed"}


@pytest.mark.wide
@settings(max_examples=examples(60), deadline=None)
@given(MEMORIES, st.integers(LEAST, 2_500))
def test_no_block_is_larger_than_its_budget(told, budget):
    made = block(told, budget)
    assert made.tokens <= budget
    assert made.tokens == estimate(made.text)


@settings(max_examples=examples(60), deadline=None)
@given(MEMORIES, st.integers(LEAST, 2_500))
def test_while_a_thing_that_must_stand_is_left_out_nothing_else_stands(told, budget):
    made = block(told, budget)
    left = dict(made.left_out)
    rest = {
        "request": 1 if told.request else 0,
        "result": 1 if told.result else 0,
        "done": len(told.done),
        "working": len(told.working),
    }
    if MUST & left.keys():
        assert {kind: left.get(kind, 0) for kind in rest} == rest
    lines = sum(map(len, (told.pending, told.refresh, told.changed))) + sum(rest.values())
    assert made.text.count("\n- ") == lines - sum(left.values())
    assert ("Left out for room:" in made.text) == bool(left)


def test_no_list_takes_the_room_of_the_others():
    many = Memory(
        pending=tuple(Todo(f"to do {n}", "proposed") for n in range(500)),
        refresh=tuple(Stale(f"{n}.py", "changed", "somebody") for n in range(500)),
        changed=(Work("src/a.py", "modified"),),
    )
    made = block(many, 1_500)
    left = dict(made.left_out)
    assert "modified src/a.py" in made.text
    assert set(left) == {"pending", "refresh"}
    assert abs(left["pending"] - left["refresh"]) <= 1
    said = f"{left['pending']} open to-dos, {left['refresh']} files to read again"
    assert said in made.text
    assert made.tokens > 1_300


def test_very_many_changed_files_are_told_by_folder():
    names = [f"src/{'ab'[n % 2]}/module_{n}.py" for n in range(150)]
    made = block(Memory(changed=tuple(Work(name, "modified") for name in names)), 1_500)
    assert made.left_out == ()
    assert "- modified in src/a/: module_0.py, module_2.py, module_4.py" in made.text
    assert all(name.rpartition("/")[2] in made.text for name in names)
    top = tuple(Work(f"f{n}.py", "created") for n in range(40))
    moved = Work("new.py", "moved", "old.py")
    found = block(Memory(changed=(*top, moved)), 1_500).text
    assert "- moved new.py (from old.py)\n- created f0.py, f1.py" in found


def test_files_that_there_is_no_room_for_are_counted_one_by_one():
    names = [f"src/{n}/module_{n}_{m}.py" for n in range(60) for m in range(20)]
    made = block(Memory(changed=tuple(Work(name, "modified") for name in names)), 1_500)
    said = sum(name.rpartition("/")[2] in made.text for name in names)
    assert dict(made.left_out) == {"changed": len(names) - said}
    assert f"{len(names) - said} files changed by you" in made.text
    assert made.tokens <= 1_500


@given(st.text(max_size=100), st.integers(5, 40))
def test_a_text_is_cut_where_it_is_too_long_and_says_so(text, room):
    for cut in (beginning, ending):
        assert len(cut(text, room)) <= room
        assert "\n" not in cut(text, room)
    plain = " ".join(text.split())
    if len(plain) <= room and plain.isprintable():
        assert beginning(text, room) == ending(text, room) == plain


def test_what_was_cut_is_marked():
    assert beginning("one two three", 8) == "one two…"
    assert ending("one two three", 8) == "…o three"
