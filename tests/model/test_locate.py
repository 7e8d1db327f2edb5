import itertools

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sightline.model.locate import (
    Unplaced,
    applied,
    block_places,
    ends_replaced,
    find_text,
    hunks_of,
    line_edits,
    offsets_of,
    place_hunks,
    replaced,
    written_lines,
)
from sightline.model.patches import PatchHunk
from sightline.model.text import split

plains = st.text(st.sampled_from("ab\n"), max_size=14)


@given(plains, plains, plains)
def test_replacing_at_all_places_is_what_python_does(plain, old, new):
    if old:
        assert replaced(plain, old, new, offsets_of(plain, old)) == plain.replace(old, new)
        assert len(offsets_of(plain, old)) == plain.count(old)
    else:
        assert offsets_of(plain, old) == []


@given(plains, plains, plains)
def test_line_ends_outside_the_places_stay(plain, old, new):
    """Hunks of line ends: taken out and put back, as many as the new text has."""
    places = offsets_of(plain, old)
    ends = list(range(plain.count("\n")))
    out, at = [], 0
    for a0, a1, b0, b1 in ends_replaced(plain, old, new, places):
        out += [*ends[at:a0], *(["new"] * (b1 - b0))]
        assert len(out) == b1
        at = a1
    out += ends[at:]
    assert len(out) == replaced(plain, old, new, places).count("\n")


@given(plains, plains, plains)
def test_lines_written_are_lines_of_new_text_from_end_to_end(plain, old, new):
    places = offsets_of(plain, old)
    after = replaced(plain, old, new, places)
    fresh = set()
    for n, place in enumerate(places):
        start = place + n * (len(new) - len(old))
        fresh |= set(range(start, start + len(new)))
    at, whole = 0, set()
    for number, line in enumerate(split(after), 1):
        if fresh >= set(range(at, at + len(line))):
            whole.add(number)
        at += len(line)
    found = written_lines(after, places, old, new)
    assert {n for first, last in found for n in range(first, last + 1)} <= whole


def test_lines_that_a_text_touches():
    assert find_text("a\nb\nc\n", "b\n").lines == ((2, 2),)
    assert find_text("a\nb\nc\n", "a\nb").lines == ((1, 2),)
    assert find_text("x\nb\nxx\n".replace("xx", "x"), "x").lines == ((1, 1), (3, 3))


@given(st.lists(st.sampled_from("abc"), max_size=10), st.lists(st.sampled_from("abc"), max_size=3))
def test_a_block_is_found_wherever_it_stands(lines, block):
    places = block_places(block, lines)
    assert all(lines[at : at + len(block)] == block for at in places)
    assert len(places) == (sum(lines[n : n + len(block)] == block for n in range(len(lines))) if block else 0)  # fmt: skip


def test_edits_as_hunks():
    edits = [(0, 1, ["x"]), (2, 2, ["y", "z"]), (3, 5, [])]
    assert hunks_of(edits) == [(0, 1, 0, 1), (2, 2, 2, 4), (3, 5, 5, 5)]
    assert applied(list("abcde"), edits) == ["x", "b", "y", "z", "c"]


def test_a_hunk_stands_at_its_line_before_it_is_looked_for():
    hunk = PatchHunk(3, ("}\n",), ("];\n",))
    lines = ["}\n", "x\n", "}\n", "}\n"]
    assert place_hunks([hunk], lines) == [(2, 3, ["];\n"])]
    assert place_hunks([structs.replace(hunk, start=2)], lines) == Unplaced(0, (0, 2, 3))
    assert place_hunks([PatchHunk(9, ("x\n",), ("y\n",))], lines) == [(1, 2, ["y\n"])]


def test_hunks_are_shifted_like_the_one_before_and_never_out_of_order():
    lines = ["new\n", "a\n", "}\n", "b\n", "}\n"]
    one, two = PatchHunk(1, ("a\n",), ("A\n",)), PatchHunk(2, ("}\n",), ("]\n",))
    assert place_hunks([one, two], lines) == [(1, 2, ["A\n"]), (2, 3, ["]\n"])]
    assert place_hunks(
        [PatchHunk(4, ("b\n",), ("B\n",)), PatchHunk(5, ("a\n",), ("A\n",))], lines
    ) == Unplaced(1)


@given(plains, plains, plains)
def test_replacing_is_editing_whole_lines(plain, old, new):
    lines, places = split(plain), offsets_of(plain, old)
    edits = line_edits(plain, old, new, places)
    assert "".join(applied(lines, edits)) == replaced(plain, old, new, places)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(edits))
    assert split("".join(applied(lines, edits))) == applied(lines, edits)
