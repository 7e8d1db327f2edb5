"""What a fact means for the rows kept beside the timeline: paths it names, intents it settles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from sightline.errors import StoreConflict
from sightline.model.events import (
    Changed,
    EnvironmentSeen,
    Fact,
    ModelUsed,
    Moved,
    RewindEnded,
    RewindStarted,
    SessionEnded,
    SessionForked,
    SessionStarted,
    TurnBegan,
    WriteAbandoned,
    WriteIntended,
)
from sightline.model.projections import Knowledge
from sightline.model.timeline import Recorded, archived

COLUMN_FACTS = (
    *(SessionStarted, SessionForked, SessionEnded),
    *(TurnBegan, ModelUsed, EnvironmentSeen),
)
"""Facts that change more of a session's column than its newest position."""

KNOWING = ("Seen", "Dropped", "NoticeAcknowledged", "Changed", "Moved")
"""Kinds that model.projections.know steps by; a branch is folded from these alone."""


def paths_of(fact: Fact) -> tuple[str, ...]:
    """Every path a fact names, each once; its own `path` first."""
    single, several = _naming(type(fact))
    named = [getattr(fact, field) for field in single]
    for field in several:
        named += getattr(fact, field)
    return tuple(dict.fromkeys([path for path in named if path is not None]))


def pends(recorded: Recorded) -> bool:
    """Whether this begins something that has to come to an end: a write, a rewind."""
    fact = recorded.fact
    if isinstance(fact, RewindStarted):
        return bool(fact.owner) and not archived(recorded.session)
    return isinstance(fact, WriteIntended)


def settled(fact: Fact, intents: Mapping[int, Recorded], session: str) -> Iterable[int]:
    """Positions of the pending intents that a fact of a session settles: the one it names, those
    whose very bytes it reports at their path, and at its end all rewinds of the session. An
    archive reports of another time."""
    if archived(session):
        return ()
    if isinstance(fact, RewindEnded):
        return {
            position
            for position, begun in intents.items()
            if isinstance(begun.fact, RewindStarted) and begun.session == session
        }
    if not isinstance(fact, (Changed, Moved, WriteAbandoned)):
        return ()
    named = {fact.intent} if fact.intent is not None and fact.intent in intents else set()
    if isinstance(fact, Changed):
        for position, intent in intents.items():
            begun = intent.fact
            if isinstance(begun, WriteIntended) and begun.path == fact.path:
                named |= {position} if begun.after == fact.after else set()
    return named


def check_expected(states: Mapping[str, Knowledge | None], expect: Mapping[str, int]) -> None:
    """StoreConflict when a row that a decision was made on has been moved since."""
    for path, position in expect.items():
        state = states.get(path)
        found = state.position if state else 0
        if found != position:
            raise StoreConflict(
                f"What this session knows of {path} was changed by another process: it stood at"
                f" position {position}, now at {found}. Nothing was recorded.",
                "Read the file again and decide again.",
            )


def went_on(session: str, column: int) -> StoreConflict:
    """What is raised where a session has facts behind the position that was decided on."""
    return StoreConflict(
        f"Another process went on with session {session} after position {column}."
        " Nothing was recorded.",
        "Look at what came since and decide again.",
    )


@cache
def _naming(kind: type[Fact]) -> tuple[list[str], list[str]]:
    """Fields of a kind that name one path, and those that name several."""
    fields = kind.__struct_fields__
    order = ("path", "src", "name")
    single = sorted(set(order) & set(fields), key=order.index)
    return single, [field for field in fields if field in ("paths", "files")]
