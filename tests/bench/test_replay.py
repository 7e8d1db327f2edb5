"""bench/replay.py prints what sightline replay says, as rows."""

import json

from tests.audit.test_replay import session

from bench import replay


def test_rows_for_policies_that_begin_so(tmp_path, capsys):
    session("one").write(tmp_path / "one.jsonl")
    assert replay.main([str(tmp_path), "--json", "--only", "mask-1", "--min-tokens", "0"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["schema"] == 1
    assert [row["name"] for row in said["rows"]] == ["none", "mask-10", "mask-10-batched"]
    assert said["sessions"] == 1


def test_a_table_with_the_caveat(tmp_path, capsys):
    session("one").write(tmp_path / "one.jsonl")
    assert replay.main([str(tmp_path), "--only", "all", "--min-tokens", "0"]) == 0
    said = capsys.readouterr().out
    assert "| none | 1.000 | 1.000* |" in said
    assert said.endswith("is modelled here, not observed.\n")


def test_nothing_to_play_or_to_play_it_by(tmp_path, capsys):
    assert replay.main([str(tmp_path)]) == 2
    assert "No session to play" in capsys.readouterr().err
    assert replay.main([str(tmp_path), "--only", "x"]) == 2
    assert "No policy begins so. Known: none default" in capsys.readouterr().err
