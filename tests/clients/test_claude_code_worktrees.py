"""Worktrees that Claude Code makes for itself, and files that are always asked for."""

import json
import subprocess

import pytest
from tests.clients.acting import done, edit, read
from tests.clients.stub import Step
from tests.support.examples import fully

pytestmark = pytest.mark.client

TEXT = "one\ntwo\nthree\n"
MODES = ["acceptEdits", *fully("bypassPermissions")]


def committed(claude):
    """A repository with one commit, which a worktree can begin at."""
    claude.put("notes.txt", TEXT)
    who = ["-c", "user.name=A", "-c", "user.email=a@b"]
    for line in (["add", "."], [*who, "commit", "--quiet", "-m", "one"]):
        subprocess.run(["git", *line], cwd=claude.root, check=True)


def in_mode(claude, mode):
    claude.settings["IS_SANDBOX"] = (
        "1"  # the client's own word for a root user who may skip questions
    )
    return ("--permission-mode", mode)


def decisions(run):
    """Return what our hooks decided on tools: allow, ask or deny."""
    answers = [json.loads(hook["stdout"]) for hook in run.hooks if hook["stdout"].startswith("{")]
    told = [each.get("hookSpecificOutput", {}) for each in answers]
    return [each["permissionDecision"] for each in told if "permissionDecision" in each]


@pytest.mark.parametrize("mode", MODES)
def test_an_edit_after_entering_a_worktree_is_neither_asked_for_nor_denied(guarded, model, mode):
    committed(guarded)
    file = guarded.root / ".claude/worktrees/w1/notes.txt"
    model.script(
        "Work aside",
        Step(tools=(("EnterWorktree", {"name": "w1"}),)),
        read(str(file)),
        edit(str(file), "two\n", "2\n"),
        done(),
    )
    run = guarded.run("Work aside", args=in_mode(guarded, mode))
    assert file.read_text() == TEXT.replace("two", "2"), model.sent(3)
    assert decisions(run) == []


@pytest.mark.parametrize("mode", MODES)
def test_an_isolated_sub_agent_edits_without_a_question(guarded, model, mode):
    committed(guarded)
    given = {"description": "a part", "prompt": "Take it", "isolation": "worktree"}
    task = Step(tools=(("Agent", {**given, "subagent_type": "general-purpose"}),))
    model.script("Share the work", task, done())
    model.script("Take it", read("notes.txt"), edit("notes.txt", "two\n", "2\n"), done())
    run = guarded.run("Share the work", args=in_mode(guarded, mode))
    (file,) = guarded.root.glob(".claude/worktrees/*/notes.txt")
    assert file.read_text() == TEXT.replace("two", "2"), model.sent(2, "Take it")
    assert guarded.text("notes.txt") == TEXT
    assert decisions(run) == []


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", *fully(".git/info/exclude")])
def test_a_file_of_version_control_is_asked_for_and_not_denied(guarded, model, path):
    file = guarded.put(path, TEXT)
    model.script("Change it", read(file), edit(file, "two\n", "2\n"), done())
    run = guarded.run("Change it")
    assert decisions(run) == ["ask"]
    asked = next(hook["stdout"] for hook in run.hooks if '"ask"' in hook["stdout"])
    assert "Sightline" in asked
    assert "`protect`" in asked


def test_an_exception_in_protect_ends_the_question(guarded, model):
    guarded.settings["XDG_CONFIG_HOME"] = str(guarded.home / "config")
    config = guarded.home / "config/sightline/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('protect = ["!.git/info/exclude"]\n')
    file = guarded.put(".git/info/exclude", TEXT)
    model.script("Change it", read(file), edit(file, "two\n", "2\n"), done())
    assert decisions(guarded.run("Change it")) == []
