"""How Claude Code is connected, and what happens to its work where that is broken."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from tests.clients.acting import TEXT, changed, done, edit, messages, read, saves, write
from tests.support.examples import fully

import sightline

pytestmark = pytest.mark.client

LOCAL = ".claude/settings.local.json"


def test_settings_removed_again_are_as_they_were_and_no_hook_fires(claude, model):
    theirs = '{ "env": {"A":"1"},\n\t"hooks": {"Stop": [ {"hooks": [{"type": "command", "command": "true"}]} ]}}'
    settings = ".claude/settings.local.json"
    claude.put(settings, theirs)
    file = claude.put("notes.txt", TEXT)
    model.script("Look at it", read(file), done())
    claude.sightline("init", "claude-code")
    assert json.loads(claude.text(settings))["env"] == {"A": "1"}
    claude.run("Look at it")
    told = claude.log()
    assert "seen" in {row["kind"] for row in told}
    claude.sightline("init", "claude-code", "--remove")
    assert claude.text(settings) == theirs
    assert [hook["hook_event"] for hook in claude.run("Look at it").hooks] == ["Stop"]
    assert claude.log() == told


@pytest.mark.parametrize("kind", ["http", *fully("command")])
def test_a_running_up_answers_as_well_and_shows_what_happens(claude, model, kind):
    claude.sightline("init", "claude-code", "--kind", kind)
    file = claude.put("notes.txt", TEXT)
    theirs = changed(l3="line 3, says the user")
    model.script(
        "Fix it",
        read(file),
        edit(file, "line 28\n", "line 28, says the agent\n", saves(claude, "notes.txt", theirs)),
        edit(file, "line 3, says", "line 3, said", saves(claude, "notes.txt", TEXT)),
        done(),
    )
    with claude.up() as printed:
        run = claude.run("Fix it")
        assert any("notes.txt was changed by the user" in line for line in printed)
    assert claude.faults == ""
    assert "-line 3\n+line 3, says the user" in model.sent(2)
    assert "-line 3, says the user\n+line 3" in model.sent(3)
    assert claude.text("notes.txt") == TEXT
    over_http = {hook["hook_event"] for hook in run.hooks if hook["exit_code"] == 200}
    assert ("PreToolUse" in over_http) == (kind == "http")


@pytest.mark.full
def test_a_store_that_cannot_be_read_lets_the_agent_go_on_and_is_logged(connected, model):
    file = connected.put("notes.txt", TEXT)
    connected.sightline("saw", "notes.txt")
    (store,) = connected.state.rglob("*.db")
    store.write_bytes(b"no database" * 1000)
    model.script("Fix it", read(file), edit(file, "line 3\n", "three\n"), done())
    assert connected.run("Fix it").code == 0
    assert connected.text("notes.txt") == changed(l3="three")
    assert store.read_bytes() == b"no database" * 1000
    assert "SessionStart" in connected.faults  # hooks soon after it take the outage for granted
    assert "hooks" in connected.sightline("doctor", code=1)


def test_a_guard_that_is_to_fail_closed_refuses_what_it_cannot_judge(connected, model):
    file = connected.put("notes.txt", TEXT)
    connected.sightline("saw", "notes.txt")
    (store,) = connected.state.rglob("*.db")
    store.write_bytes(b"no database" * 1000)
    connected.settings["SIGHTLINE_FAIL"] = "closed"
    model.script("Fix it", read(file), edit(file, "line 3\n", "three\n"), done())
    assert connected.run("Fix it").code == 0
    assert connected.text("notes.txt") == TEXT
    assert "SIGHTLINE_FAIL" in model.sent(2)


def test_http_hooks_without_up_let_the_agent_go_on_and_doctor_says_so(claude, model):
    claude.sightline("init", "claude-code", "--kind", "http")
    file = claude.put("notes.txt", TEXT)
    model.script("Fix it", read(file), edit(file, "line 3\n", "three\n"), done())
    assert claude.run("Fix it").code == 0
    assert claude.text("notes.txt") == changed(l3="three")
    assert "sightline up" in claude.sightline("doctor", code=1)


@pytest.mark.parametrize("scope", ["user", *fully("local")])
@pytest.mark.parametrize("gone", [sys.executable, os.path.dirname(sightline.__file__)])
def test_a_program_that_is_gone_is_told_once_and_the_agent_goes_on(claude, model, gone, scope):
    """The virtual environment was deleted, or the package was removed from it."""
    claude.sightline("init", "claude-code", "--scope", scope)
    file = claude.put("notes.txt", TEXT)
    name = f"{claude.home}/.claude/settings.json" if scope == "user" else LOCAL
    settings = claude.root / name
    assert gone in settings.read_text()
    settings.write_text(settings.read_text().replace(gone, "/gone/sightline"))
    large = "x\n" * 100_000  # more than the pipe of a hook holds
    other = write(str(claude.root / "large.txt"), large)
    model.script("Fix it", read(file), edit(file, "line 3\n", "three\n"), other, done())
    model.script("Go on", edit(file, "line 4\n", "four\n"), done())
    first = claude.run("Fix it", "Go on")
    assert first.code == 0
    assert claude.text("notes.txt") == changed(l3="three", l4="four")
    assert claude.text("large.txt") == large
    assert {hook["exit_code"] for hook in first.hooks} == {0}
    (told,) = messages(first)
    for part in ("Sightline", "not guarded", "hook_entry.py", name):
        assert part in told
    assert claude.faults == ""
    (again,) = messages(claude.run("Go on"))  # in another session
    assert again == told
    assert "/gone" in claude.sightline("doctor", code=1)
    claude.sightline("init", "claude-code", "--remove", "--scope", scope)
    assert not settings.exists()


def test_a_save_after_a_branch_switch_is_the_users_where_a_desktop_started_the_client(
    connected, model
):
    """The process that answers the hooks has what they had: a short PATH, on which git is."""
    git = shutil.which("git")
    assert git
    connected.settings["PATH"] = f"{os.path.dirname(git)}{os.pathsep}/usr/bin{os.pathsep}/bin"
    file = connected.put("notes.txt", TEXT)
    who = ["-c", "user.name=n", "-c", "user.email=a@b"]

    def asked(*words):
        subprocess.run([git, *who, *words], cwd=connected.root, check=True)

    asked("add", "notes.txt")
    asked("commit", "--quiet", "--message", "one")
    asked("checkout", "--quiet", "-b", "other")
    connected.put("other.txt", "")
    asked("add", "other.txt")
    asked("commit", "--quiet", "--message", "two")
    asked("checkout", "--quiet", "-")

    def goes_on():
        asked("checkout", "--quiet", "other")
        connected.put("notes.txt", changed(l3="line 3, says the user"))

    model.script(
        "Fix it",
        read(file),
        edit(file, "line 28\n", "line 28, says the agent\n", goes_on),
        done(),
    )
    connected.run("Fix it")
    assert connected.faults == ""
    assert "+line 3, says the user" in model.sent(2)
    assert "the user or another program" in model.sent(2)
    assert "probably git" not in model.sent(2)
