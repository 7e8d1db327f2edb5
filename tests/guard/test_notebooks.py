"""Notebooks, judged by their cells."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sightline.guard.edit_case import EditCase, Evidence, Rules
from sightline.guard.notebooks import Cell, cells, find
from sightline.guard.verdict import judge
from sightline.model.attempts import CellEdit
from sightline.model.events import Belief
from sightline.model.spans import whole


def notebook(ids=True, **sources):
    """By name and source; where it has no ids the names do not matter."""
    made = [
        {"cell_type": "code", "source": source, "outputs": [], **({"id": name} if ids else {})}
        for name, source in sources.items()
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4}, indent=1) + "\n"


def case(shown, disk, *, policy="merge", lines=None):
    data = disk.encode() if disk is not None else None
    sight = Evidence("missing" if disk is None else "file", data)
    if shown is not None:
        total = shown.count("\n")
        spans = whole(total) if lines is None else lines
        belief = Belief("believed", spans, spans, total)
        sight = structs.replace(sight, belief=belief, believed=shown.encode())
    return EditCase(sight, Rules(policy))


def judge_cell(case, name, mode):
    return judge(case, CellEdit(name, mode, "new"))


def verdict(ruling):
    return ruling.decision, ruling.reason, ruling.cells


TWO = notebook(a="x = 1", b="y = 2")


def test_the_source_of_a_cell_may_be_one_text_or_lines():
    text = '{"cells": [{"id": "a", "source": ["x\\n", "y"]}, {"source": "z"}]}'
    assert cells(text) == (Cell("a", "x\ny"), Cell("cell-1", "z", named=False))


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "{}", '{"cells": 1}', '{"cells": [1]}', "[" * 9999]
)
def test_what_is_no_notebook_has_no_cells(text):
    assert cells(text) is None
    assert verdict(judge_cell(case(text, text), "a", "replace")) == ("refuse", "binary", ())


def test_a_cell_with_an_id_is_found_by_its_place_too():
    some = cells(TWO)
    assert some is not None
    assert find(some, "cell-1") == Cell("b", "y = 2", named=False)
    assert [find(some, name) for name in ("cell-2", "cell-x", "c", "", "cell-")] == [None] * 5


@pytest.mark.parametrize("mode", ["replace", "delete", "insert"])
def test_a_cell_that_is_as_it_was_shown_may_be_edited(mode):
    assert verdict(judge_cell(case(TWO, TWO), "a", mode)) == ("allow", None, ())


@pytest.mark.parametrize("mode", ["replace", "delete", "insert"])
def test_a_notebook_never_shown_may_not_be_edited(mode):
    assert judge_cell(case(None, TWO), "a", mode).reason == "unseen"
    assert judge_cell(case(TWO, TWO, lines=((1, 2),)), "a", mode).reason == "unseen"


@pytest.mark.parametrize("mode", ["replace", "delete"])
def test_a_cell_that_changed_is_stale_with_its_diff(mode):
    ruling = judge_cell(case(TWO, notebook(a="x = 9", b="y = 2")), "a", mode)
    assert (ruling.decision, ruling.reason) == ("refuse", "stale")
    assert "-x = 1" in ruling.cell_diff
    assert "+x = 9" in ruling.cell_diff


def test_a_change_of_another_cell_is_a_notice_that_names_it():
    theirs = notebook(b="y = 9", c="new")
    assert judge_cell(case(TWO, theirs), "b", "replace").reason == "stale"
    ruling = judge_cell(case(TWO, notebook(a="x = 1", c="new")), "a", "replace")
    assert verdict(ruling) == ("notice", None, ("c", "b"))


def test_new_outputs_and_another_layout_are_no_change():
    made = json.loads(TWO)
    made["cells"][0]["outputs"] = [{"text": "1"}]
    assert verdict(judge_cell(case(TWO, json.dumps(made)), "a", "replace")) == ("allow", None, ())


def test_a_cell_that_is_gone_is_deleted_and_one_that_never_was_is_not_found():
    theirs = notebook(b="y = 2")
    assert judge_cell(case(TWO, theirs), "a", "replace").reason == "deleted"
    assert judge_cell(case(TWO, theirs), "z", "replace").reason == "not_found"
    assert judge_cell(case(TWO, None), "a", "replace").reason == "deleted"
    assert judge_cell(case(None, None), "a", "replace").reason == "not_found"


def test_a_cell_that_came_since_was_never_shown():
    assert judge_cell(case(TWO, notebook(a="x = 1", c="z")), "c", "replace").reason == "unseen"


def test_an_insert_needs_its_anchor_and_not_the_anchors_text():
    theirs = notebook(a="x = 9", b="y = 2")
    assert judge_cell(case(TWO, theirs), "a", "insert").decision == "allow"
    assert judge_cell(case(TWO, notebook(b="y = 2")), "a", "insert").reason == "deleted"
    assert judge_cell(case(TWO, theirs), None, "insert").decision == "notice"


def test_a_place_is_another_cell_once_cells_were_put_before_it():
    shown = notebook(ids=False, a="x = 1", b="y = 2")
    theirs = notebook(ids=False, new="z = 3", a="x = 1", b="y = 2")
    for mode in ("replace", "delete", "insert"):
        assert judge_cell(case(shown, theirs), "cell-1", mode).reason == "stale"


def test_a_policy_may_only_warn():
    ruling = judge_cell(case(TWO, notebook(a="x = 9"), policy="warn"), "a", "replace")
    assert (ruling.decision, ruling.cells) == ("notice", ("a", "b"))
    assert "+x = 9" in ruling.cell_diff


NAMES = st.sampled_from("abcd")
BOOKS = st.dictionaries(NAMES, st.text("xy\n", max_size=4), max_size=4)


@given(BOOKS, BOOKS, NAMES)
def test_a_cell_is_let_go_exactly_when_its_source_is_what_was_shown(shown, disk, name):
    ruling = judge_cell(case(notebook(**shown), notebook(**disk)), name, "replace")
    same = name in shown and shown.get(name) == disk.get(name)
    assert (ruling.decision != "refuse") == same


@pytest.mark.wide
@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_whatever_stands_there_is_judged(text):
    assert judge_cell(case(TWO, text), "a", "replace").decision == "refuse"
