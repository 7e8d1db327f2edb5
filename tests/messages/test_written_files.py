"""Which files a call may have written."""

from __future__ import annotations

from typing import Any

import pytest
from tests.messages.calls_of import PATCH

from sightline.messages.tool_calls import Call
from sightline.messages.written_files import files_written
from sightline.messages.written_files import files_written_by_command as by_command

DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\n"


def paths(name: str, arguments: Any, text: str = "") -> list[str] | None:
    found = files_written(Call("", name, arguments, text), "/w")
    return None if found is None else [path.removeprefix("/w/") for path in found]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("Edit", {"file_path": "/w/a.py"}, ["a.py"]),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "x"}]}, ["a.py"]),
        ("NotebookEdit", {"notebook_path": "a.ipynb"}, ["a.ipynb"]),
        ("edit", {"filePath": "sub/../a.py"}, ["a.py"]),
        ("edit_file", {"target_file": "a.py"}, ["a.py"]),
        ("mcp__sightline__edit_file", {"path": "a.py", "old": "x"}, ["a.py"]),
        ("mcp__sightline__apply_changes", {"fileChanges": [{"path": "a.py"}, {}]}, ["a.py"]),
        ("multi_replace_string_in_file", {"replacements": [{"filePath": "a.py"}]}, ["a.py"]),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py"}, ["a.py"]),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a.py"}, []),
        ("developer__text_editor", {"command": "write", "path": "a.py"}, ["a.py"]),
        ("search_and_replace", {"path": "a.py"}, ["a.py"]),
        ("insert_content", {"path": "a.py", "line": "3"}, ["a.py"]),
        (
            "apply_diff",
            {
                "args": "<file>\n<path>a.py</path>\n<diff><path>x</path></diff></file>"
                "<file><path> b.py </path></file>"
            },
            ["a.py", "b.py"],
        ),
        ("apply_patch", {"input": PATCH}, ["app.py", "docs/new.md"]),
        ("apply_patch", {"type": "update_file", "path": "a.py", "diff": "@@\n-x\n+y"}, ["a.py"]),
        ("patch", {"patch": DIFF}, ["a.py", "n.py"]),
        ("move_file", {"source": "a.py", "destination": "b.py"}, ["a.py", "b.py"]),
        ("shell", {"command": ["apply_patch", PATCH]}, ["app.py", "docs/new.md"]),
        ("shell", {"commands": ["echo x > a.py", 7, "ls"]}, ["a.py"]),
        ("exec_command", {"cmd": "echo x > a.py", "workdir": "/w/sub"}, ["sub/a.py"]),
        ("Bash", {"command": "ls"}, []),
        ("Bash", {"command": ["a", 1]}, []),
        ("Bash", None, []),
        ("Edit", {"file_path": "~/a.py"}, []),
        ("Read", {"file_path": "a.py"}, []),
        ("read_file", {"path": "a.py"}, []),
        ("Grep", {"path": "a.py"}, []),
        ("send_mail", {"path": "a.py", "content": "x"}, []),
        ("web.open", {"file": "a.py"}, []),
    ],
)
def test_the_tools_that_write_are_known(name, arguments, expected):
    assert paths(name, arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("apply_diff", {"args": "<file><path>" * 100_000}),
        ("apply_diff", {"args": "<file>" + " " * 1_000_000}),
        ("apply_patch", {"input": "*** Update File:" + " " * 1_000_000}),
        ("Edit", {"file_path": " " * 1_000_000}),
    ],
)
def test_what_is_huge_is_looked_through_once(name, arguments):
    """Each of these takes minutes where a piece is looked through from each of its places."""
    assert paths(name, arguments) is None


def test_a_path_in_a_patch_ends_with_its_line():
    given = f"*** Add File: a{' ' * 200_000}b \n+x\n"
    assert paths("apply_patch", {"input": given}) == [f"a{' ' * 200_000}b"]


def test_a_move_of_a_patch_has_two_ends():
    text = "*** Begin Patch\r\n*** Update File: a.py\r\n*** Move to: b c.py\r\n@@\r\n-x\r\n+y\r\n"
    assert paths("apply_patch", None, text) == ["a.py", "b c.py"]


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("Edit", {}, ""),
        ("Edit", {"file_path": 7}, ""),
        ("Edit", None, '{"file_path": "a.py'),
        ("apply_diff", {"args": "<file>"}, ""),
        ("apply_changes", {"fileChanges": "a.py"}, ""),
        ("apply_patch", None, "+ no patch"),
        ("apply_patch", {"input": 7}, ""),
        ("move_file", {}, ""),
        ("str_replace_editor", None, "{"),
    ],
)
def test_an_edit_that_cannot_be_read_is_told_as_such(name, arguments, text):
    assert paths(name, arguments, text) is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest > out.txt 2> err.txt", ["out.txt"]),
        ("cat <<'E' > a.py\nx > y.py\nE\n", ["a.py"]),
        ("cd sub && make | tee -a log.txt", ["sub/log.txt"]),
        ("sed -i 's/a/b/' a.py b.py", ["a.py", "b.py"]),
        ("sed -i '' -e 's/a/b/' a.py", ["a.py"]),
        ("sed -n -i.bak -e s/a/b/ -e s/c/d/ a.py", ["a.py"]),
        ("sed --in-place --expression=s/a/b/ a.py", ["a.py"]),
        ("sed -n '1,5p' a.py", []),
        ("perl -pi -e 's/a/b/' a.py", ["a.py"]),
        ("rm -f a.py && touch b.py", ["a.py", "b.py"]),
        ("mv a.py b.py", ["a.py", "b.py"]),
        ("mv sub/a.py lib/", ["sub/a.py", "lib/a.py"]),
        ("cp a.py b.py", ["b.py"]),
        ("cp", []),
        ("bash -c 'echo x > a.py'", ["a.py"]),
        (f"cd sub && apply_patch <<'E'\n{PATCH}\nE\n", ["sub/app.py", "sub/docs/new.md"]),
        ('echo x > "$OUT"; rm *.py; git status', []),
        ("echo 'x > a.py", []),
    ],
)
def test_a_command_writes_what_it_names(command, expected):
    assert [path.removeprefix("/w/") for path in by_command(command, "/w")] == expected
