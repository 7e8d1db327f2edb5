"""A point in the past as people and programs name it: a position, a time, or how long ago."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sightline.core.amounts import duration_us
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    When = int | str | datetime | timedelta


class Since(Value):
    """From where on. position: facts behind it; at: facts that happened then or later, UTC
    microseconds, None for any time."""

    position: int = 0
    at: int | None = None


ALWAYS = Since()

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def since(when: When, now_us: int) -> Since:
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
