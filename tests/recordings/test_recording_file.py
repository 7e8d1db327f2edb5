"""What readers of recordings have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recordings.samples import AT_US, write

from sightline.recordings.chat_messages import Ids, assistant_message, tool_call, tool_result
from sightline.recordings.recording_file import (
    ROW_BYTES_MAX,
    Rows,
    Telling,
    document,
    first_rows,
    moment,
)


@pytest.mark.parametrize(
    ("told", "at"),
    [
        ("2026-03-01T00:00:00Z", AT_US),
        ("2026-03-01T01:00:00.250+01:00", AT_US + 250_000),
        ("2026-03-01T00:00:00", AT_US),
        (AT_US // 1000, AT_US),
        (AT_US / 1e6, AT_US),
        ("yesterday", None),
        ("", None),
        (None, None),
        (True, None),
        ({}, None),
    ],
)
def test_times_as_recordings_tell_them(told, at):
    assert moment(told) == at


@given(st.lists(st.sampled_from(["a", "call", "call_1", "call_2", "", None, 3])))
def test_ids_are_used_once_and_kept_where_they_can_be(told):
    ids = Ids()
    made = [ids.unique(each) for each in told]
    assert len(set(made)) == len(made)
    assert "a" not in told or "a" in made


def test_an_answer_that_says_nothing_is_none():
    assert assistant_message(" ", "a thought") is None
    assert assistant_message("", calls=[tool_call("ls", "c1", None)]) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        ],
    }
    assert tool_result("c1", "x") == {"role": "tool", "tool_call_id": "c1", "content": "x"}


def test_borders_stand_between_messages_and_once():
    made = Telling()
    made.begin_anew()
    made.add({"role": "user", "content": "one"}, 1)
    made.begin_anew()
    made.begin_anew()
    made.add({"role": "user", "content": "two"})
    told = made.conversation("chat", "demo", "a.json", "s1", 3)
    assert (told.borders, told.times, told.passed_over) == ((1,), (1, None), 3)


def test_rows_that_are_damaged_are_counted_and_blank_lines_are_none(tmp_path):
    path = write(tmp_path, "a.jsonl", '{"a": 1}\n\n{"a"\n[2]\n' + "[" * 100_000 + '\n{"b": 2}')
    rows = Rows(path)
    assert next(iter(rows)) == {"a": 1}
    assert rows.damaged < 3
    rows = Rows(path)
    assert (list(rows), rows.damaged) == ([{"a": 1}, {"b": 2}], 3)
    assert first_rows(path) == [{"a": 1}, {"b": 2}]


def test_a_first_row_that_is_cut_or_too_long_hides_no_other(tmp_path):
    long = '{"a": "' + "x" * ROW_BYTES_MAX + '"}\n'
    assert first_rows(write(tmp_path, "a.jsonl", f'{long}half a row"}}\n{{"b": 2}}\n')) == [
        {"b": 2}
    ]


@pytest.mark.parametrize("held", ['{"a": ', "[" * 100_000, '{"a": 1} x', ""])
def test_a_damaged_document_is_said_to_be_one(tmp_path, held):
    with pytest.raises(ValueError, match=r"its JSON is damaged .*: record it again"):
        document(write(tmp_path, "a.json", held))
