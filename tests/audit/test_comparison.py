"""Policies beside one another."""

from __future__ import annotations

import pytest

from sightline.audit.comparison import compare_policies, summarize
from sightline.audit.costs import Outcome


def outcome(cost=100.0, sent=1_000, lost=0, edits=10, changes=1):
    return Outcome(
        calls=1, sent=sent, costs=(cost,) * 4, edits=edits, lost_edits=lost, changes=changes
    )


NONE = [outcome(100), outcome(200), outcome(50)]


def test_outcomes_are_added_but_for_the_largest_view():
    one = Outcome(calls=1, costs=(1.0, 2.0, 3.0, 4.0), peak=5, wrong="")
    two = Outcome(calls=2, costs=(1.0, 1.0, 1.0, 1.0), peak=4, wrong="w", invalid=1)
    assert one + two == Outcome(calls=3, costs=(2.0, 3.0, 4.0, 5.0), peak=5, wrong="w", invalid=1)


def test_a_row_is_parts_of_no_truncations_sums():
    made = summarize(
        "p", [outcome(50, 500, 1), outcome(200, 1_000), outcome(75, 900, changes=0)], NONE
    )
    assert made.costs == pytest.approx((325 / 350,) * 4)
    assert (made.sent, made.lost_edits) == (0.8, 1 / 30)
    assert made.per_session == (0.5, 1.0, 1.5)


def test_the_frontier_are_those_that_nobody_beats_on_both_axes():
    made = {
        "none": [outcome(100)],
        "cheap": [outcome(50, lost=5)],
        "good": [outcome(70, lost=1)],
        "beaten": [outcome(80, lost=1)],
        "same": [outcome(70, lost=1)],
    }
    rows = {each.name: each for each in compare_policies(made)}
    assert [name for name, each in rows.items() if each.frontier[0]] == [
        "none",
        "cheap",
        "good",
        "same",
    ]
