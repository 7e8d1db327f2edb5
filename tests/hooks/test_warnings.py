"""Warnings, models and places through real hook calls."""

from __future__ import annotations

import json


def prompt(host, mode="default"):
    said = host.ask(host.payload("UserPromptSubmit", prompt="go on", permission_mode=mode))
    return said.get("hookSpecificOutput", {}).get("additionalContext", "")


def answers(host, model, version="2.1.0"):
    """The client writes down an answer of its agent."""
    message = {"role": "assistant", "model": model, "content": [{"type": "text", "text": "ok"}]}
    row = {"type": "assistant", "message": message, "version": version}
    with (host.home / "s1.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")


def test_a_warning_reaches_the_agent_once_and_stands_for_people(host):
    host.ask(host.payload("SessionStart", source="startup", model="m1"))
    assert prompt(host) == ""
    with host.session() as session:
        made = session.warn("mind this", ["a.py"])
    assert prompt(host) == "Sightline warns you: mind this (a.py)"
    host.ask(host.payload("Stop"))
    assert prompt(host) == ""
    with host.session() as session:
        assert session.warnings() == [made]
    assert host.faults() == []


def test_a_rewind_of_the_conversation_from_elsewhere_warns_the_agent(host):
    host.ask(host.payload("SessionStart", source="startup"))
    path = host.put("a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))
    with host.session() as session:
        begin = session.checkpoint("begin")
        session.edit("a.py", "a = 1", "a = 2")
        session.rewind(begin, files=False, conversation=True)
    assert "1 file was edited after that point (by this agent: a.py)" in prompt(host)


def test_the_model_the_mode_and_the_client_are_taken_from_payloads_and_the_transcript(host):
    host.ask(host.payload("SessionStart", source="startup", model="m1"))
    for mode, model, version in [
        ("default", "m1", "2.1.0"),
        ("plan", "m1", "2.1.0"),
        ("plan", "m2", "2.2.0"),
    ]:
        prompt(host, mode)
        answers(host, model, version)
        host.ask(host.payload("Stop"))
    host.ask(host.payload("SessionEnd", reason="logout"))
    with host.session() as session:
        used = [(each.turn, each.model, each.mode) for each in session.model_usage()]
        ran = [(each.host, each.host_version) for each in session.environment()]
    assert used == [
        (0, "m1", None),
        (1, "m1", "default"),
        (2, "m1", "plan"),
        (3, "m2", "plan"),
    ]
    assert ran == [("Claude Code", "2.1.0"), ("Claude Code", "2.2.0")]
    assert host.faults() == []
