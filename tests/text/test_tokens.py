"""Estimates beside the counts of real tokenizers, and what holds of any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.window.samples import SAMPLES, TOKENS

from sightline.text.tokens import FAMILIES, Counter, estimate

each_family = pytest.mark.parametrize("family", FAMILIES)
OFF_MAX, OFF_MEAN_MAX = 0.25, 0.08


def off(family, name):
    real = TOKENS[name][list(FAMILIES).index(family)]
    return estimate(SAMPLES[name], family) / real - 1


@each_family
@pytest.mark.parametrize("name", SAMPLES)
def test_an_estimate_is_near_the_real_count(family, name):
    assert abs(off(family, name)) < OFF_MAX


@each_family
def test_estimates_are_nearer_on_the_whole(family):
    assert sum(abs(off(family, name)) for name in SAMPLES) / len(SAMPLES) < OFF_MEAN_MAX


def test_four_characters_a_token_are_far_worse():
    text, real = SAMPLES["json on one line"], TOKENS["json on one line"][2]
    assert abs(len(text) / 4 / real - 1) > 0.4


@each_family
@given(text=st.text())
def test_every_text_has_as_many_tokens_as_bytes_at_most_and_one_at_least(family, text):
    size = len(text.encode("utf-8", "surrogatepass"))
    assert min(size, 1) <= estimate(text, family) <= size


@each_family
@given(first=st.text(), second=st.text())
def test_a_text_of_two_has_about_the_tokens_of_both(family, first, second):
    apart = estimate(first, family) + estimate(second, family)
    assert abs(estimate(first + second, family) - apart) <= 6 + 0.001 * apart


@each_family
@given(text=st.text(), more=st.text())
def test_more_text_never_has_fewer_tokens_but_for_where_they_meet(family, text, more):
    assert estimate(text + more, family) >= estimate(text, family) - 5


def test_half_a_letter_can_be_counted():
    assert estimate("a\ud800b") >= 1


def test_what_is_around_the_texts_counts_too():
    counter = Counter(len, "length", "anthropic-5", 0.1)
    assert counter("four") == 4
    assert counter.around(10) == 40
    assert counter.around(10, tools=2) == 40 + 549 + 2 * 53
