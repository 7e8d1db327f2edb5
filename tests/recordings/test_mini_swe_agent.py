"""Trajectories of mini-swe-agent as chat messages."""

from __future__ import annotations

import pytest
from tests.recordings.samples import AT_US, MINI, write

from sightline.audit.run_sessions import segments
from sightline.messages.formats.format import FORMATS
from sightline.recordings.swe_agent import mini_conversation as conversation


def test_what_went_to_the_model_is_kept_and_how_it_ended_is_not(tmp_path):
    told = conversation(write(tmp_path, "demo.traj.json", MINI))
    assert [each["role"] for each in told.messages] == [
        *("system", "user", "assistant", "tool", "assistant")
    ]
    assert {key for each in told.messages for key in each} == {
        *("role", "content", "tool_calls", "tool_call_id")
    }
    assert told.times == (None, None, AT_US, AT_US + 2_000_000, None)
    assert FORMATS["chat"].problems(told.messages) == []


def test_an_old_list_has_its_commands_in_the_text(tmp_path):
    messages = [
        {"role": "system", "content": "Answer with ONE bash code block."},
        {"role": "user", "content": "mend a.py"},
        {"role": "assistant", "content": "I read it.\n\n```bash\ncat a.py\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\nx = 1\n</output>"},
    ]
    told = conversation(write(tmp_path, "demo.traj.json", messages))
    assert list(told.messages) == messages
    (segment,) = segments(told, len)
    assert [block.kind for block in segment.blocks] == ["system", "user", "call", "result"]
    assert segment.blocks[-1].excerpts[0].text == "x = 1"


def test_a_trajectory_is_known_by_what_is_in_it_not_by_its_name(tmp_path):
    assert len(conversation(write(tmp_path, "run-1.json", MINI)).messages) == 5


@pytest.mark.parametrize("messages", [[], ["x"], [{"role": "exit", "content": "x"}], "x"])
def test_a_trajectory_without_a_message_says_so(tmp_path, messages):
    with pytest.raises(ValueError, match="of mini-swe-agent, but it holds no messages"):
        conversation(write(tmp_path, "demo.traj.json", {**MINI, "messages": messages}))
