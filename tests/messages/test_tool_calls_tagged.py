"""Calls that stand as tags in a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sightline.messages.tool_calls import Call, tagged_calls
from sightline.messages.written_files import files_written


def told(text):
    return [(each.name, each.arguments) for each in tagged_calls(text)]


def test_what_stands_in_a_parameter_is_no_tag():
    text = (
        "<write_to_file>\n<path>a.md</path>\n<content>\n<read_file>\n<path>b</path>\n</read_file>\n"
        "</content>\n</write_to_file>\n<read_file><path>c</path></read_file>"
    )
    [(first, given), second] = told(text)
    assert (first, given["path"]) == ("write_to_file", "a.md")
    assert second == ("read_file", {"path": "c"})


def test_a_tool_that_is_only_named_is_no_call():
    assert told("Then <write_to_file> writes, and `<apply_diff>` changes.") == []


def test_of_a_text_that_breaks_off_the_closed_parameters_are_known():
    [call] = tagged_calls("<write_to_file>\n<path>a.py</path>\n<content>\nx = 1\n")
    assert (call.arguments, files_written(call, "/w")) == ({"path": "a.py"}, ("/w/a.py",))
    [call] = tagged_calls("<replace_in_file>\n<path>a.p")
    assert files_written(call, "/w") is None


def test_a_text_full_of_beginnings_is_looked_through_once():
    """It takes minutes where each beginning is followed to the end."""
    assert len(told("<read_file><path>" * 100_000)) == 1
    assert told("<read_file>" + " " * 1_000_000) == []


@given(st.dictionaries(st.sampled_from(["path", "diff", "content"]), st.text(), min_size=1))
def test_what_was_written_as_tags_is_read_again(given):
    given = {name: text for name, text in given.items() if "</" not in text}
    body = "\n".join(f"<{name}>{text}</{name}>" for name, text in given.items())
    expected = [Call("", "apply_diff", given)] if given else []
    assert list(tagged_calls(f"I will.\n<apply_diff>\n{body}\n</apply_diff>\nDone.")) == expected
