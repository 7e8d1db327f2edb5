"""Tasks of Cline and Roo Code as the messages that were sent."""

from __future__ import annotations

import pytest
from tests.recordings.samples import AT_US, task, text, write

from sightline.messages.formats.format import FORMATS
from sightline.recordings.cline import HISTORY, conversation


def read(tmp_path, messages):
    return conversation(write(tmp_path, f"1741/{HISTORY}", messages))


def texts(of):
    return [part["text"] for each in of.messages for part in each["content"]]


def test_messages_stay_as_they_were_sent(tmp_path):
    told = read(tmp_path, task())
    assert [each["content"] for each in told.messages] == [each["content"] for each in task()]
    assert (told.agent, told.session, told.format) == ("cline", "1741", "anthropic")
    assert told.times == (1_000_000_000, 2_000_000_000, 3_000_000_000, 4_000_000_000)


@pytest.mark.parametrize(
    ("mode", "agent"),
    [("ACT MODE", "cline"), ("PLAN MODE", "cline"), ("code", "roo"), ("<slug>ask</slug>", "roo")],
)
def test_whose_it_is_shows_in_its_mode(tmp_path, mode, agent):
    assert read(tmp_path, task(mode)).agent == agent


@pytest.mark.parametrize(("role", "first"), [("assistant", "<task>"), ("user", "a summary")])
def test_condensing_is_a_border_and_the_task_stays_before_an_assistant_s_summary(
    tmp_path, role, first
):
    summary = {"role": role, "content": [text("a summary")], "isSummary": True, "ts": 5_000}
    more = {"role": "user", "content": [text("go on")]}
    told = read(tmp_path, [*task(), summary, more])
    assert told.borders == (4,)
    _, (after, times) = told.segments()
    assert after[0]["content"][0]["text"].startswith(first)
    assert after[-1]["content"] == [text("go on")]
    assert len(after) == len(times)


def test_a_history_that_was_condensed_before_it_was_saved_has_no_border(tmp_path):
    first, *_ = task()
    summary = {"role": "assistant", "content": [text("a summary")], "isSummary": True}
    assert read(tmp_path, [first, summary]).borders == ()


def test_blocks_for_other_providers_and_rows_that_are_no_messages_are_left_out(tmp_path):
    messages = task()
    messages[1]["content"] = [{"type": "reasoning", "text": "hm"}, *messages[1]["content"]]
    marker = {"role": "user", "content": "[hidden]", "isTruncationMarker": True}
    reasoning = {"type": "reasoning", "encrypted_content": "x"}
    told = read(tmp_path, [*messages, reasoning, marker, "x"])
    assert len(told.messages) == 4
    assert FORMATS["anthropic"].problems(told.messages) == []
    assert "hm" not in texts(told)


def test_native_calls_are_kept_and_what_was_cut_off_is_mended(tmp_path):
    use = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.py"}}
    told = read(tmp_path, [*task()[:3], {"role": "assistant", "content": [use]}, task()[0]])
    anthropic = FORMATS["anthropic"]
    assert anthropic.problems(told.messages)
    assert anthropic.problems(anthropic.repaired(told.messages)) == []


def test_a_session_in_a_terminal_has_its_messages_in_an_object(tmp_path):
    use = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.py"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x = 1"}
    messages = [
        {"id": "1", "role": "user", "content": [text("mend a.py")], "ts": 1_772_323_200_000},
        {"id": "2", "role": "assistant", "content": [use], "metrics": {}},
        {"id": "3", "role": "user", "content": [result]},
    ]
    held = {"version": 1, "messages": messages}
    told = conversation(write(tmp_path, "177.messages.json", held))
    assert (told.agent, len(told.messages), told.times[0]) == ("cline", 3, AT_US)
    assert FORMATS["anthropic"].problems(told.messages, sending=True) == []


def test_a_history_without_its_name_is_known_by_what_the_host_says(tmp_path):
    told = conversation(write(tmp_path, "task.json", task()))
    assert len(told.messages) == 4
    assert told.session
