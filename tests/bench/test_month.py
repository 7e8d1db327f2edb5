"""bench/month.py runs, and the history it makes up is one that a store can keep."""

from __future__ import annotations

import json

import pytest
from bench.usage import Usage

from bench import month


@pytest.mark.full
def test_a_short_month_is_printed_as_json(capsys):
    month.main(["--json", "--sessions", "2", "--operations", "30"])
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], said["operations"]) == (1, 60)
    assert [row["moment"] for row in said["sizes"]][:2] == [
        "the month's end",
        "gc, as the settings have it",
    ]
    before, after = said["sizes"][1], said["sizes"][-1]
    assert after["kept"] < before["kept"]
    assert {row["verb"] for row in said["rows"]} >= {"read", "check", "edit", "notice"}


def test_the_same_seed_makes_the_same_history(tmp_path):
    tallies = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        usage = Usage(str(tmp_path / name))
        usage.run(1, 60)
        tallies.append([r.fact for r in usage.store.timeline()])
        assert usage.store.verify() == []
        usage.store.close()
    assert [type(fact) for fact in tallies[0]] == [type(fact) for fact in tallies[1]]
