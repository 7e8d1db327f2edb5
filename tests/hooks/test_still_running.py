"""After a compaction or a resume the note names the agents and the sub-tasks that still run."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sightline.filesystem import process
from sightline.model.events import SessionForked, SubtaskStarted

HEAD = "Still running; do not send another agent to the same work:\n"


def helper(number, kind="general-purpose"):
    return {"agent_id": f"{number}bcdef0123", "agent_type": kind}


def asked(host, event, **fields):
    return host.ask(host.payload(event, **fields), owner=process.owner())


def begun(host, source):
    answer = asked(host, "SessionStart", source=source)
    return (answer or {}).get("hookSpecificOutput", {}).get("additionalContext", "")


def note(host, source="compact"):
    return begun(host, source).partition("\n\n")[0]


@pytest.fixture
def busy(host):
    """A conversation that sent three agents: one changed a file, one read a file, one has answered."""
    for name in ("a.py", "b.py"):
        host.put(name, "text\n")
    asked(host, "SessionStart", source="startup")
    for number in range(3):
        asked(
            host, "SubagentStart", **helper(number, "Explore" if number == 1 else "general-purpose")
        )
    given = {"file_path": str(host.root / "new.py"), "content": "new\n"}
    write = {"tool_name": "Write", "tool_use_id": "t1", "tool_input": given}
    asked(host, "PreToolUse", **write, **helper(0))
    host.put("new.py", "new\n")
    response = {"filePath": str(host.root / "new.py"), "type": "create"}
    asked(host, "PostToolUse", **write, tool_response=response, **helper(0))
    read = json.loads(host.shown(str(host.root / "b.py"), "text\n")) | helper(1, "Explore")
    host.ask(json.dumps(read).encode(), owner=process.owner())
    asked(host, "SubagentStop", **helper(2))
    return host


RUNNING = "- sub-agent general-purpose (changed new.py)\n- sub-agent Explore (has read b.py)"


def test_agents_that_have_not_answered_are_named_with_their_files(busy):
    asked(busy, "PreCompact", trigger="auto")
    assert note(busy) == HEAD + RUNNING
    assert note(busy) == HEAD + RUNNING  # after every compaction
    assert note(busy, "startup") == ""
    asked(busy, "SubagentStop", **helper(0))
    asked(busy, "SubagentStop", **helper(1, "Explore"))
    assert "Still running" not in note(busy)


def test_agents_of_a_client_that_is_gone_are_not_named(host):
    host.put("a.py", "a\n")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        host.ask(host.payload("SubagentStart", **helper(0)), owner=process.owner_of(client.pid))
        client.communicate(b"\n")
    assert "Still running" not in note(host, "resume")


def test_a_fork_is_no_agent_of_its_own(host):
    asked(host, "SessionStart", source="startup")
    with host.session("other") as session:
        session._context.append([SessionForked("s1", 1)])
        assert "Still running" not in note(host)


def test_sub_tasks_that_run_are_named_with_their_files(host):
    host.put("a.py", "a\n")
    asked(host, "SessionStart", source="startup")
    with host.session("s1") as session:
        session.subtasks.propose(
            [
                {"id": "api", "goal": "Build the endpoint", "files": ["a.py"], "scope": ["src"]},
                {"id": "lost", "goal": "Its process died"},
                {"id": "waits", "goal": "Is not begun"},
            ]
        )
        session.subtasks.approve()
        own = session._context.owner
        session._context.append(
            [
                SubtaskStarted("api", "s1/api.1", 1, own, "worktree"),
                SubtaskStarted("lost", "s1/lost.1", 1, "elsewhere:1:1", "worktree"),
            ]
        )
        line = "- sub-task api: Build the endpoint (works on a.py, src)"
        assert note(host, "resume") == HEAD + line
        session.read("a.py")
        told = begun(host, "resume")
        assert told.startswith(HEAD + line)
        assert "| lost | running |" in told
        assert "3 sub-tasks: 2 running, 1 ready" in told
        assert told.count("Build the endpoint") == 1
