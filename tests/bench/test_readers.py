"""The readers' counts beside a plain walk through the JSON of committed recordings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.recordings.counts import WALKERS, Counts

from bench import readers

TESTS = Path(__file__).parents[1]
SAMPLES = (TESTS / "recordings" / "data", TESTS / "bench" / "recordings")


def test_what_the_readers_find_is_what_a_plain_walk_counts(capsys):
    assert readers.main([*map(str, SAMPLES), "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    told = [file for file in files if file["agent"]]
    assert len(told) == 18
    assert len({file["agent"] for file in told}) == 11
    assert all(file["read"] == file["walked"] for file in told)
    assert sum(file["read"][0] for file in told) > 100
    assert all(file["why"] for file in files if not file["agent"])


def test_parts_of_a_recording_are_counted_as_a_plain_walk_counts_them(capsys):
    """Each recording without its head or its tail: between two rows, and inside a row."""
    assert readers.main([*map(str, SAMPLES), "--cut", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    parts = [file for file in files if " without the " in file["path"]]
    assert len({file["agent"] for file in parts}) == 11
    assert any(file["read"][0] for file in parts)


def test_a_difference_is_listed_and_an_exit_code(monkeypatch, capsys):
    monkeypatch.setitem(WALKERS, "pi", lambda _path: Counts(9, 9, 9))
    assert readers.main([str(SAMPLES[0] / "pi.jsonl")]) == 1
    out = capsys.readouterr().out
    assert "differs: " in out
    assert "walked Counts(calls=9, edits=9, reads=9)" in out


def test_no_recording_is_a_usage_error(tmp_path, capsys):
    (tmp_path / "notes.md").write_text("# Notes\n")
    assert readers.main([str(tmp_path)]) == 2
    assert "No recording" in capsys.readouterr().err


@pytest.mark.full
@pytest.mark.wide
@pytest.mark.skipif(not readers.CORPUS.exists(), reason="the corpus lies beside the repository")
def test_so_it_is_in_the_corpus(capsys):
    assert readers.main([]) == 0
    capsys.readouterr()
