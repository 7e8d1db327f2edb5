"""Events of OpenHands as chat messages."""

from __future__ import annotations

from tests.recordings.samples import (
    ENDED,
    OPENHANDS,
    acted,
    answer,
    bash,
    lines,
    observed,
    typed,
    write,
)

from sightline.audit.run_sessions import segments
from sightline.messages.formats.format import FORMATS
from sightline.recordings.openhands import conversation

FIRST = OPENHANDS[0]


def read(tmp_path, *events):
    return conversation(write(tmp_path, "demo.json", [FIRST, *events]))


def run(*histories):
    return lines(*({"issue": {"number": 1}, "history": history} for history in histories))


def old(action, told, **given):
    """An event from before the model's answers were kept, and what came of it."""
    done = {"action": action, "thought": f"I will {action}.", **given}
    return done, {"observation": action, "content": told, "exit_code": 0}


TYPED = {"action": "message", "content": "mend a.py"}
FINISHED = {"action": "finish", "thought": "done", "outputs": {}}


def test_an_action_is_the_answer_that_asked_for_it(tmp_path):
    told = conversation(write(tmp_path, "demo.json", OPENHANDS))
    assert [each["role"] for each in told.messages] == ["user", "assistant", "tool", "assistant"]
    assert told.messages[1]["tool_calls"] == [bash("c1", "cat a.py")]
    assert told.messages[2]["content"] == f"x = 1{ENDED}"


def test_an_exit_code_behind_an_output_is_no_line_of_the_file(tmp_path):
    (segment,) = segments(conversation(write(tmp_path, "demo.json", OPENHANDS)), len)
    assert [each.text for block in segment.blocks for each in block.excerpts] == ["x = 1"]


def test_two_calls_of_one_answer_are_one_message(tmp_path):
    response = answer(1, "both", bash("c1", "ls"), bash("c2", "pwd"))
    told = read(
        tmp_path,
        *(typed("one"), acted("run", response, "c1"), observed("run", "c1", "a")),
        *(acted("run", response, "c2"), observed("run", "c2", "b")),
    )
    assert [len(each.get("tool_calls", ())) for each in told.messages] == [0, 2, 0, 0]
    assert FORMATS["chat"].problems(told.messages) == []


def test_an_edit_s_result_is_what_the_model_read_of_it(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "edit", "arguments": "{}"}}
    seen = observed("edit", "c1", "--- a\n+++ b", formatted_output_and_error="The file was edited.")
    told = read(tmp_path, typed("one"), acted("edit", answer(1, "", call), "c1"), seen)
    assert told.messages[-1]["content"] == "The file was edited."


def test_the_rows_of_a_run_are_sessions_behind_one_another(tmp_path):
    held = run(
        [TYPED, *old("run", "a.py", command="ls"), FINISHED],
        [TYPED, *old("run_ipython", "x", code="open_file('a.py')"), FINISHED],
    )
    told = conversation(write(tmp_path, "output.jsonl", held))
    assert told.borders == (4,)
    names = [c["function"]["name"] for m in told.messages for c in m.get("tool_calls", ())]
    assert names == ["execute_bash", "execute_ipython_cell"]
    for messages, _ in told.segments():
        assert FORMATS["chat"].problems(messages) == []


def test_the_oldest_runs_have_pairs(tmp_path):
    pairs = [[TYPED, None], list(old("run", "a.py", command="ls")), [FINISHED, None]]
    told = conversation(write(tmp_path, "output.jsonl", run(pairs)))
    assert [each["role"] for each in told.messages] == ["user", "assistant", "tool", "assistant"]
    assert told.messages[1]["content"] == "I will run."


def test_damaged_rows_of_a_run_are_counted(tmp_path):
    held = run([TYPED, *old("run", "a.py", command="ls")]) + '{"issue": {"num\n'
    told = conversation(write(tmp_path, "output.jsonl", held))
    assert (len(told.messages), told.passed_over) == (3, 1)


def test_observations_of_nothing_that_was_asked_are_left_out(tmp_path):
    told = read(tmp_path, typed("one"), observed("run", "c9", "x"), {"observation": "run"}, "x")
    assert len(told.messages) == 1
