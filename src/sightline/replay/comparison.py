"""Policies beside one another over many sessions: parts of no truncation's cost, how they spread,
which none is better than on both axes, and whether a difference could be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

from msgspec import Struct, structs

from sightline.replay.costs import PRICES
from sightline.replay.outcome import Outcome

WORST = 5
"""Sessions that are named because a policy did worst in them."""


class Versus(Struct, frozen=True):
    """Two policies, session by session. better, worse, same: sessions in which the first cost
    less, more, or the same; chance: how likely it is to be that uneven if neither were better."""

    better: int
    worse: int
    same: int
    chance: float


class Row(Struct, frozen=True):
    """A policy over all sessions. sent, costs: parts of no truncation's, the costs with recovery,
    one for each of costs.PRICES; lost_edits, lost_references: parts of those that had something
    to go by; frontier: at which prices no other policy both costs less and loses fewer edits;
    each: of every session its cost at the first prices; median, p90: of these; worst: sessions with
    the highest, by their place; idle: sessions in which it never did anything; total: all sums."""

    name: str
    total: Outcome
    sent: float
    costs: tuple[float, ...]
    lost_edits: float
    lost_references: float
    each: tuple[float, ...]
    median: float
    p90: float
    worst: tuple[tuple[int, float], ...]
    idle: int
    frontier: tuple[bool, ...] = ()
    against: Mapping[str, Versus] = {}


def row(name: str, made: Sequence[Outcome], base: Sequence[Outcome]) -> Row:
    """A policy's outcomes beside no truncation's, session by session. ValueError without any."""
    if not made:
        raise ValueError("there is no session to compare")
    total, whole = (sum(all_[1:], all_[0]) for all_ in (made, base))
    each = [_part(a.costs[0], b.costs[0]) for a, b in zip(made, base, strict=True)]
    ranked = sorted(enumerate(each), key=lambda pair: (-pair[1], pair[0]))
    return Row(
        name,
        total,
        _part(total.sent, whole.sent),
        tuple(_part(a, b) for a, b in zip(total.costs, whole.costs, strict=True)),
        _lost(total.lost_edits, total.edits),
        _lost(total.lost_references, total.references),
        tuple(each),
        _quantile(each, 0.5),
        _quantile(each, 0.9),
        tuple(ranked[:WORST]),
        sum(outcome.changes == 0 for outcome in made),
    )


def compared(
    made: Mapping[str, Sequence[Outcome]],
    beside: Sequence[str] = (),
    cheats: frozenset[str] = frozenset(),
) -> list[Row]:
    """A row for each policy. made: of each its outcomes, session by session; beside: those that
    the others are tested against; cheats: those that do not count when a frontier is drawn."""
    base = made["none"]
    rows = [row(name, outcomes, base) for name, outcomes in made.items()]
    fair = [each for each in rows if each.name not in cheats]
    tested = [name for name in beside if name in made]
    return [
        structs.replace(
            each,
            frontier=tuple(
                each.name not in cheats and _leads(each, fair, at) for at in range(len(PRICES))
            ),
            against={
                name: versus(made[each.name], made[name]) for name in tested if name != each.name
            },
        )
        for each in rows
    ]


def versus(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> Versus:
    """The sign test over sessions, two-sided, of the cost at the first prices."""
    gaps = [a.costs[0] - b.costs[0] for a, b in zip(ours, theirs, strict=True)]
    better, worse = sum(gap < 0 for gap in gaps), sum(gap > 0 for gap in gaps)
    return Versus(better, worse, len(gaps) - better - worse, sign_test(better, worse))


def sign_test(better: int, worse: int) -> float:
    """How likely so uneven a split of fair coin tosses is, in either direction."""
    tosses, fewer = better + worse, min(better, worse)
    tail = sum(comb(tosses, heads) for heads in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**tosses))


def _leads(one: Row, rows: Sequence[Row], at: int) -> bool:
    """Whether no other is at least as good on both axes and better on one."""
    mine = one.costs[at], one.total.lost_edits
    others = [(each.costs[at], each.total.lost_edits) for each in rows if each is not one]
    return not any(
        cost <= mine[0] and lost <= mine[1] and (cost, lost) != mine for cost, lost in others
    )


def _part(made: float, whole: float) -> float:
    return made / whole if whole else 1.0


def _lost(lost: int, of: int) -> float:
    return lost / of if of else 0.0


def _quantile(values: Sequence[float], part: float) -> float:
    """The value that so large a part of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]
