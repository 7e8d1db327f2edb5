"""Moments that files are compared with: a position, a time, a checkpoint."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.checkpoints import take
from sightline.errors import UnknownName
from sightline.model.events import ASKED, CheckpointTaken
from sightline.model.results import Checkpoint
from sightline.model.units import duration_us

When = int | str | datetime | Checkpoint | None
SinceWhen = int | str | datetime | timedelta


def position_of(context: SessionContext, when: When) -> int:
    """The last position that is before a moment. UnknownName, ValueError."""
    if isinstance(when, int):
        return when
    if when is None:
        return _last_checkpoint(context) or _begin(context)
    if isinstance(when, str):
        taken = _checkpoint(context, when) or _labelled(context, when)
        return taken if taken is not None else _at(context, _time(when))
    if isinstance(when, Checkpoint):
        taken = _checkpoint(context, when.id)
        if taken is None:
            raise _no_checkpoint(when.id)
        return taken
    return _at(context, when)


def _last_checkpoint(context: SessionContext) -> int | None:
    """Of those that somebody asked for: those that are taken by themselves come with every turn."""
    taken = [*context.store.timeline(session=context.session, kinds=[CheckpointTaken])]
    asked = [r for r in taken if isinstance(r.fact, CheckpointTaken) and r.fact.why == ASKED]
    return asked[-1].position if asked else None


def _begin(context: SessionContext) -> int:
    """Where this session's first fact is."""
    return next((each.position for each in context.store.timeline(session=context.session)), 0)


def _checkpoint(context: SessionContext, id: str) -> int | None:
    """Where the checkpoint of an id was taken, by whichever session."""
    for recorded in context.store.timeline(kinds=[CheckpointTaken]):
        if isinstance(recorded.fact, CheckpointTaken) and recorded.fact.checkpoint == id:
            return recorded.position
    return None


def _labelled(context: SessionContext, label: str) -> int | None:
    """Where the checkpoint of a label was taken, as rewind() understands it."""
    try:
        return take.named(context, label).position
    except UnknownName:
        return None


def _time(text: str) -> datetime:
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


def _at(context: SessionContext, when: datetime) -> int:
    """The position of the last fact that was recorded until then."""
    if when.tzinfo is None:
        raise ValueError(f"{when} does not say in which time zone; add one, such as Z")
    until = when.timestamp() * 1_000_000
    before, after = 0, context.store.position() + 1
    while after - before > 1:
        middle = (before + after) // 2
        [recorded] = context.store.timeline(after=middle - 1, upto=middle)
        if recorded.recorded_at <= until:
            before = middle
        else:
            after = middle
    return before


class Since(Struct, frozen=True):
    """From where on. position: facts behind it; at: facts that happened then or later, UTC
    microseconds, None for any time."""

    position: int = 0
    at: int | None = None


ALWAYS = Since()

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def since(when: SinceWhen, now_us: int) -> Since:
    """What stands behind a position (42), or happened since a time (an aware datetime,
    "2026-01-01", "2026-01-01T12:00+02:00"; without a zone the reader's own) or within a length of
    time (a timedelta, "2h"). ValueError."""
    if isinstance(when, str):
        return _read(when.strip(), now_us)
    if isinstance(when, timedelta):
        return Since(at=now_us - when // timedelta(microseconds=1))
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise ValueError(f"{when!r} has no time zone")
        return Since(at=(when - EPOCH) // timedelta(microseconds=1))
    if when < 0:
        raise ValueError(f"a position is 0 or more, not {when}")
    return Since(position=when)


def _read(text: str, now_us: int) -> Since:
    if text.isascii() and text.isdecimal():
        return Since(position=int(text))
    try:
        return Since(at=now_us - duration_us(text))
    except ValueError:
        pass  # then it is a date
    try:
        return since(datetime.fromisoformat(text).astimezone(), now_us)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{text!r} is no position (42), no length of time (2h) and no date (2026-01-01)"
        ) from None
