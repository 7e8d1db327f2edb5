"""bench/finding.py lists the trees it says, and both sides list the same."""

import json
import os

import pytest

from bench import finding
from sightline.workspace.find import Finder


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(finding, "FILES", 600)
    monkeypatch.setattr(finding, "ROUNDS", 1)


@pytest.mark.parametrize("make", [finding.tracked, finding.untracked])
def test_git_and_we_list_the_same_files(make, tmp_path):
    root = make(str(tmp_path))
    names = finding.git(root, *finding.LISTING).decode().split()
    assert sorted(names) == list(Finder(root).paths())
    assert len(names) == 601
    assert os.path.isdir(f"{root}/packages/part_0/module_0/node_modules/dep")


def test_every_figure_is_printed_as_json(capsys):
    finding.main(["--json", "--only", "index"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in rows] == [figure.name for figure in finding.FIGURES]


def test_a_name_that_no_figure_has_is_said(capsys):
    assert finding.main(["--only", "nothing"]) == 2
    assert "index-again" in capsys.readouterr().err
