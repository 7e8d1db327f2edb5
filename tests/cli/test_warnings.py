"""warnings, models, and ack of a warning."""

from __future__ import annotations

import re

import pytest

import sightline


@pytest.fixture
def session(sl):
    """A session that a program has, in the command's own workspace and store."""
    with sightline.open_session(sl.root, id="chat", agent="my-agent") as made:
        yield made


def test_warnings_are_listed_until_they_are_acknowledged(sl, session):
    assert (sl("warnings").out, sl("warnings").err) == ("", "There are no warnings.\n")
    made = session.warn("mind this", ["a.py"])
    said = sl("warnings")
    assert said.out.startswith(f"{made.id}  20")
    assert re.fullmatch(r"\S+  20\d\d-\d\d-\d\d \d\d:\d\d  chat  mind this \(a.py\)\n", said.out)
    assert said.err == f"When it is dealt with: sightline ack {made.id}\n"
    (listed,) = sl("warnings", "--json").json["warnings"]
    assert list(listed) == ["id", "text", "paths", "session", "at"]
    sl("turn", "--session", "other")
    assert sl("warnings", "--session", "other", "--json").json["warnings"] == []
    done = sl("ack", made.id)
    assert (done.code, done.out) == (0, "Acknowledged. Nothing else is new.\n")
    assert sl("warnings", "--json").json["warnings"] == []
    assert session.warnings() == []


def test_a_text_of_many_lines_and_odd_letters_is_one_line(sl, session):
    session.warn("mind\nthis \x1b[31m")
    assert sl("warnings").out.count("\n") == 1
    assert "\x1b" not in sl("warnings").out


def test_an_id_that_is_no_warnings_says_so(sl):
    said = sl("ack", "w-1234")
    assert said.code == 1
    assert said.err == ("Error: There is no warning w-1234.\nHint: List them: sightline warnings\n")


def test_a_deleted_sessions_warnings_are_gone(sl, session):
    session.warn("mind this")
    assert sl("session", "delete", "chat", "--force").code == 0
    assert sl("warnings", "--json").json["warnings"] == []


def test_the_models_of_all_sessions_or_of_one(sl, session):
    assert sl("models").err == "No session told which model it used.\n"
    session.turn(model="m1", provider="p")
    session.turn(model="m2", mode="plan")
    with sightline.open_session(sl.root, id="other") as other:
        other.turn(model="m3")
    said = sl("models").out.splitlines()
    assert said[0].split() == ["SINCE", "SESSION", "TURN", "MODEL", "PROVIDER", "MODE"]
    assert [line.split()[2:] for line in said[1:]] == [
        ["chat", "1", "m1", "p", "-"],
        ["chat", "2", "m2", "-", "plan"],
        ["other", "1", "m3", "-", "-"],
    ]
    (only,) = sl("models", "--session", "other", "--json").json["models"]
    assert {key: only[key] for key in ("session", "provider", "model", "mode", "turn")} == {
        "session": "other",
        "provider": None,
        "model": "m3",
        "mode": None,
        "turn": 1,
    }


def test_status_shows_them_and_what_the_agent_runs_on(sl, session):
    made = session.warn("mind this", ["a.py"])
    session.turn(model="m1", provider="p", mode="plan")
    session.environment("an-editor", "1.0")
    out = sl("status").out
    assert "Session chat (my-agent, m1 (p, plan), an-editor 1.0 on " in out
    assert f"\n  warning {made.id}: mind this (a.py)\n" in out
    (shown,) = sl("status", "--json").json["sessions"]
    assert [each["id"] for each in shown["warnings"]] == [made.id]
    assert (shown["model"], shown["provider"], shown["mode"]) == ("m1", "p", "plan")
    assert (shown["environment"]["host"], shown["environment"]["host_version"]) == (
        "an-editor",
        "1.0",
    )


def test_the_log_shows_them_and_what_the_agent_runs_on(sl, session):
    made = session.warn("mind this", ["a.py"])
    session.acknowledge(made)
    session.turn(model="m1", provider="p", mode="plan")
    session.environment("an-editor", "1.0")
    out = sl("log").out
    assert "warning: mind this a.py" in out
    assert f"warning {made.id} acknowledged" in out
    assert "model m1 (p, plan)" in out
    assert "runs on an-editor 1.0 on " in sl("log", "--kind", "environment").out


def test_a_rewind_of_the_conversation_alone_says_what_it_warns_of(sl, session):
    sl.put("a.py", "a\nb\n")
    session.read("a.py")
    made = session.checkpoint("before")
    session.edit("a.py", "b\n", "c\n")
    asked = ("rewind", made.id, "--session", "chat", "--conversation", "--no-files", "--yes")
    said = sl(*asked)
    (warning,) = session.warnings()
    assert f"Warning {warning.id}: The conversation went back, and the files did not" in said.out
    assert "1 file was edited after that point (by this agent: a.py)" in said.out


def test_turn_notes_the_model(sl):
    assert sl("turn", "--model", "m1", "--mode", "plan").out == "Turn 1 began.\n"
    assert sl("turn", "--mode", "act").code == 0
    found = sl("models", "--json").json["models"]
    assert [(each["turn"], each["model"], each["mode"]) for each in found] == [
        (1, "m1", "plan"),
        (2, "m1", "act"),
    ]
    said = sl("turn", "--mode", "act", "--session", "other")
    assert said.code == 2
    assert "name the model, too" in said.err
