"""`sightline init`: hooks come into an agent's settings and go out again, and people are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from sightline.agents.claude_code import hook_settings, settings
from sightline.agents.claude_code.product import PRODUCT
from sightline.cli import connect
from sightline.cli.init import init

LOCAL = ".claude/settings.local.json"


def test_it_connects_once_and_says_so_the_second_time(at):
    first = at("init", "claude-code")
    assert first.code == 0
    assert "Claude Code is connected in" in first.out
    assert "sightline init claude-code --remove" in first.out
    written = (at.root / LOCAL).read_bytes()
    second = at("init", "claude-code")
    assert second.out == f"Claude Code is connected already, by the hooks in {LOCAL}.\n"
    assert (at.root / LOCAL).read_bytes() == written


def test_the_command_it_writes_is_one_line_with_this_python_without_packages(at):
    at("init", "claude-code")
    for found in settings.CONNECTION.grouped((at.root / LOCAL).read_text()):
        python, script = hook_settings.files_of(found.hook)
        assert python == sys.executable
        assert os.path.isabs(script)
        assert os.path.isfile(script)
        assert "args" not in found.hook
        assert " -I -S " in found.hook["command"]


def test_what_it_writes_runs_and_lets_an_unknown_event_pass(at):
    at("init", "claude-code")
    hook = settings.CONNECTION.grouped((at.root / LOCAL).read_text())[0].hook
    payload = {"session_id": "s", "cwd": str(at.root), "hook_event_name": "Nothing"}
    done = subprocess.run(
        hook["command"],
        shell=True,
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("scope", ["local", "project", "user"])
def test_hooks_whose_program_is_gone_name_their_own_file(at, tmp_path, scope):
    at("init", "claude-code", "--scope", scope)
    names = {
        "local": f"{LOCAL} of this project",
        "project": ".claude/settings.json of this project",
        "user": str(tmp_path / "home/.claude/settings.json"),
    }
    for hook in connect.connections(PRODUCT, str(at.root))[scope]:
        telling = hook.event in hook_settings.TELLING
        assert (names[scope] in hook.command[-1]) == telling


def test_nothing_is_left_of_it_after_removal(at):
    at("init", "claude-code")
    gone = at("init", "claude-code", "--remove")
    assert "is no longer connected" in gone.out
    assert os.listdir(at.root) == [".git"]
    again = at("init", "claude-code", "--remove")
    assert (again.code, again.out) == (
        0,
        f"Claude Code is not connected: {LOCAL} has no hooks of Sightline.\n",
    )


def test_a_linked_folder_of_settings_stays(at, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (at.root / ".claude").symlink_to(tmp_path / "elsewhere")
    at("init", "claude-code")
    assert settings.CONNECTION.grouped((tmp_path / "elsewhere" / "settings.local.json").read_text())
    assert at("init", "claude-code", "--remove").code == 0
    assert os.listdir(tmp_path / "elsewhere") == []
    assert (at.root / ".claude").is_symlink()


def test_a_file_that_was_there_is_as_it_was_after_removal(at):
    mine = b'\xef\xbb\xbf{\r\n\t"env": {"A": "1"}\r\n}'
    at.put(LOCAL, mine)
    said = at("init", "claude-code").out
    assert "settings.local.json.sightline-backup" in said
    assert (at.root / f"{LOCAL}.sightline-backup").read_bytes() == mine
    assert "byte for byte" in at("init", "claude-code", "--remove").out
    assert (at.root / LOCAL).read_bytes() == mine
    assert os.listdir(at.root / ".claude") == ["settings.local.json"]


def test_the_copy_goes_with_the_hooks_though_the_user_changed_the_file_since(at):
    at.put(LOCAL, b'{"env": {"A": "1"}}')
    at("init", "claude-code")
    file = at.root / LOCAL
    file.write_text(file.read_text().replace('"1"', '"2"'))
    gone = at("init", "claude-code", "--remove")
    assert "all else in it stays" in gone.out
    assert json.loads(file.read_text()) == {"env": {"A": "2"}}
    assert os.listdir(at.root / ".claude") == ["settings.local.json"]


def test_a_copy_that_an_earlier_removal_left_goes_too(at):
    at.put(LOCAL, b"{}")
    at.put(f"{LOCAL}.sightline-backup", b"{}")
    assert at("init", "claude-code", "--remove").code == 0
    assert os.listdir(at.root / ".claude") == ["settings.local.json"]


def test_a_copy_of_a_file_that_is_gone_stays(at):
    at.put(f"{LOCAL}.sightline-backup", b'{"env": {}}')
    assert "is not connected" in at("init", "claude-code", "--remove").out
    assert (at.root / f"{LOCAL}.sightline-backup").read_bytes() == b'{"env": {}}'


def test_a_dry_run_prints_a_patch_that_says_it_all_and_writes_nothing(at):
    at.put(LOCAL, '{"env": {}}\n')
    tried = at("init", "claude-code", "--dry-run")
    assert (at.root / LOCAL).read_text() == '{"env": {}}\n'
    assert os.listdir(at.root / ".claude") == ["settings.local.json"]
    assert tried.err == "Nothing was written.\n"
    patched = [line[1:] for line in tried.out.splitlines() if line.startswith("+")][1:]
    at("init", "claude-code")
    assert (at.root / LOCAL).read_text().splitlines() == patched
    assert at("init", "claude-code", "--dry-run").err == "Nothing would change.\n"


def test_the_agents_that_are_there_are_found(at, tmp_path):
    nobody = at("init")
    assert nobody.code == 1
    assert "No agent was found" in nobody.err
    (tmp_path / "home" / ".claude").mkdir()
    assert at("init").code == 0
    assert (at.root / LOCAL).exists()


def test_an_agent_that_cannot_be_connected_is_wrong_usage(at):
    done = at("init", "codex")
    assert done.code == 2
    assert "'codex' cannot be connected; these can: claude-code" in done.err


def test_the_users_own_settings_need_no_workspace(at, tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.chdir(home)
    said = at("init", "claude-code", "--scope", "user").out
    assert "is connected in all your workspaces" in said
    assert "~/.claude/settings.json" in said
    assert settings.CONNECTION.grouped((home / ".claude" / "settings.json").read_text())
    assert at("init", "claude-code").code == 2  # the home folder is no workspace


def test_the_configuration_folder_may_be_elsewhere(at, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    at("init", "claude-code", "--scope", "user")
    assert settings.CONNECTION.grouped((tmp_path / "config" / "settings.json").read_text())


def test_two_scopes_at_once_are_one_too_many(at):
    at("init", "claude-code", "--scope", "project")
    both = at("init", "claude-code")
    assert "The settings of scope project connect it too" in both.err
    left = at("init", "claude-code", "--remove")
    assert "--remove --scope project" in left.err


def test_a_broken_file_is_refused_with_its_place(at):
    at.put(LOCAL, '{\n  "env": {},\n}')
    done = at("init", "claude-code")
    assert done.code == 2
    assert f"{at.root / LOCAL} is not valid: line 3, column 1" in done.err
    assert (at.root / LOCAL).read_text() == '{\n  "env": {},\n}'


def test_without_git_the_agent_has_to_be_started_at_the_root(at):
    """Claude Code finds the settings of a repository's root from below, and of no other folder."""
    (at.root / ".git").rmdir()
    assert "Start it in this folder itself" in at("init", "claude-code").err


def test_git_is_not_to_be_given_this_machines_settings(at, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", os.environ["PATH"] + os.pathsep + "/usr/bin:/bin")
    subprocess.run(["git", "init", "--quiet"], cwd=at.root, check=True)
    assert "out of git" in at("init", "claude-code").err
    at.put(".gitignore", "settings.local.json\n")
    assert at("init", "claude-code").err == ""


def test_it_can_be_asked_for_as_json(at):
    done = at("init", "claude-code", "--json").json
    (agent,) = done.pop("agents")
    assert done == {"schema": 1, "dry_run": False}
    assert (agent["agent"], agent["action"], agent["backup"]) == ("claude-code", "connected", None)
    assert agent["path"] == str(at.root / LOCAL)
    assert agent["diff"].startswith("--- /dev/null\n")
    (again,) = at("init", "claude-code", "--json").json["agents"]
    assert (again["action"], again["diff"]) == ("unchanged", "")
    (gone,) = at("init", "claude-code", "--json", "--remove").json["agents"]
    assert gone["action"] == "removed"


def test_a_token_does_not_go_into_shared_settings(at):
    done = at("init", "claude-code", "--kind", "http", "--scope", "project")
    assert done.code == 2
    assert "--scope local" in done.err


def test_http_hooks_name_an_address_of_this_machine_and_begin_with_a_process(at):
    at("init", "claude-code", "--kind", "http")
    ours = {
        found.event: found.hook
        for found in settings.CONNECTION.grouped((at.root / LOCAL).read_text())
    }
    for event in ("SessionStart", "PreSkillShellCommand"):
        assert ours.pop(event)["type"] == "command"
    assert {hook["url"] for hook in ours.values()} == {ours["Stop"]["url"]}
    assert ours["Stop"]["url"].startswith("http://127.0.0.1:")
    assert ours["Stop"]["headers"]["Authorization"].startswith("Bearer ")
    assert os.stat(at.root / LOCAL).st_mode & 0o077 == 0
    assert "connected already" in at("init", "claude-code", "--kind", "http").out
    assert "updated in" in at("init", "claude-code").out


def test_every_line_fits_a_terminal(at):
    for scope in settings.SCOPES:
        said = at("init", "claude-code", "--scope", scope)
        known = (said.out + said.err).replace(str(at.root), "/home/ada/project")
        assert max(map(len, known.splitlines())) <= 80


def test_the_help_says_why_the_scope_is_local():
    (scope,) = [option for option in init.params if option.name == "scope"]
    assert "name this machine's Python" in str(getattr(scope, "help", ""))


def test_the_script_that_hooks_run_bears_the_name_they_are_known_by():
    assert os.path.isfile(connect.entry_script())
    hooks = hook_settings.command_hooks("python", connect.entry_script(), "")
    assert all(map(hook_settings.is_ours, hooks.values()))


def test_settings_that_name_the_script_of_the_first_version_are_replaced(at):
    """Version 0.1.0 kept the script in interfaces/: its hooks are ours, and none doubles."""
    at("init", "claude-code")
    file = at.root / LOCAL
    now = file.read_text()
    file.write_text(now.replace("/hooks/hook_entry.py", "/interfaces/hook_entry.py"))
    [hooks] = [each for each in at("doctor", "--json").json["checks"] if each["name"] == "hooks"]
    assert hooks["state"] == "problem"
    at("init", "claude-code")
    assert file.read_text() == now
    assert len(settings.CONNECTION.grouped(now)) == len(hook_settings.EVENTS)
