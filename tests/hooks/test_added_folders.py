"""Folders that the user adds to an agent's project, and what commands printed of other workspaces."""

import json
import os

import pytest
from tests.hooks.hooking import refusal

from sightline.agents.claude_code.dialect import added_folders
from sightline.agents.claude_code.product import PRODUCT
from sightline.hooks.handlers.shell_commands import printed_elsewhere
from sightline.hooks.open_sessions import find_added
from sightline.model.hook_events import CommandEnded, Printed, Surroundings


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
    assert added_folders(Surroundings(arguments, [], {}, "/nobody")) == folders


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
    found, _ = PRODUCT.dialect.unhooked(str(file), 0, before=2**60)
    assert found == [Printed("cat a.txt", "/p", "one")]
    assert PRODUCT.dialect.unhooked(str(file), 0, before=0)[0] == []
    assert PRODUCT.dialect.unhooked(str(file), 0, before=1)[0] == []


TEXT = "one\ntwo\n"


@pytest.fixture(params=["folder", "repository"])
def beside(host, request):
    """A file of a folder beside the project, with git or without."""
    folder = host.folder("beside", marked=request.param == "repository")
    (folder / "notes.txt").write_text(TEXT)
    return str(folder / "notes.txt")


def is_guarded(host, path, session="s1"):
    """Return whether the agent is refused an edit of a line that changed since it was shown the file."""
    host.ask(host.shown(path, TEXT, session=session))
    with open(path, "w") as file:
        file.write("one\n2\n")
    return "+2" in refusal(host.ask(host.edit(path, "two\n", "zwei\n", session=session)))


def put_settings(folder, *added):
    (folder / ".claude").mkdir(exist_ok=True)
    text = json.dumps({"permissions": {"additionalDirectories": [*added]}})
    (folder / ".claude/settings.json").write_text(text)


@pytest.mark.parametrize("spelled", ["absolute", "../beside", "~/beside"])
@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_folder_that_a_projects_settings_add_is_guarded(host, beside, name, spelled):
    put_settings(host.root, spelled.replace("absolute", os.path.dirname(beside)))
    (host.root / ".claude/settings.json").rename(host.root / ".claude" / name)
    assert is_guarded(host, beside)
    assert host.faults() == []


def test_a_folder_that_the_users_settings_add_is_guarded(host, beside):
    put_settings(host.home, "../beside")
    assert is_guarded(host, beside)


def test_a_folder_that_the_users_settings_elsewhere_add_is_guarded(host, beside):
    put_settings(host.home / "project", "../beside")
    (host.root / ".claude").rename(host.home / "config")
    host.environ["CLAUDE_CONFIG_DIR"] = str(host.home / "config")
    assert is_guarded(host, beside)


def test_paths_start_where_the_client_was_started_and_the_repositorys_settings_count(host):
    inside = host.folder("project/inside", marked=False)
    host.environ["CLAUDE_PROJECT_DIR"] = str(inside)
    file = host.folder("beside", marked=False) / "notes.txt"
    file.write_text(TEXT)
    put_settings(host.root, "../../beside")
    assert is_guarded(host, str(file))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"permissions": 1}',
        '{"permissions": {"additionalDirectories": "../beside"}}',
        '{"permissions": {"additionalDirectories": [1, "", "/gone", "../other"]}}',
    ],
)
def test_settings_that_add_no_such_folder_guard_nothing(host, text):
    file = host.folder("beside", marked=False) / "notes.txt"
    file.write_text(TEXT)
    put_settings(host.root)
    (host.root / ".claude/settings.json").write_text(text)
    assert not is_guarded(host, str(file))


def added(host, path, session="s1"):
    folder = os.path.dirname(path)
    return host.payload("DirectoryAdded", session, directory=folder, source="slash_command")


def test_a_folder_that_is_added_in_mid_conversation_is_guarded(host, beside):
    host.ask(host.payload("SessionStart", source="startup"))
    assert host.ask(added(host, beside)) == {}
    assert is_guarded(host, beside)
    assert host.faults() == []


def test_a_sub_agent_works_in_the_folder_that_was_added(host, beside):
    host.ask(added(host, beside))
    shown = json.loads(host.shown(beside, TEXT)) | {"agent_id": "a1", "agent_type": "general"}
    edit = json.loads(host.edit(beside, "two\n", "zwei\n"))
    edit |= {"agent_id": "a1", "agent_type": "general"}
    host.ask(json.dumps(shown).encode())
    with open(beside, "w") as file:
        file.write("one\n2\n")
    assert "+2" in refusal(host.ask(json.dumps(edit).encode()))


def test_a_folder_that_one_conversation_adds_is_not_another_ones(host):
    file = host.folder("beside", marked=False) / "notes.txt"
    file.write_text(TEXT)
    host.ask(added(host, str(file)))
    assert not is_guarded(host, str(file), "s2")
