"""Resolve points in time: positions, times, lengths of time and checkpoints."""

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


class Since(Struct, frozen=True):
    """A start on the timeline. position: facts after it count; at: facts that happened then or
    later count, in UTC microseconds, None for any time."""

    position: int = 0
    at: int | None = None


ALWAYS = Since()

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def position_of(context: SessionContext, when: When) -> int:
    """Return the last position before a point in time: a position, a time, a checkpoint, its id or
    label; None for this session's last checkpoint that somebody asked for, else its start.
    UnknownName; ValueError for a time without a time zone."""
    if isinstance(when, int):
        return when
    if when is None:
        own = [*context.store.timeline(session=context.session, kinds=[CheckpointTaken])]
        asked = [each.position for each in own if take.fact_of(each).why == ASKED]
        first = next(iter(context.store.timeline(session=context.session, oldest=1)), None)
        return asked[-1] if asked else first.position if first else 0
    if isinstance(when, datetime):
        return _position_at(context, when)
    name = when if isinstance(when, str) else when.id
    try:
        return take.find(context, name)[0].position
    except UnknownName:
        pass
    for recorded in take.newest_first(context, [CheckpointTaken]):  # dropped ones, too
        if take.fact_of(recorded).checkpoint == name:
            return recorded.position
    if isinstance(when, str):
        try:
            time = datetime.fromisoformat(name)
        except ValueError:
            pass
        else:
            return _position_at(context, time)
    raise UnknownName(
        f"There is no checkpoint {name}, and it is no time either.",
        "Name a checkpoint by its id or label, a position on the timeline (workspace.timeline()), or a"
        " time such as 2026-01-31T12:00:00Z.",
    )


def _position_at(context: SessionContext, when: datetime) -> int:
    """Return the position of the last fact that was recorded until a time, by a binary search."""
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


def since(when: SinceWhen, now_us: int) -> Since:
    """Parse a position (42), a time (an aware datetime, "2026-01-01", "2026-01-01T12:00+02:00";
    without a zone in the reader's own) or a length of time before now (a timedelta, "2h").
    now_us: UTC microseconds. ValueError."""
    if isinstance(when, str):
        return _parse(when.strip(), now_us)
    if isinstance(when, timedelta):
        return Since(at=now_us - when // timedelta(microseconds=1))
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise ValueError(f"{when!r} has no time zone")
        return Since(at=(when - EPOCH) // timedelta(microseconds=1))
    if when < 0:
        raise ValueError(f"a position is 0 or more, not {when}")
    return Since(position=when)


def _parse(text: str, now_us: int) -> Since:
    if text.isascii() and text.isdecimal():
        return Since(position=int(text))
    try:
        return Since(at=now_us - duration_us(text))
    except ValueError:
        pass  # not a length of time: try a date
    try:
        return since(datetime.fromisoformat(text).astimezone(), now_us)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{text!r} is no position (42), no length of time (2h) and no date (2026-01-01)"
        ) from None
