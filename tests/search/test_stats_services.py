"""Searches leave one fact each, and the statistics are a view of these."""

from __future__ import annotations

import json

import pytest

import sightline
from sightline.api.json_shapes import shape
from sightline.model.events import FilesSought
from sightline.search import words
from sightline.search.chains import Request
from sightline.search.find import find_each
from sightline.search.stats import Tally
from sightline.testing import MemoryWorkspace, make_session


@pytest.fixture
def s(place):
    place.put("src/app.py", "import os\n")
    place.put("src/util.py", "x = 1\n")
    return place.session()


def sought(s):
    return [each.fact for each in s._context.store.timeline(kinds=[FilesSought])]


def test_a_search_leaves_one_fact(s):
    s.find(["app.ts", "**/app.py"])
    s.find("src/apps.py")
    assert sought(s) == [
        FilesSought(("app.ts", "**/app.py"), 2, 2, 1),
        FilesSought(("src/apps.py",), 0, 1, 0, ("src/app.py",)),
    ]


def test_many_requests_leave_one_fact_each(s):
    find_each(s._context, [Request(("app.py",)), Request(("no.py",))])
    assert [each.won for each in sought(s)] == [1, 0]


@pytest.mark.parametrize("wrong", ["", "../x", []])
def test_what_was_wrong_to_ask_leaves_none(s, wrong):
    with pytest.raises((ValueError, sightline.PathRefused)):
        s.find(wrong)
    assert sought(s) == []


def test_a_guess_that_is_read_counts_as_help(s):
    s.find("src/apps.py")
    s.find("src/utils.py")
    assert s.stats().find.searches == Tally(2, not_found=2)
    s.read("src/app.py")
    assert s.stats().find.searches == Tally(2, helped=1, not_found=1)


def test_it_is_of_this_session_and_lasts(place, s):
    s.find("app.py")
    other = place.session("other")
    assert other.stats() == sightline.Stats()
    assert place.session("s").stats().find.searches == Tally(1, found_first=1)


def test_absolute_patterns_are_counted_as_what_they_mean_here(place, s):
    s.find([f"{place.root}/src/app.py"])
    s.find(["/" + "x" * 5_000])
    inside, outside = sought(s)
    assert inside.patterns == ("src/app.py",)
    assert len(outside.patterns[0]) == 1_000
    assert [each.kind for each in s.stats().find.kinds] == ["path", "outside"]


def test_a_store_that_takes_nothing_more_does_not_keep_an_answer_back(s):
    run = s._context.store._base.run
    run("PRAGMA query_only = ON")
    assert s.find("app.py").matches == ("src/app.py",)
    with pytest.raises(sightline.StoreError):
        s.read("src/app.py")
    run("PRAGMA query_only = OFF")
    assert sought(s) == []


def test_a_workspace_in_memory_counts_too():
    with make_session(MemoryWorkspace({"a.py": ""})) as session:
        session.find(["b.ts", "*.py"])
        assert session.stats().find.searches == Tally(1, found_further=1)


def test_it_is_told_in_words_and_as_json(s):
    assert words.text(s.stats()) == ""
    s.find(["app.ts", "**/app.py"])
    s.find("src/apps\n.py")
    s.read("src/app.py")
    said = words.text(s.stats()).splitlines()
    assert said[0] == (
        "2 searches for files: 0 by their first pattern, 1 by a later one, 1 by a guess that was "
        "read next; 0 found nothing."
    )
    assert said[2].split() == [
        "PATTERN",
        "TRIED",
        "FOUND",
        "FIRST",
        "FURTHER",
        "DOWN",
        "BY",
        "A",
        "GUESS",
        "NOT",
        "FOUND",
    ]
    assert said[4].split() == ["a", "name", "in", "any", "folder", "2", "0", "1", "0", "1"]
    assert said[-1] == "  src/apps␊.py (1 time)"
    told = json.loads(json.dumps(shape(s.stats())))
    assert told["find"]["searches"]["helped"] == 1
    assert told["find"]["kinds"][0]["kind"] == "path"
    assert told["find"]["failing"][0] == {"pattern": "app.ts", "times": 1}
