"""Hooks of others before a Write, which put their own text in the place of the agent's: the user's save is
never lost, and somebody is told."""

import json
import sys

import pytest
from tests.clients.acting import (
    TEXT,
    TWO_AT_ONCE,
    bash,
    changed,
    delegate,
    done,
    messages,
    saves,
    write,
)
from tests.clients.stub import Step

pytestmark = pytest.mark.client

MINE = changed(l28="line 28, says the agent")
THEIRS = changed(l3="line 3, says the user")
BOTH = changed(l3="line 3, says the user", l28="line 28, says the agent")

HOOK = """
import json, sys
given = json.load(sys.stdin)["tool_input"]
given["content"] = {content}
answer = {{"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": given}}
print(json.dumps({{"hookSpecificOutput": answer}}))
"""

HEADER = 'given["content"] if given["content"][0] == "#" else "# (c) me\\n" + given["content"]'
FORMATTER = 'given["content"].replace("says", "SAYS")'


@pytest.fixture
def file(guarded):
    guarded.put("other.txt", "other\n")
    return guarded.put("notes.txt", TEXT)


def program(claude, content):
    """A hook's command that puts another content in the place of a Write's."""
    return f"{sys.executable} {claude.put('hook.py', HOOK.format(content=content))}"


def hooked(command, **more):
    return [{"matcher": "Write", "hooks": [{"type": "command", "command": command, **more}]}]


def in_settings(claude, command, **more):
    claude.put(
        ".claude/settings.json", json.dumps({"hooks": {"PreToolUse": hooked(command, **more)}})
    )


def frontmatter(name, command):
    """The beginning of a skill or an agent with a hook of its own."""
    lines = [f"name: {name}", f"description: {name}s", "hooks:", "  PreToolUse:"]
    lines += ['    - matcher: "Write"', "      hooks:", "        - type: command"]
    return "\n".join(["---", *lines, f"          command: {command}", "---", "Write.", ""])


@pytest.mark.parametrize(
    ("content", "stands"),
    [
        pytest.param(HEADER, "# (c) me\n" + BOTH, id="header", marks=pytest.mark.full),
        pytest.param(FORMATTER, BOTH.replace("says", "SAYS"), id="formatter"),
    ],
)
def test_a_write_over_a_save_is_refused_and_made_again_with_the_save(
    guarded, model, file, content, stands
):
    in_settings(guarded, program(guarded, content))
    unharmed: list[str] = []
    stale = write(file, MINE, saves(guarded, "notes.txt", THEIRS))
    again = write(file, BOTH, lambda: unharmed.append(guarded.text("notes.txt")))
    model.script("Fix it", bash(TWO_AT_ONCE), stale, again, done())
    guarded.run("Fix it")
    assert unharmed == [THEIRS]
    assert "+line 3, says the user" in model.sent(2)
    assert guarded.text("notes.txt") == stands


def test_a_hook_that_runs_beside_the_write_leaves_the_merge(guarded, model, file):
    """`async`: the client does not wait for its answer, so that nothing is rewritten."""
    in_settings(guarded, program(guarded, HEADER), **{"async": True})
    stale = write(file, MINE, saves(guarded, "notes.txt", THEIRS))
    model.script("Fix it", bash(TWO_AT_ONCE), stale, done())
    run = guarded.run("Fix it")
    assert guarded.text("notes.txt") == BOTH
    assert any("merged" in message for message in messages(run))


@pytest.mark.full
def test_a_hook_of_a_skill_does_not_take_the_place_of_a_merge(guarded, model, file):
    guarded.put(".claude/skills/license/SKILL.md", frontmatter("license", program(guarded, HEADER)))
    skill = Step(tools=(("Skill", {"skill": "license"}),))
    unharmed: list[str] = []
    stale = write(file, MINE, saves(guarded, "notes.txt", THEIRS))
    again = write(file, BOTH, lambda: unharmed.append(guarded.text("notes.txt")))
    model.script("Fix it", skill, bash(TWO_AT_ONCE), stale, again, done())
    guarded.run("Fix it", args=("Skill",))  # one more tool that needs no permission
    assert unharmed == [THEIRS]
    assert "+line 3, says the user" in model.sent(3)
    assert guarded.text("notes.txt") == "# (c) me\n" + BOTH


@pytest.mark.full
def test_a_hook_of_an_agent_does_not_take_the_place_of_a_merge(guarded, model, file):
    guarded.put(".claude/agents/writer.md", frontmatter("writer", program(guarded, HEADER)))
    trusted = {"projects": {str(guarded.root): {"hasTrustDialogAccepted": True}}}
    (guarded.home / ".claude.json").write_text(json.dumps(trusted))
    unharmed: list[str] = []
    stale = write(file, MINE, saves(guarded, "notes.txt", THEIRS))
    again = write(file, BOTH, lambda: unharmed.append(guarded.text("notes.txt")))
    asked = delegate("Write it")
    asked.tools[0][1]["subagent_type"] = "writer"
    model.script("Fix it", asked, done())
    model.script("Write it", bash(TWO_AT_ONCE), stale, again, done())
    guarded.run("Fix it")
    assert unharmed == [THEIRS]
    assert guarded.text("notes.txt") == "# (c) me\n" + BOTH
