"""What is asked of a chain, in every shape that hosts send it in."""

from __future__ import annotations

import re

import pytest

from sightline.search.chains import Request, requests_of


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
        (Request(("a",)), [Request(("a",))]),
        ("/elsewhere/a.py", [Request(("/elsewhere/a.py",))]),
    ],
)  # fmt: skip
def test_what_a_host_may_send(raw, asked):
    assert list(requests_of(raw)) == asked


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ([], "1 to 5 patterns"),
        (None, "1 to 5 patterns"),
        (["a"] * 6, "this one has 6"),
        ({"patterns": []}, "this one has 0"),
        ({}, "missing required field `patterns`"),
        ({"patterns": [3]}, "Expected `str`, got `int` - at `$.patterns[0]`"),
        ({"pattern": "a", "patterns": ["b"]}, "not both"),
        ({"pattern": "a", "fallback": "guess"}, "Invalid enum value 'guess'"),
        ({"pattern": "a", "required": "yes"}, "Expected `bool`"),
        ({"pattern": "a", "name": 3}, "Expected `str`, got `int` - at `$.name`"),
        ({"pattern": "a", "reason": "x" * 501}, "length <= 500"),
        ({"pattern": "a", "glob": True}, "unknown field `glob`"),
        ({"pattern": "../a"}, "leads out"),
        (["a", ""], "is empty"),
        ([{"pattern": "a"}, 3], "not 3"),
        ([{"pattern": "a"}] * 51, "51 requests"),
    ],
)
def test_what_is_no_request(raw, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        requests_of(raw)
