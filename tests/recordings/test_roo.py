"""Tasks that Roo Code exported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recordings.samples import exported, task, text, write

from sightline.recordings.cline import DETAILS
from sightline.recordings.cline import exported_conversation as conversation


def read(tmp_path, held):
    return conversation(write(tmp_path, "roo_task.md", held))


def told(of):
    return [
        (each["role"], "\n".join(part["text"] for part in each["content"])) for each in of.messages
    ]


def test_an_export_is_the_messages_that_were_sent(tmp_path):
    sent = [(m["role"], "\n".join(p["text"] for p in m["content"])) for m in task()]
    made = read(tmp_path, exported(task()))
    assert told(made) == sent
    assert (made.agent, made.format, set(made.times)) == ("roo", "anthropic", {None})


def test_what_the_host_says_of_its_surroundings_is_a_text_of_its_own(tmp_path):
    made = read(tmp_path, exported(task()))
    assert [len(each["content"]) for each in made.messages] == [2, 1, 2, 1]
    assert made.messages[0]["content"][1]["text"].startswith(DETAILS.strip())


def test_windows_line_ends_are_no_other_text(tmp_path):
    (tmp_path / "a.md").write_bytes(exported(task()).replace("\n", "\r\n").encode())
    assert told(conversation(str(tmp_path / "a.md"))) == told(read(tmp_path, exported(task())))


def test_a_rule_in_a_text_parts_no_messages(tmp_path):
    messages = task()
    messages[3]["content"] = [text("above\n\n---\n\nbelow")]
    assert told(read(tmp_path, exported(messages)))[3] == ("assistant", "above\n\n---\n\nbelow")


@given(st.lists(st.text("ab *-\n:U", min_size=1).filter(str.strip), min_size=1, max_size=6))
def test_every_message_is_found_whatever_is_said(tmp_path_factory, said):
    roles = ["assistant", "user"] * 3
    more = [{"role": r, "content": [text(s.strip())]} for r, s in zip(roles, said, strict=False)]
    made = read(tmp_path_factory.mktemp("roo"), exported([task()[0], *more]))
    spoken = zip(roles, (each.strip() for each in said), strict=False)
    assert told(made)[1:] == list(spoken)


def test_an_export_without_its_first_message_begins_with_an_answer(tmp_path):
    made = read(tmp_path, exported(task()).partition("\n---\n\n")[2])
    assert told(made) == told(read(tmp_path, exported(task())))[1:]


def test_a_message_that_says_nothing_is_left_out(tmp_path):
    messages = task()
    messages[3]["content"] = [text(" ")]
    assert len(read(tmp_path, exported(messages)).messages) == 3


@pytest.mark.parametrize("held", ["**User:**\n\nhello", "# Notes\n<task>x</task>", ""])
def test_other_markdown_is_no_task(tmp_path, held):
    with pytest.raises(ValueError, match="no messages as Roo Code exports them"):
        read(tmp_path, held)
