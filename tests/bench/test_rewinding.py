"""bench/rewinding.py measures what went back, and says so when it did not."""

import json

import pytest

from bench import rewinding


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(rewinding, "CHANGED", 3)
    monkeypatch.setattr(rewinding, "ROUNDS", 1)


@pytest.mark.parametrize("name", rewinding.FIGURES)
def test_a_figure_runs_and_is_printed_as_json(capsys, monkeypatch, name):
    monkeypatch.setattr(rewinding, "LIMIT", 1_000)
    assert rewinding.main(["--json", "--files", "20", "--only", name]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["name"], row["beside"], row["met"]) == (name, "add -A, checkout", True)


def test_files_that_did_not_go_back_are_no_figure(monkeypatch):
    monkeypatch.setattr(rewinding, "_edit_each", lambda session, paths: None)
    with pytest.raises(SystemExit, match="0 files went back, not 3"):
        rewinding.main(["--files", "20", "--only", "edited"])


def test_a_name_that_nothing_has_is_said(capsys):
    assert rewinding.main(["--only", "nothing"]) == 2
    assert capsys.readouterr().err.startswith("Known: edited")
