"""A rewind whose process died, as the command tells of it and ends it."""

from __future__ import annotations

import os

import pytest
from tests.disasters.ending import ended, rewinds_end

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a child")


@pytest.fixture
def half(sl, monkeypatch):
    """The checkpoint that a rewind of session cli led to, when it died behind its first file."""
    sl.put("a.py", "then\n")
    sl("read", "a.py")
    then = sl("checkpoint", "--json").json["checkpoint"]["id"]
    sl("write", "a.py", stdin="now\n")
    with rewinds_end(monkeypatch, 2, SystemExit):
        ended(lambda: sl("rewind", then, "--yes"))
    return then


@pytest.mark.wide
def test_it_is_told_until_it_is_finished(sl, half):
    said = f"The rewind to {half} of all sessions was interrupted (just now)"
    again = f"sightline rewind {half}"
    for command in (["status"], ["checkpoint", "list"]):
        answer = sl(*command)
        assert said in answer.out + answer.err, command
        assert again in answer.out + answer.err
    [told] = sl("status", "--json").json["unfinished_rewinds"]
    assert (told["session"], told["to"]) == ("", half)
    assert sl("checkpoint", "list", "--json").json["unfinished_rewinds"] == [told]
    assert "which had been interrupted, was finished" in sl("read", "a.py").err
    assert sl("checkpoint", "list", "--json").json["unfinished_rewinds"] == []
    assert said not in sl("status").out
    assert "which had been interrupted" in sl("warnings").out


def test_doctor_finds_it_and_finishes_it(sl, half):
    found = {each["name"]: each for each in sl("doctor", "--json").json["checks"]}
    assert found["rewind"]["state"] == "warning"
    assert half in found["rewind"]["message"]
    assert "doctor --fix" in found["rewind"]["hint"]
    fixed = sl("doctor", "--fix", "--json").json["checks"]
    assert "rewind" not in {each["name"] for each in fixed}
    assert sl("warnings", "--json").json["warnings"]


@pytest.mark.wide
def test_a_look_at_what_it_would_do_touches_nothing(sl, half):
    sl("rewind", half, "--dry-run")
    assert sl("checkpoint", "list", "--json").json["unfinished_rewinds"]
    sl("rewind", half, "--yes")
    assert sl("checkpoint", "list", "--json").json["unfinished_rewinds"] == []


@pytest.mark.wide
def test_an_interrupted_rewind_is_finished_and_no_more_is_undone(sl, half):
    assert "nothing to undo" in sl("undo", "--dry-run").err
    assert sl("checkpoint", "list", "--json").json["unfinished_rewinds"], "a look touches nothing"
    done = sl("undo", "--yes")
    assert done.code == 1
    assert f"The rewind to {half}, which had been interrupted, was finished" in done.err
    assert "To go further back: sightline undo" in done.err
    assert sl("log", "--kind", "rewind", "--json").out.count('"kind": "rewind"') == 2
