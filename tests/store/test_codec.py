"""What is stored can be read again, for ever."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from tests.store.facts import EXAMPLES, any_fact, line_spans, names

from sightline.errors import StoreError
from sightline.model import events
from sightline.model.events import FACTS, Cause, Fact
from sightline.model.projections import DiskFile
from sightline.store import codec
from sightline.store.event_index import KNOWING, knowledge_paths

FIXTURES = Path(__file__).parent / "fixtures"


@given(any_fact)
def test_any_fact_comes_back_as_it_went(fact):
    assert codec.decode(type(fact).__name__, fact.version, codec.encode(fact)) == fact


def test_there_is_an_example_of_every_kind_of_fact():
    assert {type(fact).__name__ for fact in EXAMPLES} == set(FACTS)


@pytest.mark.parametrize("fact", EXAMPLES, ids=lambda fact: type(fact).__name__)
def test_stores_of_version_1_are_read_for_ever(fact: Fact):
    """A line of this file is never edited; a new version of a kind gets a folder of its own."""
    stored = {
        line["kind"]: line
        for line in map(json.loads, (FIXTURES / "v1" / "facts.jsonl").read_text().splitlines())
    }[type(fact).__name__]
    assert codec.decode(stored["kind"], stored["version"], json.dumps(stored["body"])) == fact


def test_a_field_that_has_its_default_takes_no_room():
    assert codec.encode(FACTS["Dropped"]()) == "{}"


def test_a_cause_without_evidence_is_stored_as_it_always_was():
    fact = events.Moved("b", "a", "c", Cause("command", "make", "run 3", "likely"))
    assert json.loads(codec.encode(fact))["cause"] == ["command", "make", "run 3", "likely"]
    assert codec.cause_of('["command","make","run 3","likely"]') == fact.cause


def test_a_cause_says_on_what_evidence_in_facts_and_in_the_disk_view():
    cause = Cause("command", "make", None, "likely", "only_writer")
    fact = events.Moved("b", "a", "c", cause)
    assert codec.decode("Moved", 1, codec.encode(fact)) == fact
    row = codec.disk_row(DiskFile("b", "c", 1, 1, cause))
    assert codec.disk_of(row).cause == cause


def test_a_write_of_before_batches_is_a_write_of_its_own():
    fact = codec.decode("WriteIntended", 1, '{"path":"a","before":"b","after":"c"}')
    assert fact == events.WriteIntended("a", "b", "c")
    assert fact.batch is None


def test_a_key_from_a_later_release_is_passed_over():
    assert codec.decode("TurnBegan", 1, '{"number":3,"mood":"good"}') == FACTS["TurnBegan"](3)


def test_a_fact_of_an_unknown_kind_names_itself_and_the_way_out():
    with pytest.raises(StoreError, match=r"Teleported, version 1") as caught:
        codec.decode("Teleported", 1, "{}")
    assert "Upgrade sightline" in caught.value.hint


def test_a_fact_of_a_newer_version_names_itself_and_the_way_out():
    with pytest.raises(
        StoreError, match=r"TurnBegan in version 2; this Sightline reads 1"
    ) as caught:
        codec.decode("TurnBegan", 2, "{}")
    assert "Upgrade sightline" in caught.value.hint


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"path":1', '{"path":"a","belief":["x"]}'])
def test_a_torn_body_is_an_error_not_a_guess(body):
    with pytest.raises(StoreError, match="A stored Seen, version 1, cannot be read"):
        codec.decode("Seen", 1, body)


def test_an_older_version_is_brought_up_step_by_step(monkeypatch):
    monkeypatch.setattr(FACTS["TurnBegan"], "version", 3)
    monkeypatch.setattr(
        codec,
        "UPCASTERS",
        {
            ("TurnBegan", 1): lambda body: {"turn": body["n"]},
            ("TurnBegan", 2): lambda body: {"number": body["turn"]},
        },
    )
    assert codec.decode("TurnBegan", 1, '{"n":5}').number == 5  # type: ignore[attr-defined]


@given(line_spans)
def test_spans_come_back_as_they_went(lines):
    assert codec.spans_of(codec.spans_text(lines)) == lines


@given(names)
def test_any_name_can_be_bound_and_comes_back(name):
    stored = codec.text(name)
    assert codec.untext(stored) == name
    sqlite3.connect(":memory:").execute("SELECT ?", (stored,))


def test_every_kind_that_steps_knowledge_is_fetched_for_a_fold():
    stepping = {type(fact).__name__ for fact in EXAMPLES if knowledge_paths(fact) != ()}
    assert stepping == set(KNOWING)
