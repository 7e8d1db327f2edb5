"""Forks, and what is handed over within a family of sessions."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.places import TEN

import sightline
from sightline import EditRefused, SessionError
from sightline.model.events import SessionEnded, SessionForked
from sightline.sessions.lifecycle import delete
from sightline.testing import FixedClock, MemoryWorkspace, make_session


def child(place, parent="s", id="child"):
    made = sightline.open_session(place.root, id=id, parent=parent, settings=place.settings())
    place.opened.append(made)
    return made


def test_s26_both_keep_what_they_were_shown(place, ten):
    fork = ten.fork("fork")
    ten.edit("a.py", "line 2\n", "two\n")
    assert ten.check("a.py").state == "fresh"
    verdict = fork.check("a.py")
    assert (verdict.state, verdict.changed_by.who) == ("stale", "s")
    fork.edit("a.py", "line 9\n", "nine\n")
    assert ten.check("a.py").state == "stale"
    with pytest.raises(EditRefused, match="agent session s"):
        fork.edit("a.py", "line 2\n", "zwei\n")


def test_a_fork_knows_what_was_stale_as_stale(place, ten):
    place.put("a.py", TEN.replace("line 3\n", "drei\n"))
    fork = ten.fork()
    assert fork.check("a.py").diff == ten.check("a.py").diff
    assert fork.id.startswith("s-")


def test_a_fork_is_taken_up_by_its_id(place, ten):
    ten.fork("fork").close()
    place.put("b.py", "b\n")
    again = place.session("fork")
    assert again.check("a.py").state == "fresh"
    again.read("b.py")
    assert ten.check("b.py").state == "unseen"
    (forked,) = again._context.store.timeline(kinds=[SessionForked])
    assert (forked.session, forked.fact.parent) == ("fork", "s")


def test_a_fork_of_a_fork_keeps_it_too(ten):
    last = ten.fork("one").fork("two")
    assert last.check("a.py").state == "fresh"


def test_the_store_stays_open_for_the_last_of_them(place, ten):
    fork = ten.fork("fork")
    ten.close()
    assert fork.check("a.py").state == "fresh"
    fork.close()
    with pytest.raises(sightline.StoreError, match="was closed"):
        fork.read("a.py")


@pytest.mark.parametrize("id", ["s", "", "a\nb"])
def test_a_fork_has_an_id_of_its_own(ten, id):
    with pytest.raises(SessionError):
        ten.fork(id)


def test_a_child_begins_with_nothing_and_knows_what_it_is_given(place, ten):
    helper = child(place)
    assert helper.check("a.py").state == "unseen"
    (given_,) = ten.hand_over(helper, "a.py")
    assert (given_.path, given_.lines) == ("a.py", ((1, 10),))
    verdict = helper.check("a.py")
    assert (verdict.state, verdict.seen_lines, verdict.complete) == ("fresh", ((1, 10),), True)
    assert helper.files()[0].via == "handover"


def test_the_receiver_is_stale_where_the_giver_is(place, ten):
    place.put("a.py", TEN.replace("line 3\n", "drei\n"))
    helper = child(place)
    ten.hand_over("child")
    assert helper.check("a.py").diff == ten.check("a.py").diff
    with pytest.raises(EditRefused, match="that you are editing"):
        helper.edit("a.py", "line 3\n", "x\n")
    helper.edit("a.py", "line 7\n", "x\n")


def test_lines_alone_are_handed_over(place, ten):
    helper = child(place)
    ten.hand_over(helper, ["a.py"], lines=(4, 6))
    assert helper.check("a.py").seen_lines == ((4, 6),)
    with pytest.raises(EditRefused) as refused:
        helper.write("a.py", "x\n")
    assert refused.value.reason == "unseen"


def test_a_child_hands_back_what_it_learned(place, ten):
    helper = child(place)
    ten.hand_over(helper, "a.py")
    helper.edit("a.py", "line 2\n", "two\n")
    assert ten.check("a.py").state == "stale"
    helper.hand_over("s", "a.py")
    assert ten.check("a.py").state == "fresh"


def test_of_lines_not_given_the_receiver_keeps_its_own(place, ten):
    helper = child(place)
    helper.read("a.py", (8, 10))
    place.put("a.py", TEN.replace("line 9\n", "neun\n").replace("line 1\n", "eins\n"))
    ten.read("a.py")
    ten.hand_over(helper, "a.py", lines=(1, 3))
    verdict = helper.check("a.py")
    assert verdict.seen_lines == ((1, 3), (8, 10))
    assert "+neun" in verdict.diff
    assert "eins" not in verdict.diff.replace(" eins", "")


def test_what_left_the_window_is_not_there_to_be_given(place, ten):
    helper = child(place)
    ten.dropped("a.py", lines=(1, 8))
    assert ten.hand_over(helper)[0].lines == ((9, 10),)
    ten.dropped("a.py")
    assert ten.hand_over(helper) == ()
    with pytest.raises(SessionError, match=r"has no text of a\.py"):
        ten.hand_over(helper, "a.py")


def test_an_empty_file_is_handed_over_too(place, s):
    place.put("empty", "")
    s.read("empty")
    helper = child(place)
    assert s.hand_over(helper, "empty")[0].lines == ()
    assert helper.check("empty").state == "fresh"


def test_only_a_family_hands_over(place, ten):
    place.session("stranger")
    for wrong, said in (
        ("stranger", "not related"),
        ("s", "this session itself"),
        ("nobody", "no session"),
    ):
        with pytest.raises(SessionError, match=said):
            ten.hand_over(wrong, "a.py")
    with pytest.raises(ValueError, match="one file"):
        ten.hand_over(ten.fork("f"), lines=(1, 2))


def test_children_of_one_parent_and_forks_are_a_family(place, ten):
    one, two = child(place, id="one"), child(place, id="two")
    one.read("a.py")
    one.hand_over(two, "a.py")
    two.hand_over(ten.fork("fork"), "a.py")
    assert two.check("a.py").state == "fresh"


def lines_of(tree):
    return (tree.read("a.py").data or b"").decode().splitlines(keepends=True)


EDITS = st.lists(st.tuples(st.integers(1, 8), st.sampled_from(["x\n", "", "y\nz\n"])), max_size=4)


@pytest.mark.wide
@given(st.integers(1, 8), st.integers(0, 7), EDITS, EDITS)
def test_a_receiver_that_knew_nothing_holds_exactly_what_the_giver_held(first, more, user, own):
    tree = MemoryWorkspace({"a.py": "".join(f"{n}\n" for n in range(1, 9))})
    giver = make_session(tree, id="giver")
    receiver = make_session(tree, id="receiver", parent="giver")
    giver.read("a.py", (first, first + more))
    for line, new in own:
        lines = lines_of(tree)
        if line <= len(lines) and lines[line - 1] != new:
            with suppress(EditRefused):  # of lines that were not shown
                giver.edit_lines("a.py", line, line, new)
    for line, new in user:
        lines = lines_of(tree)
        tree.put("a.py", "".join([*lines[: line - 1], new, *lines[line:]]))
    giver.hand_over(receiver)
    ours, theirs = giver.check("a.py"), receiver.check("a.py")
    if ours.seen_lines:
        assert (theirs.state, theirs.diff, theirs.seen_lines) == (
            ours.state,
            ours.diff,
            ours.seen_lines,
        )


def test_a_deleted_session_is_ended_and_knows_nothing_but_its_facts_stay(place, ten):
    ten.claim("a.py", ttl=60)
    before = len(list(ten._context.store.timeline()))
    with pytest.raises(SessionError, match="is at work"):
        delete(ten._context, "s")
    gone = delete(ten._context, "s", force=True)
    assert (gone.files, gone.claims, ten.claims()) == (1, 1, [])
    assert len(list(ten._context.store.timeline())) == before + 2
    again = place.session("s")
    assert again.check("a.py").state == "unseen"
    with pytest.raises(EditRefused):
        again.write("a.py", "x\n")


def test_what_is_not_there_cannot_be_deleted(s):
    with pytest.raises(SessionError, match="no session 'nobody'"):
        delete(s._context, "nobody")


def test_an_ended_session_is_deleted_without_force():
    session = make_session({"a.py": TEN}, clock=FixedClock())
    session.read("a.py")
    session._context.append([SessionEnded()])
    assert delete(session._context, session.id).files == 1
