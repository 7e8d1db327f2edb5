"""An agent with Sightline's hooks, started by the command of a sub-task in the shared tree."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from tests.hooks.hooking import ENTRY
from tests.subtasks.conftest import LINES

from sightline.subtasks.carry_out import Options, Workbench
from sightline.subtasks.runners import command_runner
from sightline.subtasks.task_registry import TaskRegistry

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the daemon of hooks is not there")

AGENT = """
import json, os, subprocess, sys
from pathlib import Path

entry, code, *wanted = sys.argv[1:]
root = os.getcwd()

def hook(event, **fields):
    payload = {"session_id": "claude", "cwd": root, "transcript_path": f"{root}/../claude.jsonl"}
    raw = json.dumps(payload | {"hook_event_name": event} | fields).encode()
    words = [sys.executable, "-I", "-S", entry, "claude-code"]
    done = subprocess.run(words, input=raw, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout or b"{}")

hook("SessionStart", source="startup")
for name in wanted:
    path = Path(root, name)
    text = path.read_text() if path.exists() else None
    call = {"tool_name": "Write", "tool_use_id": f"t-{name}"}
    call["tool_input"] = {"file_path": str(path), "content": (text or "") + "by claude\\n"}
    if text is not None:
        file = {"filePath": str(path), "content": text, "startLine": 1}
        file |= {"numLines": text.count("\\n") + 1, "totalLines": text.count("\\n") + 1}
        hook("PostToolUse", tool_name="Read", tool_use_id=f"r-{name}",
             tool_input={"file_path": str(path)}, tool_response={"type": "text", "file": file})
    answer = hook("PreToolUse", **call).get("hookSpecificOutput", {})
    decision = answer.get("permissionDecision", "allow")
    print(name, decision, answer.get("permissionDecisionReason", ""))
    if decision == "allow":
        path.parent.mkdir(exist_ok=True)
        path.write_text(call["tool_input"]["content"])
        hook("PostToolUse", **call, tool_response={"filePath": str(path), "type": "update"})
sys.exit(int(code))
"""


@pytest.fixture
def attempt(repo, monkeypatch):
    """Make an attempt at a sub-task with the scope "src"."""
    monkeypatch.setenv("SIGHTLINE_HOME", repo.state)
    monkeypatch.setenv("SIGHTLINE_ANSWERER", "off")
    session = repo.session("p")
    session.subtasks.propose([{"id": "a", "goal": "Write", "scope": ["src"]}])
    session.subtasks.approve()
    bench = Workbench(TaskRegistry(session._context), f"{repo.state}/tasks")

    def run(code, *names, attempts=1, isolation="shared"):
        runner = command_runner([sys.executable, "-c", AGENT, ENTRY, str(code), *names])
        bench.carry_out("a", 0, runner, Options(isolation, attempts))
        return session.subtasks.show("a")

    return run


@pytest.mark.wide
def test_the_scope_holds_for_the_agent_s_own_edits(repo, attempt):
    task, result = attempt(0, "src/new.txt", "app.py")
    said = dict(line.split(" ", 2)[:2] for line in result.output.splitlines() if " " in line)
    assert said["src/new.txt"] == "allow"
    assert said["app.py"] in ("ask", "deny")
    assert "scope" in result.output
    assert repo.text("src/new.txt") == "by claude\n"
    assert repo.text("app.py") == LINES
    assert task.state == "completed", task.reason
    changed = {file.path: file.kind for file in result.files}
    assert changed == {"src/new.txt": "created"}
    states = {state.id: state.parent for state in repo.session("p")._context.store.sessions()}
    assert states["claude"] == task.session


@pytest.mark.wide
def test_the_agent_s_edits_of_a_failed_attempt_are_taken_back(repo, attempt):
    repo.put("src/old.txt", "of the user\n")
    task, _ = attempt(1, "src/old.txt", "src/new.txt", attempts=2)
    assert task.state == "ready", task.reason
    assert repo.text("src/old.txt") == "of the user\n"
    assert not os.path.exists(repo.root / "src" / "new.txt")


@pytest.mark.wide
def test_the_store_of_an_agent_in_a_worktree_goes_with_the_worktree(repo, attempt):
    task, result = attempt(0, "src/new.txt", isolation="worktree")
    assert task.state == "completed", task.reason
    assert "src/new.txt allow" in result.output
    assert repo.text("src/new.txt") == "by claude\n"
    kept = Path(repo.state) / "workspaces"
    assert len([*kept.glob("*/store.db")]) == len([*(kept / "paths").iterdir()]) == 1


def test_an_agent_that_no_attempt_started_has_no_scope(repo, monkeypatch):
    """Also where a variable of the user's names a session."""
    monkeypatch.setenv("SIGHTLINE_SESSION", "p")
    from tests.hooks.hooking import Host

    host = Host()
    try:
        path = host.put("app.py", LINES)
        host.environ["SIGHTLINE_SESSION"] = "p"
        host.ask(host.shown(path, LINES))
        answer = host.ask(host.edit(path, "line 3\n", "three\n"))
        assert "deny" not in json.dumps(answer)
    finally:
        host.close()
