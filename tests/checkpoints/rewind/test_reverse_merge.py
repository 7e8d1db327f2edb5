"""A change is taken out of a text that others have changed since."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.checkpoints.rewind.reverse_merge import ReverseMerge, shares_lines, take_out


def lines(*some):
    return "".join(f"{line}\n" for line in some).encode()


BEFORE = lines("a", "b", "c", "d")
AFTER = lines("a", "B", "C", "d")


@pytest.mark.parametrize(
    ("now", "without"),
    [
        (AFTER, BEFORE),
        (lines("top", "a", "B", "C", "d"), lines("top", "a", "b", "c", "d")),
        (lines("a", "B", "C", "D"), lines("a", "b", "c", "D")),
        (lines("B", "C"), lines("b", "c")),
    ],
    ids=["nobody", "above", "a neighbour", "lines around it taken away"],
)
def test_changes_in_other_lines_stay(now, without):
    assert take_out(AFTER, BEFORE, now) == ReverseMerge(without)


def test_a_line_that_was_written_over_stays_and_its_neighbour_goes():
    without = lines("a", "b", "mine", "d")
    assert take_out(AFTER, BEFORE, lines("a", "B", "mine", "d")) == ReverseMerge(without)


def test_a_change_that_was_written_over_whole_is_gone_already():
    now = lines("a", "my", "own", "lines", "d")
    assert take_out(AFTER, BEFORE, now) == ReverseMerge(now)


def test_lines_that_were_put_between_new_ones_stay():
    after = lines("a", "new 1", "new 2", "b")
    now = lines("a", "new 1", "mine", "new 2", "b")
    assert take_out(after, lines("a", "b"), now) == ReverseMerge(lines("a", "mine", "b"))


def test_a_part_of_a_rewrite_that_was_changed_cannot_be_told_apart():
    after, before = lines("a", "1", "2", "3", "d"), BEFORE
    assert take_out(after, before, lines("a", "1", "two", "3", "d")) == ReverseMerge(
        conflicts=((3, 3),)
    )


def test_a_part_of_new_lines_that_was_changed_cannot_be_told_apart():
    after = lines("a", "def f():", "    return 1", "b")
    now = lines("a", "def f():", "    return 2", "b")
    assert take_out(after, lines("a", "b"), now) == ReverseMerge(conflicts=((3, 3),))


@pytest.mark.parametrize(
    ("after", "before", "now"),
    [
        (b"\0a", b"\0b", b"\0c"),
        (b"a\r\nb\r\n", b"a\nb\n", b"a\r\nb\r\nc\r\n"),
        (b"\xef\xbb\xbfa\nb\n", b"a\nb\n", b"\xef\xbb\xbfa\nb\nc\n"),
        ("\u20ac\n".encode("utf-16"), "\u20ac\n".encode(), "\u20ac\nc\n".encode("utf-16")),
    ],
    ids=["no text", "line ends", "BOM", "encoding"],
)
def test_what_the_letters_do_not_say_is_not_taken_out(after, before, now):
    assert take_out(after, before, now) == ReverseMerge()


def test_others_line_ends_stay():
    now = b"top\r\na\nB\nC\nd\n"
    assert take_out(AFTER, BEFORE, now) == ReverseMerge(b"top\r\na\nb\nc\nd\n")


some_lines = st.lists(st.sampled_from("abcde"), max_size=8).map(lambda letters: lines(*letters))


@given(some_lines, some_lines)
def test_where_nobody_else_wrote_the_bytes_of_before_stand_again(before, after):
    assert take_out(after, before, after) == ReverseMerge(before)


@pytest.mark.wide
@given(st.lists(st.integers(0, 9), max_size=6), st.integers(0, 9), st.integers(0, 9))
def test_lines_of_others_are_all_there_in_order(places, start, end):
    """Others' lines put anywhere, and a stretch of the old lines rewritten."""
    old = [f"old {n}" for n in range(10)]
    new = [*old[: min(start, end)], "new", *old[max(start, end) :]]
    now = list(new)
    for count, place in enumerate(places):
        now.insert(place, f"their {count}")
    taken = take_out(lines(*new), lines(*old), lines(*now))
    if taken.data is not None:
        theirs = [line for line in now if line.startswith("their")]
        left = taken.data.decode().splitlines()
        assert [line for line in left if line.startswith("their")] == theirs
        assert [line for line in left if not line.startswith("their")] == old


@pytest.mark.parametrize(
    ("one", "other", "shares"),
    [
        (b"a\n\nb\n", b"c\n\nd\n", False),
        (b"a\nb\n", b"c\r\n  b\r\n", True),
        (b"a\n", b"", False),
        (b"\n", b"c\n", True),
        (b"\xff\x00\x01", b"c\n", True),
    ],
    ids=["only blank ones", "indented", "emptied", "none to tell by", "no text"],
)
def test_texts_share_lines_unless_it_is_certain_that_they_do_not(one, other, shares):
    assert shares_lines(one, other) is shares
