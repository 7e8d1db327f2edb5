"""How far a conversation's transcript was read: what no hook tells of is found there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from sightline.agents.hook_events import Event, Shown
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext
from sightline.errors import PathRefused
from sightline.hooks.dispatch import attend
from sightline.hooks.handlers.fork_history import put_beneath
from sightline.model.events import Imported
from sightline.model.projections import Knowledge

Unhooked = Callable[[int, int], tuple[list[Event], int]]

RECENT = 16
"""Imports of a session that are looked through; a conversation goes on in one transcript."""

ALL = "all"
"""The digest of a mark of a transcript that began before any hook told of it."""


class Mark(Struct, frozen=True):
    """Where to go on reading, in bytes. all_of_it: what is older there than the session was told
    of by no hook. Clients write such rows whenever they come to it, also behind newer ones."""

    offset: int = 0
    all_of_it: bool = False


def mark_of(session: Session, transcript: str) -> Mark:
    """How far this session's transcript was read; its beginning when it never was."""
    source = _source(transcript)
    store = session._context.store  # noqa: SLF001 - a verb like the session's own
    newest = list(store.timeline(session=session.id, kinds=[Imported], newest=RECENT))
    for recorded in reversed(newest):
        fact = recorded.fact
        if isinstance(fact, Imported) and fact.source.startswith(source):
            return Mark(int(fact.source.removeprefix(source)), fact.digest == ALL)
    return Mark()


def reached(session: Session, transcript: str, offset: int, *, all_of_it: bool = False) -> None:
    """Record how far a transcript was read."""
    fact = Imported(f"{_source(transcript)}{offset}", ALL if all_of_it else "")
    session._context.append([fact])  # noqa: SLF001 - as above


def reconcile(session: Session, transcript: str, unhooked: Unhooked) -> int:
    """Take over what the transcript shows since it was last read; how many events there were.

    unhooked: (offset, before) -> the events from there on, and where to go on from; see
    Dialect.unhooked. What was shown of a file before this session's newest fact on it is behind
    that, and left out; what was shown before the session began goes beneath.
    """
    with session._lock:  # noqa: SLF001 - as above
        store = session._context.store  # noqa: SLF001 - as above
        mark = mark_of(session, transcript)
        state = store.session(session.id) if mark.all_of_it else None
        began = state.started if state else 0
        events, offset = unhooked(mark.offset, began)
        if events:
            _take(session, events, began)
        if offset != mark.offset:
            reached(session, transcript, offset, all_of_it=mark.all_of_it)
        return len(events)


def _take(session: Session, events: Sequence[Event], began: int) -> None:
    ground = session._context  # noqa: SLF001 - as above
    known = ground.store.known(session.id)
    earlier: dict[str, list[Shown]] = {}
    for event in events:
        of_it = _known(ground, event, known)
        if of_it is None or not isinstance(event, Shown) or event.at is None:
            attend(session, event)
        elif event.at < began:
            earlier.setdefault(of_it.path, []).append(event)
        elif event.at >= max(of_it.last_read, of_it.last_agent_edit or 0):
            attend(session, event)
    for path, shown in earlier.items():
        put_beneath(ground, path, shown)


def _known(
    ground: SessionContext, event: Event, known: Mapping[str, Knowledge]
) -> Knowledge | None:
    """What was known of an event's file when the transcript was come to."""
    if not isinstance(event, Shown):
        return None
    try:
        return known.get(ground.workspace.locate(event.path).path)
    except PathRefused:
        return None


def _source(transcript: str) -> str:
    return f"transcript:{transcript}@"
