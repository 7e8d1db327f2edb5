"""Lines that stand elsewhere now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model.diff import diff
from sightline.model.relocation import Places, astray, moved_blocks, places_of
from sightline.model.spans import carry, spans

LINES = [f"line {n}\n" for n in range(1, 31)]
places = st.integers(0, 29)


def places_in(old, new):
    return Places(old, new, diff(old, new))


def place_of(line, old, new):
    """Return the line's place, the first line being 1; None where it is not certain."""
    at = old.splitlines(keepends=True).index(line)
    place = places_in(*(text.splitlines(keepends=True) for text in (old, new))).find(at, at + 1)
    return None if place is None else place + 1


def blocks(old, new):
    return places_of(moved_blocks(old, new, diff(old, new)))


def test_a_block_that_was_moved_is_found_at_both_places():
    assert blocks(LINES, [*LINES[10:], *LINES[:10]]) == [((1, 10), (21, 30))]


def test_empty_lines_may_stand_before_it_or_behind():
    old = ["a\n", "\n", "b\n", "c\n", "\n", *LINES]
    new = ["a\n", *LINES, "\n", "b\n", "c\n", "\n"]
    assert len(blocks(old, new)) == 1


def test_empty_lines_alone_are_moved_by_nobody():
    assert blocks(["\n", *LINES], [*LINES, "\n"]) == []


def test_what_was_changed_on_the_way_was_not_moved():
    assert blocks(LINES, [*LINES[10:], *LINES[:9], "other\n"]) == []


def test_two_equal_blocks_take_a_place_each():
    block = ["x\n", "y\n"]
    old = [*block, *LINES[:10], *block, *LINES[10:]]
    new = [*LINES[:10], *LINES[10:], *block, "end\n", *block]
    found = moved_blocks(old, new, diff(old, new))
    assert len({there for _, there in found}) == len(found)


@given(places, places, st.integers(1, 8))
def test_what_is_said_to_stand_elsewhere_does(at, to, size):
    new = list(LINES)
    block = new[at : at + size]
    del new[at : at + size]
    new[to:to] = block
    hunks = diff(LINES, new)
    for was, now in [
        *places_of(moved_blocks(LINES, new, hunks)),
        *places_in(LINES, new).shifted(((1, 30),)),
    ]:
        assert LINES[was[0] - 1 : was[1]] == new[now[0] - 1 : now[1]]


@given(st.lists(st.tuples(places, st.integers(0, 3)), max_size=4), places, places)
def test_shown_lines_with_another_number_are_all_that_others_surely_shifted(changes, one, other):
    new = list(LINES)
    for at, size in changes:
        new[at : at + 1] = [f"new {n}\n" for n in range(size)]
    hunks = diff(LINES, new)
    shown = (tuple(sorted((one + 1, other + 1))),)
    found = places_in(LINES, new)
    told = {n for (first, last), _ in found.shifted(shown) for n in range(first, last + 1)}
    for line in range(shown[0][0], shown[0][1] + 1):
        now = carry(spans([(line, line)]), hunks)
        is_other = bool(now) and now[0][0] != line
        assert line not in told or is_other
        assert line in told or not is_other or len(hunks) > 1  # between two hunks: perhaps a copy


LIST = "first\nhost = a\nport = 80\nhost = b\nport = 80  # b\nlast\n"
LIST_REWRITTEN = "first\nhost = a\nport = 8080\nhost = c\nport = 80\nlast\n"


def test_a_line_that_was_rewritten_is_not_told_to_stand_at_its_twin():
    old, new = (text.splitlines(keepends=True) for text in (LIST, LIST_REWRITTEN))
    assert places_in(old, new).shifted(((1, 6),)) == []


FUNCTIONS = """def one():
    first = read()
    return first


def two():
    other = write()
    return other


def three():
    return None
"""


def test_a_line_between_two_changed_ones_is_found_where_no_other_line_may_have_become_it():
    new = FUNCTIONS.replace("first = read()", "value = ask()\n    note()").replace(
        "return first\n", "return first\n# end\n"
    )
    assert place_of("    return first\n", FUNCTIONS, new) == 4


def test_a_line_between_two_changed_ones_is_not_found_where_its_neighbour_may_have_become_it():
    new = "host = a\nport = 8080\nport = 80\nlast\n"
    assert place_of("port = 80\n", "host = a\nport = 80\nport = 80  # b\nlast\n", new) is None


@pytest.mark.parametrize("rows", ["item_{0} = {0}", "from pack{0} import name{0}"])
def test_two_lines_between_many_rewritten_ones_are_found_by_each_other(rows):
    """As a switch of branches leaves a list of alike lines."""

    def text(*numbers):
        return "".join(rows.format(number) + "\n" for number in numbers)

    old = text(1, 2, 14, 338, 16, 272, 18, 19, 149, 21, 294, 295, 273, 24)
    new = text(1, 2, 228, 15, 211, 212, 171, 17, 18, 19, 167, 168, 222, 223, 24)
    assert place_of(text(18), old, new) == 9
    assert place_of(text(19), old, new) == 10


def test_no_line_became_one_that_shares_no_word_with_it():
    old = "first\nhost_2 = 2\nhost_20 = 20\nlast\n"
    assert place_of("host_2 = 2\n", old, "first\nhost_30 = 30\nhost_2 = 2\nlast\n") == 3


def test_a_function_is_found_by_its_name_where_others_wrote_at_its_old_place_and_in_it():
    one, two, three = FUNCTIONS.split("\n\n\n")
    new = "\n\n\n".join(
        ["# moved\nimport os", two, three.rstrip(), one.replace("()\n", "(0)\n", 2)]
    )
    line = "    return first\n"
    assert place_of(line, FUNCTIONS, f"{new}\n") == new.splitlines().index(line.rstrip()) + 1


def test_of_two_new_names_neither_is_taken_for_that_of_a_function_that_is_gone():
    base = "def name_1(a):\n    return a - b\n    call = 3\n\n\ndef other(a):\n    pass\n"
    new = (
        "def name_7(a):\n    return a - b\n    note = 1\n\n\ndef other(a):\n    pass\n\n\n"
        "def name_9_1(a):\n    return a - b\n    call = 3\n"
    )
    assert place_of("    return a - b\n", base, new) is None


lines = st.lists(st.sampled_from(["own", "own # b", "x", "y", ""]), max_size=4)


@given(lines, lines, lines, lines)
def test_the_other_reading_of_changes_is_never_shorter_than_the_shortest_of_all(
    above, below, up, down
):
    old, new = [*above, "own", *below], [*up, "own", *down]
    way = astray(old, new, len(above), len(up))
    assert way >= abs(len(old) - len(new))
    mirrored = astray(old[::-1], new[::-1], len(below), len(down))
    assert way == mirrored
