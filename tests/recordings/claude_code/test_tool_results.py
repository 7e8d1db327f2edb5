"""Which lines a search showed."""

from __future__ import annotations

import pytest
from tests.agents.claude_code.samples import CLAUDE, tool

from sightline.model.hook_events import Shown


@pytest.fixture
def found(tmp_path):
    """The lines of an answer, as (name, lines, text); the search began in the workspace."""
    for name in ("a.py", "b-1-x.py", "5-notes.txt", "12"):
        (tmp_path / name).write_text("")

    def ask(content, **given):
        made = tool(
            "PostToolUse",
            "Grep",
            {"pattern": "x", **given},
            tool_response={"mode": "content", "content": content},
        )
        events = CLAUDE.events(made | {"cwd": str(tmp_path)})
        assert all(isinstance(event, Shown) and event.via == "search" for event in events)
        return [(e.path.removeprefix(f"{tmp_path}/"), e.lines, e.text) for e in events]

    return ask


def test_lines_of_one_file_and_those_around_them(found):
    content = "4-before\n5:x:1\n6-after\n--\n9:x"
    expected = [("a.py", (4, 6), "before\nx:1\nafter\n"), ("a.py", (9, 9), "x\n")]
    assert found(content, path="a.py") == expected


def test_lines_of_several_files_are_told_apart(found):
    content = "a.py:1:x\na.py-2-y\nb-1-x.py:7:x\nb-1-x.py-8-\n5-notes.txt:3:x"
    assert found(content) == [
        ("a.py", (1, 2), "x\ny\n"),
        ("b-1-x.py", (7, 8), "x\n\n"),
        ("5-notes.txt", (3, 3), "x\n"),
    ]


def test_a_name_that_is_no_file_is_not_taken_for_one(found):
    assert found("gone.py:1:x\na.py-2-z:9:x") == []


def test_lines_without_their_number_are_not_noted(found):
    assert found("x\ny", path="a.py", **{"-n": False}) == []
    assert found("a.py:x") == []


def test_a_line_that_is_not_shown_whole_is_not_noted(found):
    content = "1:x\n2:[Omitted long matching line]\n3:y\r"
    assert found(content, path="a.py") == [("a.py", (1, 1), "x\n"), ("a.py", (3, 3), "y\n")]


def test_an_answer_too_long_for_the_model_shows_nothing_for_sure(found):
    assert found("1:" + "x" * 20_000, path="a.py") == []


def test_a_search_with_very_many_places_is_noted_in_part(found):
    content = "\n".join(f"{number}:x" for number in range(1, 200, 2))
    assert len(found(content, path="a.py")) == 30


def test_a_search_for_names_shows_no_line():
    given = {"pattern": "x"}
    for response in ({"mode": "files_with_matches", "filenames": ["a.py"]}, "text", None):
        assert CLAUDE.events(tool("PostToolUse", "Grep", given, tool_response=response)) == []
