"""bench/folding.py plays its conversations, and they do what they stand for."""

import json

import pytest

from bench import folding


@pytest.mark.parametrize("figure", folding.FIGURES, ids=lambda figure: figure.name)
def test_a_conversation_has_about_as_many_blocks_as_it_says(figure):
    row = folding.measured(figure._replace(blocks=400))
    assert 350 <= row.blocks <= 401
    assert row.p50_ms <= row.p99_ms <= row.worst_ms
    assert row.copy_ms > 0


def test_what_may_not_go_stays_and_what_must_goes():
    rows = {each.name: folding.measured(each._replace(blocks=1_000)) for each in folding.FIGURES}
    assert rows["held"].folds == rows["edited"].folds == 0
    assert min(rows[name].folds for name in ("usual", "forced")) > 100


def test_a_figure_is_printed_as_json(capsys, monkeypatch):
    small = folding.FIGURES[0]._replace(blocks=100)
    monkeypatch.setattr(folding, "FIGURES", (small,))
    status = folding.main(["--json", "--only", "us"])
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["name"], row["limit_ms"], row["met"]) == ("usual", 5.0, not status)


def test_a_name_that_no_figure_has_is_said(capsys):
    assert folding.main(["--only", "nothing"]) == 2
    assert "one-file" in capsys.readouterr().err
