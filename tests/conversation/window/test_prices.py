"""How much must be cleared at once: the table of prices, reckoned by hand."""

from __future__ import annotations

import pytest

from sightline.conversation.window.prices import LEAST, MOST, PROFILES, Prices, minimum_clear

HOUR = 3_600


@pytest.mark.parametrize(
    ("read", "write", "least"),
    [
        (0.5, 1.0, 22_627),  # sqrt(2 x 0.5 / 0.5 x 40,000 x 6,400)
        (0.16, 1.0, 51_845),  # sqrt(2 x 0.84 / 0.16 x 256,000,000)
        (0.1, 1.0, 67_882),
        (0.1, 1.25, 76_733),
        (0.1, 2.0, MOST),  # 98,630
        (0.05, 1.25, MOST),  # 110,851
        (0.02, 1.0, MOST),  # 158,392
    ],
)
def test_forty_thousand_tokens_that_grow_by_6_400(read, write, least):
    assert minimum_clear(Prices("x", read, write, HOUR), 40_000, 6_400) == least


def test_without_a_cheaper_cache_any_clear_pays():
    assert minimum_clear(PROFILES["none"], 40_000, 6_400) == 0
    assert minimum_clear(Prices("dear", 2.0, 1.0, HOUR), 40_000, 6_400) == 0


def test_small_clears_are_eaten_up_and_too_large_ones_never_come():
    assert minimum_clear(PROFILES["0.10/1.25"], 0, 6_400) == LEAST
    assert minimum_clear(PROFILES["0.10/1.25"], 10**9, 10**6) == MOST


def test_a_cache_that_costs_nothing_to_read_is_rewritten_as_seldom_as_can_be():
    assert minimum_clear(Prices("free", 0.0, 1.0, HOUR), 40_000, 6_400) == MOST


def test_the_more_has_to_be_written_anew_the_more_must_go():
    usual = PROFILES["0.10/1.25"]
    asked = [minimum_clear(usual, stays, 1_000) for stays in (10_000, 40_000, 160_000)]
    assert asked == sorted(asked)
    assert asked[1] == pytest.approx(2 * asked[0], abs=2)  # four times as much, twice as seldom


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_are_called_by_their_prices(name):
    prices = PROFILES[name]
    assert prices.cached is (name != "none")
    if prices.cached:
        assert [float(part) for part in name.split("/")] == [prices.read, prices.write]
