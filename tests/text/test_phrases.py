"""Phrases that several packages say."""

from __future__ import annotations

import pytest

from sightline.text.phrases import is_one_line, joined, named, shortened


@pytest.mark.parametrize(
    ("names", "said"),
    [([], ""), (["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c", "d"], "a, b and 2 more")],
)
def test_the_first_names_are_named_and_the_others_counted(names, said):
    assert named(names, 2) == said


@pytest.mark.parametrize(
    ("names", "said"),
    [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")],
)
def test_names_are_joined_as_a_sentence_lists_them(names, said):
    assert joined(names, "or") == said


def test_a_long_text_ends_in_an_ellipsis():
    assert shortened("abcd", 4) == "abcd"
    assert shortened("abcde", 4) == "abc…"


@pytest.mark.parametrize(
    ("lines", "one"),
    [((), False), (((3, 3),), True), (((3, 4),), False), (((3, 3), (5, 5)), False)],
)
def test_a_single_line_is_told_from_several(lines, one):
    assert is_one_line(lines) is one
