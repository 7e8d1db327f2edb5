"""Messages that are appended: each behind the one before, in one transaction with its pictures."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sightline.changes.session_context import SessionContext
from sightline.conversation import words
from sightline.conversation.formats.format import FORMATS, ORDER
from sightline.conversation.formats.parts import Part, is_of, parts_of
from sightline.conversation.message_chain import Tip, tip
from sightline.conversation.message_codec import check_depth, media_of, stored
from sightline.errors import StoreConflict
from sightline.model.events import MessageAppended
from sightline.model.revision import named

TRIES = 50
"""How often a message is put behind a newer one when others write at once, before it waits for
its turn."""


def say_behind(
    ground: SessionContext,
    message: Any,
    known: Tip | None,
    *,
    side: str,
    root: str | None,
    at: int | None,
) -> Tip:
    """Put a message behind the newest one, whoever said that; the new tip. known: as of an earlier
    position. ValueError."""
    end = known or tip(ground, side, None)
    for _ in range(TRIES):
        try:
            return say(ground, message, end, side=side, root=root, at=at)
        except StoreConflict:
            end = tip(ground, side, end)
    with ground.workspace.lock(f"conversation of {ground.session}"):
        return say(ground, message, tip(ground, side, end), side=side, root=root, at=at)


def say(
    ground: SessionContext, message: Any, end: Tip, *, side: str, root: str | None, at: int | None
) -> Tip:
    """Put a message behind a tip; the new one. root: what the first of a side is tied to.
    ValueError, and nothing recorded, where it cannot be one of this conversation; StoreConflict
    where the session went on since."""
    formats, parts = read_as(message, end.formats)
    role = FORMATS[formats[0]].adapter.role(message)
    if role == "user" and all(part.kind == "result" for part in parts):
        role = "tool"  # in whatever message a format puts results
    parent = end.message or root
    kept = stored(message, parent)
    texts = named([kept.text, *kept.media])
    [text, *_] = texts
    fact = MessageAppended(kept.id, parent, role, text, side, formats, media_of(kept))
    now = ground.clock()
    [recorded] = ground.store.append(
        ground.session,
        [fact],
        at=now,
        happened_at=at,
        blobs=texts,
        column=end.position,
    )
    return Tip(recorded.position, kept.id, formats)


def micros(at: datetime) -> int:
    """A time as UTC microseconds since 1970. ValueError."""
    if at.tzinfo is None:
        raise ValueError(f"{at} does not say in which time zone; give an aware time")
    return round(at.timestamp() * 1_000_000)


def read_as(message: Any, before: tuple[str, ...]) -> tuple[tuple[str, ...], list[Part]]:
    """Of which formats a message may be, of those that the messages before it may be of, and its
    parts in the first. ValueError."""
    if not isinstance(message, dict):  # a ValueError, as for any other message that is none
        raise ValueError(words.no_mapping(type(message).__name__))  # noqa: TRY004
    check_depth(message)
    plain = isinstance(message.get("content"), str) and message.keys() == {"role", "content"}
    found: list[str] = []
    first: list[Part] = []
    for name in before or ORDER:
        if found and plain:  # there is nothing in it that another could not read
            if is_of(FORMATS[name].adapter, message):
                found.append(name)
        elif (parts := _parts(name, message)) is not None:
            first = first if found else parts
            found.append(name)
    if not found:
        others = [name for name in ORDER if _parts(name, message) is not None]
        raise ValueError(words.no_format(message, before, others))
    return tuple(found), first


def _parts(name: str, message: Any) -> list[Part] | None:
    try:
        return parts_of(FORMATS[name].adapter, 0, message)
    except ValueError:
        return None
