"""Hooks of an edit that were killed before they could answer."""

from __future__ import annotations

import pytest
from tests.hooks.hooking import Host

from sightline.model.events import Changed

DONE = "The file {} has been updated successfully. (file state is current in your context)"


@pytest.fixture
def host():
    made = Host()
    yield made
    made.close()


def batch(host, tool, path, response=DONE, **given):
    call = {"tool_name": tool, "tool_input": {"file_path": path, **given}, "tool_use_id": "t1"}
    call["tool_response"] = response.format(path)
    return host.ask(host.payload("PostToolBatch", tool_calls=[call]))


def causes(host):
    return [each.fact.cause.kind for each in host.facts() if isinstance(each.fact, Changed)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_edit_whose_two_hooks_were_killed_is_not_told_as_foreign(host, end):
    path = host.put("a.py", "")
    before = f"one{end}two{end}"
    (host.root / "a.py").write_bytes(before.encode())
    host.ask(host.shown(path, "one\ntwo\n"))
    (host.root / "a.py").write_bytes(before.replace("two", "2").encode())
    assert batch(host, "Edit", path, old_string="two", new_string="2") == {}
    told = host.ask(host.payload("UserPromptSubmit", prompt="go on"))["hookSpecificOutput"]
    assert "Changed by you:\n- modified a.py" in told["additionalContext"]
    assert causes(host) == ["agent"]


def test_a_whole_write_whose_two_hooks_were_killed_is_not_told_as_foreign(host):
    path = host.put("a.py", "one\n")
    host.ask(host.shown(path, "one\n"))
    host.put("a.py", "all new\n")
    assert batch(host, "Write", path, content="all new\n") == {}
    assert causes(host) == ["agent"]


@pytest.mark.parametrize(
    ("disk", "response"),
    [("one\n2\nmine\n", DONE), ("one\n2\n", "PreToolUse:Edit hook error: no")],
    ids=["another change on disk", "the edit was refused"],
)
def test_what_the_edit_does_not_explain_is_told(host, disk, response):
    path = host.put("a.py", "one\ntwo\n")
    host.ask(host.shown(path, "one\ntwo\n"))
    host.put("a.py", disk)
    told = batch(host, "Edit", path, response, old_string="two", new_string="2")
    assert "a.py" in told["hookSpecificOutput"]["additionalContext"]


def test_an_edit_that_its_hooks_reported_is_recorded_once(host):
    path = host.put("a.py", "one\ntwo\n")
    host.ask(host.shown(path, "one\ntwo\n"))
    host.ask(host.edit(path, "two", "2"))
    host.put("a.py", "one\n2\n")
    assert batch(host, "Edit", path, old_string="two", new_string="2") == {}
    assert causes(host) == ["agent"]
