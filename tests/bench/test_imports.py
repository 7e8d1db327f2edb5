"""bench/imports.py judges by Python's own machinery, and sees what is wrong."""

from __future__ import annotations

import json

import pytest

from bench import imports

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": "from . import b\nfrom .b import name\nimport json\nimport pkg.sub.c\n",
    "pkg/b.py": "from .sub import c\n",
    "pkg/json.py": "",
    "pkg/sub/__init__.py": "",
    "pkg/sub/c.py": "import pkg\nfrom ..b import *\n",
    "run.py": "from pkg import a\nimport helper\n",
    "helper.py": "import os\n",
    "broken.py": "def (\n",
}


@pytest.fixture
def root(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return str(tmp_path)


def test_the_judge_answers_the_files_that_an_import_runs(root):
    judge = imports.Judge(root)
    assert judge.targets("pkg/a.py", ("", 1, ("b",))) == {"pkg/__init__.py", "pkg/b.py"}
    assert judge.targets("pkg/a.py", ("json", 0, ())) == set()
    assert judge.targets("pkg/sub/c.py", ("gone", 2, ())) == {"pkg/__init__.py"}
    assert judge.targets("run.py", ("helper", 0, ())) == {"helper.py"}
    assert judge.targets("run.py", ("sys", 0, ())) == set()


def test_ours_agrees_and_a_wrong_answer_is_seen(root, monkeypatch):
    row = imports.judged("small", root)
    assert (row.files, row.misread, row.precision, row.recall) == (8, 0, 1.0, 1.0)
    assert row.baseline[1] < 1
    monkeypatch.setattr("bench.imports.Python.targets", lambda *_: ("helper.py",))
    wrong = imports.judged("small", root)
    assert wrong.precision < 0.5
    assert wrong.met is False


def test_the_rule_takes_relative_imports_alone(root):
    paths = frozenset(FILES)
    source = FILES["pkg/a.py"].encode()
    assert imports.baseline("pkg/a.py", source, paths) == {"pkg/b.py"}


def test_a_figure_is_printed_as_json(capsys, monkeypatch, root):
    monkeypatch.setattr(imports, "trees", lambda _only: iter([imports.judged("small", root)]))
    assert imports.main(["--json", "--only", "small"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["name"], row["met"]) == ("small", True)
    assert imports.main(["--only", "small"]) == 0
    assert "small" in capsys.readouterr().out


def test_a_tree_of_few_files_is_asked_as_one_of_ten_thousand(tmp_path, monkeypatch):
    monkeypatch.setattr(imports, "FILES", 150)
    monkeypatch.setattr(imports, "ROUNDS", 2)
    ours, floor = imports.warm(str(tmp_path))
    assert len(ours) == len(floor) == 2
