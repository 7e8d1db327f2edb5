"""Compare policies over many sessions: cost as a fraction of no truncation, and the frontier of cost
and lost edits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from sightline.audit.costs import PRICES, Outcome


class Row(Struct, frozen=True):
    """A policy over all sessions. sent, costs: fractions of no truncation, costs with recovery and one
    for each of costs.PRICES; lost_edits, lost_references: fractions of those that had a source in
    the conversation; per_session: the cost of each session at the first prices; total: all sums;
    frontier: for each price, no other policy costs less and loses fewer edits."""

    name: str
    total: Outcome
    sent: float
    costs: tuple[float, ...]
    lost_edits: float
    lost_references: float
    per_session: tuple[float, ...]
    frontier: tuple[bool, ...] = ()


def summarize(name: str, outcomes: Sequence[Outcome], base: Sequence[Outcome]) -> Row:
    """Return a policy's row. outcomes: of one session or more; base: those of no truncation in
    the same sessions."""
    total, whole = (sum(sums[1:], sums[0]) for sums in (outcomes, base))
    return Row(
        name,
        total,
        _fraction(total.sent, whole.sent),
        tuple(_fraction(a, b) for a, b in zip(total.costs, whole.costs, strict=True)),
        total.lost_edits / max(total.edits, 1),
        total.lost_references / max(total.references, 1),
        tuple(_fraction(a.costs[0], b.costs[0]) for a, b in zip(outcomes, base, strict=True)),
    )


def compare_policies(outcomes: Mapping[str, Sequence[Outcome]]) -> list[Row]:
    """Return a row for each policy. outcomes: policy -> outcome of each session."""
    rows = [summarize(name, sums, outcomes["none"]) for name, sums in outcomes.items()]
    return [
        structs.replace(row, frontier=tuple(_leads(row, rows, at) for at in range(len(PRICES))))
        for row in rows
    ]


def _leads(row: Row, rows: Sequence[Row], at: int) -> bool:
    """Return whether no other policy is at least as good on both axes and better on one."""
    own = row.costs[at], row.total.lost_edits
    others = [(other.costs[at], other.total.lost_edits) for other in rows if other is not row]
    return not any(
        cost <= own[0] and lost <= own[1] and (cost, lost) != own for cost, lost in others
    )


def _fraction(part: float, whole: float) -> float:
    return part / whole if whole else 1.0
