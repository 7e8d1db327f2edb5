"""Exports of opencode as chat messages."""

from __future__ import annotations

import pytest
from tests.recordings.samples import AT_US, OPENCODE, export, message, part, text, write

from sightline.messages.formats.format import FORMATS
from sightline.recordings.opencode import ASKED, conversation


def read(tmp_path, *messages, name="ses_1"):
    return conversation(write(tmp_path, "x.json", export(*messages, name=name)))


def roles(of):
    return [each["role"] for each in of.messages]


def test_a_part_is_a_call_and_its_result(tmp_path):
    told = conversation(write(tmp_path, "x.json", OPENCODE))
    assert roles(told) == ["user", "assistant", "tool", "assistant"]
    call = told.messages[1]["tool_calls"][0]
    assert call["function"] == {"name": "read", "arguments": '{"filePath":"a.py"}'}
    assert told.messages[1]["reasoning_content"] == "hm"
    assert told.messages[2]["tool_call_id"] == call["id"] == "c1"
    assert (told.session, told.times) == ("ses_1", (AT_US, AT_US, AT_US + 2_000_000, AT_US))


def test_steps_of_one_answer_are_requests_of_their_own(tmp_path):
    step = {"type": "step-start"}
    parts = (step, part("glob", "c1", {}, "a"), step, part("glob", "c2", {}, "b"), step, text("ok"))
    told = read(tmp_path, message("user", text("one")), message("assistant", *parts))
    assert roles(told) == ["user", "assistant", "tool", "assistant", "tool", "assistant"]


def test_calls_whose_ids_were_blotted_out_stay_apart(tmp_path):
    parts = [part("glob", "REDACTED", {"n": n}, str(n)) for n in range(3)]
    told = read(tmp_path, message("user", text("one")), message("assistant", *parts))
    assert FORMATS["chat"].problems(told.messages) == []
    assert [each["content"] for each in told.messages[2:]] == ["0", "1", "2"]


def test_a_session_whose_id_was_blotted_out_is_known_by_its_bytes(tmp_path):
    one = read(tmp_path / "a", message("user", text("one")), name="REDACTED")
    two = read(tmp_path / "b", message("user", text("two")), name="REDACTED")
    assert one.session != two.session
    assert "REDACTED" not in (one.session, two.session)


@pytest.mark.parametrize(
    ("status", "said"),
    [("error", ["no such file"]), ("running", []), ("completed", ["no such file"])],
)
def test_a_call_that_failed_has_its_error_and_one_at_work_nothing(tmp_path, status, said):
    call = part("read", "c1", {}, "no such file", status)
    if status == "running":
        call["state"] = {"status": "running", "input": {}}
    told = read(tmp_path, message("user", text("one")), message("assistant", call))
    assert [each["content"] for each in told.messages if each["role"] == "tool"] == said


def test_a_compaction_is_a_border(tmp_path):
    told = read(
        tmp_path,
        message("user", text("one")),
        message("assistant", text("two")),
        message("user", {"type": "compaction", "auto": True}),
        message("assistant", text("a summary")),
        message("user", text("go on")),
    )
    assert told.borders == (2,)
    assert told.messages[2]["content"] == ASKED


def test_pictures_are_sent_and_what_is_only_shown_is_not(tmp_path):
    picture = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,aGk="}
    other = {"type": "file", "mime": "text/plain", "url": "file:///home/me/a.py"}
    shown = {**text("for you alone"), "ignored": True}
    told = read(tmp_path, message("user", text("look"), picture, other, shown))
    assert [each["type"] for each in told.messages[0]["content"]] == ["text", "image_url"]


def test_what_has_another_shape_is_passed_by(tmp_path):
    told = read(tmp_path, "x", {"info": 3, "parts": []}, message("user", text("one"), 3, {}))
    assert len(told.messages) == 1
