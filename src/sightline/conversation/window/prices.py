"""Prices of a prompt cache, and the number of tokens that a clear must free to pay for itself."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, sqrt

from msgspec import Struct

LEAST, MOST = 10_000, 80_000
"""Bounds of the minimum clear, in tokens: below, stubs and the extra call cost more than they save;
above, nothing would ever be cleared."""


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


def minimum_clear(prices: Prices, stays: int, growth: float) -> int:
    """Return how many tokens a clear must free while the cache is warm.

    The provider writes everything after the first change to its cache again. So few large clears
    cost less than many small ones; the best size is the economic order quantity of inventory
    theory. stays: tokens that remain after the first change; growth: tokens that each answer adds.
    """
    if not prices.cached:
        return 0
    if not prices.read:
        return MOST
    best = sqrt(2 * (prices.write - prices.read) * stays * growth / prices.read)
    return int(min(max(best, LEAST), MOST))
