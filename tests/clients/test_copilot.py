"""Copilot CLI runs the hooks of a workspace that Sightline wrote for Claude Code, in its own way."""

import sys

import pytest
from tests.clients import copilot
from tests.clients.acting import TEXT, changed, done
from tests.clients.stub import Step

pytestmark = pytest.mark.client

PROGRAM = {"there": sys.executable, "gone": "/gone/bin/python"}


@pytest.mark.parametrize(
    ("program", "scope"),
    [
        ("there", "project"),
        ("gone", "local"),
        pytest.param("there", "local", marks=pytest.mark.full),
        pytest.param("gone", "project", marks=pytest.mark.full),
    ],
)
def test_it_goes_on_and_nothing_of_it_is_recorded(claude, model, scope, program):
    """It ignores the arguments of a hook, and refuses a call whose hook ends with an error."""
    claude.sightline("init", "claude-code", "--scope", scope)
    settings = ".claude/settings.local.json" if scope == "local" else ".claude/settings.json"
    claude.put(settings, claude.text(settings).replace(sys.executable, PROGRAM[program]))
    file = claude.put("notes.txt", TEXT)
    large = "x = true, false, null\n" * 20_000  # more than the pipe of a hook holds
    model.script(
        "Fix it",
        Step(tools=(("view", {"path": file, "forceReadLargeFiles": True}),)),
        Step(
            tools=(("bash", {"command": "cat notes.txt", "description": "see", "detach": False}),)
        ),
        Step(tools=(("edit", {"path": file, "old_str": "line 3\n", "new_str": "three\n"}),)),
        Step(tools=(("create", {"path": f"{file}.new", "file_text": large}),)),
        done(),
    )
    copilot.run(claude, "Fix it")
    told = [model.sent(step) for step in range(1, 5)]
    assert not any("hook" in each for each in told)
    assert "line 30" in told[0]
    assert "line 30" in told[1]
    assert claude.text("notes.txt") == changed(l3="three")
    assert claude.text("notes.txt.new") == large
    assert claude.status() == {}
    assert claude.faults == ""
