"""Prices of a change and of a loss, reckoned by hand."""

from __future__ import annotations

import pytest

from sightline.window.prices import PROFILES, Prices, recovery, rewriting

USUAL = PROFILES["0.10/1.25"]


def test_a_change_costs_what_writing_costs_more_than_reading():
    assert rewriting(USUAL, 1_000) == pytest.approx(1_150)
    assert rewriting(PROFILES["none"], 1_000) == 0
    assert rewriting(Prices("dear", 2.0, 1.0, 300), 1_000) == 0


def test_a_loss_costs_a_failed_edit_a_read_two_calls_and_the_text():
    assert recovery(USUAL, 400, 10_000) == pytest.approx(1.25 * 400 + 0.2 * 10_000 + 5 * 450)
    assert recovery(PROFILES["none"], 400, 10_000) == 400 + 20_000 + 5 * 450


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_are_called_by_their_prices(name):
    prices = PROFILES[name]
    assert prices.cached is (name != "none")
    if prices.cached:
        assert [float(part) for part in name.split("/")] == [prices.read, prices.write]
