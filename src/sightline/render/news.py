"""What happened, as lines for a terminal: when, whose deed it was, what, and to which file."""

from __future__ import annotations

from sightline.core.revision import MISSING
from sightline.render.causes import by, did, to_person
from sightline.render.cells import cells, cut, line, middle, padded, steady
from sightline.render.views import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from sightline.core.events import Cause
    from sightline.render.cells import Line
    from sightline.render.log import Told

    class Happened(Told, Protocol):
        """A fact with its time (services.entries.Entry)."""

        @property
        def at(self) -> int: ...

    Clock = Callable[[int], str]
    """Microseconds as HH:MM:SS on the reader's wall."""

NAMED_IN_FULL = 12
"""Ids up to this length are told whole; of longer ones, such as a UUID, the first eight letters."""


STYLES = {"fresh": "good", "unseen": "good", "merged": "good", "refused": "bad", "deleted": "bad"}
"""A state, or what happened -> how it looks; every other word is to be looked at."""


def news(events: Sequence[Happened], width: int, clock: Clock) -> list[Line]:
    room = max((cells(_subject(each)) for each in events), default=0)
    return [_event(each, min(room, max(width // 4, 8)), width, clock) for each in events]


def _event(entry: Happened, room: int, width: int, clock: Clock) -> Line:
    what = _what(entry)
    at = f"{clock(entry.at)}  "
    left = max(width - cells(at) - room - 2 - WHAT - 1, 0)
    path = steady(entry.path or "")
    about = steady(_about(entry))
    if path and about:
        fit = middle(path, max(left - cells(about) - 2, left // 2))
        text = cut(f"{fit}  {about}", left)
    else:
        text = middle(path, left) or cut(about, left)
    subject = padded(_subject(entry), room)
    style = STYLES.get(what, "look" if what in _TO_LOOK_AT else "")
    return line((at, "dim"), (f"{subject}  ", ""), (padded(what, WHAT), style), (f" {text}", ""))


WHAT = 9
"""Cells of the longest word of what happened."""

_TO_LOOK_AT = ("changed", "renamed", "created", "git", "warning", "sight lost", "not kept")


def _subject(entry: Happened) -> str:
    """Whose deed it was; "" is nobody's who has a session here."""
    return session_name(entry.session) if entry.session and _own(entry) else ""


def _own(entry: Happened) -> bool:
    return entry.cause.who == entry.session


def _what(entry: Happened) -> str:
    if entry.kind == "changed" and entry.before == MISSING:
        return "created"
    if entry.kind == "changed" and _own(entry) and entry.cause.kind == "agent":
        return "edited"
    return _OWN.get(entry.fact) or _DEEDS.get(entry.kind, entry.kind.replace("_", " "))


_DEEDS = {"session": "began", "forked": "began", "moved": "renamed", "sight_lost": "sight lost"}

_OWN = {"CheckpointTaken": "kept", "CheckpointMissed": "not kept", "CheckpointDropped": "let go"}
"""Facts that share a kind with others and are told apart."""


def _about(entry: Happened) -> str:
    """What there is to say beside who, what and which file."""
    if entry.kind == "session":
        parent = entry.cause.detail
        return f"{entry.agent}{f', started by {session_name(parent)}' if parent else ''}"
    if entry.kind == "moved":
        return f"was {entry.src}"
    if entry.kind in ("changed", "deleted"):
        own = _own(entry) and entry.cause.kind == "agent"
        return "" if own else by_whom(entry.cause)
    if entry.kind == "git":
        return f"{did(entry.cause)}, {count(len(entry.paths), 'file')}: {', '.join(entry.paths)}"
    if entry.kind == "refused":
        return reason_of(entry)
    return "" if entry.kind == "merged" else entry.cause.detail or ""


def reason_of(entry: Happened) -> str:
    reason = entry.cause.detail or ""
    return _REASONS.get(reason, reason.replace("_", " "))


_REASONS = {
    "stale": "its lines changed since",
    "unseen": "it was never shown",
    "not_found": "text not found",
    "conflict": "rewrites others' change",
    "deleted": "it was deleted",
    "exists": "exists already",
    "ambiguous": "text stands there twice",
    "scope": "needs approval",
    "claimed": "another agent claims it",
}
"""Why an attempt was refused, in a few words."""


def session_name(id: str) -> str:
    """A session's id, short enough for a column: of a sub-agent its own name, behind a "/"."""
    head, _, own = steady(id).partition("/")
    return own or (head if len(head) <= NAMED_IN_FULL else head[:8])


def by_whom(made: Cause) -> str:
    """By whom a file was changed, as the person says it who looks at this view."""
    return by(to_person(made, session_name(made.who or ""), session_name(made.detail or "")))
