"""bench/leave_one_out.py: what was chosen on the others, and what it does in the one left out."""

from __future__ import annotations

import json

import pytest
from tests.audit.test_replay import session

from bench import leave_one_out as bench
from sightline.audit.costs import Outcome
from sightline.audit.run_sessions import Played


def played(folder: str, number: int, *lost: int) -> Played:
    """A session of 100 edits. lost: edits lost with each share; a larger share costs more."""
    none = Outcome(costs=(100.0,) * 4, edits=100)
    folded = [
        Outcome(costs=(60.0 + 10 * at,) * 4, edits=100, lost_edits=edits)
        for at, edits in enumerate(lost)
    ]
    name = f"{folder}-{number}"
    return Played(f"{folder}/{number}.jsonl", "a", name, name, 0, 1, 0, outcomes=(none, *folded))


def test_the_share_is_chosen_on_the_others_and_judged_on_the_one_left_out():
    careless = [played("one", number, 9, 4, 0, 0, 0) for number in range(3)]
    calm = [played("two", number, 1, 0, 0, 0, 0) for number in range(3)]
    one, two, whole = bench.judge("a", "default", [*careless, *calm])
    assert (one.repository, one.share, one.left_out.lost) == ("one", 0.25, 0.09)
    assert one.tuned is not None
    assert (one.tuned.lost, one.tuned.cost) == (0.01, 0.6)
    assert (two.repository, two.share, two.left_out.lost_edits) == ("two", 0.5, 0)
    assert (whole.repository, whole.left_out.lost_edits, whole.left_out.edits) == ("all", 27, 600)
    assert whole.shipped.lost_edits == 12


def test_an_interval_holds_the_figure_and_is_the_same_on_every_run():
    sessions = [played("one", number, number, 0, 0, 0, 0) for number in range(9)]
    made = bench.figure(bench.pairs(sessions, 0.25))
    assert made == bench.figure(bench.pairs(sessions, 0.25))
    low, high = made.lost_interval
    assert made.lost == pytest.approx(0.04)
    assert 0 < low < made.lost < high < 0.08
    assert made.cost_interval == (0.6, 0.6)


def test_a_folder_of_recordings_makes_a_table(tmp_path, capsys):
    for repository in ("one", "two"):
        (tmp_path / repository).mkdir()
        session(repository).write(tmp_path / repository / "s.jsonl")
    assert bench.main([str(tmp_path), "--min-tokens", "0"]) == 0
    said = capsys.readouterr().out
    assert "| claude-code | default | one | 1 |" in said
    assert "| claude-code | careful | all | 2 |" in said
    assert bench.main([str(tmp_path), "--min-tokens", "0", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 6


def test_nothing_to_play(tmp_path, capsys):
    assert bench.main([str(tmp_path)]) == 2
    assert "No session to play" in capsys.readouterr().err
