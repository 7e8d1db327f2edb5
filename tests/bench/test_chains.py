"""bench/chains.py asks what it says, of the tree that it says."""

import json

from bench import chains
from sightline.search.patterns import pattern


def test_the_tree_is_the_same_on_every_run_and_wide():
    paths = chains.tree(2_000)
    assert len(set(paths)) == 2_000
    assert paths == tuple(sorted(paths))
    assert chains.tree.__wrapped__(2_000) == paths
    assert len({path.rpartition("/")[2] for path in paths}) > 1_900


def test_every_pattern_of_the_chains_is_one():
    for chain in chains._five("**/*{two}{one}*"):
        assert len(chain) == 5
        assert [pattern(text).kind for text in chain] == ["path", *["glob"] * 4]


def test_a_figure_is_printed_as_json(capsys, monkeypatch):
    small = chains.tree(2_000)
    monkeypatch.setattr(chains, "tree", lambda paths=0: small)
    chains.main(["--json", "--only", "hard"])
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["name"], row["limit"]) == ("hard", "100 ms")


def test_a_name_that_no_figure_has_is_said(capsys):
    assert chains.main(["--only", "nothing"]) == 2
    assert "chain-nothing" in capsys.readouterr().err
