"""Prices of a prompt cache, of a change of the view, and of a lost text."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from msgspec import Struct

RECOVERY_WRITTEN = 450
"""Tokens that a model writes in vain when a text is lost: an edit (300) and a read (150)."""


class Prices(Struct, frozen=True):
    """Prices relative to an uncached input token. read: of a cached token; write: of a token
    written to the cache; output: of a generated token; ttl_s: seconds until an unused cache
    expires; smallest: tokens below which a provider caches nothing."""

    name: str
    read: float
    write: float
    ttl_s: float
    smallest: int = 1_024
    output: float = 5.0

    @property
    def cached(self) -> bool:
        """Return whether sending the same tokens again is cheaper."""
        return self.read < self.write


PROFILES: Mapping[str, Prices] = {
    prices.name: prices
    for prices in (
        Prices("0.10/1.25", 0.1, 1.25, 300),
        Prices("0.05/1.25", 0.05, 1.25, 3_600),
        Prices("0.02/1", 0.02, 1.0, 86_400),
        Prices("none", 1.0, 1.0, inf, 0),
    )
}
USUAL = PROFILES["0.10/1.25"]


def rewriting(prices: Prices, stays: int) -> float:
    """Return the price of a change while the cache is warm: the provider writes the tokens that stay
    behind the change to its cache again."""
    return max(prices.write - prices.read, 0.0) * stays


def recovery(prices: Prices, text: int, window: int) -> float:
    """Return the price of a lost text. An edit fails, and the agent reads the text again: two more
    calls. text, window: tokens of the text and of the view."""
    answers = prices.output * RECOVERY_WRITTEN
    return prices.write * text + 2 * prices.read * window + answers
