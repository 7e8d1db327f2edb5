"""What a model asks for in its answer: any shape of it, or words on what is wrong."""

import json

import pytest
from msgspec import structs

from sightline.search.listing_requests import (
    LISTINGS_SCHEMA,
    REQUESTS_MAX,
    ListingRequest,
    listings,
)

SRC = ListingRequest("src", recursive=True, filter="*.py", depth=2, limit=20)
ASKED = {"path": "src", "recursive": True, "filter": "*.py", "depth": 2, "limit": 20}


@pytest.mark.parametrize(
    "answer",
    [
        {"listings": [ASKED], "text": "I shall look"},
        json.dumps({"listings": [ASKED]}),
        json.dumps({"listings": [ASKED]}).encode(),
        [ASKED],
        (ASKED, dict(ASKED)),
    ],
)
def test_an_answer_asks_in_any_of_these_shapes(answer):
    assert listings(answer) == [SRC]


def test_a_path_alone_asks_for_what_is_in_it():
    assert listings(["src", {"path": "docs", "filter": None}]) == [
        ListingRequest("src"),
        ListingRequest("docs"),
    ]


@pytest.mark.parametrize("answer", [{}, {"listings": []}, [], "{}"])
def test_an_answer_may_ask_for_nothing(answer):
    assert listings(answer) == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (5, "listings"),
        ({"listings": "src"}, "is a list"),
        ([5], 'with "path"'),
        ([{"recursive": True}], "missing required field `path`"),
        ([{"path": 5}], "Expected `str`, got `int`"),
        ([{"path": ""}], "length >= 1"),
        ([{"path": "x" * 5_000}], "length <= 4096"),
        ([{"path": "a", "recursive": "yes"}], "Expected `bool`, got `str`"),
        ([{"path": "a", "depth": True}], "Expected `int`, got `bool`"),
        ([{"path": "a", "limit": 0}], "Expected `int` >= 1"),
        ([{"path": "a", "glob": "*"}], "unknown field `glob`"),
        (["a"] * (REQUESTS_MAX + 1), "100 listings at most"),
        ("{nonsense", "line 1"),
    ],
)
def test_what_is_no_request_is_refused_with_words(answer, words):
    with pytest.raises(ValueError, match=words):
        listings(answer)


def test_the_schema_says_what_is_taken():
    assert set(LISTINGS_SCHEMA["items"]["properties"]) == set(structs.asdict(SRC))
