"""The one function that moves a sub-task, and the fold of a session's sub-tasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import SubtaskError
from sightline.model import events
from sightline.model.timeline import Recorded
from sightline.subtasks.subtask_fold import TaskFold
from sightline.subtasks.transitions import (
    ENDS,
    LOST,
    MOVES,
    STATES,
    State,
    diagram,
    may_move,
    transition,
)
from tools import subtask_diagram

BACK = {"retry", "unblock", "return"}
"""Moves to an earlier state. People, and a dependency that people retry, make two of them; attempts
that fail are counted for the third."""


@given(st.lists(st.sampled_from(sorted(MOVES)), max_size=40))
def test_every_path_of_moves_that_do_not_go_back_ends(moves):
    state: State = "proposed"
    steps = 0
    for move in moves:
        if move in BACK or not may_move(state, move):
            continue
        after = transition(state, move)
        assert STATES.index(after) > STATES.index(state) or state in ENDS
        state, steps = after, steps + 1
    assert steps <= 5  # proposed, pending, ready, running, failed, completed


@pytest.mark.parametrize("state", STATES)
def test_a_move_is_legal_or_an_error_that_names_the_legal_ones(state):
    for move in MOVES:
        if may_move(state, move):
            assert transition(state, move) in STATES
        else:
            with pytest.raises(SubtaskError) as error:
                transition(state, move, "api")
            assert error.value.kind == "move"
            assert "'api'" in error.value.message
            for legal in (name for name in MOVES if may_move(state, name)):
                assert legal in error.value.hint


def test_every_state_is_reached_and_every_open_state_can_end():
    reached: set[State] = {"proposed"}
    left = list(reached)
    while left:
        state = left.pop()
        new = {table[state] for table in MOVES.values() if state in table} - reached
        reached |= new
        left += new
    assert reached == set(STATES)
    assert all(may_move(state, "cancel") for state in STATES if state not in ENDS)


def test_the_diagram_has_every_move_and_the_page_has_the_diagram(monkeypatch):
    """Else run: python tools/subtask_diagram.py"""
    assert all(f"{a} --> {b}" in diagram() for table in MOVES.values() for a, b in table.items())
    monkeypatch.setattr("sys.argv", ["subtask_diagram.py", "--check"])
    assert subtask_diagram.main() == 0


IDS = "abcdef"
steps = st.lists(
    st.tuples(
        st.sampled_from(["approve", "start", "report", "return", "lost", *ENDS, "retry", "late"]),
        st.sampled_from(IDS),
    ),
    max_size=60,
)
edges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=9)


def fact_of(step, name, fold):
    attempt = fold.tasks[name].attempt
    if step in ENDS:
        return events.SubtaskEnded(name, step, "done", attempt)
    return {
        "approve": events.SubtaskApproved(name),
        "start": events.SubtaskStarted(name, f"s/{name}", attempt + 1, "me"),
        "report": events.SubtaskReported(name, attempt, "a" * 64),
        "return": events.SubtaskReturned(name, attempt, "failed"),
        "lost": events.SubtaskReturned(name, attempt, "died", is_lost=True),
        "retry": events.SubtaskRetried(name),
        "late": events.SubtaskEnded(name, "completed", "late", attempt - 1 or 99),
    }[step]


@given(edges, steps)
def test_a_fold_keeps_what_states_say_of_dependencies(edges, steps):
    fold, position = TaskFold("s"), 0
    for number, name in enumerate(IDS):
        before = tuple(
            sorted({IDS[one] for one, other in edges if other == number and one < number})
        )
        position += 1
        fold.step(Recorded(position, "s", 0, 0, events.SubtaskProposed(name, "goal", (), before)))
    for step, name in steps:
        position += 1
        old = fold.tasks[name]
        fold.step(Recorded(position, "s", 0, 0, fact_of(step, name, fold)))
        if step == "late":
            assert fold.tasks[name] == old
        for task in fold.tasks.values():
            needed = {fold.tasks[each].state for each in task.dependencies}
            if task.state == "ready":
                assert needed <= {"completed"}
            if task.state == "pending":
                assert needed - {"completed"}
                assert not needed & LOST
            if task.blocked_by is not None:
                assert task.state == "skipped"
                assert fold.tasks[task.blocked_by].state in LOST
        assert sorted(fold.ready()) == [t.id for t in fold.tasks.values() if t.state == "ready"]
    assert fold.position == position


@given(edges)
def test_a_graph_whose_sub_tasks_all_end_never_waits(edges):
    """Whatever fails, when nothing is ready or running any more, nothing is left but ends."""
    fold, position = TaskFold("s"), 0
    facts = []
    for number, name in enumerate(IDS):
        before = tuple(
            sorted({IDS[one] for one, other in edges if other == number and one < number})
        )
        facts += [events.SubtaskProposed(name, "goal", (), before), events.SubtaskApproved(name)]
    fold.fold(Recorded(n, "s", 0, 0, fact) for n, fact in enumerate(facts, 1))
    position = len(facts)
    while fold.ready():
        name = fold.ready()[0]
        position += 1
        state = "failed" if name in "bd" else "completed"
        fold.step(Recorded(position, "s", 0, 0, events.SubtaskEnded(name, state)))
    assert fold.graph().is_ended
    assert all(task.is_ended for task in fold.graph())


def test_a_retry_brings_back_those_that_were_skipped_because_of_it():
    facts = [
        events.SubtaskProposed("a", "goal"),
        events.SubtaskProposed("b", "goal", (), ("a",)),
        events.SubtaskProposed("c", "goal", (), ("b",)),
        events.SubtaskProposed("d", "goal", (), ("a",)),
        *(events.SubtaskApproved(name) for name in "abcd"),
        events.SubtaskEnded("d", "skipped"),
        events.SubtaskStarted("a", "s/a.1"),
        events.SubtaskEnded("a", "failed", None, 1, "no"),
    ]
    fold = TaskFold("s").fold(Recorded(n, "s", 0, 0, fact) for n, fact in enumerate(facts, 1))
    states = [task.state for task in fold.graph()]
    assert states == ["failed", "skipped", "skipped", "skipped"]
    assert fold.tasks["c"].blocked_by == "b"
    assert "'a', which it depends on, failed" in fold.tasks["b"].reason
    fold.step(Recorded(20, "s", 0, 0, events.SubtaskRetried("a")))
    assert [task.state for task in fold.graph()] == ["ready", "pending", "pending", "skipped"]
    fold.step(Recorded(21, "s", 0, 0, events.SubtaskEnded("a", "completed", "by hand")))
    assert fold.ready() == ["b"]
