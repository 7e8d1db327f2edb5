"""Compare policies over many sessions: cost as a fraction of no truncation, its spread, the frontier
of cost and lost edits, and a sign test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

from msgspec import Struct, structs

from sightline.audit.costs import PRICES, Outcome

WORST = 5
"""Sessions named per policy: those with its highest costs."""


class Versus(Struct, frozen=True):
    """Compare two policies session by session. better, worse, same: sessions in which the first one
    cost less, more, or the same; chance: probability of so uneven a split between equals."""

    better: int
    worse: int
    same: int
    chance: float


class Row(Struct, frozen=True):
    """A policy over all sessions. sent, costs: fractions of no truncation, costs with recovery and one
    for each of costs.PRICES; lost_edits, lost_references: fractions of those that had a source in
    the conversation; per_session: the cost of each session at the first prices; median, p90: of
    per_session; worst: (session number, cost), highest first; idle: sessions that the policy never
    changed; total: all sums; frontier: for each price, no other policy costs less and loses fewer
    edits."""

    name: str
    total: Outcome
    sent: float
    costs: tuple[float, ...]
    lost_edits: float
    lost_references: float
    per_session: tuple[float, ...]
    median: float
    p90: float
    worst: tuple[tuple[int, float], ...]
    idle: int
    frontier: tuple[bool, ...] = ()
    against: Mapping[str, Versus] = {}


def summarize(name: str, outcomes: Sequence[Outcome], base: Sequence[Outcome]) -> Row:
    """Return a policy's row. outcomes: of one session or more; base: those of no truncation in
    the same sessions."""
    total, whole = (sum(sums[1:], sums[0]) for sums in (outcomes, base))
    costs = [_fraction(a.costs[0], b.costs[0]) for a, b in zip(outcomes, base, strict=True)]
    ordered = sorted(costs)
    median, p90 = (ordered[min(int(part * len(costs)), len(costs) - 1)] for part in (0.5, 0.9))
    ranked = sorted(enumerate(costs), key=lambda pair: (-pair[1], pair[0]))
    return Row(
        name,
        total,
        _fraction(total.sent, whole.sent),
        tuple(_fraction(a, b) for a, b in zip(total.costs, whole.costs, strict=True)),
        total.lost_edits / max(total.edits, 1),
        total.lost_references / max(total.references, 1),
        tuple(costs),
        median,
        p90,
        tuple(ranked[:WORST]),
        sum(outcome.changes == 0 for outcome in outcomes),
    )


def compare_policies(
    outcomes: Mapping[str, Sequence[Outcome]], beside: Sequence[str] = ()
) -> list[Row]:
    """Return a row for each policy. outcomes: policy -> outcome of each session; beside: policies
    that the others are tested against."""
    base = outcomes["none"]
    rows = [summarize(name, sums, base) for name, sums in outcomes.items()]
    return [
        structs.replace(
            row,
            frontier=tuple(_leads(row, rows, at) for at in range(len(PRICES))),
            against={
                name: compare_two(outcomes[row.name], outcomes[name])
                for name in beside
                if name in outcomes and name != row.name
            },
        )
        for row in rows
    ]


def compare_two(first: Sequence[Outcome], second: Sequence[Outcome]) -> Versus:
    """Compare two policies' costs at the first prices by a two-sided sign test over sessions."""
    gaps = [a.costs[0] - b.costs[0] for a, b in zip(first, second, strict=True)]
    better, worse = sum(gap < 0 for gap in gaps), sum(gap > 0 for gap in gaps)
    return Versus(better, worse, len(gaps) - better - worse, sign_test(better, worse))


def sign_test(better: int, worse: int) -> float:
    """Return the probability that fair coin tosses split so unevenly in either direction."""
    tosses, fewer = better + worse, min(better, worse)
    tail = sum(comb(tosses, heads) for heads in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**tosses))


def _leads(row: Row, rows: Sequence[Row], at: int) -> bool:
    """Return whether no other policy is at least as good on both axes and better on one."""
    own = row.costs[at], row.total.lost_edits
    others = [(other.costs[at], other.total.lost_edits) for other in rows if other is not row]
    return not any(
        cost <= own[0] and lost <= own[1] and (cost, lost) != own for cost, lost in others
    )


def _fraction(part: float, whole: float) -> float:
    return part / whole if whole else 1.0
