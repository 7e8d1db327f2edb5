"""Lines that stand elsewhere now."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sightline.model.diff import diff
from sightline.model.relocation import moved_blocks, places_of, shifted
from sightline.model.spans import carry, spans

LINES = [f"line {n}\n" for n in range(1, 31)]
places = st.integers(0, 29)


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
    for was, now in [*places_of(moved_blocks(LINES, new, hunks)), *shifted(((1, 30),), hunks)]:
        assert LINES[was[0] - 1 : was[1]] == new[now[0] - 1 : now[1]]


@given(st.lists(st.tuples(places, st.integers(0, 3)), max_size=4), places, places)
def test_shown_lines_with_another_number_are_all_that_others_shifted(changes, one, other):
    new = list(LINES)
    for at, size in changes:
        new[at : at + 1] = [f"new {n}\n" for n in range(size)]
    hunks = diff(LINES, new)
    shown = (tuple(sorted((one + 1, other + 1))),)
    told = {n for (first, last), _ in shifted(shown, hunks) for n in range(first, last + 1)}
    for line in range(shown[0][0], shown[0][1] + 1):
        now = carry(spans([(line, line)]), hunks)
        assert (line in told) == (bool(now) and now[0][0] != line)
