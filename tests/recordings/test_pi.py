"""Sessions of pi as Anthropic messages."""

from __future__ import annotations

import pytest
from tests.recordings.samples import PI, PI_BEGIN, entry, lines, text, tool_call, tool_result, write

from sightline.messages.formats.format import FORMATS
from sightline.recordings.pi import conversation


def read(tmp_path, *rows):
    return conversation(write(tmp_path, "s.jsonl", lines(PI_BEGIN, *rows)))


def shape(of):
    return [(each["role"], [part["type"] for part in each["content"]]) for each in of.messages]


def texts(of):
    return [part.get("text") for each in of.messages for part in each["content"]]


def linked(*rows):
    """Each the child of the one before."""
    names = [f"e{number}" for number in range(len(rows))]
    parents = [None, *names]
    return [
        {**row, "id": n, "parentId": p} for row, n, p in zip(rows, names, parents, strict=False)
    ]


def test_results_of_one_answer_are_one_message_before_what_is_typed(tmp_path):
    calls = [tool_call("c1", "read", path="a"), tool_call("c2", "read", path="b")]
    told = read(
        tmp_path,
        *(entry("user", "one"), entry("assistant", calls)),
        *(tool_result("c1", "a"), tool_result("c2", "b", failed=True), entry("user", "two")),
    )
    assert shape(told)[1:] == [
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result", "text"]),
    ]
    assert [part.get("is_error") for part in told.messages[2]["content"]] == [False, True, None]
    assert FORMATS["anthropic"].problems(told.messages, sending=True) == []


@pytest.mark.parametrize("why", ["aborted", "error"])
def test_an_answer_that_was_broken_off_is_not_sent(tmp_path, why):
    aborted = entry("assistant", [text("I "), tool_call("c9", "bash")], stopReason=why)
    told = read(tmp_path, entry("user", "one"), aborted, entry("user", "two"))
    assert texts(told) == ["one", "two"]


def test_a_call_that_never_had_a_result_is_a_call(tmp_path):
    told = read(
        tmp_path,
        *(entry("user", "one"), entry("assistant", [tool_call("c1", "read", path="a")])),
        *(entry("user", "two"), entry("assistant", [tool_call("c2", "read", path="b")])),
    )
    mended = FORMATS["anthropic"].repaired(told.messages)
    kinds = [part["type"] for each in mended for part in each["content"]]
    assert kinds == ["text", "tool_use", "tool_result", "text", "tool_use"]


def test_entries_before_one_that_is_missing_count(tmp_path):
    rows = linked(
        *(entry("user", "one"), entry("assistant", [tool_call("c1", "read", path="a")])),
        *(tool_result("c1", "a"), entry("assistant", [text("two")])),
    )
    rows[2]["parentId"] = "c1"  # as OpenClaw names the call
    told = read(tmp_path, *rows)
    assert shape(told)[1] == ("assistant", ["tool_use"])
    assert texts(told)[-1] == "two"


@pytest.mark.parametrize(
    ("api", "kept"), [("anthropic-messages", True), ("openai-responses", False)]
)
def test_thinking_stays_where_its_signature_is_anthropic_s(tmp_path, api, kept):
    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}
    told = read(tmp_path, entry("user", "one"), entry("assistant", [thought, text("two")], api=api))
    assert ("thinking" in shape(told)[1][1]) is kept


def test_a_branch_that_was_left_is_no_part_of_it(tmp_path):
    rows = linked(entry("user", "one"), entry("assistant", [text("two")]), entry("user", "wrong"))
    right = {**entry("user", "right"), "id": "r", "parentId": "e1"}
    assert texts(read(tmp_path, *rows, right)) == ["one", "two", "right"]


@pytest.mark.parametrize(
    "kept", [{"firstKeptEntryId": "e1"}, {"firstKeptEntryIndex": 1}, {"firstKeptEntryId": "gone"}]
)
def test_a_compaction_is_a_border_with_its_summary_and_what_was_kept(tmp_path, kept):
    rows = [entry("user", "one"), entry("assistant", [text("two")])]
    compaction = {"type": "compaction", "summary": "all was well", **kept}
    told = read(tmp_path, *linked(*rows, compaction, entry("user", "three")))
    assert told.borders == (2,)
    after = texts(told)[2:]
    assert "all was well" in after[0]
    assert after[1:] == (["three"] if "gone" in kept.values() else ["two", "three"])
    assert told.messages[2]["isSummary"]


def test_commands_of_the_person_are_read_by_the_model_unless_they_are_kept_from_it(tmp_path):
    ran = {"command": "ls", "output": "a.py"}
    told = read(
        tmp_path,
        entry("bashExecution", None, **ran),
        entry("bashExecution", None, **ran, excludeFromContext=True),
        {"type": "branch_summary", "summary": "tried b"},
        {"type": "custom_message", "content": "from an extension"},
        {"type": "label", "label": "x"},
    )
    assert texts(told) == ["Ran `ls`\n```\na.py\n```", "tried b", "from an extension"]


def test_pictures_are_as_anthropic_has_them(tmp_path):
    picture = {"type": "image", "mimeType": "image/png", "data": "aGk="}
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    told = read(tmp_path, entry("user", [picture]))
    assert told.messages[0]["content"] == [{"type": "image", "source": source}]


def test_the_sample_is_whole(tmp_path):
    assert len(read(tmp_path, *PI[1:]).messages) == 6
