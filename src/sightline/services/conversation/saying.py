"""Messages that are appended: each behind the one before, in one transaction with its pictures."""

from __future__ import annotations

from sightline.core.events import MessageAppended
from sightline.core.formats import FORMATS, ORDER
from sightline.core.formats.parts import is_of, parts_of
from sightline.core.revision import revision_of
from sightline.render import conversation as words
from sightline.services.conversation.chain import Tip
from sightline.services.conversation.stored import check_depth, media_of, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from sightline.core.formats.parts import Part
    from sightline.services.ground import Ground


def say(
    ground: Ground, message: Any, tip: Tip, *, side: str, root: str | None, at: int | None
) -> Tip:
    """Put a message behind a tip; the new one. root: what the first of a side is tied to.
    ValueError, and nothing recorded, where it cannot be one of this conversation."""
    formats, parts = read_as(message, tip.formats)
    role = FORMATS[formats[0]].adapter.role(message)
    if role == "user" and all(part.kind == "result" for part in parts):
        role = "tool"  # in whatever message a format puts results
    parent = tip.message or root
    kept = stored(message, parent)
    fact = MessageAppended(
        kept.id, parent, role, revision_of(kept.text), side, formats, media_of(kept)
    )
    now = ground.clock()
    [recorded] = ground.store.append(
        ground.session, [fact], at=now, happened_at=at, blobs=[kept.text, *kept.media]
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
