"""What is stored and printed as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model.json_text import compact_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.wide
@given(values)
def test_a_value_comes_back(value):
    assert json.loads(compact_json(value)) == value


def test_it_has_no_spaces_and_is_ascii():
    assert compact_json({"é": [1, "\ud800"]}) == '{"\\u00e9":[1,"\\ud800"]}'
