"""A small version of bench/several.py: two agents and a user in the same fifty files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.filling import opened
from bench.several_worker import start

from bench import several


@pytest.mark.parametrize("seed", [1, 2])
def test_no_byte_of_anybodys_is_lost(tmp_path, seed):
    outcome = several.run(str(tmp_path), seed, 2)
    assert outcome.wrong == []
    counts = outcome.counts
    assert counts["attempts"] == 200
    assert counts["made"] + counts["refused"] <= 200
    assert counts["of them merged"]
    assert counts["saves in place"]
    assert counts["saves by renaming"]


def lying(monkeypatch, line):
    """Let the second agent promise what it never did."""
    ended = several._Worker.ended

    def said(worker):
        told, failed = ended(worker)
        return ([*told, line] if worker._said.name == "b.out" else told), failed

    monkeypatch.setattr(several._Worker, "ended", said)


def test_a_text_that_is_nowhere_is_seen(tmp_path, monkeypatch):
    lying(monkeypatch, f"wrote f00.txt b-0-00 {'0' * 64} plain")
    (wrong,) = several.run(str(tmp_path), 1, 0).wrong
    assert wrong == "f00.txt: an agent's 00000000 is nowhere"


def test_a_worker_that_fails_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.several.start", lambda _: None)
    wrong = several.run(str(tmp_path), 1, 1).wrong
    assert any("a worker failed: " in sentence for sentence in wrong)


def test_a_write_that_takes_more_than_its_line_is_seen(tmp_path):
    start(str(tmp_path))
    with opened(str(tmp_path), id="a") as session:
        session.read("f00.txt")
        session.write("f00.txt", "00:a-1\n01:a-2\n")
        (wrong,) = several._clobbered(session)
    assert wrong.startswith("f00.txt: a changed ")


def test_outcomes_are_printed_as_json_and_as_a_table(capsys, monkeypatch):
    outcome = several.Outcome(0, "library", {"attempts": 1}, ["a thing"])
    monkeypatch.setattr(several, "run", lambda *_: outcome)
    assert several.main(["--json", "--seeds", "1"]) == 1
    assert json.loads(capsys.readouterr().out)["rows"] == [outcome._asdict()]
    assert several.main(["--seeds", "2"]) == 1
    assert "| attempts | 2 |" in capsys.readouterr().out
    assert Path(several.WORKER).exists()
