"""The calls in a message, whatever format it has."""

from __future__ import annotations

from json import dumps
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages.calls_of import EDIT, FORMATS, PATCH, PATHS, TURN

from sightline.messages.tool_calls import Call, calls
from sightline.messages.written_files import files_written

SILENT: list[Any] = [
    {},
    {"role": "assistant", "content": None},
    {"role": "assistant", "content": "Use the <write_to_file> tool with a <path>."},
    {"role": "user", "content": "<write_to_file>\n<path>a.py</path></write_to_file>"},
    {"role": "assistant", "content": [{"type": "server_tool_use", "name": "edit", "input": EDIT}]},
    {"type": "ai", "tool_calls": "none", "content": 5},
    {"tool_calls": [{"id": "c1", "function": {"name": None}}, None, 7]},
    {"content": [{"type": "tool_use", "name": {}, "input": EDIT}]},
    {"say": "tool", "text": "{"},
    {"say": "tool", "text": "[1]"},
    {"type": ["tool_use"], "content": [{"type": {}, "part_kind": []}]},
    SimpleNamespace(),
    "tool_calls",
    None,
]


def paths(messages):
    """Return what the messages' calls may have written, below /w."""
    found = [files_written(call, "/w") for each in messages for call in calls(each)]
    assert None not in found
    return [path.removeprefix("/w/") for each in found for path in each or ()]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_says_the_same(name):
    assert paths(FORMATS[name]) == PATHS


def test_a_call_is_told_once_and_as_it_was_made():
    [message] = [FORMATS["LangChain's objects"][0]]
    assert calls(message) == tuple(Call(*each) for each in TURN)


def test_a_text_that_is_no_json_is_the_calls_text():
    [call] = calls({"type": "custom_tool_call", "name": "apply_patch", "input": PATCH})
    assert (call.arguments, call.text) == (None, PATCH)
    [call] = calls({"type": "function_call", "name": "f", "arguments": ""})
    assert call.arguments == {}


@pytest.mark.parametrize("message", SILENT)
def test_what_makes_no_call_is_silent(message):
    assert calls(message) == ()


@pytest.mark.parametrize(
    "arguments",
    [
        '{"file_path": "app.py", "old_',
        "[" * 100_000,
        "{" + '"a":{' * 100_000,
        '["app.py"]',
        "null",
        '{"file_path": ' + "1" * 10_000 + "}",
        '{"file_path": ["app.py"]}',
        '{"file_path": " "}',
        {"path": None},
        [],
        7,
    ],
    ids=range(11),
)
def test_what_an_edit_was_given_and_nobody_can_read_is_no_path(arguments):
    message = {"tool_calls": [{"function": {"name": "Edit", "arguments": arguments}}]}
    [call] = calls(message)
    assert files_written(call, "/w") is None


def test_a_wrapping_without_end_is_left():
    message: dict[str, Any] = {"role": "assistant"}
    message["message"] = message["data"] = message
    assert calls(message) == ()


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("type", "role", "content", "parts", "tool_calls", "function", "name", "text"),
                    *("arguments", "args", "input", "id", "message", "data", "action", "state"),
                    *("functionCall", "file_path", "command", "path", "edits", "patch", "say"),
                ]
            ),
            inner
            | st.sampled_from(
                ["tool_use", "tool", "function_call", "local_shell_call", "Edit", "Bash", PATCH]
            ),
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(json)
def test_nothing_a_message_holds_breaks_it(message):
    for call in calls(message):
        assert isinstance(call.name, str)
        found = files_written(call, "/w")
        assert found is None or all(isinstance(path, str) for path in found)


@given(json)
def test_nor_what_its_arguments_hold(arguments):
    for given_as in (arguments, dumps(arguments)):
        for name in ("Edit", "apply_patch", "str_replace_editor", "Bash", "move_file"):
            message = {"content": [{"type": "tool_use", "name": name, "input": given_as}]}
            for call in calls(message):
                files_written(call, "/w")
