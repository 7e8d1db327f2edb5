"""bench/checkpoints.py runs on a small tree, and its neighbours do the work they stand for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import checkpoints


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return checkpoints.Bench(str(tmp_path_factory.mktemp("bench")), 60)


def test_the_tree_is_made_of_different_texts(bench):
    texts = {Path(bench.root, path).read_bytes() for path in bench.paths}
    assert len(texts) == len(bench.paths) == 60


def test_the_shadow_keeps_what_stands(bench):
    shadow = checkpoints.Shadow(bench.root, bench.fresh())
    kept = shadow("ls-tree", "-r", "--name-only", "-z", shadow.take()).split("\0")
    assert sorted(filter(None, kept)) == sorted(bench.paths)
    assert not os.path.exists(os.path.join(bench.root, ".git"))


def test_the_bare_walk_sees_every_file(bench):
    assert checkpoints.bare_walk(bench.root) == 60


def test_an_edit_changes_each_file_once(bench):
    before = {path: Path(bench.root, path).read_bytes() for path in bench.paths}
    checkpoints.edit(bench.root, bench.paths[:3], "word")
    changed = [path for path, data in before.items() if Path(bench.root, path).read_bytes() != data]
    assert changed == bench.paths[:3]


def test_a_figure_runs_and_is_printed_as_json(capsys):
    assert checkpoints.main(["--json", "--files", "60", "--only", "unhinted-git"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["name"], row["beside"], row["met"]) == ("unhinted-git", "git", None)


def test_a_name_that_no_figure_has_is_said(capsys):
    assert checkpoints.main(["--only", "nothing"]) == 2
    assert "unhinted" in capsys.readouterr().err


def test_it_is_started_as_a_script(tmp_path):
    script = os.path.join(os.path.dirname(checkpoints.__file__), "checkpoints.py")
    done = subprocess.run(
        [sys.executable, script, "--only", "nothing"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.startswith("Known: first")) == (2, True)
