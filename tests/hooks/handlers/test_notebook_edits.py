"""Edits of a notebook's cells by a host's own tool."""

import json

import pytest

from sightline.hooks.dispatch import attend
from sightline.model.attempts import CellEdit
from sightline.model.events import Changed, Refused
from sightline.model.hook_events import Attempted, Shown, Wrote


def notebook(**sources):
    made = [{"cell_type": "code", "id": name, "source": text} for name, text in sources.items()]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4}, indent=1) + "\n"


TWO = notebook(a="x = 1", b="y = 2")


@pytest.fixture
def n(place):
    """A session that was shown a notebook."""
    place.put("n.ipynb", TWO)
    session = place.session()
    attend(session, Shown("n.ipynb", via="notebook"))
    return session


def ask(session, cell="a", mode="replace", path="n.ipynb"):
    return attend(session, Attempted.single(path, CellEdit(cell, mode, "x = 2"), "c1"))


def refusals(session):
    return [r.fact.reason for r in session._context.store.timeline(kinds=[Refused])]


def test_a_cell_as_it_was_shown_goes_through_without_a_word(n):
    answer = ask(n)
    assert (answer.refuse, answer.ask, answer.context) == (None, None, "")


def test_a_changed_cell_is_refused_with_its_diff_and_the_next_step(place, n):
    place.put("n.ipynb", notebook(a="x = 9", b="y = 2"))
    answer = ask(n)
    assert "+x = 9" in answer.refuse
    assert "Read n.ipynb again" in answer.refuse
    assert refusals(n) == ["stale"]
    assert [r.fact.cause.kind for r in n._context.store.timeline(kinds=[Changed])] == ["external"]


def test_after_another_look_the_same_edit_goes_through(place, n):
    place.put("n.ipynb", notebook(a="x = 9", b="y = 2"))
    assert ask(n).refuse
    attend(n, Shown("n.ipynb", via="notebook"))
    assert ask(n).refuse is None


def test_another_cell_that_changed_is_told_beside_it(place, n):
    place.put("n.ipynb", notebook(a="x = 1", b="y = 9"))
    answer = ask(n)
    assert answer.refuse is None
    assert "b." in answer.context


def test_a_notebook_never_shown_is_refused(place, s):
    place.put("n.ipynb", TWO)
    assert "never shown" in ask(s).refuse
    assert refusals(s) == ["unseen"]


def test_a_cell_that_is_gone_or_never_was_is_refused(place, n):
    place.put("n.ipynb", notebook(b="y = 2"))
    assert "is gone" in ask(n).refuse
    assert "no cell z" in ask(n, "z").refuse


def test_a_notebook_that_is_gone_is_refused(place, n):
    (place.root / "n.ipynb").unlink()
    assert "was deleted" in ask(n).refuse


def test_what_is_no_notebook_is_refused_in_clear_words(place, s):
    place.put("n.ipynb", "not json\n")
    s.saw("n.ipynb")
    assert "not JSON" in ask(s).refuse


def test_a_notebook_too_large_to_be_checked_is_let_go_and_that_is_said(place):
    place.put("n.ipynb", TWO)
    answer = ask(place.session("small", max_file_bytes=20))
    assert answer.refuse is None
    assert "too large" in answer.context


def test_a_protected_notebook_asks_the_user(place):
    place.put("n.ipynb", TWO)
    session = place.session("careful", policy="ask")
    attend(session, Shown("n.ipynb", via="notebook"))
    assert "approval" in ask(session).ask


def test_a_path_that_is_not_ours_is_let_go(place, s, tmp_path):
    (tmp_path / "n.ipynb").write_text(TWO)
    assert ask(s, path=str(tmp_path / "n.ipynb")).refuse is None


def test_an_edit_that_was_carried_out_leaves_the_notebook_fresh(place, n):
    """The tool lays the whole file out anew."""
    ask(n)
    after = json.dumps(json.loads(notebook(a="x = 2", b="y = 2")), indent=2)
    place.put("n.ipynb", after)
    attend(n, Wrote("n.ipynb", "c1", TWO, content=after))
    assert n.check("n.ipynb").state == "fresh"
    assert ask(n, "b").refuse is None
