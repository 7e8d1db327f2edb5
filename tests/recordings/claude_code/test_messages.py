"""Transcripts as the messages that were sent."""

from __future__ import annotations

import json

import pytest
from tests.agents.claude_code.samples import DATA
from tests.recordings.claude_code.recorder import Recorder, use

from sightline.messages.formats.format import FORMATS
from sightline.recordings.claude_code.transcript_messages import conversation
from sightline.recordings.recorded_conversation import NotOurs


def read(recorder, tmp_path):
    return conversation(recorder.write(tmp_path / "t.jsonl"))


def shape(of):
    return [(m["role"], [part["type"] for part in m["content"]]) for m in of.messages]


def text(of):
    return [part.get("text") for m in of.messages for part in m["content"]]


def test_the_rows_of_an_answer_are_one_message(tmp_path):
    made = Recorder().typed("do it")
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    made.said(thought, "I will", use("t1", "Bash", command="ls"))
    made.result("t1", "a.py").said("done")
    told = read(made, tmp_path)
    assert shape(told) == [
        ("user", ["text"]),
        ("assistant", ["thinking", "text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    assert (told.format, told.agent, told.session, told.borders) == (
        "anthropic",
        "claude-code",
        "s1",
        (),
    )
    assert [b - a for a, b in zip(told.times, told.times[1:], strict=False)] == [
        10_000_000,
        30_000_000,
        10_000_000,
    ]


def test_calls_that_are_answered_while_the_answer_goes_on_belong_together(tmp_path):
    made = Recorder().typed("do it")
    name = made.said(use("t1", "Read", file_path="a"))
    made.result("t1", "1")
    made.said(use("t2", "Read", file_path="b"), answer=name)
    made.result("t2", "2").said("done")
    told = read(made, tmp_path)
    assert shape(told)[1:3] == [
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result"]),
    ]
    assert FORMATS["anthropic"].problems(told.messages[:-1], sending=True) == []


def test_results_stand_before_what_was_typed_or_attached_with_them(tmp_path):
    made = Recorder().typed("do it")
    made.said(use("t1", "Bash", command="ls"))
    made.attach("edited_text_file", filename="/home/me/a.py", snippet="1\tx")
    made.result("t1", "a.py").typed("and more").said("ok")
    told = read(made, tmp_path)
    assert shape(told)[2] == ("user", ["tool_result", "text", "text"])
    assert "/home/me/a.py was modified" in told.messages[2]["content"][1]["text"]


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("nested_memory", {"path": "/a/CLAUDE.md", "content": {"content": "be kind"}}, "be kind"),
        (
            "file",
            {
                "content": {
                    "type": "text",
                    "file": {"filePath": "a", "content": "x\ny", "startLine": 4},
                }
            },
            "4\tx\n5\ty",
        ),
        ("hook_additional_context", {"content": ["remember", "this"]}, "remember\nthis"),
        ("queued_command", {"prompt": "stop please"}, "stop please"),
    ],
)
def test_attachments_are_what_the_model_read_of_them(tmp_path, kind, fields, said):
    told = read(Recorder().typed("a").attach(kind, **fields), tmp_path)
    assert said in text(told)[1]


@pytest.mark.parametrize(
    "attachment",
    [
        {"type": "todo_new_kind", "content": "x"},
        {"type": "file", "content": None},
        {"type": "edited_text_file", "filename": 3},
        {"type": "queued_command", "prompt": ["x"]},
        "no object",
    ],
)
def test_attachments_of_no_known_shape_are_passed_over(tmp_path, attachment):
    made = Recorder().typed("a")
    made.row("attachment", attachment=attachment)
    assert text(read(made, tmp_path)) == ["a"]


def test_a_compaction_is_a_border_and_its_summary_comes_after_it(tmp_path):
    made = Recorder().typed("a")
    made.said("b")
    made.compact("This session is being continued: all was well").typed("go on").said("c")
    told = read(made, tmp_path)
    assert told.borders == (2,)
    first, second = told.segments()
    assert [m["role"] for m in first[0]] == ["user", "assistant"]
    assert second[0][0]["content"][0]["text"].startswith("This session is being continued")
    assert len(second[0]) == len(second[1]) == 2


def test_side_chains_and_the_clients_own_words_are_left_out(tmp_path):
    made = Recorder().typed("a")
    made.said("b")
    kept = made._last
    made.row("user", isSidechain=True, message={"role": "user", "content": "for a sub-agent"})
    made._last = kept
    error = {"id": "e", "role": "assistant", "model": "<synthetic>"}
    made.row("assistant", message={**error, "content": [{"type": "text", "text": "API Error"}]})
    made.typed("c")
    assert text(read(made, tmp_path)) == ["a", "b", "c"]


def test_a_branch_that_was_left_is_no_part_of_it(tmp_path):
    made = Recorder().typed("a")
    made.said("b")
    fork = made._last
    made.typed("wrong").said("answer to wrong")
    made._last = fork
    made.typed("right").said("answer to right")
    assert text(read(made, tmp_path)) == ["a", "b", "right", "answer to right"]


def test_rows_copied_from_another_conversation_count_once(tmp_path):
    made = Recorder().typed("a")
    made.said("b")
    made.rows = [*made.rows, *made.rows]
    assert text(read(made, tmp_path)) == ["a", "b"]


def test_damaged_rows_are_counted_and_what_is_before_the_gap_stays(tmp_path):
    made = Recorder().typed("a")
    made.said("b")
    made.typed("lost")
    made.rows[-1] = json.dumps(made.rows[-1])[:40]
    made.said("after the gap")
    told = read(made, tmp_path)
    assert told.passed_over == 1
    assert text(told) == ["a", "b", "after the gap"]


def test_a_last_row_without_its_newline_counts(tmp_path):
    file = tmp_path / "t.jsonl"
    Recorder().typed("a").typed("b").write(file)
    file.write_text(file.read_text().rstrip("\n"))
    assert text(conversation(str(file))) == ["a", "b"]


def test_rows_of_qwen_code_are_none_of_claude_code(tmp_path):
    """They have the same fields around a message of Gemini's."""
    message = {"role": "user", "parts": [{"text": "mend a.py"}]}
    row = {"type": "user", "uuid": "1", "parentUuid": None, "sessionId": "s", "message": message}
    (tmp_path / "t.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(NotOurs):
        conversation(str(tmp_path / "t.jsonl"))


def test_a_sub_agents_transcript_is_said_to_be_one():
    with pytest.raises(ValueError, match="it holds only messages of a sub-agent"):
        conversation(str(DATA / "transcript-agent.jsonl"))


@pytest.mark.parametrize(
    "held", ["", "{}\n", "not json\n", '{"type":"user","message":{}}\n', "[1]\n"]
)
def test_what_is_no_transcript_is_said_to_be_none(tmp_path, held):
    (tmp_path / "t.jsonl").write_text(held)
    with pytest.raises(ValueError, match="no messages as Claude Code records them"):
        conversation(str(tmp_path / "t.jsonl"))


TALKS = sorted({*DATA.glob("transcript-*.jsonl")} - {DATA / "transcript-agent.jsonl"})


@pytest.mark.parametrize("file", TALKS, ids=lambda file: file.name)
def test_real_transcripts_are_histories_that_a_provider_takes(file):
    told = conversation(str(file))
    for messages, times in told.segments():
        assert len(messages) == len(times)
        assert FORMATS[told.format].problems(messages) == []
