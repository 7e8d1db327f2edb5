import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model.nearest import COMPARED, nearest, squeeze

CODE = ["def f(x):\n", "\tif x:\n", "\t\treturn 1\n", "\n", "def g(y):\n", "    return y\n"]


def test_text_that_differs_only_in_white_space_is_found_and_said_to():
    near = nearest("    if x:\n        return 1\n", CODE)
    assert near is not None
    assert (near.first, near.last, near.only_space, near.likeness) == (2, 3, True, 1.0)
    assert near.text == "\tif x:\n\t\treturn 1\n"


def test_a_part_of_a_line_is_found():
    near = nearest("return  y", CODE)
    assert near is not None
    assert (near.first, near.text) == (6, "    return y\n")


def test_a_line_that_goes_on_differs_by_more_than_white_space():
    near = nearest("return 1\n", ["  return 1, says the user\n", "  return 11\n"])
    assert near is not None
    assert (near.first, near.only_space) == (1, False)
    near = nearest("return 1\n", ["  return 1, says the user\n", "x = 0; return 1\n"])
    assert near is not None
    assert (near.first, near.only_space) == (2, True)


def test_most_of_a_block_is_enough():
    near = nearest("def f(x):\n    if x:\n        return 2\n", CODE)
    assert near is not None
    assert (near.first, near.last, near.only_space) == (1, 3, False)


def test_nothing_alike_is_nothing():
    assert nearest("zzzzqqqq\n", CODE) is None
    assert nearest("\n \n", CODE) is None
    assert nearest("x", []) is None


def test_blank_lines_around_the_sought_text_count_where_they_stand_there():
    near = nearest("\n\ndef g(y):\n\n", CODE)
    assert near is not None
    assert (near.first, near.last) == (4, 5)


texts = st.lists(
    st.text(st.sampled_from("ab \t{}"), max_size=6).map(lambda t: t + "\n"), max_size=9
)


@given(texts, texts)
def test_what_is_found_is_what_stands_there(sought, lines):
    near = nearest("".join(sought), lines)
    if near is not None:
        assert 1 <= near.first <= near.last <= len(lines)
        assert near.text == "".join(lines[near.first - 1 : near.last])
        assert near.likeness > 0


@given(texts, st.integers(0, 8), st.integers(1, 4))
def test_reindented_text_is_always_found(lines, at, size):
    block = lines[at : at + size]
    sought = "".join("  " + line.strip() + "\n" for line in block)
    if any(squeeze(line) for line in block):
        near = nearest(sought, lines)
        assert near is not None


@pytest.mark.parametrize("distinct", [1, 20, 3_000])
@pytest.mark.parametrize("wanted", [1, 100, 3_000])
def test_a_long_text_that_is_not_there_takes_a_bounded_number_of_comparisons(distinct, wanted):
    chance = random.Random(1)
    some = ["".join(chance.choices("abcdef ", k=60)) for _ in range(distinct)]
    lines = [f"{some[n % distinct]}\n" for n in range(3_000)]
    sought = "".join(f"{line[:-1]}!\n" for line in lines[-wanted:])
    comparisons = 0

    def count(frame, event, _):
        nonlocal comparisons
        comparisons += event == "call" and frame.f_code.co_name == "_likeness"

    sys.setprofile(count)
    try:
        near = nearest(sought, lines)
    finally:
        sys.setprofile(None)
    assert near is not None
    assert comparisons <= 2 * COMPARED
    assert near.likeness > 0.8
