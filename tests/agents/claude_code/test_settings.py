"""Our hooks in a settings file: put in, found, taken out; nothing else moves by a byte."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.agents import settings_file
from sightline.agents.claude_code import hook_settings, settings
from sightline.agents.claude_code.settings import CONNECTION, ClaudeCodeSettings
from sightline.agents.connection import Place, Program, Scope
from sightline.agents.grouped_hooks import Hook
from sightline.agents.hook_line import START
from sightline.agents.settings_file import Change, backup_of, carry_out
from sightline.agents.settings_text import BadSettings
from sightline.errors import SettingsError

SCRIPT = "/opt/venv/lib/sightline/hook_entry.py"
PLACE = ".claude/settings.local.json of this project"
HOOKS = hook_settings.command_hooks("/opt/venv/bin/python", SCRIPT, PLACE)
OTHERS = hook_settings.command_hooks("/opt/new/bin/python", SCRIPT, PLACE)
HTTP = hook_settings.with_http(
    HOOKS, hook_settings.http_hook("http://127.0.0.1:7777/hook/claude-code", "t")
)
OLD = {
    "type": "command",
    "command": "/opt/venv/bin/python",
    "args": ["-I", "-S", "-c", START, SCRIPT, "claude-code"],
    "timeout": 10,
}
"""A hook as versions before the one line wrote it."""

THEIRS = {"type": "command", "command": "sh lint.sh", "timeout": 5}


class At(ClaudeCodeSettings):
    """The settings in one file, with these hooks of ours."""

    def __init__(self, path: str, hooks: Mapping[str, Hook] = HOOKS) -> None:
        self._path, self._hooks = path, hooks

    def file(self, scope: Scope, place: Place) -> str:
        return self._path

    def hooks(self, scope: Scope, place: Place, program: Program) -> dict[str, Hook]:
        return dict(self._hooks)


def connected(path: str, hooks: Mapping[str, Hook]) -> Change:
    return At(path, hooks).plan("local", Place("", {}, ""), Program("", ""))


def disconnected(path: str) -> Change:
    return At(path).plan("local", Place("", {}, ""), None)


def theirs(event: str, matcher: str = "") -> dict[str, object]:
    return {"hooks": {event: [{"matcher": matcher, "hooks": [THEIRS]}]}}


plain = st.none() | st.booleans() | st.integers(-9, 9) | st.text('aé"\\\n{}[],: ', max_size=6)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
groups = st.fixed_dictionaries(
    {"hooks": st.lists(st.just(THEIRS), max_size=2)},
    optional={"matcher": st.sampled_from(["", "Bash", "Edit|Write"]), "note": plain},
)
hook_tables = st.dictionaries(
    st.sampled_from(["PreToolUse", "Stop", "Notification", "SessionEnd"]),
    st.lists(groups, max_size=2),
    max_size=3,
)


@st.composite
def files(draw):
    """A settings file in any of the ways that people and programs write JSON."""
    table = draw(st.dictionaries(st.sampled_from(["env", "model", "x", "permissions"]), values))
    if draw(st.booleans()):
        place = draw(st.integers(0, len(table)))
        rows = list(table.items())
        table = dict([*rows[:place], ("hooks", draw(hook_tables)), *rows[place:]])
    text = json.dumps(
        table,
        indent=draw(st.sampled_from([None, 0, 1, 2, 4, "\t"])),
        ensure_ascii=draw(st.booleans()),
    )
    if draw(st.booleans()):
        text = text.replace("{}", "{ }").replace("[]", "[ ]")
    text = (
        draw(st.sampled_from(["", "\n", " \n"])) + text + draw(st.sampled_from(["", "\n", "\n\n"]))
    )
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode("utf-8", "surrogatepass")


def without_ours(data: bytes) -> object:
    return json.loads(CONNECTION.without_hooks(data.decode()).removeprefix("\ufeff"))


@pytest.mark.wide
@given(files(), st.sampled_from([HOOKS, HTTP]), st.sampled_from([HOOKS, OTHERS, HTTP]))
def test_coming_and_going_leaves_no_trace(tmp_path_factory, data, first, second):
    try:
        data.decode()
    except UnicodeDecodeError:
        return
    path = tmp_path_factory.mktemp("s") / "settings.json"
    path.write_bytes(data)
    for wanted in (first, second):
        carry_out(connected(str(path), wanted))
        once = path.read_bytes()
        assert {f.event: dict(f.hook) for f in CONNECTION.grouped(once.decode())} == wanted
        assert {
            f.event: f.matcher for f in CONNECTION.grouped(once.decode())
        } == hook_settings.EVENTS
        assert not connected(str(path), wanted).is_one
    carry_out(disconnected(str(path)))
    assert path.read_bytes() == data
    assert os.listdir(path.parent) == ["settings.json"]


@pytest.mark.wide
@given(files(), st.sampled_from(["model", "added"]), values)
def test_what_a_person_changes_meanwhile_stays(tmp_path_factory, data, key, value):
    try:
        table = json.loads(data.decode().removeprefix("\ufeff"))
        data.decode()
    except UnicodeDecodeError:
        return
    path = tmp_path_factory.mktemp("s") / "settings.json"
    path.write_bytes(data)
    carry_out(connected(str(path), HOOKS))
    now = json.loads(path.read_bytes().decode().removeprefix("\ufeff"))
    path.write_text(json.dumps(now | {key: value}, indent=3))
    carry_out(disconnected(str(path)))
    after, expected = json.loads(path.read_bytes()), table | {key: value}
    assert pruned(after) == pruned(expected)


def pruned(table: Any) -> Any:
    """Without containers of hooks that hold none: they say nothing, and come and go with ours."""
    hooks = {event: found for event, found in (table.get("hooks") or {}).items() if found}
    rest = {key: value for key, value in table.items() if key != "hooks"}
    return rest | ({"hooks": hooks} if hooks else {})


def test_a_new_file_is_made_and_removed_again(tmp_path):
    path = tmp_path / "project" / ".claude" / "settings.local.json"
    carry_out(connected(str(path), HOOKS))
    assert json.loads(path.read_text())["hooks"].keys() == hook_settings.EVENTS.keys()
    assert os.listdir(path.parent) == [path.name]
    carry_out(disconnected(str(path)))
    assert not path.exists()


def test_reads_are_asked_about_before_they_happen():
    """An ignore file may refuse them. Each costs a call of the daemon."""
    assert re.search(hook_settings.EVENTS["PreToolUse"], "Read")
    assert re.search(hook_settings.EVENTS["PostToolUse"], "Read")


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
def test_the_tools_of_servers_are_asked_about_and_no_tool_whose_name_holds_another(event):
    """The client looks for a regular expression anywhere in a name."""
    wanted = hook_settings.EVENTS[event]
    for name in ("mcp__files__write_file", "mcp__plugin_x_y__edit", "Edit", "Write", "Bash"):
        assert re.search(wanted, name)
    for name in ("TodoWrite", "BashOutput", "ReadMcpResourceTool", "Glob", "WebFetch"):
        assert not re.search(wanted, name)


def test_the_users_own_hooks_of_the_same_event_stay_where_they_are():
    text = json.dumps(theirs("PreToolUse", "Bash"), indent=2)
    after = json.loads(CONNECTION.put(text, HOOKS))["hooks"]["PreToolUse"]
    assert after[0] == {"matcher": "Bash", "hooks": [THEIRS]}
    assert after[1]["hooks"] == [HOOKS["PreToolUse"]]


def test_a_new_interpreter_changes_our_entries_only():
    before = CONNECTION.put(json.dumps(theirs("Stop"), indent=4), HOOKS)
    after = CONNECTION.put(before, OTHERS)
    assert after == before.replace("/opt/venv/bin/python", "/opt/new/bin/python")


def test_what_a_person_adds_to_our_hook_is_kept_over_an_update():
    before = CONNECTION.put("{}", HOOKS).replace('"timeout": 10', '"timeout": 30')
    assert CONNECTION.put(before, HOOKS) == before
    ours = [found.hook for found in CONNECTION.grouped(CONNECTION.put(before, OTHERS))]
    assert {hook["timeout"] for hook in ours} == {30}


@pytest.mark.parametrize("event", ["PreToolUse", "Stop"])
def test_entries_with_arguments_become_one_line_in_their_place(event):
    """Copilot CLI ignores the arguments, and starts a bare interpreter."""
    matcher = {"matcher": hook_settings.EVENTS[event]} if hook_settings.EVENTS[event] else {}
    mine = OLD | {"timeout": 30}
    text = json.dumps({"hooks": {event: [{**matcher, "hooks": [mine]}]}}, indent=2)
    (now,) = json.loads(CONNECTION.put(text, HOOKS))["hooks"][event]
    assert now["hooks"] == [{**HOOKS[event], "timeout": 30}]


def test_entries_with_arguments_are_removed():
    text = json.dumps({"hooks": {"PreToolUse": [{"hooks": [THEIRS, OLD]}]}})
    assert json.loads(CONNECTION.without_hooks(text)) == theirs("PreToolUse") | {
        "hooks": {"PreToolUse": [{"hooks": [THEIRS]}]}
    }
    assert hook_settings.files_of(OLD) == [OLD["command"], SCRIPT]


def test_no_hook_has_arguments_and_each_names_what_it_starts():
    for hook in HOOKS.values():
        assert "args" not in hook
        assert hook_settings.files_of(hook) == ["/opt/venv/bin/python", SCRIPT]


def test_entries_of_an_older_version_go():
    text = CONNECTION.put("{}", HOOKS).replace('"SubagentStop"', '"TeammateIdle"')
    after = CONNECTION.put(text, HOOKS)
    assert {found.event for found in CONNECTION.grouped(after)} == set(hook_settings.EVENTS)


def test_a_double_entry_becomes_one():
    once = CONNECTION.put("{}", HOOKS)
    table = json.loads(once)
    table["hooks"]["Stop"] *= 2
    after = CONNECTION.put(json.dumps(table, indent=2), HOOKS)
    assert len([found for found in CONNECTION.grouped(after) if found.event == "Stop"]) == 1


def test_our_hook_that_a_person_moved_into_their_own_group_is_found_and_removed():
    group = {"matcher": "Edit", "hooks": [THEIRS, dict(HOOKS["PreToolUse"])]}
    text = json.dumps({"hooks": {"PreToolUse": [group]}}, indent=2)
    assert [found.matcher for found in CONNECTION.grouped(text)] == ["Edit"]
    assert json.loads(CONNECTION.without_hooks(text)) == theirs("PreToolUse", "Edit")


@pytest.mark.parametrize(
    "hook",
    [
        {"type": "command", "command": "python hook_entry.py"},
        {"type": "command", "command": "/usr/bin/other", "args": ["/opt/other/hook_entry.py"]},
        {"type": "http", "url": "https://example.org/hook/claude-code"},
        {"type": "command", "args": 3},
        {"type": "prompt", "prompt": "look"},
    ],
)
def test_other_tools_hooks_are_not_ours(hook):
    assert not hook_settings.is_ours(hook)


@pytest.mark.parametrize("hook", [HOOKS["Stop"], HTTP["Stop"]])
def test_ours_are_told_by_script_or_address(hook):
    assert hook_settings.is_ours(hook)


def test_our_script_is_known_on_windows_and_in_a_shell_line():
    assert hook_settings.is_ours({"command": "py", "args": [r"C:\venv\sightline\hook_entry.py"]})
    assert hook_settings.is_ours({"type": "command", "command": f"'/usr/bin/python3' {SCRIPT} x"})


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{\n  "a": 1,\n}', 3, 1),
        ('{\n  // no\n  "a": 1}', 2, 3),
        ('{"a": NaN}', 1, 7),
        ("\ufeff{,", 1, 2),
        ("[]", 1, 1),
        ('{"hooks": []}', 1, 11),
        ('{"hooks": {"Stop": {}}}', 1, 20),
        ("[" * 100_000, 1, 1),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_place(text, line, column):
    with pytest.raises(BadSettings, match=f"^line {line}, column {column}: "):
        CONNECTION.put(text, HOOKS)


def test_a_refused_file_is_not_touched(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text('{"a": 1,}')
    for plan in (lambda: connected(str(path), HOOKS), lambda: disconnected(str(path))):
        with pytest.raises(SettingsError, match="line 1, column 9"):
            plan()
    assert os.listdir(tmp_path) == ["settings.json"]


def test_a_file_of_another_encoding_is_refused(tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(b'{\n"a": "\xff"}')
    with pytest.raises(SettingsError, match=r"not UTF-8: line 2, byte 7"):
        connected(str(path), HOOKS)


def test_an_empty_file_becomes_settings_and_empty_again(tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(b"")
    carry_out(connected(str(path), HOOKS))
    assert CONNECTION.grouped(path.read_text())
    carry_out(disconnected(str(path)))
    assert path.read_bytes() == b""


def test_the_first_original_is_kept_beside_and_never_overwritten(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text('{"model": "one"}')
    carry_out(connected(str(path), HOOKS))
    assert (tmp_path / "settings.json.sightline-backup").read_text() == '{"model": "one"}'
    path.write_text('{"model": "two"}')
    carry_out(connected(str(path), HOOKS))
    assert (tmp_path / "settings.json.sightline-backup").read_text() == '{"model": "one"}'
    carry_out(disconnected(str(path)))
    assert path.read_text() == '{"model": "two"}'


def test_the_files_mode_is_kept(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text("{}")
    path.chmod(0o640)
    carry_out(connected(str(path), HOOKS))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_is_its_owners_alone(tmp_path):
    """With the http kind it holds a token."""
    path = tmp_path / "settings.json"
    carry_out(connected(str(path), HTTP))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path):
    """Many keep their settings in a repository of dot files."""
    (tmp_path / "dotfiles").mkdir()
    real, link = tmp_path / "dotfiles" / "claude.json", tmp_path / "settings.json"
    real.write_text('{"model": "one"}')
    link.symlink_to(real)
    carry_out(connected(str(link), HOOKS))
    assert link.is_symlink()
    assert CONNECTION.grouped(real.read_text())
    carry_out(disconnected(str(link)))
    assert link.is_symlink()
    assert real.read_text() == '{"model": "one"}'


def test_a_file_that_changed_since_it_was_looked_at_is_left_alone(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text("{}")
    change = connected(str(path), HOOKS)
    path.write_text('{"model": "new"}')
    with pytest.raises(SettingsError, match="changed just now"):
        carry_out(change)
    assert path.read_text() == '{"model": "new"}'


def test_a_folder_in_its_place_is_refused(tmp_path):
    (tmp_path / "settings.json").mkdir()
    with pytest.raises(SettingsError, match="not a plain file"):
        settings_file.read(str(tmp_path / "settings.json"))


def test_nothing_of_ours_is_nothing_to_remove(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(theirs("Stop")))
    assert not disconnected(str(path)).is_one
    assert not disconnected(str(tmp_path / "none.json")).is_one
    assert not os.path.exists(backup_of(str(path)))


def test_where_the_settings_of_a_scope_are():
    def where(scope):
        return settings.settings_file(scope, "/p", "/c")

    assert where("user") == "/c/settings.json"
    assert where("project") == "/p/.claude/settings.json"
    assert where("local") == "/p/.claude/settings.local.json"
