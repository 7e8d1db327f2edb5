"""What each slip of a model in its JSON gives: read with one meaning and named, or refused with its place."""

from __future__ import annotations

import pytest

from sightline.model.embedded_json import NoJson, find_json

READ = {
    '{"a": [[1,2,],[3,],],}': ({"a": [[1, 2], [3]]}, 4),
    '{"a": {"b": [{"c": 1,},],},}': ({"a": {"b": [{"c": 1}]}}, 4),
    '{"a": 1 /* c */, // d\n "b": 2 # e\n}': ({"a": 1, "b": 2}, 3),
    '{"a": "// no, /* nor */ # this, ]"}': ({"a": "// no, /* nor */ # this, ]"}, 0),
    '{"a": "NaN, Infinity, 1e999"}': ({"a": "NaN, Infinity, 1e999"}, 0),
    '{"a": "he said “x” and ‘y’, `z`"}': ({"a": "he said “x” and ‘y’, `z`"}, 0),
    '{"a": "x\ny\tz"}': ({"a": "x\ny\tz"}, 0),
    '{"a": -0, "b": 1e5, "c": 1E-2}': ({"a": 0, "b": 1e5, "c": 0.01}, 0),
    'I thought of {"x": NaN} first. {"a": 1}': ({"a": 1}, 0),
}
"""Text -> its value, and how many slips are named."""

REFUSED = {
    '{"a": NaN}': "NaN is no number (line 1, column 7)",
    '{"a": [1,\n -Infinity]}': "-Infinity is no number (line 2, column 2)",
    '{"b": "NaN", "a": Infinity}': "Infinity is no number (line 1, column 19)",
    '{"a": 1e999}': "1e999 is no number (line 1, column 7)",
    '{"a": [1,], "b": -1.5E+999}': "-1.5E+999 is no number (line 1, column 18)",
    '{"a": NaN': "NaN is no number (line 1, column 7)",
    '{"a": 0x1F}': "(line 1, column 8), before `x1F}`",
    '{"a": +1}': "(line 1, column 7), before `+1}`",
    '{"a": 01}': "(line 1, column 8), before `1}`",
    '{"a": .5}': "(line 1, column 7), before `.5}`",
    '{"a": 5.}': "(line 1, column 8), before `.}`",
    '{"a": 1_000}': "(line 1, column 8), before `_000}`",
    '{"a": True}': "(line 1, column 7), before `True}`",
    '{"a": None}': "(line 1, column 7), before `None}`",
    '{"a": undefined}': "(line 1, column 7), before `undefined}`",
    "{'a': 1}": "not in ' (line 1, column 2)",
    '{"a": \'x\'}': "not in ' (line 1, column 7)",
    '{"a": `x`}': "not in ` (line 1, column 7)",
    '{“a”: "x"}': "not in “ (line 1, column 2)",
    '{"a": “x”}': "not in “ (line 1, column 7)",
    '{"a": "x”}': "not in ” (line 1, column 9)",
    "{a: 1}": "(line 1, column 2), before `a: 1}`",
    '{"a": [,]}': "(line 1, column 8), before `,]}`",
    '{"a": [1,,2]}': "(line 1, column 10), before `,2]}`",
    '{"a": 1 "b": 2}': '(line 1, column 9), before `"b": 2}`',
    '{"a": 1; "b": 2}': '(line 1, column 8), before `; "b": 2}`',
    '{"a": "\\x41"}': '(line 1, column 8), before `\\x41"}`',
    '{"a": 1} {"a": 2}': "two answers",
}  # fmt: skip
"""Text -> the end of what is said of it."""


@pytest.mark.parametrize("text", READ)
def test_a_slip_with_one_meaning_is_read_and_named(text):
    found = find_json(text, {"a"})
    value, slips = READ[text]
    assert (found.value, len(found.slips), found.is_cut) == (value, slips, False)


@pytest.mark.parametrize("text", REFUSED)
def test_any_other_slip_is_refused_with_its_place(text):
    with pytest.raises(NoJson) as caught:
        find_json(text, {"a"})
    assert REFUSED[text] in str(caught.value)


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ('{"a": 1, "a": 2}', ("a",)),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', ()),
        ('{"a": 1, "b": 2, "b": 3, "a": 4}', ("a", "b")),
    ],
)
def test_a_key_that_stands_twice_is_named_at_its_object(text, repeated):
    value = find_json(text, {"a"}).value
    assert value.repeated == repeated
    if "c" in text:
        assert value["b"].repeated == ("c",)
