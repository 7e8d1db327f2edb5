"""Slips between words, against the plain table of edit distances."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sightline.search.fuzzy import slips, slips_allowed

WORDS = st.text(alphabet="abc", max_size=9)


def plain(one, other):
    """Damerau's distance without a band, each swapped pair touched once."""
    table = {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        table[i, 0] = i
        for j in range(1, len(other) + 1):
            best = min(
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
                table[i - 1, j - 1] + (one[i - 1] != other[j - 1]),
            )
            if i > 1 < j and one[i - 2 : i] == other[j - 2 : j][::-1]:
                best = min(best, table[i - 2, j - 2] + 1)
            table[i, j] = best
    return table[len(one), len(other)]


@given(WORDS, WORDS, st.integers(0, 4))
def test_the_band_says_what_the_whole_table_says(one, other, most):
    right = plain(one, other)
    assert slips(one, other, most) == right if right <= most else slips(one, other, most) > most


@given(WORDS, WORDS)
def test_it_is_the_same_both_ways(one, other):
    assert slips(one, other, 9) == slips(other, one, 9)


def test_neighbours_that_changed_places_are_one_slip():
    assert slips("conifg", "config", 2) == 1


def test_short_words_may_not_slip():
    assert [slips_allowed(length) for length in (2, 3, 6, 14)] == [0, 1, 2, 3]
