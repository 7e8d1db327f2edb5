"""Sessions by their title, in all words for models and for people: never by an id that a program made up."""

from __future__ import annotations

import re

import pytest
from tests.hooks.handlers.host import Host
from tests.support.places import TEN

from sightline import ClaimRefused, EditRefused, open_session
from sightline.model.events import Cause, GitMoved, TurnBegan
from sightline.notices.words import heading, summary
from sightline.text.causes import cause
from sightline.text.phrases import changed, verdict

UUID = "11111111-2222-4333-8444-555555555555"
OTHER = "66666666-7777-4888-9999-000000000000"


def opened(place, id, title=None, **more):
    session = open_session(
        place.root, id=id, agent="claude-code", settings=place.settings("merge"), **more
    )
    place.opened.append(session)
    if title is not None:
        session._context.append([TurnBegan(1, title)])
    return session


@pytest.fixture
def two(place):
    """A session with a title that changed a line, and one that was shown the line before."""
    place.put("a.py", TEN)
    reader, writer = opened(place, UUID, "Read it"), opened(place, OTHER, "Fix the parser")
    for each in (reader, writer):
        each.read("a.py")
    return reader, writer


def test_a_notice_and_a_refusal_name_the_other_session_by_its_title(two):
    reader, writer = two
    result = writer.edit("a.py", "line 5\n", "five\n")
    (change,) = reader.changes()
    assert change.summary == 'a.py was changed by agent session "Fix the parser"'
    assert 'shown it, by agent session "Fix the parser":' in reader.notice().text
    with pytest.raises(EditRefused) as refused:
        reader.edit("a.py", "line 5\n", "fünf\n")
    assert refused.value.message == (
        "After you read them, the lines of a.py that you are editing were changed by agent session"
        ' "Fix the parser".'
    )
    assert change.changed_by.who == OTHER  # a value, which other verbs take
    assert [each.session for each in result.affected] == [UUID]


def test_claims_name_their_session_by_its_title(two):
    reader, writer = two
    writer.claim("a.py", ttl=60)
    with pytest.raises(ClaimRefused) as refused:
        reader.claim("a.py", ttl=60)
    assert 'a.py is claimed by agent session "Fix the parser" until' in refused.value.message
    notice = reader.edit("a.py", "line 5\n", "five\n").notice
    assert notice.text.startswith('a.py is claimed by agent session "Fix the parser" until')


def test_a_host_is_told_by_title_whom_its_write_made_stale(place):
    place.put("a.py", TEN)
    opened(place, UUID, "Read it").read("a.py")
    host = Host(place, OTHER)
    host.read("a.py")
    _, done = host.edit("a.py", "line 5\n", "five\n")
    assert (
        done.context == 'Sightline: Your write made agent session "Read it" stale on a.py line 5.'
    )


def test_before_its_first_prompt_a_session_is_named_by_its_agent_and_its_beginning(place):
    place.put("a.py", TEN)
    reader, writer = opened(place, UUID), opened(place, OTHER)
    for each in (reader, writer):
        each.read("a.py")
    writer.edit("a.py", "line 5\n", "five\n")
    (change,) = reader.changes()
    assert re.fullmatch(
        r"a\.py was changed by the claude-code session of \d\d:\d\d", change.summary
    )


def test_an_id_that_somebody_chose_is_a_name(place):
    place.put("a.py", TEN)
    reader, writer = place.session("reader"), place.session("writer")
    for each in (reader, writer):
        each.read("a.py")
    writer.edit("a.py", "line 5\n", "five\n")
    assert reader.changes()[0].summary == "a.py was changed by agent session writer"


def test_relatives_are_named_by_their_part_in_the_work(place):
    place.put("a.py", TEN)
    parent = opened(place, UUID, "Fix the parser")
    helper = opened(place, f"{UUID}/helper", parent=UUID)
    for each in (parent, helper):
        each.read("a.py")
    helper.edit("a.py", "line 5\n", "five\n")
    assert parent.changes()[0].summary == "a.py was changed by your sub-agent helper"
    parent.edit("a.py", "line 8\n", "eight\n")
    assert helper.changes()[0].summary == "a.py was changed by the agent that started you"


@pytest.mark.wide
def test_people_meet_an_id_only_where_a_command_takes_one(sl):
    """Every command that speaks of sessions, with a session of a product that has a title."""
    sl.put("a.py", TEN)
    for session, title in ((UUID, "Read it"), (OTHER, "Fix the parser")):
        with open_session(sl.root, id=session, agent="claude-code") as made:
            made._context.append([TurnBegan(1, title)])
            made.read("a.py")
            if session == OTHER:
                made.checkpoint("before")
                made.edit("a.py", "line 5\n", "five\n")
                made.claim("b.py", ttl=600)
    said = [
        sl(*words)
        for words in (
            ("why", "a.py", "--session", UUID),
            ("log",),
            ("log", "a.py"),
            ("status",),
            ("changes", "--session", UUID),
            ("check", "a.py", "--session", UUID),
            ("diff", "a.py", "--session", UUID),
            ("registry", "--session", UUID),
            ("claim", "b.py", "--session", UUID),
            ("checkpoint", "list"),
            ("rewind", "before", "--session", UUID),
            ("undo", "--dry-run"),
        )
    ]
    text = "".join(answer.out + answer.err for answer in said)
    assert text.count('"Fix the parser"') > 8
    where = [line for line in text.splitlines() if UUID in line or OTHER in line]
    rest = [
        line
        for line in where
        if not re.search(rf"--session ({UUID}|{OTHER})|its id: |id='({UUID}|{OTHER})'", line)
    ]
    assert rest == []


PROBABLY = cause(Cause("git", "stash pop", "a..b", "likely"), "s")


@pytest.mark.parametrize(
    "sentence",
    [
        summary("a.py", "changed", PROBABLY),
        summary("a.py", "deleted", PROBABLY),
        summary("a.py", "taken_back", PROBABLY),
        summary("a.py", "endings", PROBABLY),
        summary("a.py", "kind_changed", PROBABLY),
        summary("a.py", "moved", PROBABLY, "b.py"),
        heading(PROBABLY, 2),
        verdict("stale", "a.py", PROBABLY),
        verdict("deleted", "a.py", PROBABLY),
        verdict("kind_changed", "a.py", PROBABLY),
        changed("stale", PROBABLY, ""),
    ],
)
def test_git_that_is_only_likely_is_said_in_the_sentence_and_not_in_brackets(sentence):
    assert "probably by git: stash pop a..b" in sentence
    assert "(probably" not in sentence


def test_git_that_is_certain_is_not_said_to_be_probable(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    place.put("a.py", TEN.replace("line 5", "five"))
    s.changes()
    s._context.append([GitMoved("a" * 40, "b" * 40, "checkout", ("a.py",), (), None)])
    assert "probably" not in s.changes()[0].summary
