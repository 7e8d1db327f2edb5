"""What is stored can be read again."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from tests.store.facts import EXAMPLES, any_fact, line_spans, names

from sightline.errors import StoreError
from sightline.model import events
from sightline.model.events import FACTS, Cause
from sightline.model.projections import DiskFile
from sightline.store import codec
from sightline.store.event_index import KNOWING


@given(any_fact)
def test_any_fact_comes_back_as_it_went(fact):
    assert codec.decode(type(fact).__name__, codec.encode(fact)) == fact


def test_there_is_an_example_of_every_kind_of_fact():
    assert {type(fact).__name__ for fact in EXAMPLES} == set(FACTS)


def test_a_field_that_has_its_default_takes_no_room():
    assert codec.encode(FACTS["SessionEnded"]()) == "{}"


def test_a_cause_says_on_what_evidence_in_facts_and_in_the_disk_view():
    cause = Cause("command", "make", None, "likely", "only_writer")
    fact = events.Moved("b", "a", "c", cause)
    assert codec.decode("Moved", codec.encode(fact)) == fact
    row = codec.disk_row(DiskFile("b", "c", 1, 1, cause))
    assert codec.disk_of(row).cause == cause


def test_a_key_from_a_later_release_is_passed_over():
    assert codec.decode("TurnBegan", '{"number":3,"mood":"good"}') == FACTS["TurnBegan"](3)


def test_a_fact_of_an_unknown_kind_names_itself_and_the_way_out():
    with pytest.raises(StoreError, match="of an unknown kind: Teleported") as caught:
        codec.decode("Teleported", "{}")
    assert "Upgrade sightline" in caught.value.hint


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"path":1', '{"path":"a","belief":["x"]}'])
def test_a_torn_body_is_an_error_not_a_guess(body):
    with pytest.raises(StoreError, match="A stored Seen cannot be read"):
        codec.decode("Seen", body)


@given(line_spans)
def test_spans_come_back_as_they_went(lines):
    assert codec.spans_of(codec.spans_text(lines)) == lines


@given(names)
def test_any_name_can_be_bound_and_comes_back(name):
    stored = codec.text(name)
    assert codec.untext(stored) == name
    sqlite3.connect(":memory:").execute("SELECT ?", (stored,))


def test_every_kind_that_steps_knowledge_is_fetched_for_a_fold():
    stepping = {type(fact) for fact in EXAMPLES if fact.known_paths() != ()}
    assert stepping == set(KNOWING)
