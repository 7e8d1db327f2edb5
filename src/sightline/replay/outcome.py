"""What playing under a policy made: sums that can be added over segments and sessions."""

from __future__ import annotations

from typing import Self

from msgspec import Struct, structs

from sightline.replay.costs import PRICES


class Outcome(Struct, frozen=True):
    """Of one segment, one session, or many.

    sent: tokens of all views; costs: with recovery, one for each of costs.PRICES; edits and
    references: those that stood somewhere before; unfounded: edits that stood nowhere;
    missing_intents: typed texts and plans that were not there verbatim; stale_calls: calls whose
    view showed an old text without a word of it; peak: tokens of the largest view; over: calls
    above the window; changes: calls before which the policy changed the view; invalid: of those,
    how many the format does not allow; wrong: what was wrong with the first of them.
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
        added = {
            field: own + getattr(other, field)
            for field, own in structs.asdict(self).items()
            if field not in ("costs", "peak", "wrong")
        }
        costs = tuple(a + b for a, b in zip(self.costs, other.costs, strict=True))
        return type(self)(
            **added, costs=costs, peak=max(self.peak, other.peak), wrong=self.wrong or other.wrong
        )
