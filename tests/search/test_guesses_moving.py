"""Where a path went that somebody moved."""

from __future__ import annotations

from sightline.search.guesses import moved


def went(asked, renamed, *there):
    return list(moved(asked.split("/"), renamed, there))


def test_a_file_that_was_renamed():
    assert went("a/x.py", {"a/x.py": "b/y.py"}, "b/y.py") == [("b/y.py", "a/x.py")]


def test_a_file_named_by_its_place_on_a_machine():
    assert went("home/me/a/x.py", {"a/x.py": "y.py"}, "y.py") == [("y.py", "a/x.py")]


def test_a_file_of_a_folder_that_was_renamed():
    told = {"lib/a.py": "src/core/a.py", "lib/b.py": "src/core/b.py"}
    assert went("lib/new.py", told, "src/core/new.py") == [("src/core/new.py", "lib")]


def test_a_folder_that_was_taken_away():
    assert went("src/b.py", {"src/a.py": "a.py"}, "b.py") == [("b.py", "src")]


def test_where_most_files_went_is_where_a_folder_went():
    told = {f"lib/{n}.py": f"src/{n}.py" for n in range(3)} | {"lib/odd.py": "tests/odd.py"}
    assert went("lib/new.py", told, "src/new.py", "tests/new.py") == [("src/new.py", "lib")]


def test_what_is_gone_again_is_not_told():
    assert went("a/x.py", {"a/x.py": "b/y.py"}) == []


def test_a_file_that_was_renamed_moves_no_other():
    assert went("lib/c.py", {"lib/a.py": "src/b.py"}, "src/c.py") == []
