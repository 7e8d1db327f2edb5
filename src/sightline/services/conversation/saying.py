"""Messages that are appended: each behind the one before, in one transaction with its pictures."""

from __future__ import annotations

from sightline.core.events import MessageAppended
from sightline.core.formats import FORMATS, ORDER
from sightline.core.formats.parts import parts_of
from sightline.core.revision import revision_of
from sightline.render import conversation as words
from sightline.services.conversation.chain import Tip
from sightline.services.conversation.stored import media_of, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from sightline.services.ground import Ground


def say(
    ground: Ground, message: Any, tip: Tip, *, side: str, root: str | None, at: int | None
) -> Tip:
    """Put a message behind a tip; the new one. root: what the first of a side is tied to.
    ValueError, and nothing recorded, where it cannot be one of this conversation."""
    formats = formats_of(message, tip.formats)
    role = _role(formats[0], message)
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


def _role(format: str, message: Any) -> str:
    """Who says it. tool: nothing but results of calls, in whatever message a format puts them."""
    adapter = FORMATS[format].adapter
    role = adapter.role(message)
    if role == "user" and all(part.kind == "result" for part in adapter.parts(message)):
        return "tool"
    return role


def micros(at: datetime) -> int:
    """A time as UTC microseconds since 1970. ValueError."""
    if at.tzinfo is None:
        raise ValueError(f"{at} does not say in which time zone; give an aware time")
    return round(at.timestamp() * 1_000_000)


def formats_of(message: Any, before: tuple[str, ...]) -> tuple[str, ...]:
    """Of which formats a message may be, of those that the messages before it may be of.
    ValueError."""
    if not isinstance(message, dict):  # a ValueError, as for any other message that is none
        raise ValueError(words.no_mapping(type(message).__name__))  # noqa: TRY004
    left = tuple(name for name in before or ORDER if _is_of(name, message))
    if not left:
        others = [name for name in ORDER if _is_of(name, message)]
        raise ValueError(words.no_format(message, before, others))
    return left


def _is_of(name: str, message: Any) -> bool:
    try:
        parts_of(FORMATS[name].adapter, 0, message)
    except ValueError:
        return False
    return True
