"""Costs of model calls with a prompt cache, and the sums of a played session.

The unit of cost is the price of one input token without a cache.
"""

from __future__ import annotations

from typing import Self

from msgspec import Struct, structs

from sightline.window.prices import PROFILES, Prices

PRICES = tuple(PROFILES.values())
"""All prices that every run computes, in the order of all tuples of costs."""


class Sent(Struct, frozen=True):
    """A request to the model. tokens: of the whole view; same: tokens at its beginning that equal the
    view before; gap_s: seconds since that view, None where unknown; written: tokens of the answer,
    equal for every policy and part of every cost."""

    tokens: int
    same: int
    gap_s: float | None
    written: int


def cost(sent: Sent, prices: Prices) -> float:
    """Return the cost of one call."""
    warm = (sent.gap_s or 0) <= prices.ttl_s and sent.same >= prices.smallest
    cached = sent.same if warm else 0
    fresh = sent.tokens - cached
    return prices.read * cached + prices.write * fresh + prices.output * sent.written


def summary(read: int, written: int, prices: Prices) -> float:
    """Return the cost of a model's summary of a view that the cache holds."""
    return prices.read * read + prices.output * written


class Outcome(Struct, frozen=True):
    """Sums over a segment, a session, or many.

    sent: tokens of all views; costs: with recovery, one for each of PRICES; edits, references: those
    whose text stood in the conversation before; unfounded: edits whose text stood nowhere;
    missing_intents: typed texts and plans no longer in the view verbatim; stale_calls: calls whose
    view showed an old text without a remark; peak: tokens of the largest view; over: calls above the
    window; changes: calls before which the policy changed the view; invalid: changed views that the
    format does not allow; wrong: the problem of the first invalid view; spent_s: seconds of CPU.
    """

    calls: int = 0
    sent: int = 0
    costs: tuple[float, ...] = (0.0,) * len(PRICES)
    edits: int = 0
    lost_edits: int = 0
    references: int = 0
    lost_references: int = 0
    forced_reads: int = 0
    avoidable_reads: int = 0
    missing_intents: int = 0
    stale_calls: int = 0
    unfounded: int = 0
    peak: int = 0
    over: int = 0
    changes: int = 0
    invalid: int = 0
    wrong: str = ""
    spent_s: float = 0.0

    def __add__(self, other: Self) -> Self:
        sums = {
            field: own + getattr(other, field)
            for field, own in structs.asdict(self).items()
            if field not in ("costs", "peak", "wrong")
        }
        costs = tuple(a + b for a, b in zip(self.costs, other.costs, strict=True))
        return type(self)(
            **sums, costs=costs, peak=max(self.peak, other.peak), wrong=self.wrong or other.wrong
        )
