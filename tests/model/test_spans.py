"""Spans as sets of line numbers: the plain model that every function is held against."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from sightline.model.diff import diff
from sightline.model.spans import (
    carry,
    count,
    covers,
    intersect,
    spans,
    subtract,
    touched,
    union,
    whole,
)

pairs = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), max_size=6)
some = pairs.map(spans)
texts = st.lists(st.sampled_from("abc}"), max_size=12)


def lines(some):
    return {line for first, last in some for line in range(first, last + 1)}


@given(pairs)
def test_spans_are_in_order_apart_and_hold_the_same_lines(given_pairs):
    made = spans(given_pairs)
    assert lines(made) == lines(given_pairs)
    assert all(first <= last for first, last in made)
    assert all(one[1] + 1 < other[0] for one, other in itertools.pairwise(made))


@given(some, some)
def test_spans_are_sets_of_lines(one, other):
    assert lines(union(one, other)) == lines(one) | lines(other)
    assert lines(subtract(one, other)) == lines(one) - lines(other)
    assert lines(intersect(one, other)) == lines(one) & lines(other)
    assert covers(one, other) == (lines(one) >= lines(other))
    assert count(one) == len(lines(one))
    for made in (union(one, other), subtract(one, other), intersect(one, other)):
        assert made == spans(made)


def test_a_whole_text_without_lines_has_no_span():
    assert whole(0) == ()
    assert whole(3) == ((1, 3),)


@given(texts, texts, some)
def test_carried_lines_are_the_same_lines(a, b, shown):
    shown = intersect(shown, whole(len(a)))
    hunks = diff(a, b)
    there = carry(shown, hunks)
    kept = lines(shown) - lines((a0 + 1, a1) for a0, a1, _, _ in hunks)
    assert [a[n - 1] for n in sorted(kept)] == [b[n - 1] for n in sorted(lines(there))]
    assert count(there) <= count(shown)
    assert covers(whole(len(b)), there)


@given(texts, texts, some)
def test_lines_are_either_carried_or_inside_a_hunk_that_touches_them(a, b, shown):
    shown = intersect(shown, whole(len(a)))
    hunks = diff(a, b)
    lost = count(shown) - count(carry(shown, hunks))
    hit = touched(shown, hunks, len(a))
    assert lost == sum(count(intersect(shown, ((h[0] + 1, h[1]),))) for h in hit if h[1] > h[0])


@given(texts, texts)
def test_every_change_touches_a_text_that_was_shown_whole(a, b):
    hunks = diff(a, b)
    assert list(touched(whole(len(a)), hunks, len(a))) == hunks


def test_an_insertion_touches_only_between_two_lines_that_were_shown():
    above, inside, below = (0, 0, 0, 1), (1, 1, 1, 2), (3, 3, 3, 4)
    assert touched(((1, 2),), [inside], 3) == (inside,)
    assert touched(((1, 1),), [inside], 3) == ()
    assert touched(((2, 2),), [inside], 3) == ()
    assert touched(((1, 1),), [above], 3) == (above,)
    assert touched(((2, 3),), [above], 3) == ()
    assert touched(((3, 3),), [below], 3) == (below,)
