"""Several agents through their hosts: whom an edit concerns, and who claims what."""

from __future__ import annotations

import pytest
from tests.hooks.handlers.host import Host

import sightline
from sightline.hooks.dispatch import attend
from sightline.model.attempts import CellEdit, Replace
from sightline.model.events import ClaimAnnounced, Refused
from sightline.model.hook_events import Ended

TEXT = "".join(f"line {n}\n" for n in range(1, 21))
BOOK = '{"cells": [{"cell_type": "code", "id": "one", "source": ["a"]}], "nbformat": 4}\n'


@pytest.fixture
def two(place):
    place.put("a.txt", TEXT)
    both = Host(place, "a"), Host(place, "b")
    for host in both:
        host.read("a.txt")
    return both


def enforced(place, id="e"):
    host = Host(place, "unused")
    host.session = place.session(id, claims="enforce")
    return host


def test_s22_another_agents_write_is_stale_with_its_name(two):
    a, b = two
    _, done = a.edit("a.txt", "line 5\n", "five\n")
    assert done.context == "Sightline: Your write made agent session b stale on a.txt line 5."
    asked, _ = b.edit("a.txt", "line 5\n", "fünf\n")
    assert "agent session a" in asked.refuse


@pytest.mark.wide
def test_s21_a_sub_agents_write_is_stale_with_its_name_and_no_news_to_itself(place, two):
    a, _ = two
    helper = Host(place, "unused")
    helper.session = sightline.open_session(
        place.root, id="a/helper-2", parent="a", settings=place.settings()
    )
    place.opened.append(helper.session)
    helper.read("a.txt")
    _, done = helper.edit("a.txt", "line 5\n", "five\n")
    assert done.context == "Sightline: Your write made agent session b stale on a.txt line 5."
    asked, _ = a.edit("a.txt", "line 5\n", "fünf\n")
    assert "your sub-agent helper-2" in asked.refuse


def test_a_whole_write_says_whom_it_concerns_too(two):
    a, _ = two
    _, done = a.write("a.txt", TEXT.replace("line 7\n", "seven\n"))
    assert "agent session b stale on a.txt line 7" in done.context


def test_who_has_ended_is_not_named(two):
    a, b = two
    attend(b.session, Ended())
    assert a.edit("a.txt", "line 5\n", "five\n")[1].context == ""


def test_what_was_told_is_not_told_again(two):
    a, _ = two
    assert a.edit("a.txt", "line 5\n", "five\n")[1].context
    assert a.edit("a.txt", "five\n", "FIVE\n")[1].context == ""


def test_a_claim_is_told_once(two):
    a, b = two
    b.session.claim("*.txt", ttl=600)
    first, _ = a.edit("a.txt", "line 5\n", "five\n")
    assert first.refuse is None
    assert first.context.startswith("Sightline: a.txt is claimed by agent session b until ")
    second, _ = a.edit("a.txt", "line 6\n", "six\n")
    assert second.context == ""
    assert len(a.facts(ClaimAnnounced)) == 1
    b.session.claim("a.txt", ttl=600)
    assert "claimed" in a.edit("a.txt", "line 7\n", "seven\n")[0].context


def test_where_claims_are_enforced_an_edit_is_refused_before_it_is_made(place, two):
    _, b = two
    e = enforced(place)
    e.read("a.txt")
    made = b.session.claim("a.txt", ttl=600)
    asked = e.ask("a.txt", Replace("line 5\n", "five\n"))
    assert asked.refuse.startswith("Sightline refused this and left a.txt alone. a.txt is claimed")
    assert made.id in asked.refuse
    assert [fact.reason for fact in e.facts(Refused)] == ["claimed"]
    assert place.text("a.txt") == TEXT


def test_a_cell_of_a_claimed_notebook_is_refused_or_told(place, two):
    _, b = two
    place.put("n.ipynb", BOOK)
    e = enforced(place)
    for host in (two[0], e):
        host.read("n.ipynb")
    b.session.claim("*.ipynb", ttl=600)
    edit = CellEdit("one", "replace", "b")
    assert "claimed by agent session b" in e.ask("n.ipynb", edit).refuse
    assert "claimed by agent session b" in two[0].ask("n.ipynb", edit).context
