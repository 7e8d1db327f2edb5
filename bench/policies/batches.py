"""Controls that clear in batches: the oldest results first, or any; what a cleverer order has to
beat with the same trigger, target and minimum."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sightline.audit.policies import NOTHING, Ask, Baseline, Setting, removed
from sightline.messages.blocks import Decision


class Batch(Struct, frozen=True):
    """When a batch is cleared, and how much. trigger: tokens of the view; target: down to this
    part of the trigger; least: tokens that it must bring; keep: last results that stay; shortest:
    tokens of a result that is worth it; cold_s: after such a gap the cache is cold, and half
    the trigger and a quarter of the minimum are enough; None: gaps say nothing."""

    trigger: int = 100_000
    target: float = 0.3
    least: int = 40_000
    keep: int = 8
    shortest: int = 120
    cold_s: float | None = 300


class AgeBatch(Baseline):
    """The oldest first."""

    name = "age-batch"

    def __init__(self, setting: Setting, batch: Batch = Batch()) -> None:  # noqa: B008 - a value
        super().__init__(setting)
        self.batch = batch

    def decide(self, ask: Ask) -> Decision:
        """A batch, when it is due and brings enough."""
        batch = self.batch
        cold = batch.cold_s is not None and (ask.gap_s or 0) > batch.cold_s
        if ask.tokens < batch.trigger * (0.5 if cold else 1):
            return NOTHING
        standing = self.results[: max(len(self.results) - batch.keep, 0)]
        worth = [place for place in standing if self.blocks[place].tokens >= batch.shortest]
        chosen: list[int] = []
        over = ask.tokens - batch.trigger * batch.target
        saved = 0
        for place in self.ordered(worth):
            if saved >= over:
                break
            chosen.append(place)
            saved += self.blocks[place].tokens - STUB
        if saved < batch.least * (0.25 if cold else 1):
            return NOTHING
        return self.fold(sorted(chosen), removed)

    def ordered(self, places: Sequence[int]) -> Sequence[int]:
        """Return the places in the order in which they go."""
        return places


class RandomBatch(AgeBatch):
    """Any first, the same ones in every run."""

    name = "random-batch"

    def ordered(self, places: Sequence[int]) -> Sequence[int]:
        """Return the places in the order in which they go."""
        return shuffled(places)


STUB = 10
"""Tokens of a stub, about."""


def shuffled(places: Sequence[int]) -> Sequence[int]:
    """In an order that says nothing, the same in every run (Knuth's multiplicative hash)."""
    return sorted(places, key=lambda place: place * 2_654_435_761 % (1 << 32))
