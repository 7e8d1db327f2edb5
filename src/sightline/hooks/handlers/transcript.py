"""Read on in a conversation's transcript, and record the events that no hook reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from sightline.agents.hook_events import Event, Shown
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext
from sightline.errors import PathRefused
from sightline.hooks.dispatch import attend
from sightline.hooks.handlers.fork_history import add_beneath
from sightline.model.events import Imported
from sightline.model.projections import Knowledge

Unhooked = Callable[[int, int], tuple[list[Event], int]]
"""(offset, before) -> the events from there on, and the next offset; see Dialect.unhooked."""

RECENT = 16
"""Imports of a session that are looked through; a conversation stays in one transcript."""

ALL = "all"
"""The digest of a mark in a transcript that began before the first hook of its session."""


class Mark(Struct, frozen=True):
    """The place where the next reading of a transcript begins.

    offset: in bytes. all_of_it: rows from before the session's first hook count, too. Clients write
    such rows late, also after newer rows.
    """

    offset: int = 0
    all_of_it: bool = False


def mark_of(session: Session, transcript: str) -> Mark:
    """Return the place where the next reading of a transcript begins; at first the beginning of the
    file."""
    source = f"transcript:{transcript}@"
    store = session._context.store  # noqa: SLF001 - a verb like the session's own
    newest = list(store.timeline(session=session.id, kinds=[Imported], newest=RECENT))
    for recorded in reversed(newest):
        fact = recorded.fact
        if isinstance(fact, Imported) and fact.source.startswith(source):
            return Mark(int(fact.source.removeprefix(source)), fact.digest == ALL)
    return Mark()


def record_mark(session: Session, transcript: str, offset: int, *, all_of_it: bool) -> None:
    """Record the place where the next reading of a transcript begins."""
    fact = Imported(f"transcript:{transcript}@{offset}", ALL if all_of_it else "")
    session._context.append([fact])  # noqa: SLF001 - as above


def reconcile(session: Session, transcript: str, unhooked: Unhooked) -> int:
    """Record what the transcript shows since the last reading; return the number of events.

    A reading of a file that is older than the session's newest fact about the file is left out. A
    reading from before the session began goes beneath its knowledge (fork_history).
    """
    with session._lock:  # noqa: SLF001 - as above
        mark = mark_of(session, transcript)
        state = session._context.store.session(session.id) if mark.all_of_it else None  # noqa: SLF001
        began = state.started if state else 0
        events, offset = unhooked(mark.offset, began)
        if events:
            _attend_all(session, events, began)
        if offset != mark.offset:
            record_mark(session, transcript, offset, all_of_it=mark.all_of_it)
        return len(events)


def _attend_all(session: Session, events: Sequence[Event], began: int) -> None:
    context = session._context  # noqa: SLF001 - as above
    known = context.store.known(session.id)
    earlier: dict[str, list[Shown]] = {}
    for event in events:
        knowledge = _knowledge_of(context, event, known)
        if knowledge is None or not isinstance(event, Shown) or event.at is None:
            attend(session, event)
        elif event.at < began:
            earlier.setdefault(knowledge.path, []).append(event)
        elif event.at >= max(knowledge.last_read, knowledge.last_agent_edit or 0):
            attend(session, event)
    for path, shown in earlier.items():
        add_beneath(context, path, shown)


def _knowledge_of(
    context: SessionContext, event: Event, known: Mapping[str, Knowledge]
) -> Knowledge | None:
    """Return the session's knowledge of an event's file before this reading of the transcript."""
    if not isinstance(event, Shown):
        return None
    try:
        return known.get(context.workspace.locate(event.path).path)
    except PathRefused:
        return None
