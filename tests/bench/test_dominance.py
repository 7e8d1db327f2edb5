"""bench/dominance.py: whether a baseline is cheaper at no more lost edits."""

from __future__ import annotations

import json

from tests.audit.test_replay import session

from bench import dominance as bench
from sightline.audit.costs import Outcome


def outcome(cost: float, lost: int = 0, *, invalid: int = 0, over: int = 0) -> Outcome:
    return Outcome(costs=(cost,) * 4, lost_edits=lost, invalid=invalid, over=over)


NONE = outcome(100, over=3)


def test_the_cheapest_baseline_that_loses_no_more_edits_is_shown():
    others = {
        "none": NONE,
        "dear": outcome(95),
        "cheap": outcome(90, 2),
        "careless": outcome(50, 3),
    }
    row = bench.judge("a", "default", 0, outcome(80, 2), others)
    assert (row.cost, row.baseline, row.baseline_cost) == (0.8, "cheap", 0.9)
    assert not row.is_dominated
    assert bench.judge("a", "default", 0, outcome(91, 2), others).is_dominated
    assert bench.judge("a", "careful", 0, outcome(91, 1), others).baseline == "dear"


def test_a_baseline_that_no_provider_would_take_is_no_choice():
    others = {"none": NONE, "broken": outcome(50, invalid=1), "large": outcome(50, over=1)}
    row = bench.judge("a", "default", 0, outcome(80), others)
    assert (row.baseline, row.is_dominated) == ("", False)


def test_a_recording_is_judged_at_every_price(tmp_path, capsys):
    session("s").write(tmp_path / "s.jsonl")
    assert bench.main([str(tmp_path), "--json", "--min-tokens", "0"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["policy"], row["price"]) for row in rows] == [
        (policy, price) for price in bench.PRICES for policy in ("default", "careful")
    ]
    assert all(0 < row["cost"] <= 1 for row in rows)


def test_nothing_to_play_is_said(tmp_path, capsys):
    assert bench.main([str(tmp_path)]) == 2
    assert "No session to play" in capsys.readouterr().err
