"""Positions on the timeline of a workspace, and the branch of facts that a session knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from sightline.model.events import Fact, RewindEnded, SessionForked
from sightline.model.session_ids import archived

AnyFact = TypeVar("AnyFact", bound=Fact)


def is_live(recorded: Recorded) -> bool:
    """Return whether no recording brought a fact."""
    return not archived(recorded.session)


def live(facts: Iterable[Recorded]) -> list[Recorded]:
    """Return the facts that no recording brought."""
    return [*filter(is_live, facts)]


def of_kind(kind: type[AnyFact], rows: Iterable[Recorded]) -> Iterator[AnyFact]:
    """Return the facts of one kind."""
    return (recorded.fact for recorded in rows if isinstance(recorded.fact, kind))


FIRST_LOOK, LARGEST_LOOK = 8, 1_024
"""Facts that newest_first() reads at first, and at most, at once."""


def newest_first(
    timeline: Callable[..., Iterable[Recorded]], *, upto: int | None = None, **conditions: Any
) -> Iterator[Recorded]:
    """Yield the facts that meet the conditions, the newest first, and read no further than the caller asks.
    timeline: as Store.timeline; upto, conditions: its arguments."""
    size = FIRST_LOOK
    while facts := [*timeline(upto=upto, newest=size, **conditions)]:
        yield from reversed(facts)
        if len(facts) < size:
            return
        upto, size = facts[0].position - 1, min(size * 4, LARGEST_LOOK)


class Since(Struct, frozen=True):
    """A start on the timeline. position: facts after it count; at: facts that happened then or
    later count, in UTC microseconds, None for any time."""

    position: int = 0
    at: int | None = None


ALWAYS = Since()

Position = int
"""Place of a fact on the timeline of its workspace: 1, 2, 3, … without gaps."""

TURNING = (SessionForked, RewindEnded)
"""Kinds of fact at which the branch of a session may continue elsewhere."""


class Recorded(Struct, frozen=True):
    """A fact with its place on the timeline. Times are UTC microseconds since 1970."""

    position: Position
    session: str
    happened_at: int
    recorded_at: int
    fact: Fact


class Stretch(Struct, frozen=True):
    """Facts of one session at the positions after `after` up to and including `upto`."""

    session: str
    after: Position
    upto: Position


def branch(
    session: str, upto: Position, turns_of: Callable[[str], Sequence[Recorded]]
) -> tuple[Stretch, ...]:
    """Return the stretches of the timeline that make up what a session knows at a position, oldest
    first.

    turns_of(session) returns the SessionForked and RewindEnded facts of that session, in order. A
    rewind continues the branch as it was at the position rewound to, so a rewind can be rewound. A
    fork begins with its parent's branch, and a rewind may go back into that.
    """
    stretches: list[Stretch] = []
    while True:
        turns = (r for r in reversed(turns_of(session)) if r.position <= upto and turns_at(r.fact))
        turning = next(turns, None)
        after = turning.position if turning else 0
        if upto > after:
            stretches.append(Stretch(session, after, upto))
        if turning is None:
            return tuple(reversed(stretches))
        if isinstance(turning.fact, SessionForked):
            session, upto = turning.fact.parent, min(turning.fact.position, turning.position - 1)
        elif isinstance(turning.fact, RewindEnded):
            upto = min(turning.fact.to, turning.position - 1)
            passed = {session}  # two sessions may be forks of one another
            while (begun := _begun_after(turns_of(session), upto)) and begun.parent not in passed:
                session = begun.parent
                passed.add(session)


def columns_of(log: Iterable[Recorded]) -> dict[str, list[Recorded]]:
    """Return the facts of each session, in order."""
    columns: dict[str, list[Recorded]] = {}
    for recorded in log:
        columns.setdefault(recorded.session, []).append(recorded)
    return columns


def effective(
    columns: Mapping[str, Sequence[Recorded]], session: str, upto: Position
) -> list[Recorded]:
    """Return the facts that make up what a session knows at a position, in order."""

    def turns_of(name: str) -> list[Recorded]:
        return [r for r in columns.get(name, ()) if isinstance(r.fact, TURNING)]

    return [
        recorded
        for stretch in branch(session, upto, turns_of)
        for recorded in columns.get(stretch.session, ())
        if stretch.after < recorded.position <= stretch.upto
    ]


def turns_at(fact: Fact) -> bool:
    """Return whether a branch continues elsewhere at a fact. At a rewind of files alone it stays."""
    return isinstance(fact, TURNING) and not (isinstance(fact, RewindEnded) and fact.files_only)


def _begun_after(turns: Sequence[Recorded], position: Position) -> SessionForked | None:
    """Return the fork that began a session after a position; None where the session was older."""
    return next(of_kind(SessionForked, (r for r in turns if r.position > position)), None)
