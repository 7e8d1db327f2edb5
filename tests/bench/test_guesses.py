"""bench/guesses.py: the mistakes are mistakes, the halves apart, recorded failures found."""

from __future__ import annotations

import json

import pytest
from bench.guesses import Score, baseline, half, made, measure, table
from bench.misreadings import failed_reads
from bench.mistakes import MISTAKES, split

PATHS = [f"src/{folder}/user_{name}s.py" for folder in ("api", "core") for name in "abcdefgh"]
PATHS += ["src/api/__init__.py", "web/index.ts", "web/Page.d.ts"]


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_names_no_path_of_the_tree_and_is_the_same_again(kind):
    guesses = made(PATHS, kind, 10)
    assert len(guesses) >= 5
    assert guesses == made(PATHS, kind, 10)
    for asked, right in guesses:
        assert asked not in PATHS
        assert right in PATHS


def test_a_path_is_a_folder_a_stem_and_an_ending():
    assert split("a/b/c.d.ts") == ("a/b/", "c", ".d.ts")
    assert split(".env") == ("", ".env", "")


def test_about_half_of_the_paths_are_kept_out_of_tuning():
    kept = sum(half(f"src/{n}.py") == "kept out" for n in range(1_000))
    assert 400 < kept < 600


def test_the_baseline_knows_a_name_and_a_name_nearby():
    answer = baseline(["a/x/config.py", "b/config.py", "main.py"])
    assert answer("a/y/config.py")[0] == "a/x/config.py"
    assert answer("mian.py") == ["main.py"]


def test_first_and_among_five_are_counted_apart():
    score = Score()
    score.add(["a", "b"], "a")
    score.add(["a", "b"], "b")
    score.add([], "a")
    assert (score.asked, score.first, score.five) == (3, 1, 2)


def test_the_table_has_a_line_for_each_kind_and_one_for_all(capsys):
    table(measure({"mine": PATHS}, 4, floor=True, misses=False), ["mine"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(MISTAKES) + 1
    assert lines[-1].startswith("| mine | all |")


def called(name, path, id):
    return {"type": "tool_use", "name": name, "id": id, "input": {"file_path": path}}


def answered(id, text, *, error=False):
    return {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": error}


def test_a_recorded_failure_is_told_with_what_came_next(tmp_path):
    lines = [
        {"cwd": "/home/me/app", "message": {"content": [called("Read", "/home/me/app/a.py", "1")]}},
        {"message": {"content": [answered("1", "see src/parse_tree.py")]}},
        {"message": {"content": [called("Read", "/home/me/app/src/tree.py", "2")]}},
        {"message": {"content": [answered("2", "File does not exist.", error=True)]}},
        {"message": {"content": [called("Read", "/home/me/app/src/parse_tree.py", "3")]}},
        {"message": {"content": [answered("3", "File does not exist. is a text of its")]}},
    ]
    (tmp_path / "one.jsonl").write_text("\n".join(map(json.dumps, lines)))
    [read] = failed_reads(str(tmp_path))
    assert (read.asked, read.next) == ("src/tree.py", "src/parse_tree.py")
    assert read.seen == {"a.py"}
    assert "src/parse_tree.py" in read.known
    assert "src/tree.py" not in read.known
