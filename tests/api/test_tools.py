"""The table of tools: each verb with a schema of its arguments and of its answer."""

from __future__ import annotations

import json
import os
from inspect import getmembers, isfunction

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.json_values import values

import sightline
from sightline.api.json_shapes import view_type
from sightline.api.tools import OWNERS, answer_type, tools
from sightline.api.verbs import marks_of, parameters

TABLE = tools()

METHODS = [
    (owner, name, method)
    for owner, kind in OWNERS.items()
    for name, method in getmembers(kind, isfunction)
    if not name.startswith("_") and name not in ("close", "as_view")
]

IN_BLOCKS = {
    *("ran", "writing", "watch", "look", "running_engine", "attending", "work", "live"),
    *("follow", "names"),
}
"""Methods that a `with` or a `for` of a program goes through, or that give the program an object, or values
that it words by itself."""

OF_PROGRAMS = {"shown_bytes", "conversation_count_with", "conversation_save", "conversation_load"}
"""Verbs that need a function, a view, or a path outside the workspace."""

AGENTS = {
    *("read_file", "edit_file", "write_file", "apply_changes", "find_files", "list_directory"),
    *("related_files", "context_status", "file_changes", "checkpoint", "rewind", "briefing"),
    *("claim_files", "subtasks"),
}
"""The tools that the public interface promises to agents."""


def test_every_public_method_is_a_verb():
    assert {name for _, name, method in METHODS if marks_of(method) is None} == IN_BLOCKS


def test_every_verb_is_in_the_table_unless_only_a_program_can_call_it():
    named = {
        name if owner == "session" else f"{owner}_{name}"
        for owner, name, _ in METHODS
        if name not in IN_BLOCKS
    }
    of_table = {
        each.verb if each.owner == "session" else f"{each.owner}_{each.verb}"
        for each in TABLE.values()
    }
    assert named - of_table == OF_PROGRAMS


def test_the_tools_for_agents_have_their_promised_names():
    assert {name for name, each in TABLE.items() if each.is_for_agents} == AGENTS


def test_every_parameter_and_answer_has_a_schema_and_every_parameter_a_description():
    for owner, name, method in METHODS:
        for each in parameters(method) if name not in IN_BLOCKS else ():
            assert each.description, (owner, name, each.name)
            if not each.is_host_only:
                msgspec.json.schema(each.annotation)
        if name not in IN_BLOCKS:
            msgspec.json.schema(view_type(answer_type(method)))


def test_a_tool_is_described_as_the_protocol_asks_for():
    for each in TABLE.values():
        told = json.loads(json.dumps(each.described()))
        assert told["inputSchema"]["type"] == told["outputSchema"]["type"] == "object"
        assert told["inputSchema"]["additionalProperties"] is False
        assert told["description"]
        hints = told["annotations"]
        assert not (hints["readOnlyHint"] and hints["destructiveHint"]), each.name


def test_what_a_program_alone_can_give_is_in_no_schema():
    assert "progress" not in TABLE["find_files"].input_schema["properties"]
    assert TABLE["read_file"].input_schema["properties"]["path"]["type"] == "string"
    assert TABLE["hand_over"].input_schema["properties"]["to"]["type"] == "string"


def test_a_call_takes_json_and_answers_with_json(place, s):
    place.put("app.py", "a = 1\n")
    assert TABLE["read_file"].call(s, {"path": "app.py", "lines": [1, 1]})["text"] == "a = 1\n"
    edit = {"path": "app.py", "old": "1", "new": "2"}
    done = TABLE["edit_file"].call(s, edit)
    assert (done["applied"], done["notice"], place.text("app.py")) == (True, None, "a = 2\n")
    assert [each["path"] for each in TABLE["context_status"].call(s, {})["files"]] == ["app.py"]
    with pytest.raises(sightline.EditRefused):
        TABLE["edit_file"].call(s, edit)
    for wrong in ({}, {"path": 1, "old": "", "new": ""}):
        with pytest.raises(msgspec.ValidationError):
            TABLE["edit_file"].call(s, wrong)
    with pytest.raises(ValueError, match="edit_file has no argument 'more'"):
        TABLE["edit_file"].call(s, {**edit, "more": 1})


def test_half_a_character_that_a_tool_showed_is_no_text_of_the_file(place, s):
    """Found by the calls below at full size: the text could not be encoded."""
    place.put("app.py", "a = 1\nb = 2\n")
    for name, at in (("app.py", {"lines": [1, 1]}), ("app.py", {}), ("gone.py", {})):
        TABLE["saw"].call(s, {"path": name, "text": "\ud800", **at})
    assert TABLE["check"].call(s, {"path": "app.py"})["state"] == "stale"


NOT_PLAYED = {"subtasks_run"}
"""It carries out the command that it is given."""

FEW, MANY = 40, 6_000


@given(data=st.data())
@settings(max_examples=MANY if os.environ.get("SIGHTLINE_TEST_WIDE") else FEW)
def test_any_arguments_that_a_schema_allows_give_an_answer_or_a_documented_error(data, ground):
    """`SIGHTLINE_TEST_WIDE=1` plays 6,000 calls. The answer is one that the schema of the answer allows."""
    session, workspace = ground
    tool = TABLE[data.draw(st.sampled_from(sorted(set(TABLE) - NOT_PLAYED)))]
    arguments = data.draw(values(tool.input_schema))
    on = workspace if tool.owner == "workspace" else session
    try:
        answer = tool.call(on, arguments)
    except UnicodeError:
        raise
    except (sightline.SightlineError, ValueError):
        return
    msgspec.convert(json.loads(json.dumps(answer)), tool.output)


@pytest.fixture
def ground(place, monkeypatch):
    """A session with a file that it knows, and the workspace."""
    monkeypatch.chdir(place.root)
    place.put("app.py", "a = 1\n")
    place.put("src/app.py", "b = 2\n")
    session = place.session()
    session.read("app.py")
    with sightline.open_workspace(place.root, settings=place.settings()) as workspace:
        yield session, workspace
