"""Hooks of several agents: who holds a session, what a fork knows, what a sub-agent leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from tests.hooks.hooking import refusal

from sightline.filesystem import process
from sightline.model.events import EnvironmentSeen, SessionEnded


def of(host, kind):
    return [recorded for recorded in host.facts() if isinstance(recorded.fact, kind)]


@pytest.mark.wide
def test_a_hooks_host_holds_the_session_and_is_noted_once(host):
    path = host.put("a.py", "a\n")
    for _ in range(2):
        host.run(host.shown(path, "a\n"))
    (seen,) = of(host, EnvironmentSeen)
    assert (seen.session, seen.fact.owner) == ("s1", process.owner())


def test_a_session_that_goes_on_elsewhere_is_held_from_there(host):
    path = host.put("a.py", "a\n")
    host.ask(host.shown(path, "a\n"), owner=process.owner())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        host.ask(host.shown(path, "a\n"), owner=process.owner_of(other.pid))
        other.communicate(b"\n")
    assert len(of(host, EnvironmentSeen)) == 2


def test_a_sub_agent_that_has_answered_is_not_there_until_it_is_asked_again(host):
    helper = {"agent_id": "abcdef0123", "agent_type": "Explore"}
    host.ask(host.payload("SubagentStart", **helper), owner=process.owner())
    host.ask(host.payload("SubagentStop", **helper), owner=process.owner())
    (ended,) = of(host, SessionEnded)
    assert ended.session == "s1/Explore-abcdef01"
    with host.session("look") as session:
        store = session._context.store
        assert store.session(ended.session).ended is not None
    host.ask(host.payload("SubagentStart", **helper), owner=process.owner())
    with host.session("look") as session:
        assert session._context.store.session(ended.session).ended is None
        assert session._context.store.session(ended.session).parent == "s1"


def row(kind, **more):
    return json.dumps({"type": kind, "uuid": os.urandom(4).hex(), **more})


def copied(path, text="a\nb\n"):
    """Return what a fork copies of a conversation that read the file."""
    use = {"type": "tool_use", "id": "t0", "name": "Read", "input": {"file_path": path}}
    lines = text.count("\n") + 1
    file = {"filePath": path, "content": text, "numLines": lines, "startLine": 1}
    file["totalLines"] = lines
    result = {"type": "tool_result", "tool_use_id": "t0", "content": "as it was shown"}
    return [
        row("assistant", message={"role": "assistant", "content": [use]}, requestSessionId="s1"),
        row(
            "user",
            message={"role": "user", "content": [result]},
            toolUseResult={"type": "text", "file": file},
            timestamp="2026-01-01T00:00:00.000Z",
        ),
    ]


def writes(host, session, rows):
    with (host.home / f"{session}.jsonl").open("a", encoding="utf-8") as transcript:
        transcript.writelines(f"{each}\n" for each in rows)


def test_s26_a_forked_conversation_keeps_what_its_transcript_shows(host):
    """The client names no parent of a fork. The rows that it copies say what is in its window."""
    path = host.put("a.py", "a\nb\n")
    host.ask(host.shown(path, "a\nb\n"))
    writes(host, "s2", copied(path))
    host.ask(host.payload("SessionStart", "s2", source="fork"))
    assert refusal(host.ask(host.write(path, "a\nB\n", session="s2"))) == ""
    host.put("a.py", "a\nB\n")
    for session in ("s1", "s2"):
        assert "changed" in refusal(host.ask(host.edit(path, "b\n", "c\n", session=session)))


def test_a_fork_copies_its_rows_behind_the_first_that_are_its_own(host):
    """As it was seen: its hooks run before the client came to write what it copies."""
    path = host.put("a.py", "a\nb\n")
    host.ask(host.shown(path, "a\nb\n"))
    host.ask(host.payload("SessionStart", "s2", source="fork"))
    writes(host, "s2", [row("queue-operation", timestamp="2100-01-01T00:00:00.000Z")])
    host.ask(host.payload("UserPromptSubmit", "s2", prompt="Fix it"))
    writes(host, "s2", copied(path))
    assert refusal(host.ask(host.write(path, "a\nB\n", session="s2"))) == ""


def test_what_hooks_told_of_in_a_fork_is_not_taken_from_its_transcript_again(host):
    path = host.put("a.py", "a\nb\n")
    host.ask(host.payload("SessionStart", "s2", source="fork"))
    later = [each.replace("2026-01-01", "2100-01-01") for each in copied(path)]
    writes(host, "s2", later)
    host.ask(host.payload("Stop", "s2"))
    assert "never shown" in refusal(host.ask(host.write(path, "a\nB\n", session="s2")))


def context(answer):
    return answer.get("hookSpecificOutput", {}).get("additionalContext", "")


@pytest.fixture
def parent(host):
    """A conversation that read a file, which the user changed then; its next prompt told it of that."""
    path = host.put("a.py", TEN)
    host.ask(host.payload("SessionStart", source="startup"))
    host.ask(host.payload("UserPromptSubmit", prompt="Look at it"))
    host.ask(host.shown(path, TEN))
    host.ask(host.payload("Stop"))
    host.put("a.py", TEN.replace("line 3", "line 3 of the user"))
    assert "line 3 of the user" in context(
        host.ask(host.payload("UserPromptSubmit", prompt="Go on"))
    )
    host.ask(host.payload("Stop"))
    return host


def forks(host, at=None):
    """Begin a fork as the client does: its hooks run, then it writes the rows that it copies."""
    now = at or f"{datetime.now(UTC).isoformat()[:-9]}Z"
    host.ask(host.payload("SessionStart", "s2", source="fork"))
    said = context(host.ask(host.payload("UserPromptSubmit", "s2", prompt="Fix it")))
    path = str(host.root / "a.py")
    writes(
        host, "s2", [each.replace("2026-01-01T00:00:00.000Z", now) for each in copied(path, TEN)]
    )
    return path, said


def test_a_fork_was_told_what_its_parent_was_told_before(parent):
    path, said = forks(parent)
    asked = parent.ask(parent.edit(path, "line 3 of the user", "line three", session="s2"))
    assert (said, refusal(asked), context(asked)) == ("", "", "")
    with parent.session("s2") as session:
        assert session.changes() == []
    parent.put("a.py", TEN.replace("line 3", "line 3 of the user").replace("line 9", "line nine"))
    told = context(parent.ask(parent.payload("UserPromptSubmit", "s2", prompt="Go on")))
    assert "line nine" in told
    assert "+line 3" not in told


def test_a_fork_from_before_a_notice_is_told_of_the_change_itself(parent):
    path, _ = forks(parent, at="2026-01-01T00:00:00.000Z")  # before the parent's first turn
    asked = parent.ask(parent.edit(path, "line 3", "line three", session="s2"))
    assert "line 3 of the user" in refusal(asked)


def test_what_the_parent_came_to_know_since_is_not_the_forks(parent):
    path, _ = forks(parent)
    changed = TEN.replace("line 3", "line 3 of the user").replace("line 9", "line nine")
    parent.put("a.py", changed)
    parent.ask(parent.payload("UserPromptSubmit", prompt="And now"))
    parent.ask(parent.payload("Stop"))
    asked = parent.ask(parent.edit(path, "line 9", "LINE 9", session="s2"))
    assert "line nine" in refusal(asked)


def test_a_fork_edits_a_block_that_its_parent_moved_and_edited(parent):
    path = str(parent.root / "a.py")
    stood = (parent.root / "a.py").read_text()
    block = "line 7\nline 8\n"
    moved = "line 7\nline eight\n" + stood.replace(block, "")
    given = {"file_path": path, "content": moved}
    parent.ask(parent.payload("UserPromptSubmit", prompt="Move it"))
    assert refusal(parent.ask(parent.write(path, moved))) == ""
    parent.put("a.py", moved)
    named = {"tool_name": "Write", "tool_use_id": "t1", "tool_input": given}
    told = {"type": "update", "filePath": path, "content": moved, "originalFile": stood}
    parent.ask(parent.payload("PostToolUse", **named, tool_response=told))
    parent.ask(parent.payload("Stop"))
    forks(parent)
    asked = parent.ask(parent.edit(path, "line 7\nline eight\n", "x\n", session="s2"))
    assert (refusal(asked), context(asked)) == ("", "")


TEN = "".join(f"line {at}\n" for at in range(1, 11))


@pytest.fixture
def late(host):
    """A fork that edits a file before its client has written what it copies of its parent."""

    def forked(old, new, text=TEN):
        path = host.put("a.py", text)
        host.ask(host.payload("SessionStart", "s2", source="fork"))
        host.ask(host.payload("UserPromptSubmit", "s2", prompt="Fix it"))
        edits(host, path, old, new)
        return path

    return forked


def edits(host, path, old, new):
    """Edit by the client's own tool, with its hooks before and after; why not, where refused."""
    asked = host.ask(host.edit(path, old, new, session="s2"))
    before = (host.root / "a.py").read_text()
    if not refusal(asked):
        host.put("a.py", before.replace(old, new))
        given = {"file_path": path, "old_string": old, "new_string": new}
        told = {"filePath": path, "oldString": old, "newString": new, "originalFile": before}
        named = {"tool_name": "Edit", "tool_use_id": "t1", "tool_input": given}
        host.ask(host.payload("PostToolUse", "s2", **named, tool_response=told))
    return refusal(asked)


@pytest.mark.parametrize(("old", "new"), [("line 3\n", "three\n"), ("line 3\n", "")])
def test_a_fork_that_edits_first_knows_the_whole_file_once_its_rows_are_there(host, late, old, new):
    path = late(old, new)
    writes(host, "s2", copied(path, TEN))
    assert refusal(host.ask(host.write(path, "mine\n", session="s2"))) == ""


def test_what_others_changed_before_a_forks_first_edit_stays_unseen(host, late):
    """Its parent had read line 8 before the user changed that."""
    path = late("line 3\n", "three\n", TEN.replace("line 8", "line 8, says the user"))
    writes(host, "s2", copied(path, TEN))
    said = refusal(host.ask(host.edit(path, "line 8\n", "eight\n", session="s2")))
    assert "-line 8\n+line 8, says the user" in said
    assert "three" not in said


def test_what_others_changed_between_a_forks_edits_stays_unseen(host, late):
    path = late("line 3\n", "three\n")
    host.put("a.py", (host.root / "a.py").read_text().replace("line 8", "line 8, says the user"))
    assert edits(host, path, "line 5\n", "five\n") == ""
    writes(host, "s2", copied(path, TEN))
    assert "-line 8\n+line 8, says the user" in refusal(
        host.ask(host.edit(path, "line 8\n", "eight\n", session="s2"))
    )


def test_what_a_fork_copied_counts_in_the_order_it_was_shown(host, late):
    """Of what its parent read twice the later text is what the fork holds."""
    path = late("line 3\n", "three\n")
    older = copied(path, TEN.replace("line 8", "line eight"))
    writes(host, "s2", [*older, *copied(path, TEN)])
    assert refusal(host.ask(host.write(path, "mine\n", session="s2"))) == ""


def test_a_fork_that_was_compacted_has_nothing_older_in_its_window(host, late):
    path = late("line 3\n", "three\n")
    host.ask(host.payload("PreCompact", "s2", trigger="manual"))
    host.ask(host.payload("SessionStart", "s2", source="compact"))
    writes(host, "s2", copied(path, TEN))
    host.ask(host.payload("Stop", "s2"))
    with host.session("s2") as session:
        known = session._context.store.knowledge("s2", "a.py").belief
    assert known.shown == ((1, 10),)
    assert known.held == ()
