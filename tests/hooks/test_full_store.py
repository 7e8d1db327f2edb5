"""The hooks' own store fills up at any append of a call: the host's tools write all the same, so no answer says
that nothing was changed, and a save that a write went over is told although nothing can be recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hooks.hooking import refusal
from tests.support.examples import widely
from tests.support.full import FullStore

from sightline.model.events import Changed

BEFORE = "one\ntwo\nthree\nfour\nfive\n"
MINE = BEFORE.replace("five", "FIVE")
THEIRS = BEFORE.replace("one", "ONE")


def told(answer):
    """What the person reads, and what the model reads."""
    given = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
    return answer.get("systemMessage", ""), given + refusal(answer)


def written(host, path, found):
    """The tool writes the file; the host tells which text it found there."""
    host.put("a.py", MINE)
    response = {"filePath": path, "content": MINE, "originalFile": found, "structuredPatch": []}
    given = {"file_path": path, "content": MINE}
    call = {"tool_name": "Write", "tool_use_id": "t1", "tool_input": given}
    return host.ask(host.payload("PostToolUse", **call, tool_response=response))


@pytest.mark.parametrize("appends", [1, *widely(0)])
def test_no_word_says_that_nothing_was_changed(host, monkeypatch, appends):
    path = host.put("a.py", BEFORE)
    host.ask(host.shown(path, BEFORE))
    with monkeypatch.context() as patch:
        FullStore(patch, appends)
        said = [*told(host.ask(host.write(path, MINE))), *told(written(host, path, BEFORE))]
    assert "the disk is full" in "".join(said)
    assert "Nothing was recorded." in "".join(said)
    assert "Nothing was changed" not in "".join([*said, *host.faults()])


@pytest.mark.parametrize("appends", [1, *widely(0, 2, 3, 4)])
def test_a_save_that_a_write_went_over_is_told_or_brought_back(host, monkeypatch, appends):
    path = host.put("a.py", BEFORE)
    host.ask(host.shown(path, BEFORE))
    with monkeypatch.context() as patch:
        FullStore(patch, appends)
        host.ask(host.write(path, MINE))
        host.put("a.py", THEIRS)  # a save after the judgement
        person, model = told(written(host, path, THEIRS))
    stands = Path(path).read_text()
    if "ONE" in stands:
        assert "FIVE" in stands
        assert "Sightline merged both (1 line" in person
    else:
        assert "+ONE" in model
        assert "a.py" in person


@pytest.mark.wide
def test_a_write_that_is_recorded_late_is_the_agents_own(host, monkeypatch):
    path = host.put("a.py", BEFORE)
    host.ask(host.shown(path, BEFORE))
    with monkeypatch.context() as patch:
        FullStore(patch, 1)
        host.ask(host.write(path, MINE))
        written(host, path, BEFORE)
    host.ask(host.payload("UserPromptSubmit", prompt="go on"))
    causes = [each.fact.cause.kind for each in host.facts() if isinstance(each.fact, Changed)]
    assert causes == ["agent"]
