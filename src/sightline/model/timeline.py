"""Positions on a workspace's timeline, and the branch of it that a session knows by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from sightline.model.events import Fact, RewindEnded, SessionForked

ARCHIVE = "archive:"
"""How the id of a session begins that was read in from a recording. Its facts tell what its agent
knew and did then; what stands on disk now they say nothing of."""


NOBODY = ""
"""The session of what was found while no session looked: a watcher's finds. It is no session that
anybody began, and is in no list of them."""


def archived(session: str) -> bool:
    """Whether a session was read in from a recording."""
    return session.startswith(ARCHIVE)


Position = int
"""Place of a fact on its workspace's timeline: 1, 2, 3, … without gaps."""


class Recorded(Struct, frozen=True):
    """A fact with its place. Times are UTC microseconds since 1970."""

    position: Position
    session: str
    happened_at: int
    recorded_at: int
    fact: Fact


class Stretch(Struct, frozen=True):
    """Positions after `after` up to and including `upto` of one session's column."""

    session: str
    after: Position
    upto: Position


def branch(
    session: str, upto: Position, turns_of: Callable[[str], Sequence[Recorded]]
) -> tuple[Stretch, ...]:
    """The stretches of the timeline that make up what a session knows at a position.

    turns_of(session) gives that session's SessionForked and RewindEnded facts in order. A rewind
    continues the branch as it was at the position rewound to (so a rewind can be rewound);
    a fork begins with its parent's branch, and goes back into it. Oldest stretch first.
    """
    stretches: list[Stretch] = []
    while True:
        turning = _last(turns_of(session), upto)
        after = turning.position if turning else 0
        if upto > after:
            stretches.append(Stretch(session, after, upto))
        if turning is None:
            return tuple(reversed(stretches))
        if isinstance(turning.fact, SessionForked):
            session, upto = turning.fact.parent, min(turning.fact.position, turning.position - 1)
        elif isinstance(turning.fact, RewindEnded):
            upto = min(turning.fact.to, turning.position - 1)
            while begun := _begun_after(turns_of(session), upto):
                session = begun.parent


def effective(
    log: Iterable[Recorded], session: str, upto: Position | None = None
) -> list[Recorded]:
    """The facts that make up what a session knows, of a whole log, in order."""
    kept = list(log)
    last = upto if upto is not None else max((r.position for r in kept), default=0)

    def turns_of(name: str) -> list[Recorded]:
        return [r for r in kept if r.session == name and isinstance(r.fact, TURNING)]

    stretches = branch(session, last, turns_of)
    return [
        r
        for stretch in stretches
        for r in kept
        if r.session == stretch.session and stretch.after < r.position <= stretch.upto
    ]


TURNING = (SessionForked, RewindEnded)
"""The kinds of fact at which a branch continues elsewhere."""


def turns_at(fact: Fact) -> bool:
    """Whether a branch continues elsewhere at a fact; at a rewind of files alone it does not."""
    return isinstance(fact, TURNING) and not (isinstance(fact, RewindEnded) and fact.files_only)


def _last(turns: Sequence[Recorded], upto: Position) -> Recorded | None:
    return next((r for r in reversed(turns) if r.position <= upto and turns_at(r.fact)), None)


def _begun_after(turns: Sequence[Recorded], position: Position) -> SessionForked | None:
    """With which fork a session began, where it did not before a position."""
    found = (r.fact for r in turns if r.position > position)
    return next((fact for fact in found if isinstance(fact, SessionForked)), None)
