"""Folders that the user adds to an agent's project, and what commands printed of other workspaces."""

import json

import pytest

from sightline.agents.claude_code.dialect import added_folders, unhooked
from sightline.agents.hook_events import CommandEnded, Printed
from sightline.hooks.handlers.shell_commands import printed_elsewhere
from sightline.hooks.open_sessions import find_added


@pytest.mark.parametrize(
    ("arguments", "folders"),
    [
        (["claude"], []),
        (["claude", "--add-dir", "/a"], ["/a"]),
        (["claude", "--add-dir", "/a", "../b", "--print"], ["/a", "../b"]),
        (["claude", "--add-dir=/a", "-p", "fix it", "--add-dir", "/b"], ["/a", "/b"]),
        (["claude", "--add-dirs", "/a"], []),
    ],
)
def test_the_command_line_names_added_folders(arguments, folders):
    assert added_folders(arguments) == folders


def test_a_file_belongs_to_the_nearest_added_folder(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    folders = [str(tmp_path / "a"), str(inner), str(tmp_path / "gone")]
    assert find_added(str(inner / "x.txt"), folders, "/home/ada") == str(inner)
    assert find_added(str(tmp_path / "a" / "x.txt"), folders, "/home/ada") == str(tmp_path / "a")
    assert find_added(str(tmp_path / "x.txt"), folders, "/home/ada") is None
    assert find_added(str(tmp_path / "gone" / "x.txt"), folders, "/home/ada") is None


def test_the_home_folder_and_the_top_are_no_workspace_though_added(tmp_path):
    path = str(tmp_path / "x.txt")
    assert find_added(path, [str(tmp_path)], str(tmp_path)) is None
    assert find_added(path, ["/"], "/home/ada") is None


def test_files_of_other_folders_are_found_where_the_output_holds_them(tmp_path):
    project, other = tmp_path / "project", tmp_path / "other"
    for folder in (project, other):
        folder.mkdir()
        (folder / "a.txt").write_text(f"text of {folder.name}\n")
    output = "text of other\n"

    def found(command, output=output):
        return printed_elsewhere(CommandEnded(command, "c", str(project), output), str(project))

    assert found(f"cat {other}/a.txt") == [f"{other}/a.txt"]
    assert found(f"cat {other}/*.txt") == [f"{other}/a.txt"]
    assert found("cat ../other/a.txt") == [f"{other}/a.txt"]
    assert found(f"ls {other}", "a.txt\n") == []
    assert found("cat a.txt") == []


def test_a_transcript_tells_what_commands_printed_before_the_session_began(tmp_path):
    file = tmp_path / "s.jsonl"
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat a.txt"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "one"}
    at = {"timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p"}
    rows = [
        {"type": "assistant", "message": {"content": [call]}, **at},
        {
            "type": "user",
            "message": {"content": [result]},
            "toolUseResult": {"stdout": "one"},
            **at,
        },
        {"type": "user", "message": {"content": "said"}, "toolUseResult": {"stdout": "x"}, **at},
        {"type": "user", "message": None, "toolUseResult": {"stdout": ["x"]}, **at},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found, _ = unhooked(str(file), 0, before=2**60)
    assert found == [Printed("cat a.txt", "/p", "one")]
    assert unhooked(str(file), 0, before=0)[0] == []
    assert unhooked(str(file), 0, before=1)[0] == []
