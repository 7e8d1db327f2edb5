"""Events of GitHub Copilot CLI as chat messages."""

from __future__ import annotations

import pytest
from tests.recordings.samples import COPILOT, asked, done, event, lines, write

from sightline.messages.formats.format import FORMATS
from sightline.recordings.copilot import conversation
from sightline.recordings.recorded_conversation import NotOurs

BEGIN = COPILOT[0]


def read(tmp_path, *rows):
    return conversation(write(tmp_path, "events.jsonl", lines(*rows)))


def roles(of):
    return [each["role"] for each in of.messages]


def test_events_are_what_the_model_read(tmp_path):
    told = read(tmp_path, *COPILOT)
    assert roles(told) == ["system", "user", "assistant", "tool", "assistant"]
    assert told.messages[1]["content"] == "<now/>\n\nmend a.py"
    assert told.messages[2]["tool_calls"][0]["function"]["arguments"] == '{"path":"a.py"}'
    assert (told.session, told.agent, told.format) == ("s1", "copilot", "chat")


def test_a_patch_is_a_call_with_a_text(tmp_path):
    call = asked("apply_patch", "c1", "*** Begin Patch\n*** End Patch")
    told = read(
        tmp_path,
        *(BEGIN, event("user.message", content="one")),
        *(event("assistant.message", content="", toolRequests=[call]), done("c1", "ok")),
    )
    custom = {"name": "apply_patch", "input": "*** Begin Patch\n*** End Patch"}
    assert told.messages[1]["tool_calls"] == [{"id": "c1", "type": "custom", "custom": custom}]
    assert FORMATS["chat"].problems(told.messages) == []


def test_a_sub_agent_s_events_are_none_of_the_main_model_s(tmp_path):
    aside = event("assistant.message", content="of a sub-agent", parentToolCallId="c1")
    other = {**event("user.message", content="for a sub-agent"), "agentId": "a"}
    told = read(tmp_path, BEGIN, event("user.message", content="one"), aside, other)
    assert [each["content"] for each in told.messages] == ["one"]


def test_a_call_that_failed_has_its_error(tmp_path):
    failed = event("tool.execution_complete", toolCallId="c1", success=False)
    failed["data"]["error"] = {"message": "no such file", "code": "failure"}
    call = asked("view", "c1", {"path": "a.py"})
    told = read(
        tmp_path,
        *(BEGIN, event("user.message", content="one")),
        *(event("assistant.message", content="", toolRequests=[call]), failed),
    )
    result = {"role": "tool", "tool_call_id": "c1", "content": "no such file"}
    assert told.messages[-1] == {**result, "is_error": True}


def test_a_result_of_no_call_is_left_out(tmp_path):
    told = read(tmp_path, BEGIN, event("user.message", content="one"), done("c9", "x"))
    assert roles(told) == ["user"]


def test_a_compaction_is_a_border_with_its_summary(tmp_path):
    told = read(
        tmp_path,
        *(BEGIN, event("user.message", content="one")),
        event("session.compaction_complete", success=False, summaryContent="not this"),
        event("session.compaction_complete", success=True, summaryContent="a summary"),
        event("system.notification", content="<system_notification>x</system_notification>"),
    )
    assert told.borders == (1,)
    assert [each["content"] for each in told.messages][1] == "a summary"
    assert len(told.messages) == 3


def test_events_without_the_first_ones_are_a_session(tmp_path):
    told = read(tmp_path, *COPILOT[1:])
    assert (told.agent, roles(told)) == ("copilot", roles(read(tmp_path, *COPILOT)))
    only = read(tmp_path, *COPILOT[4:6])
    assert [each["tool_calls"][0]["id"] for each in only.messages] == ["c1"]


def test_an_id_that_is_used_again_is_another_call(tmp_path):
    call = asked("view", "c1", {"path": "a.py"})
    asks = event("assistant.message", content="", toolRequests=[call])
    told = read(tmp_path, BEGIN, asks, done("c1", "1. x"), asks, done("c1", "1. y"))
    assert [each.get("tool_call_id") for each in told.messages] == [None, "c1", None, "c1_1"]


def test_a_start_whose_data_is_no_object_is_not_copilots(tmp_path):
    with pytest.raises(NotOurs):
        read(tmp_path, {"type": "session.start", "data": 5})
