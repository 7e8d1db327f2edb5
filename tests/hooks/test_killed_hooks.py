"""Hooks of an edit that were killed before they could answer."""

from __future__ import annotations

import json

import pytest

from sightline.model.events import Changed

DONE = "The file {} has been updated successfully. (file state is current in your context)"


def call(tool, path, response=DONE, **given):
    made = {"tool_name": tool, "tool_input": {"file_path": path, **given}, "tool_use_id": "t1"}
    return made | {"tool_response": response.format(path)}


def batch(host, *named, **given):
    return host.ask(host.payload("PostToolBatch", tool_calls=[call(*named, **given)]))


def causes(host):
    return [each.fact.cause.kind for each in host.facts() if isinstance(each.fact, Changed)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_edit_whose_two_hooks_were_killed_is_not_told_as_foreign(host, end):
    path = host.put("a.py", "")
    before = f"one{end}two{end}"
    (host.root / "a.py").write_bytes(before.encode())
    host.ask(host.shown(path, "one\ntwo\n"))
    (host.root / "a.py").write_bytes(before.replace("two", "2").encode())
    assert batch(host, "Edit", path, old_string="two", new_string="2") == {}
    told = host.ask(host.payload("UserPromptSubmit", prompt="go on"))["hookSpecificOutput"]
    assert "Changed by you:\n- modified a.py" in told["additionalContext"]
    assert causes(host) == ["agent"]


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("one\ntwo\nthree\n", "two", "", "one\nthree\n"),
        ("say “hi”\nbye\n", 'say "hi"', 'say "ho"', "say “ho”\nbye\n"),
    ],
    ids=["the line end goes, too", "the file's quotes stay"],
)
def test_an_edit_that_the_client_fits_to_the_file_is_not_told_as_foreign(
    host, before, old, new, after
):
    path = host.put("a.py", before)
    host.ask(host.shown(path, before))
    host.put("a.py", after)
    assert batch(host, "Edit", path, old_string=old, new_string=new) == {}
    assert causes(host) == ["agent"]


def test_a_whole_write_whose_two_hooks_were_killed_is_not_told_as_foreign(host):
    path = host.put("a.py", "one\n")
    host.ask(host.shown(path, "one\n"))
    host.put("a.py", "all new\n")
    assert batch(host, "Write", path, content="all new\n") == {}
    assert causes(host) == ["agent"]


@pytest.mark.parametrize(
    ("disk", "response"),
    [("one\n2\nmine\n", DONE), ("one\n2\n", "PreToolUse:Edit hook error: no")],
    ids=["another change on disk", "the edit was refused"],
)
def test_what_the_edit_does_not_explain_is_told(host, disk, response):
    path = host.put("a.py", "one\ntwo\n")
    host.ask(host.shown(path, "one\ntwo\n"))
    host.put("a.py", disk)
    told = batch(host, "Edit", path, response, old_string="two", new_string="2")
    assert "a.py" in told["hookSpecificOutput"]["additionalContext"]


def test_an_edit_that_its_hooks_reported_is_recorded_once(host):
    path = host.put("a.py", "one\ntwo\n")
    host.ask(host.shown(path, "one\ntwo\n"))
    host.ask(host.edit(path, "two", "2"))
    host.put("a.py", "one\n2\n")
    assert batch(host, "Edit", path, old_string="two", new_string="2") == {}
    assert causes(host) == ["agent"]


CREATED = "File created successfully at: {} (file state is current in your context)"


def test_a_new_file_whose_two_hooks_were_killed_is_the_agents_own(host):
    path = host.put("new.py", "one\ntwo\n")
    assert batch(host, "Write", path, CREATED, content="one\ntwo\n") == {}
    assert causes(host) == ["agent"]
    assert "permissionDecision" not in str(host.ask(host.edit(path, "two", "2")))


def test_a_file_that_was_deleted_and_written_anew_is_the_agents_own(host):
    path = host.put("a.py", "one\n")
    host.ask(host.shown(path, "one\n"))
    (host.root / "a.py").unlink()
    host.ask(host.payload("UserPromptSubmit", prompt="go on"))
    host.put("a.py", "again\n")
    assert batch(host, "Write", path, CREATED, content="again\n") == {}
    assert causes(host) == ["external", "agent"]


def test_a_new_file_of_an_edit_without_an_old_text_is_the_agents_own(host):
    path = host.put("new.py", "one\n")
    assert batch(host, "Edit", path, old_string="", new_string="one\n") == {}
    assert causes(host) == ["agent"]


def test_a_file_that_stood_before_anybody_looked_is_not_told_as_created(host):
    path = host.put("old.py", "one\n")
    batch(host, "Write", path, content="one\n")
    assert causes(host) == []


def test_a_new_file_with_other_text_is_not_the_agents_own(host):
    path = host.put("new.py", "the user's\n")
    batch(host, "Write", path, CREATED, content="one\n")
    assert causes(host) == []


@pytest.mark.parametrize("first_is_reported", [False, True])
def test_several_edits_of_one_file_whose_hooks_were_killed_are_the_agents_own(
    host, first_is_reported
):
    path = host.put("a.py", "one\ntwo\n")
    host.ask(host.shown(path, "one\ntwo\n"))
    if first_is_reported:
        host.ask(host.edit(path, "one", "1"))
        host.put("a.py", "1\ntwo\n")
        given = {"file_path": path, "old_string": "one", "new_string": "1"}
        done = {"filePath": path, "originalFile": "one\ntwo\n", "structuredPatch": []}
        told = {"tool_name": "Edit", "tool_use_id": "t1", "tool_input": given}
        host.ask(host.payload("PostToolUse", **told, tool_response=done))
    host.put("a.py", "1\n2\n")
    calls = [
        call("Edit", path, old_string="one", new_string="1"),
        {**call("Edit", path, old_string="two", new_string="2"), "tool_use_id": "t2"},
    ]
    assert host.ask(host.payload("PostToolBatch", tool_calls=calls)) == {}
    assert causes(host) == ["agent"] * (1 + first_is_reported)


def notebook(*cells, **more):
    made = [{"cell_type": "code", "id": name, "source": text} for name, text in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4} | more, indent=1) + "\n"


def cells_shown(host, before):
    path = host.put("n.ipynb", before)
    file = {"type": "notebook", "file": {"filePath": path, "cells": []}}
    shown = {"tool_name": "Read", "tool_use_id": "t0", "tool_input": {"file_path": path}}
    return host.payload("PostToolUse", **shown, tool_response=file)


def cells_edited(host, response, *edits):
    path = str(host.root / "n.ipynb")
    named = {"tool_name": "NotebookEdit", "tool_use_id": "t1", "tool_response": response}
    calls = [named | {"tool_input": {"notebook_path": path, **given}} for given in edits]
    return host.payload("PostToolBatch", tool_calls=calls)


def edit_cell(host, before, after, response, **given):
    """Play a NotebookEdit whose two hooks were killed."""
    host.ask(cells_shown(host, before))
    host.put("n.ipynb", after)
    return host.ask(cells_edited(host, response, given))


AB = [("a", "x = 1"), ("b", "y = 2")]
REPLACED = {"cell_id": "a", "new_source": "x = 2"}


@pytest.mark.parametrize(
    ("after", "response", "given"),
    [
        ([("a", "x = 2"), AB[1]], "Updated cell a with x = 2", REPLACED),
        (
            [("a", "x = 2"), AB[1]],
            "Updated cell cell-0 with x = 2",
            REPLACED | {"cell_id": "cell-0"},
        ),
        (
            [AB[0], ("new", "z"), AB[1]],
            "Inserted cell new with z",
            {"cell_id": "a", "new_source": "z", "edit_mode": "insert"},
        ),
        (
            [("new", "z"), *AB],
            "Inserted cell new with z",
            {"new_source": "z", "edit_mode": "insert"},
        ),
        ([AB[1]], "Deleted cell a", {"cell_id": "a", "new_source": "", "edit_mode": "delete"}),
    ],
    ids=["replaced", "replaced by number", "inserted", "inserted first", "deleted"],
)
def test_a_cells_edit_whose_two_hooks_were_killed_is_the_agents_own(host, after, response, given):
    text = json.dumps(json.loads(notebook(*after)), indent=2)  # the tool lays the file out anew
    assert edit_cell(host, notebook(*AB), text, response, **given) == {}
    assert causes(host) == ["agent"]


def test_several_cells_edits_whose_hooks_were_killed_are_the_agents_own(host):
    host.ask(cells_shown(host, notebook(*AB)))
    host.put("n.ipynb", notebook(("new", "zz"), ("a", "x = 2")))
    given = [
        {"new_source": "z", "edit_mode": "insert"},
        {"cell_id": "a", "new_source": "x = 2"},
        {"cell_id": "b", "edit_mode": "delete"},
        {"cell_id": "cell-0", "new_source": "zz"},
    ]
    assert host.ask(cells_edited(host, "Updated cell a with z", *given)) == {}
    assert causes(host) == ["agent"]


@pytest.mark.parametrize(
    "after",
    [
        notebook(("a", "x = 2"), ("b", "y = 3")),
        notebook(("a", "x = 3"), AB[1]),
        notebook(("a", "x = 2"), AB[1], nbformat=5),
        notebook(("a", "x = 2"), AB[1], ("c", "z")),
        "{}\n",
    ],
    ids=["another cell", "another source", "another head", "another cell more", "no notebook"],
)
def test_what_a_cells_edit_does_not_explain_is_told(host, after):
    told = edit_cell(host, notebook(*AB), after, "Updated cell a with x = 2", **REPLACED)
    assert "n.ipynb" in told["hookSpecificOutput"]["additionalContext"]
    assert causes(host) == ["external"]
