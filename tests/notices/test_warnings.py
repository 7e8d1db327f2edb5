"""Warnings: raised, kept over restarts, acknowledged, gone with their session."""

from __future__ import annotations

import pytest
from tests.support.places import TEN

import sightline
from sightline.checkpoints.changed_since import about_rewind
from sightline.hooks.dispatch import attend
from sightline.messages.deleted_messages import read_deleted
from sightline.model.events import (
    Delivered,
    MessageAppended,
    PartHanded,
    RewindEnded,
    SessionEnded,
)
from sightline.model.hook_events import Answered, Prompted, Stopped
from sightline.notices import warnings as service
from sightline.sessions import lifecycle


def prompt(session):
    return attend(session, Prompted("and the tests?")).context


def went_back(session, to, deleted_messages=()):
    """The paths that were warned of, and what was said of them."""
    fact = about_rewind(session._context, to, read_deleted(session._context, deleted_messages))
    if fact is not None:
        session._context.append([fact])
    return None if fact is None else (fact.paths, fact.text)


def warned_of(*asked):
    found = went_back(*asked)
    return None if found is None else found[0]


def texts(found):
    return [each.text for each in found]


def test_a_warning_stands_until_it_is_acknowledged(place, s):
    place.put("a.py", TEN)
    made = s.warn("  mind this ", ["./a.py", "a.py", "b.py"])
    assert (made.text, made.paths, made.session) == ("mind this", ("a.py", "b.py"), "s")
    assert str(made) == "mind this"
    assert s.warnings() == s.warnings() == [made]
    s.acknowledge(made)
    assert s.warnings() == []
    s.acknowledge(made.id)  # said twice it is no other


def test_it_survives_a_restart(place, s):
    made = s.warn("mind this", "a.py")
    s.close()
    assert place.session("s").warnings() == [made]


def test_each_session_has_its_own_and_anybody_may_acknowledge_them(place, s):
    made = s.warn("of s")
    other = place.session("t")
    assert other.warnings() == []
    assert texts(service.pending(other._context)) == ["of s"]
    other.acknowledge(made.id)
    assert s.warnings() == []


def test_those_of_a_deleted_session_are_gone_and_later_ones_stand(place, s):
    s.warn("before")
    keep = place.session("t").warn("of another")
    lifecycle.delete(s._context, "s", force=True)
    assert service.pending(s._context) == [keep]
    later = place.session("s").warn("after")
    assert service.pending(s._context, "s") == [later]


def test_a_session_that_only_ended_keeps_its_warnings(place, s):
    made = s.warn("mind this")
    ended = place.session("s")
    attend(ended, Stopped())
    ended._context.append([SessionEnded("logout")])
    assert place.session("s").warnings() == [made]


@pytest.mark.parametrize("text", ["", " \n", "x" * 2_001])
def test_words_there_have_to_be_and_not_too_many(s, text):
    with pytest.raises(ValueError, match="1 to 2000 characters"):
        s.warn(text)


def test_a_path_outside_is_refused_and_no_warning_raised(s):
    with pytest.raises(sightline.PathRefused):
        s.warn("mind this", ["../other.py"])
    assert s.warnings() == []


def test_an_id_that_is_none_says_so(s):
    with pytest.raises(sightline.UnknownName, match="no warning w-none") as error:
        s.acknowledge("w-none")
    assert "session.warnings()" in error.value.hint


def test_the_agent_is_told_with_the_next_prompt_and_once(s):
    assert prompt(s) == ""
    s.warn("mind this", ["a.py", "b.py"])
    assert prompt(s) == "Sightline warns you: mind this (a.py, b.py)"
    assert prompt(s) == ""
    assert texts(s.warnings()) == ["mind this"]


def test_it_counts_as_told_only_when_it_arrived(s):
    made = s.warn("mind this")
    prompt(s)
    log = s._context.store.timeline
    assert [r.fact for r in log(kinds=[PartHanded])] == [PartHanded("warning", made.id)]
    assert list(log(kinds=[Delivered])) == []
    for _ in range(2):
        attend(s, Answered())
        assert [r.fact.digest for r in log(kinds=[Delivered])] == [made.id]


def test_what_a_rewind_took_out_of_the_conversation_is_told_again(s):
    s.warn("mind this")
    before = s._context.store.position()
    assert prompt(s)
    attend(s, Stopped())
    s._context.append([RewindEnded(before)])
    assert prompt(s)
    assert prompt(s) == ""
    s._context.append([RewindEnded(s._context.store.position())])  # of files alone
    assert prompt(s) == ""


def test_one_that_was_acknowledged_is_not_told(s):
    s.acknowledge(s.warn("mind this"))
    assert prompt(s) == ""


def test_many_long_ones_are_told_a_few_with_each_prompt(s):
    for at in range(4):
        s.warn(f"{at}" * 1_400)
    said = [prompt(s) for _ in range(4)]
    assert [each.count("Sightline warns you") for each in said] == [2, 2, 0, 0]
    assert [each[21] for each in said[:2]] == ["0", "2"]


def test_news_and_a_warning_stand_one_below_the_other(place, ten):
    place.put("a.py", TEN.replace("line 5", "five"))
    ten.warn("mind this")
    said = prompt(ten)
    assert "+five" in said
    assert said.startswith("Sightline warns you: mind this\n")


def test_after_a_rewind_of_the_conversation_the_files_edited_since_are_warned_of(place, s):
    for name in ("mine.py", "theirs.py", "both.py", "old.py"):
        place.put(name, TEN)
        s.read(name)
    s.edit("old.py", "line 1\n", "one\n")
    to = s._context.store.position()
    s.edit("mine.py", "line 5\n", "five\n")
    s.edit("both.py", "line 5\n", "five\n")
    place.put("both.py", place.text("both.py").replace("line 9\n", "nine\n"))
    place.put("theirs.py", TEN.replace("line 9\n", "nine\n"))
    s._context.append([RewindEnded(to)])
    found = went_back(s, to)
    assert found is not None
    assert found[0] == ("both.py", "mine.py", "theirs.py")
    assert found[1] == (
        "The conversation went back, and the files did not: 3 files were edited after that point"
        " (by this agent: both.py, mine.py; by others: both.py, theirs.py). What the conversation"
        " says of them is older than what stands on disk: read them again before relying on them."
    )
    assert [(each.paths, each.text) for each in s.warnings()] == [found]
    assert prompt(s).startswith(f"Sightline warns you: {found[1]}\n")


def test_nothing_is_warned_of_where_nothing_was_edited(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    assert went_back(s, s._context.store.position()) is None
    assert s.warnings() == []


def test_files_that_this_session_never_saw_are_not_its_concern(place, s):
    other = place.session("t")
    to = s._context.store.position()
    other.create("b.py", TEN)
    assert went_back(s, to) is None


def test_what_it_was_shown_only_after_that_point_and_made_itself_is_warned_of(place, s):
    to = s._context.store.position()
    place.put("a.py", TEN)
    s.read("a.py")
    s.create("new.py", TEN)
    place.put("a.py", "else\n")
    s._context.append([RewindEnded(to)])
    assert warned_of(s, to) == ("a.py", "new.py")


def test_messages_that_were_deleted_count_from_the_earliest_of_them(place, ten):
    ten._context.append([MessageAppended("m1", None, "user")])
    ten.edit("a.py", "line 5\n", "five\n")
    now = ten._context.store.position()
    assert went_back(ten, now) is None
    assert warned_of(ten, now, ["m1"]) == ("a.py",)


@pytest.mark.wide
def test_a_hundred_files_are_counted_and_the_first_named(place, s):
    for at in range(100):
        s.create(f"{at:03}.py", "x\n")
    paths, text = went_back(s, 0) or ((), "")
    assert len(paths) == 100
    assert "100 files were edited" in text
    assert "009.py and 90 more" in text
    assert len(prompt(s)) < 1_200


def test_a_rewind_of_the_conversation_alone_warns_and_says_so(place, ten):
    made = ten.checkpoint("before")
    ten.edit("a.py", "line 5\n", "five\n")
    planned = ten.rewind(made, files=False, conversation=True, dry_run=True)
    assert (planned.warning, ten.warnings()) == (None, [])
    report = ten.rewind(made, files=False, conversation=True)
    assert ten.warnings() == [report.warning]
    assert report.warning is not None
    assert report.warning.paths == ("a.py",)
    assert place.text("a.py") == TEN.replace("line 5", "five")


def test_a_rewind_of_files_and_conversation_has_nothing_to_warn_of(place, ten):
    made = ten.checkpoint("before")
    ten.edit("a.py", "line 5\n", "five\n")
    assert ten.rewind(made, conversation=True).warning is None
    assert ten.warnings() == []
