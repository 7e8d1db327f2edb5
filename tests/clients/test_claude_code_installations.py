"""Sightline is installed twice: the user's settings and the project's call hooks for each event."""

import shutil

import pytest
from tests.clients.acting import TEXT, TWO_AT_ONCE, bash, changed, done, edit, messages, read, saves
from tests.clients.claude import REPOSITORY
from tests.support.examples import fully

pytestmark = pytest.mark.client

STALE = changed(l28="line 282")


def same(_):
    """One installation, which both settings files name."""


def another(claude):
    """The user's settings name an installation of their own."""
    package = REPOSITORY / "src/sightline"
    shutil.copytree(package, claude.home / "other/sightline")
    settings = claude.home / ".claude/settings.json"
    text = settings.read_text()
    assert str(package) in text
    settings.write_text(text.replace(str(package), str(claude.home / "other/sightline")))


@pytest.mark.parametrize("installation", [another, *fully(same)])
def test_each_event_is_answered_once(guarded, model, installation):
    guarded.sightline("init", "claude-code", "--scope", "user")
    installation(guarded)
    file = guarded.put("notes.txt", TEXT)
    guarded.put("other.txt", "other\n")
    guarded.put("sightline.toml", "policy = [")
    late = saves(guarded, "notes.txt", STALE)
    stale, fresh = edit(file, "e 28", "e twenty-eight", late), edit(file, "line 5\n", "five\n")
    model.script("Fix it", bash(TWO_AT_ONCE), stale, fresh, done())
    run = guarded.run("Fix it")
    assert guarded.text("notes.txt") == STALE.replace("line 5\n", "five\n")
    assert len(messages(run)) == 1
    asked = [hook for hook in run.hooks if hook["hook_event"] == "PreToolUse"]
    assert len(asked) == 6, "the client called two hooks before each of three tools"
    assert len([hook for hook in asked if '"deny"' in hook["stdout"]]) == 1
    assert len(guarded.log("refused")) == 1
    assert len(guarded.log("changed")) == 2, "the user's and the agent's"


@pytest.mark.full
def test_each_event_is_answered_once_where_one_hook_is_of_the_http_kind(claude, model):
    claude.sightline("init", "claude-code", "--kind", "http")
    claude.sightline("init", "claude-code", "--scope", "user")
    file = claude.put("notes.txt", TEXT)
    late = saves(claude, "notes.txt", STALE)
    model.script("Fix it", read(file), edit(file, "e 28", "e twenty-eight", late), done())
    with claude.up():
        run = claude.run("Fix it")
    assert claude.text("notes.txt") == STALE
    asked = [hook for hook in run.hooks if hook["hook_event"] == "PreToolUse"]
    assert {hook["exit_code"] for hook in asked} == {0, 200}, "one by a command, one over HTTP"
    assert len([hook for hook in asked if '"deny"' in hook["stdout"]]) == 1
    assert len(claude.log("refused")) == 1
