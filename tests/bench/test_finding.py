"""bench/finding.py lists the trees it says, and both sides list the same."""

import json
import os

import pytest

from bench import finding


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(finding, "FILES", 600)
    monkeypatch.setattr(finding, "ROUNDS", 1)


def same(root, *words):
    names = finding.git(root, *words, *finding.LISTING).decode().split()
    assert sorted(names) == list(finding.listing(root).paths())
    return len(names)


def test_git_and_we_list_the_same_files(tmp_path, monkeypatch):
    """In each state that the figures are measured in."""
    counted = []

    def count(*args, **kwargs):
        del args, kwargs
        counted.append(same(root))
        return ([1.0], [1.0])

    monkeypatch.setattr(finding, "interleaved", count)
    root = finding.tracked(str(tmp_path))
    for work in (finding.in_git, finding.with_one_new, finding.half_tracked, finding.none_tracked):
        work(root)
    finding.in_git(root)
    assert counted == [601, 602, 601, 601, 601]
    with finding.away(root, ".git") as aside:
        assert same(root, f"--git-dir={aside}", f"--work-tree={root}") == 601
    assert os.path.isdir(f"{root}/packages/part_0/module_0/node_modules/dep")


def test_every_figure_is_printed_as_json(capsys):
    finding.main(["--json", "--only", "index"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in rows] == [figure.name for figure in finding.FIGURES]


def test_a_name_that_no_figure_has_is_said(capsys):
    assert finding.main(["--only", "nothing"]) == 2
    assert "index-again" in capsys.readouterr().err
