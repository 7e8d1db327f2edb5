"""Rollouts as the items that were sent."""

from __future__ import annotations

import json

import pytest
from tests.recordings.samples import AT, AT_US, CODEX, item, lines, meta, said, write

from sightline.messages.formats.format import FORMATS
from sightline.recordings.codex import conversation


def read(tmp_path, *rows):
    return conversation(write(tmp_path, "rollout.jsonl", lines(*rows)))


def texts(of):
    return [part["text"] for each in of.messages for part in each.get("content") or ()]


def compacted(**payload):
    return {"timestamp": AT, "type": "compacted", "payload": payload}


def rolled_back(turns):
    payload = {"type": "thread_rolled_back", "num_turns": turns}
    return {"timestamp": AT, "type": "event_msg", "payload": payload}


def test_items_are_those_that_were_sent_in_their_order(tmp_path):
    told = read(tmp_path, *CODEX)
    assert [each.get("type") for each in told.messages] == [
        *("message", "message", "reasoning", "function_call", "function_call_output"),
        *("custom_tool_call", "custom_tool_call_output", "message"),
    ]
    assert (told.format, told.agent, told.session, told.borders) == ("responses", "codex", "t1", ())
    assert set(told.times) == {AT_US}


def test_a_compaction_is_a_border_with_the_history_that_replaces_all_before(tmp_path):
    kept = [said("user", "one")["payload"], said("user", "a summary")["payload"]]
    rows = [meta("t1"), said("user", "one"), said("assistant", "two")]
    told = read(tmp_path, *rows, compacted(message="", replacement_history=kept), said("user", "3"))
    assert told.borders == (2,)
    assert texts(told) == ["one", "two", "one", "a summary", "3"]


def test_a_compaction_without_that_history_begins_with_its_summary(tmp_path):
    rows = [meta("t1"), said("user", "one"), compacted(message="a summary"), said("user", "two")]
    first, second = read(tmp_path, *rows).segments()
    assert [len(first[0]), len(second[0])] == [1, 2]
    assert second[0][0]["content"] == [{"type": "input_text", "text": "a summary"}]


def test_turns_that_were_rolled_back_are_left_out(tmp_path):
    rows = [meta("t1"), said("user", "<environment_context>x</environment_context>")]
    rows += [
        said("user", "one"),
        said("assistant", "1"),
        said("user", "two"),
        said("assistant", "2"),
    ]
    told = read(tmp_path, *rows, rolled_back(1), said("user", "three"))
    assert texts(told)[1:] == ["one", "1", "three"]
    assert len(told.times) == len(told.messages)
    assert len(texts(read(tmp_path, *rows, rolled_back(9)))) == 5
    cut = [*rows[3:], rolled_back(2), said("user", "three")]
    assert texts(read(tmp_path, *cut)) == ["three"]


def test_a_fork_has_the_rows_that_it_came_from_and_none_of_threads_that_it_began(tmp_path):
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "t2"}}}
    told = read(
        tmp_path,
        *(meta("t2", forked_from_id="t1"), meta("t1"), said("user", "of the parent")),
        *(meta("t3", source=spawned), said("user", "for a sub-agent")),
        *(meta("t2"), said("user", "of the fork")),
    )
    assert told.session == "t2"
    assert texts(told) == ["of the parent", "of the fork"]


def test_a_fork_that_is_resumed_names_itself_and_its_origin_again(tmp_path):
    fork = meta("t2", forked_from_id="t1")
    told = read(
        tmp_path,
        *(fork, meta("t1"), said("user", "of the parent")),
        *(fork, said("user", "of the fork")),
    )
    assert texts(told) == ["of the parent", "of the fork"]


def test_a_rollout_without_its_first_row_has_its_folder_from_a_turn(tmp_path):
    told = read(tmp_path, *CODEX[1:])
    assert (told.folder, len(told.messages)) == ("/home/me/demo", 8)


def test_damaged_rows_are_passed_over_and_counted(tmp_path):
    cut = json.dumps(said("user", "lost"))[:30]
    told = read(tmp_path, meta("t1"), said("user", "one"), cut, "[1]", said("assistant", "two"))
    assert (texts(told), told.passed_over) == (["one", "two"], 2)


def test_what_is_kept_beside_the_conversation_is_not_sent(tmp_path):
    told = read(tmp_path, meta("t1"), said("user", "one"), item("ghost_snapshot", id="g"))
    assert len(told.messages) == 1


def test_calls_in_parallel_and_one_without_its_result_are_mended_for_the_provider(tmp_path):
    calls = [item("function_call", name="x", arguments="{}", call_id=f"c{n}") for n in range(2)]
    result = item("function_call_output", call_id="c1", output="y")
    told = read(tmp_path, meta("t1"), said("user", "one"), *calls, result, said("user", "two"))
    responses = FORMATS["responses"]
    assert [problem.invariant for problem in responses.problems(told.messages)] == ["I1"]
    assert responses.problems(responses.repaired(told.messages)) == []


def test_a_rollout_without_a_message_says_so(tmp_path):
    with pytest.raises(ValueError, match="a recording of codex, but it holds no messages"):
        read(tmp_path, meta("t1"))
