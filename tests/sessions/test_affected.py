"""Whom a write concerns: other sessions whose shown lines it made stale."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sessions.test_presence import hold, sleeper  # noqa: F401  a fixture
from tests.support.places import TEN

import sightline
from sightline.model.events import SessionEnded
from sightline.sessions.affected import outside_family
from sightline.sessions.words import affected
from sightline.testing import MemoryWorkspace, make_session


@pytest.fixture
def tree():
    return MemoryWorkspace({"a.py": TEN})


def told(result):
    return [(each.session, each.lines) for each in result.affected]


def test_a_write_names_who_was_shown_its_lines(tree):
    a, b, c = (make_session(tree, id=name) for name in "abc")
    a.read("a.py")
    b.read("a.py", (1, 5))
    c.read("a.py", (6, 10))
    assert told(a.edit("a.py", "line 2\nline 3\n", "two\nthree\n")) == [("b", ((2, 3),))]
    assert told(a.edit("a.py", "line 9\n", "nine\n")) == [("c", ((9, 9),))]


def test_lines_that_were_stale_already_are_not_told_again(tree):
    a, b = make_session(tree, id="a"), make_session(tree, id="b")
    for session in (a, b):
        session.read("a.py")
    assert told(a.edit("a.py", "line 2\n", "two\n")) == [("b", ((2, 2),))]
    assert told(a.edit("a.py", "two\n", "TWO\n")) == []
    assert told(a.edit("a.py", "line 4\n", "four\n")) == [("b", ((4, 4),))]
    assert told(a.edit("a.py", "four\n", "line 4\n")) == []  # fresh again


def test_lines_put_between_are_told_by_the_one_above(tree):
    a, b = make_session(tree, id="a"), make_session(tree, id="b")
    for session in (a, b):
        session.read("a.py")
    assert told(a.edit_lines("a.py", 4, 3, "new\n")) == [("b", ((3, 3),))]
    assert told(a.edit_lines("a.py", 1, 0, "new\n")) == [("b", ((1, 1),))]


def test_a_deleted_file_makes_all_that_was_shown_stale(tree):
    a, b = make_session(tree, id="a"), make_session(tree, id="b")
    a.read("a.py")
    b.read("a.py", (3, 5))
    assert told(a.delete("a.py")) == [("b", ((3, 5),))]


@pytest.mark.parametrize("text", ["a\n", None])
def test_who_was_shown_an_empty_file_is_named_without_lines(tree, text):
    tree.put("empty.py", "")
    a, b = make_session(tree, id="a"), make_session(tree, id="b")
    a.read("empty.py")
    b.read("empty.py")
    found = a.delete("empty.py") if text is None else a.write("empty.py", text)
    assert told(found) == [("b", ())]
    assert (
        affected(found.affected, lambda session: f"agent session {session}")
        == "Your write made agent session b stale on empty.py."
    )
    assert told(a.write("empty.py", "b\n") if text else a.create("empty.py", "b\n")) == []


def test_who_is_gone_or_has_ended_is_not_named(place, sleeper):  # noqa: F811
    place.put("a.py", TEN)
    a, b, c = (place.session(name) for name in "abc")
    for session in (a, b, c):
        session.read("a.py")
    b._context.append([SessionEnded()])
    hold(c, sleeper.pid)
    assert told(a.edit("a.py", "line 2\n", "two\n")) == [("c", ((2, 2),))]
    sleeper.kill()
    sleeper.wait()
    assert told(a.edit("a.py", "line 3\n", "three\n")) == []


def test_a_patch_and_a_batch_tell_it_file_by_file(tree):
    tree.put("b.py", TEN)
    a, b = make_session(tree, id="a"), make_session(tree, id="b")
    for path in ("a.py", "b.py"):
        a.read(path)
        b.read(path)
    made = a.apply([{"path": p, "edits": [("line 2", "two", 1)]} for p in ("a.py", "b.py")])
    assert [told(each) for each in made.results] == [[("b", ((2, 2),))]] * 2
    hunk = "@@ -4 +4 @@\n-line 4\n+four\n"
    result = a.patch("".join(f"--- a/{p}\n+++ b/{p}\n{hunk}" for p in ("a.py", "b.py")))
    assert [told(each) for each in (result, *result.others)] == [[("b", ((4, 4),))]] * 2


def test_bytes_that_are_no_text_concern_nobody(tree):
    a, b = make_session(tree, id="a"), make_session(tree, id="b")
    for session in (a, b):
        session.read("a.py")
    tree.put("a.py", b"\x00\x01")
    assert told(a.create("c.py", "x\n")) == []
    assert b.check("a.py").state != "fresh"


def test_an_agent_and_its_helpers_are_one_family(tree):
    lead = make_session(tree, id="lead")
    helper = make_session(tree, id="lead/helper", parent="lead")
    second = make_session(tree, id="lead/second", parent="lead")
    other = make_session(tree, id="other")
    for session in (lead, helper, second, other):
        session.read("a.py")
    found = helper.edit("a.py", "line 2\n", "two\n").affected
    assert {each.session for each in found} == {"lead", "lead/second", "other"}
    assert [each.session for each in outside_family(helper._context, found)] == ["other"]


LINES = st.lists(st.sampled_from("abc"), max_size=8).map(
    lambda some: "".join(f"{c}\n" for c in some)
)


@pytest.mark.wide
@given(LINES, LINES, LINES, st.integers(1, 8), st.integers(0, 7))
def test_who_is_named_is_stale_and_who_was_fresh_and_becomes_stale_is_named(
    shown, before, after, first, more
):
    tree = MemoryWorkspace({"a.py": shown})
    b = make_session(tree, id="b")
    with suppress(sightline.LinesMissing):
        b.read("a.py", (first, first + more))
    tree.put("a.py", before)
    a = make_session(tree, id="a")
    a.read("a.py")
    was = b.check("a.py").state
    if before == after:
        return
    found = a.write("a.py", after).affected
    now = b.check("a.py").state
    if found:
        assert now == "stale"
    if (was, now) == ("fresh", "stale"):
        assert [each.session for each in found] == ["b"]
