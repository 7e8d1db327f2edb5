"""Append messages: each behind the newest one, in one transaction with its pictures."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sightline.changes.session_context import SessionContext
from sightline.conversation.formats.format import FORMATS, ORDER, describe_mismatch
from sightline.conversation.formats.parts import Part, parts_of
from sightline.conversation.message_chain import Tip, find_tip
from sightline.conversation.message_codec import NOT_RECORDED, check_structure, encode
from sightline.errors import StoreConflict
from sightline.model.events import MessageAppended
from sightline.model.revision import revision_of

TRIES = 50
"""Attempts to append while others write at the same time, before waiting for a lock."""


def append_newest(
    context: SessionContext,
    message: Any,
    known: Tip | None,
    *,
    side: str,
    root: str | None,
    at: int | None,
) -> Tip:
    """Append a message behind the newest one, whoever wrote that; return the new tip. known: the
    tip as of an earlier position. ValueError."""
    tip = known or find_tip(context, side, None)
    for _ in range(TRIES):
        try:
            return append_behind(context, message, tip, side=side, root=root, at=at)
        except StoreConflict:
            tip = find_tip(context, side, tip)
    with context.workspace.lock(f"conversation of {context.session}"):
        tip = find_tip(context, side, tip)
        return append_behind(context, message, tip, side=side, root=root, at=at)


def append_behind(
    context: SessionContext, message: Any, tip: Tip, *, side: str, root: str | None, at: int | None
) -> Tip:
    """Append a message behind a tip; return the new tip. root: parent of the first message of a
    side chain; at: UTC microseconds. ValueError, and nothing recorded, for a message that does not
    fit this conversation; StoreConflict when the session went on after the tip."""
    formats, parts = _formats_of(message, tip.formats)
    role = FORMATS[formats[0]].adapter.role(message)
    if role == "user" and all(part.kind == "result" for part in parts):
        role = "tool"
    parent = tip.message or root
    encoded = encode(message, parent)
    blobs = [encoded.text, *encoded.media]
    text, *media = map(revision_of, blobs)
    fact = MessageAppended(encoded.id, parent, role, text, side, formats, tuple(media))
    [recorded] = context.store.append(
        context.session,
        [fact],
        at=context.clock(),
        happened_at=at,
        blobs=dict(zip([text, *media], blobs, strict=True)),
        column=tip.position,
    )
    return Tip(recorded.position, encoded.id, formats)


def microseconds(at: datetime) -> int:
    """Convert an aware time to UTC microseconds since 1970. ValueError."""
    if at.tzinfo is None:
        raise ValueError(f"{at} does not say in which time zone; give an aware time")
    return round(at.timestamp() * 1_000_000)


def _formats_of(message: Any, before: tuple[str, ...]) -> tuple[tuple[str, ...], list[Part]]:
    """Return the formats that fit a message and the messages before it, and the message's parts in
    the first of these formats. ValueError."""
    if not isinstance(message, dict):
        kind = type(message).__name__
        raise ValueError(  # noqa: TRY004 - as for any other message of no format
            f"a message is a mapping, as its provider has it in JSON, not {kind}. {NOT_RECORDED}"
        )
    check_structure(message)
    formats: list[str] = []
    first: list[Part] = []
    for name in before or ORDER:
        try:
            parts = parts_of(FORMATS[name].adapter, 0, message)
        except ValueError:
            continue
        first = first if formats else parts
        formats.append(name)
    if not formats:
        raise ValueError(f"the message is {describe_mismatch(message, before)}. {NOT_RECORDED}")
    return tuple(formats), first
