"""Resolve points in time: positions, times, lengths of time and checkpoints."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from sightline.changes.session_context import SessionContext
from sightline.checkpoints import take
from sightline.errors import Hint, NextCall, UnknownName
from sightline.model.events import ASKED, CheckpointTaken
from sightline.model.results import Checkpoint
from sightline.model.session_ids import AT_SHELL, NOBODY
from sightline.model.timeline import Since, newest_first
from sightline.model.units import duration_us, moment
from sightline.model.validation import NUMBER_MAX

When = int | str | datetime | Checkpoint | None
SinceWhen = int | str | datetime | timedelta


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TimeToCome(ValueError):
    """A text names a time after now."""


def position_of(context: SessionContext, when: When) -> int:
    """Return the last position before a point in time: a position, a time, a checkpoint, its id or
    label; None for this session's last checkpoint that somebody asked for (where no agent's session asks,
    the workspace's last one), else its start.
    UnknownName; ValueError for a time without a time zone."""
    if isinstance(when, int):
        return _checked_position(when)
    if when is None:
        asked = _asked(context, context.session)
        if take.is_of_workspace(context.session):
            asked = sorted([*_asked(context, NOBODY), *_asked(context, AT_SHELL)])
        first = next(iter(context.store.timeline(session=context.session, limit=1)), None)
        return asked[-1] if asked else first.position if first else 0
    if isinstance(when, datetime):
        return _position_at(context, when)
    return _named(context, when)


def _named(context: SessionContext, when: str | Checkpoint) -> int:
    """Return the position of a checkpoint, also of a dropped one, or of a time. UnknownName."""
    name = when if isinstance(when, str) else when.id
    begun, wrong = None, ""
    try:
        recorded, fact = take.find(context, name)
    except UnknownName as error:
        wrong = error.message
    else:
        if name in (fact.checkpoint, fact.label):
            return recorded.position
        begun = recorded.position  # of a checkpoint whose name begins so
    for each in newest_first(context.store.timeline, kinds=[CheckpointTaken]):
        if take.fact_of(each).checkpoint == name:
            return each.position
    if isinstance(when, str):
        try:
            point = since(name, context.clock())
        except TimeToCome:
            raise
        except ValueError:
            pass
        else:
            return point.position if point.at is None else _position_at(context, moment(point.at))
    if begun is not None:
        return begun
    raise UnknownName(
        f"{wrong} It is not a time either.",
        Hint(
            "Name a checkpoint by its id or label, a position on the timeline (",
            NextCall("workspace.timeline"),
            "), or a time such as 2026-01-31T12:00:00Z.",
        ),
    )


def _asked(context: SessionContext, session: str) -> list[int]:
    """Return the positions of a session's checkpoints that somebody asked for."""
    own = context.store.timeline(session=session, kinds=[CheckpointTaken])
    return [each.position for each in own if take.fact_of(each).why == ASKED]


def _position_at(context: SessionContext, when: datetime) -> int:
    if when.tzinfo is None:
        raise ValueError(f"{when} does not say in which time zone; add one, such as Z")
    return position_at(context, round(when.timestamp() * 1_000_000))


def position_named(context: SessionContext, text: str) -> int | None:
    """Return the last position before a time or a length of time ago, as since() takes it; None for a text
    that is neither. TimeToCome."""
    try:
        begun = since(text, context.clock())
    except TimeToCome:
        raise
    except ValueError:
        return None
    return begun.position if begun.at is None else position_at(context, begun.at)


def position_at(context: SessionContext, until: int) -> int:
    """Return the position of the last fact that was recorded until a time in UTC microseconds, by a binary
    search."""
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
    without a zone in the reader's own), a time of day ("12:30", the last one that was) or a length of time
    before now (a timedelta, "2h").
    now_us: UTC microseconds. ValueError; TimeToCome for a text with a time after now."""
    if isinstance(when, str):
        return _parse(when.strip(), now_us)
    if isinstance(when, timedelta):
        return Since(at=now_us - when // timedelta(microseconds=1))
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise ValueError(f"{when!r} has no time zone")
        return Since(at=(when - EPOCH) // timedelta(microseconds=1))
    return Since(position=_checked_position(when))


def _checked_position(position: int) -> int:
    if not 0 <= position <= NUMBER_MAX:
        raise ValueError(f"a position is a number from 0 to {NUMBER_MAX}, not {position}")
    return position


def _parse(text: str, now_us: int) -> Since:
    if text.isascii() and text.isdecimal():
        return Since(position=_checked_position(int(text)))
    try:
        return Since(at=now_us - duration_us(text))
    except ValueError:
        pass  # not a length of time: try a date
    try:
        begun = since(_today(text, now_us) or datetime.fromisoformat(text).astimezone(), now_us)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{text!r} is not a position (42), a length of time (2h), a time of day (12:30) or a date"
            " (2026-01-01)"
        ) from None
    if begun.at is not None and begun.at > now_us:
        raise TimeToCome(f"{text} is still to come")
    return begun


def _today(text: str, now_us: int) -> datetime | None:
    """Return the last moment with a time of day, in the reader's zone; None for a text that is none."""
    try:
        clock = time.fromisoformat(text)
    except ValueError:
        return None
    if ":" not in text or clock.tzinfo is not None:
        return None
    now = datetime.fromtimestamp(now_us / 1_000_000, UTC).astimezone()
    at = datetime.combine(now.date(), clock).astimezone()
    return at if at <= now else datetime.combine(now.date() - timedelta(days=1), clock).astimezone()
