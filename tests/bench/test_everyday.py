"""bench/everyday.py times the calls of the real client, and says what Sightline adds to them."""

from __future__ import annotations

import json

import pytest
from bench.everyday import KINDS, Row, is_met, table, with_small_tree

from bench import everyday


def row(ours_p95=120.0, first=600.0, small=44.0):
    return Row(50_000, "Edit", 36, 45.0, 60.0, 100.0, ours_p95, first, small)


def test_added_is_what_lies_above_the_client_alone():
    assert (row().added, row().added_p95) == (55.0, 75.0)
    assert "| 50,000 | Edit | 45 ms | 60 | 100 | 120 | 55 | 75 | 1.2 x | 555 | kept |" in table(
        [row()]
    )


def test_a_slow_call_and_a_slow_first_call_miss_the_limits():
    assert [is_met(each) for each in (row(), row(ours_p95=200.0), row(first=1_100.0))] == [
        *(True, False, False)
    ]


def test_a_call_on_a_fast_machine_is_held_against_the_client_s_own_in_the_smallest_tree():
    small = Row(100, "Edit", 36, 20.0, 25.0, 40.0, 45.0, 100.0)
    rows = with_small_tree([small, row()])
    assert [each.small for each in rows] == [20.0, 20.0]
    assert [is_met(each) for each in rows] == [True, False]


@pytest.mark.full
@pytest.mark.client
def test_each_kind_of_call_is_timed(capsys, monkeypatch):
    monkeypatch.setattr(everyday, "RUNS", 1)
    monkeypatch.setattr(everyday, "TURNS", 1)
    everyday.main(["--files", "20", "--rounds", "3", "--json"])
    rows = [Row(**each) for each in json.loads(capsys.readouterr().out)]
    assert [(each.kind, each.calls, each.alone > 0) for each in rows] == [
        (kind, 2, True) for kind in KINDS
    ]
