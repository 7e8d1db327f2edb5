"""What calls cost with a prompt cache, in the price of a token that is read without one."""

from __future__ import annotations

from msgspec import Struct

from sightline.conversation.window.prices import PROFILES, Prices

PRICES = tuple(PROFILES.values())
"""All that every run reckons with, in the order in which costs are told."""

RECOVERED_WRITTEN = 150
"""Tokens that a model writes to read a text again."""


class Sent(Struct, frozen=True):
    """A call as it was sent. tokens: all of the view; same: tokens at its beginning that are as in
    the view before it; gap_s: since that, None where nobody knows; written: tokens of the answer,
    which are the same for every policy and in every cost."""

    tokens: int
    same: int
    gap_s: float | None
    written: int


def cost(sent: Sent, prices: Prices) -> float:
    """Of one call."""
    warm = (sent.gap_s or 0) <= prices.ttl_s and sent.same >= prices.smallest
    cached = sent.same if warm else 0
    fresh = sent.tokens - cached
    return prices.read * cached + prices.write * fresh + prices.output * sent.written


def recovery(text_tokens: int, view_tokens: int, prices: Prices) -> float:
    """Of getting a lost text back: it is sent anew, in one more call over the view."""
    again = prices.write * text_tokens + prices.read * view_tokens
    return again + prices.output * RECOVERED_WRITTEN


def summary(read: int, written: int, prices: Prices) -> float:
    """Of having a model summarise a view that the cache holds."""
    return prices.read * read + prices.output * written
