"""Trajectories of SWE-agent as chat messages."""

from __future__ import annotations

import pytest
from tests.recordings.samples import SWE, bash, write

from sightline.audit.run_sessions import segments
from sightline.messages.formats.format import FORMATS
from sightline.recordings.swe_agent import conversation


def read(tmp_path, *history):
    return conversation(write(tmp_path, "demo.traj", {**SWE, "history": list(history)}))


def test_the_history_is_what_was_sent_without_demonstrations(tmp_path):
    told = conversation(write(tmp_path, "demo.traj", SWE))
    sent = [row for row in SWE["history"] if not row.get("is_demo")]
    assert [each["content"] for each in told.messages] == [row["content"] for row in sent]
    assert {key for each in told.messages for key in each} == {"role", "content"}


def test_commands_in_texts_are_calls_and_windows_are_their_results(tmp_path):
    (segment,) = segments(conversation(write(tmp_path, "demo.traj", SWE)), len)
    assert [block.kind for block in segment.blocks] == ["system", "user", "call", "result", "call"]
    assert segment.blocks[3].excerpts[0].path == "a.py"


@pytest.mark.parametrize(
    ("command", "deed", "paths"),
    [
        ("edit 1:1\nif x > 5:\n    cat a.py > b.py\nend_of_edit", "edit", ()),
        ("edit 3:2\nend_of_edit\n", "edit", ()),
        ("create reproduce.py", "write", ("reproduce.py",)),
        ("edit 1:1\nno end of it", "run", ()),
    ],
)
def test_an_edit_in_the_window_is_an_edit_and_its_text_no_command(tmp_path, command, deed, paths):
    *before, last = SWE["history"]
    said = {**last, "content": f"Now this.\n```\n{command}\n```"}
    (segment,) = segments(read(tmp_path, *before, said), len)
    call = [block for block in segment.blocks if block.kind == "call"][-1]
    assert (call.deed, call.paths, call.rewrites) == (deed, paths, ())


def test_calls_of_newer_versions_have_their_results(tmp_path):
    told = read(
        tmp_path,
        {"role": "user", "content": "mend a.py", "agent": "main"},
        {"role": "assistant", "content": "", "agent": "main", "tool_calls": [bash("c1", "ls")]},
        {"role": "tool", "content": "a.py", "agent": "main", "tool_call_ids": ["c1"]},
    )
    assert told.messages[2] == {"role": "tool", "content": "a.py", "tool_call_id": "c1"}
    assert FORMATS["chat"].problems(told.messages) == []


def test_another_agent_s_rows_are_no_part_of_it(tmp_path):
    own = {"role": "user", "content": "one", "agent": "primary"}
    other = {"role": "user", "content": "two", "agent": "crafter"}
    assert len(read(tmp_path, own, other, "x", {"role": "nobody"}).messages) == 1


@pytest.mark.parametrize("held", [{**SWE, "history": []}, {**SWE, "history": None}])
def test_a_trajectory_without_its_history_says_so(tmp_path, held):
    with pytest.raises(ValueError, match="of swe-agent, but it holds no messages"):
        conversation(write(tmp_path, "demo.traj", held))
