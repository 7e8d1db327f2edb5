"""Small versions of bench/stress.py: real processes, killed and crowded, on one workspace."""

import json
import subprocess
import sys

import pytest
from bench.stress_worker import is_whole, whole

from bench import stress


@pytest.mark.parametrize(
    ("trial", "scale"),
    [
        ("kills", 0.1),
        pytest.param("appends", 0.1, marks=pytest.mark.wide),
        pytest.param("savers", 0.06, marks=pytest.mark.wide),
    ],
)
def test_nothing_is_lost(tmp_path, trial, scale):
    outcome = stress.TRIALS[trial](str(tmp_path), scale)
    assert outcome.wrong == []
    assert all(outcome.counts[what] for what in EXPECTED[trial])


EXPECTED = {
    "appends": ("processes", "facts"),
    "kills": ("rounds", "edits acknowledged"),
    "savers": ("guarded saves", "saves in place"),
}
"""What each trial has to have done, or it showed nothing."""


@pytest.mark.wide
def test_a_promised_edit_that_is_not_there_is_seen(tmp_path, monkeypatch):
    """The trial itself can fail: here a worker promises what it never did."""
    lie = "edited", "f0.txt", "0" * 64
    killed = stress._killed_after

    def lying(worker, order):
        told, failed = killed(worker, order)
        return {*told, lie[1:]}, failed

    monkeypatch.setattr(stress, "_killed_after", lying)
    assert any("was promised" in wrong for wrong in stress.kills(str(tmp_path), 0).wrong)


@pytest.mark.wide
def test_a_worker_that_fails_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(stress, "_worker", lambda *_: subprocess.Popen(
        [sys.executable, "-c", "raise SystemExit('no')"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ))  # fmt: skip
    wrong = stress.appends(str(tmp_path), 0).wrong
    assert sum("a worker failed: no" in sentence for sentence in wrong) == 8


def test_half_a_file_is_told_from_a_whole_one():
    text = whole("mark").encode()
    assert is_whole(text)
    assert not is_whole(text[: len(text) // 2])
    assert not is_whole(b"")


def test_outcomes_are_printed_as_json(capsys, monkeypatch):
    trials = {"quick": lambda *_: stress.Outcome("quick", {"things": 1}, ["a thing"])}
    monkeypatch.setattr(stress, "TRIALS", trials)
    assert stress.main(["--json", "--only", "quick"]) == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows == [{"name": "quick", "counts": {"things": 1}, "wrong": ["a thing"]}]
