"""Requests for files and listings, in every shape that hosts send them in."""

from __future__ import annotations

import json
import re

import pytest

from sightline import AnswerInvalid
from sightline.answers.reading import read_file_requests, read_listing_requests
from sightline.search.chains import Request
from sightline.search.listing_requests import REQUESTS_MAX, ListingRequest


@pytest.mark.parametrize(
    ("raw", "asked"),
    [
        ("a.py", [Request(("a.py",))]),
        (["src/a.py", "**/a.py"], [Request(("src/a.py", "**/a.py"))]),
        ({"pattern": "a.py"}, [Request(("a.py",))]),
        ({"patterns": "a.py", "fallback": None}, [Request(("a.py",))]),
        (
            {"patterns": ["a", "b"], "name": "n", "reason": "r", "required": True, "fallbackAction": "create_new"},
            [Request(("a", "b"), "n", "r", True, "create_new")],
        ),
        ({"pattern": "a", "isRequired": True}, [Request(("a",), required=True, fallback="ask_user")]),
        ([{"pattern": "a"}, "b", ["c", "d"]], [Request(("a",)), Request(("b",)), Request(("c", "d"))]),
        ({"requests": [{"patterns": ["a"], "fallback_action": "skip"}]}, [Request(("a",))]),
        ({"summary": "s", "filesToLoad": [{"patterns": ["a"]}]}, [Request(("a",))]),
        ({"actions": [{"type": "file", "patterns": ["a"]}]}, [Request(("a",))]),
        (Request(("a",)), [Request(("a",))]),
        ("/elsewhere/a.py", [Request(("/elsewhere/a.py",))]),
    ],
)  # fmt: skip
def test_a_host_may_ask_for_files_in_these_shapes(raw, asked):
    assert list(read_file_requests(raw)) == asked


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ([], "1 to 5 patterns"),
        (None, "1 to 5 patterns"),
        (["a"] * 6, "length <= 5"),
        ({"patterns": []}, "length >= 1"),
        ({}, "[0].patterns: is missing"),
        ({"name": "x"}, "[0].patterns: is missing"),
        ({"patterns": [3]}, "[0].patterns[0]: Expected `str`, got `int`"),
        ({"pattern": "a", "patterns": ["b"]}, "[0].patterns: is there as pattern, too"),
        ({"pattern": "a", "fallback": "guess"}, "[0].fallback: Invalid enum value 'guess'"),
        ({"pattern": "a", "required": "yes"}, "Expected `bool`"),
        ({"pattern": "a", "name": 3}, "[0].name: Expected `str`, got `int`"),
        ({"pattern": "a", "reason": "x" * 501}, "length <= 500"),
        ({"pattern": "a", "glob": True}, "[0].glob: unknown field"),
        ({"pattern": "../a"}, "leads out"),
        (["a", ""], "is empty"),
        ([{"pattern": "a"}, 3], "[1]: expected an object, got a number"),
        ([{"pattern": "a"}] * 51, "51 are too many"),
        (
            {"actions": [{"type": "url", "patterns": ["a"]}]},
            'actions[0].type: only actions of the type "file"',
        ),
    ],
)
def test_an_invalid_request_for_files_is_refused_by_its_place(raw, said):
    with pytest.raises(AnswerInvalid, match=re.escape(said)):
        read_file_requests(raw)


SRC = ListingRequest("src", recursive=True, filter="*.py", depth=2, limit=20)
ASKED = {"path": "src", "recursive": True, "filter": "*.py", "depth": 2, "limit": 20}


@pytest.mark.parametrize(
    "answer",
    [
        {"listings": [ASKED], "summary": "I shall look"},
        {"directoryRequests": [ASKED]},
        json.dumps({"listings": [ASKED]}),
        json.dumps({"listings": [ASKED]}).encode(),
        json.dumps([ASKED]),
        [ASKED],
        (ASKED, dict(ASKED)),
    ],
)
def test_an_answer_asks_for_listings_in_any_of_these_shapes(answer):
    assert read_listing_requests(answer) == (SRC,)


def test_a_path_alone_asks_for_a_listing_of_the_folder():
    asked = read_listing_requests(["src", {"path": "docs", "filter": None}])
    assert asked == (ListingRequest("src"), ListingRequest("docs"))


@pytest.mark.parametrize("answer", [{}, {"listings": []}, [], "{}"])
def test_an_answer_may_ask_for_nothing(answer):
    assert read_listing_requests(answer) == ()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (5, "expected a list"),
        ({"listings": "src"}, "listings: expected a list"),
        ([5], "[0]: expected an object"),
        ([{"recursive": True}], "[0].path: is missing"),
        ([{"path": 5}], "[0].path: Expected `str`, got `int`"),
        ([{"path": ""}], "length >= 1"),
        ([{"path": "x" * 5_000}], "length <= 4096"),
        ([{"path": "a", "recursive": "yes"}], "Expected `bool`, got `str`"),
        ([{"path": "a", "depth": True}], "Expected `int`, got `bool`"),
        ([{"path": "a", "limit": 0}], "Expected `int` >= 1"),
        ([{"path": "a", "glob": "*"}], "[0].glob: unknown field"),
        (["a"] * (REQUESTS_MAX + 1), "101 are too many; 100 is the most"),
        ("{nonsense", "no JSON"),
        ('{"nonsense" 3}', "line 1"),
    ],
)
def test_an_invalid_request_for_listings_is_refused_by_its_place(answer, words):
    with pytest.raises(AnswerInvalid, match=re.escape(words)):
        read_listing_requests(answer)
