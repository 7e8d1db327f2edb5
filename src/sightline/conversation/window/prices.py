"""What a prompt cache costs, and how much must be cleared at once for that to pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, sqrt

from msgspec import Struct

LEAST, MOST = 10_000, 80_000
"""Bounds of a minimum clear, in tokens: below, stubs and the call's own text eat it up; above,
nothing would ever be cleared."""


class Prices(Struct, frozen=True):
    """Prices beside that of an uncached input token. read: of a cached one; write: of one put into
    the cache; output: of a generated one; ttl_s: how long an unused cache stays; smallest: tokens
    below which nothing is cached."""

    name: str
    read: float
    write: float
    ttl_s: float
    smallest: int = 1_024
    output: float = 5.0

    @property
    def cached(self) -> bool:
        """Whether sending the same again is cheaper."""
        return self.read < self.write


PROFILES: Mapping[str, Prices] = {
    each.name: each
    for each in (
        Prices("0.10/1.25", 0.1, 1.25, 300),
        Prices("0.05/1.25", 0.05, 1.25, 3_600),
        Prices("0.02/1", 0.02, 1.0, 86_400),
        Prices("none", 1.0, 1.0, inf, 0),
    )
}
USUAL = PROFILES["0.10/1.25"]


def least_clear(
    prices: Prices, sizes: Sequence[int], first: int, back: int, came: int, answers: int
) -> int:
    """The minimum for a clear that changes blocks from the place `first` on and gets back so many
    tokens. sizes: tokens of each block as it stands; came: of all of them as they came, over so
    many answers."""
    stays = max(sum(sizes[first:]) - back, 0)
    return minimum_clear(prices, stays, came / max(answers, 1))


def minimum_clear(prices: Prices, stays: int, growth: float) -> int:
    """How many tokens a clear must get back while the cache is warm: what follows the first change
    is written anew, so few large clears cost less than many small ones (the lot size that orders
    and stock have). stays: tokens after it; growth: by which each answer lengthens the window."""
    if not prices.cached:
        return 0
    if not prices.read:
        return MOST
    best = sqrt(2 * (prices.write - prices.read) * stays * growth / prices.read)
    return int(min(max(best, LEAST), MOST))
