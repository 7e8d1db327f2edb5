"""Moments that files are compared with: a position, a time, a checkpoint."""

from __future__ import annotations

from sightline.core.events import ASKED, CheckpointTaken
from sightline.errors import UnknownName

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Protocol

    from sightline.services.ground import Ground

    class Checkpoint(Protocol):
        """What names a checkpoint."""

        @property
        def id(self) -> str: ...

    When = int | str | datetime | Checkpoint | None


def position_of(ground: Ground, when: When) -> int:
    """The last position that is before a moment. UnknownName, ValueError."""
    if isinstance(when, int):
        return when
    if when is None:
        return _last_checkpoint(ground) or _begin(ground)
    if isinstance(when, str):
        taken = _checkpoint(ground, when) or _labelled(ground, when)
        return taken if taken is not None else _at(ground, _time(when))
    if hasattr(when, "id"):
        taken = _checkpoint(ground, when.id)
        if taken is None:
            raise _no_checkpoint(when.id)
        return taken
    return _at(ground, when)


def _last_checkpoint(ground: Ground) -> int | None:
    """Of those that somebody asked for: those that are taken by themselves come with every turn."""
    taken = [*ground.store.timeline(session=ground.session, kinds=[CheckpointTaken])]
    asked = [r for r in taken if isinstance(r.fact, CheckpointTaken) and r.fact.why == ASKED]
    return asked[-1].position if asked else None


def _begin(ground: Ground) -> int:
    """Where this session's first fact is."""
    return next((each.position for each in ground.store.timeline(session=ground.session)), 0)


def _checkpoint(ground: Ground, id: str) -> int | None:
    """Where the checkpoint of an id was taken, by whichever session."""
    for recorded in ground.store.timeline(kinds=[CheckpointTaken]):
        if isinstance(recorded.fact, CheckpointTaken) and recorded.fact.checkpoint == id:
            return recorded.position
    return None


def _labelled(ground: Ground, label: str) -> int | None:
    """Where the checkpoint of a label was taken, as rewind() understands it."""
    from sightline.services import checkpoints

    try:
        return checkpoints.named(ground, label).position
    except UnknownName:
        return None


def _time(text: str) -> datetime:
    from datetime import datetime

    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise _no_checkpoint(text) from None


def _no_checkpoint(id: str) -> UnknownName:
    return UnknownName(
        f"There is no checkpoint {id}, and it is no time either.",
        "Name a checkpoint by its id or label, a position on the timeline (sightline log), or a"
        " time such as 2026-01-31T12:00:00Z.",
    )


def _at(ground: Ground, when: datetime) -> int:
    """The position of the last fact that was recorded until then."""
    if when.tzinfo is None:
        raise ValueError(f"{when} does not say in which time zone; add one, such as Z")
    until = when.timestamp() * 1_000_000
    before, after = 0, ground.store.position() + 1
    while after - before > 1:
        middle = (before + after) // 2
        [recorded] = ground.store.timeline(after=middle - 1, upto=middle)
        if recorded.recorded_at <= until:
            before = middle
        else:
            after = middle
    return before
