"""bench/hooks.py runs, and its host is answered what its figures take for granted."""

from __future__ import annotations

import json
import tempfile

import pytest
from bench.hosting import Host

from bench import hooks


@pytest.fixture
def host():
    with tempfile.TemporaryDirectory(prefix="sl-") as folder:
        yield Host(folder)


def test_a_name_that_no_figure_has_is_said(capsys):
    assert hooks.main(["--only", "nothing"]) == 2
    assert "whole-refuse" in capsys.readouterr().err


def test_a_few_calls_at_once_are_all_recorded(capsys, monkeypatch):
    monkeypatch.setattr(hooks, "CALLS", 16)
    assert hooks.main(["--json", "--only", "crowd"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["what"] == "16 calls of 8 at once: 0 facts lost, 0 faults"


def test_the_write_is_refused_and_the_edit_goes_on_each_time(host):
    for _ in range(3):
        assert b'"deny"' in host.call(host.script(), host.write())
        assert host.call(host.command(), host.edit()) == b""
        host.settle()
    assert host.faults() == []


def test_who_runs_answers_the_same(host):
    alone = host.call(host.script(), host.write())
    with host.up():
        assert host.call(host.script(), host.write()) == alone


def test_the_floor_commits_what_it_says(host):
    assert host.call(host.standard(), b"") == b""


def test_counting_what_was_recorded_writes_to_no_other_folder(host):
    assert (host.seen(), host.checkpoints()) == (0, 0)
