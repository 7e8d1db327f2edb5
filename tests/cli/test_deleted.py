"""changes --since --messages: what messages that were taken out of a conversation tell."""

from __future__ import annotations

import json
import re

import pytest
from tests.messages.calls_of import ANTHROPIC, CHAT, PATHS, RESULT, ROLLOUT


def lines(messages):
    return "".join(f"{json.dumps(each)}\n" for each in messages)


def test_files_that_only_messages_name_are_listed_as_such(sl):
    sl.put("app.py", "a\n")
    sl("read", "app.py")
    sl("edit", "app.py", "--old", "a", "--new", "b")
    sl.put("out.json", json.dumps([ANTHROPIC, RESULT]))
    said = sl("changes", "--since", "0", "--messages", "out.json")
    rows = [re.split("  +", line) for line in said.out.splitlines()]
    assert [row[-2:] for row in rows] == [
        ["app.py", "this session"],
        ["docs/new.md", "a deleted message asks for it"],
        ["notes.txt", "a deleted message asks for it"],
    ]
    assert rows[0][0].startswith("20")
    assert [row[0] for row in rows[1:]] == ["-", "-"]
    assert said.err == ""


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([CHAT]),
        json.dumps(CHAT),
        json.dumps(CHAT, indent=2),
        lines(ROLLOUT),
        f"\n{lines([ANTHROPIC, RESULT])}\n",
        json.dumps({"info": {}, "messages": [ANTHROPIC]}),
    ],
    ids=["array", "one", "one on many lines", "lines", "lines and blanks", "conversation"],
)
def test_a_file_of_messages_comes_in_any_of_the_usual_forms(sl, text):
    found = sl("changes", "--since", "0", "--messages", "-", "--json", stdin=text).json
    assert [each["path"] for each in found["files"]] == PATHS
    assert found["files"][0] == {
        "path": "app.py",
        "by": None,
        "at": None,
        "position": None,
        "lines": None,
        "mine": True,
        "others": False,
        "from_messages": True,
        "probable": False,
    }
    assert found["unread"] == []


@pytest.mark.parametrize("text", ["", "[]", "\n", '["m1"]', '"m1"\n"m2"\n'])
def test_no_message_and_ids_are_no_fault(sl, text):
    said = sl("changes", "--since", "--messages", "-", stdin=text)
    assert (said.code, said.out, said.err) == (0, "", "No file changed since then.\n")


def test_an_edit_that_cannot_be_read_is_told(sl):
    cut = {"tool_calls": [{"id": "c1", "function": {"name": "Write", "arguments": '{"file_p'}}]}
    said = sl("changes", "--since", "--messages", "-", stdin=json.dumps([cut]))
    assert (said.code, said.out) == (0, "")
    assert said.err == (
        "1 edit in deleted messages cannot be read (Write): which files were written there is not"
        " known.\n"
    )
    found = sl("changes", "--since", "--messages", "-", "--json", stdin=json.dumps([cut])).json
    assert found["files"] == []
    assert found["unread"] == [{"message": 1, "tool": "Write", "id": "c1"}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1}\n{"a": \n', "line 2 is no JSON"),
        ("not json", "line 1 is no JSON"),
        ('["m1", 7]', "number 2 of them is neither an object nor an id"),
        ("7", "number 1 of them is neither"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": 1}\n' + "[" * 100_000, "line 2 is nested too deep"),
    ],
    ids=range(6),
)
def test_what_holds_no_messages_is_refused_and_says_why(sl, text, why):
    said = sl("changes", "--since", "--messages", "-", stdin=text)
    assert (said.code, said.out) == (2, "")
    assert why in said.err
    assert "a JSON array of them, or one a line" in said.err


def test_a_file_that_is_not_there_is_refused(sl):
    said = sl("changes", "--since", "--messages", "none.json")
    assert said.code == 2
    assert "none.json cannot be read" in said.err


def test_the_whole_story_at_a_shell(sl):
    """Edited, the conversation alone taken back, warned, told once, acknowledged, gone; each
    command is a new start."""
    sl.put("app.py", "a\n")
    sl("read", "app.py")
    begin = sl("checkpoint", "begin", "--json").json["checkpoint"]["id"]
    sl("edit", "app.py", "--old", "a", "--new", "b")
    back = sl("rewind", begin, "--conversation", "--no-files", "--yes", "--json").json
    (warning,) = sl("warnings", "--json").json["warnings"]
    assert (back["warning"]["id"], warning["paths"]) == (warning["id"], ["app.py"])
    assert sl("ack", warning["id"]).code == 0
    assert sl("warnings", "--json").json["warnings"] == []
    [file] = sl("changes", "--since", begin, "--json").json["files"]
    assert (file["path"], file["mine"]) == ("app.py", True), "the file is as it is"


def test_a_rewind_is_handed_the_messages_that_go(sl):
    sl("turn")
    asked = ("rewind", "0", "--conversation", "--no-files", "--yes", "--json", "--messages", "-")
    back = sl(*asked, stdin=json.dumps([CHAT])).json
    (warning,) = sl("warnings", "--json").json["warnings"]
    assert back["warning"]["id"] == warning["id"]
    assert warning["paths"] == PATHS
    assert sl("rewind", "0", "--yes", "--messages", "-", stdin="[]").code == 2
    assert sl(*asked, stdin="[7]").code == 2, "refused before anything is rewound"
    assert len(sl("warnings", "--json").json["warnings"]) == 1
