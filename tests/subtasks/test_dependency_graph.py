"""Proposals: every wrong one is refused with its name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import SubtaskError
from sightline.subtasks.dependency_graph import (
    Proposal,
    error_of,
    find_cycles,
    find_problems,
    topological,
)


def p(id, *dependencies, goal="do it", **more):
    return Proposal(id, goal, dependencies=dependencies, **more)


@pytest.mark.parametrize(
    ("proposals", "kind", "field", "named"),
    [
        ([p("a", "b"), p("b", "c"), p("c", "a")], "cycle", "dependencies", "a → b → c → a"),
        ([p("a", "x")], "unknown_dependency", "dependencies[0]", "'x'"),
        ([p("a", "a")], "self_dependency", "dependencies[0]", "'a' depends on itself"),
        ([p("a"), p("a")], "duplicate_id", "id", "Sub-task 1 has the id of sub-task 0"),
        ([p("old")], "duplicate_id", "id", "'old' already"),
        ([p("a", goal=" \n")], "empty_goal", "goal", "'a' has no goal"),
        ([p("")], "invalid_id", "id", "1 to 64"),
        ([p("a\n")], "invalid_id", "id", "printable"),
        ([p("a", budget=0)], "invalid", "budget", "1 token or more"),
        ([p("a", files=("x",) * 101)], "invalid", "files", "more than 100"),
    ],
)
def test_a_wrong_proposal_is_refused_by_name(proposals, kind, field, named):
    [problem] = find_problems(proposals, {"old": None})
    assert (problem.kind, problem.field) == (kind, field)
    assert named in problem.message
    error = error_of([problem])
    assert isinstance(error, SubtaskError)
    assert (error.kind, error.subtask, error.message) == (kind, problem.subtask, problem.message)


def test_all_wrong_places_are_named_at_once():
    problems = find_problems([p("a", "x"), p("b", goal=""), p("b", "b")], {})
    assert [each.kind for each in problems] == [
        *("empty_goal", "duplicate_id", "unknown_dependency", "self_dependency")
    ]
    assert len(error_of(problems).problems) == 4


def test_an_earlier_sub_task_may_be_a_dependency():
    assert find_problems([p("a", "old")], {"old": None}) == []


graphs = st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4), max_size=13)


@given(graphs)
def test_an_order_and_the_cycles_together_account_for_every_node(edges):
    order = topological(edges)
    place = {name: at for at, name in enumerate(order)}
    for name in order:
        assert all(place[before] < place[name] for before in edges[name] if before in edges)
    cycles = list(find_cycles(edges))
    assert bool(cycles) == (len(order) < len(edges))
    for cycle in cycles:
        for one, following in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            assert following in edges[one]
