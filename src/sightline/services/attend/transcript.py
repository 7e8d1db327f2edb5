"""How far a conversation's transcript was read: what no hook tells of is found there."""

from __future__ import annotations

from sightline.core.events import Imported
from sightline.core.value import Value
from sightline.errors import PathRefused
from sightline.services.attend import Shown, attend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sightline.core.context import Knowledge
    from sightline.services.attend import Event
    from sightline.services.ground import Ground
    from sightline.services.session import Session

    Unhooked = Callable[[int, int], tuple[list[Event], int]]

RECENT = 16
"""Imports of a session that are looked through; a conversation goes on in one transcript."""

ALL = "all"
"""The digest of a mark of a transcript that began before any hook told of it."""


class Mark(Value):
    """Where to go on reading, in bytes. all_of_it: what is older there than the session was told
    of by no hook. Clients write such rows whenever they come to it, also behind newer ones."""

    offset: int = 0
    all_of_it: bool = False


def mark_of(session: Session, transcript: str) -> Mark:
    """How far this session's transcript was read; its beginning when it never was."""
    source = _source(transcript)
    store = session._ground.store  # noqa: SLF001 - a verb like the session's own
    newest = list(store.timeline(session=session.id, kinds=[Imported], newest=RECENT))
    for recorded in reversed(newest):
        fact = recorded.fact
        if isinstance(fact, Imported) and fact.source.startswith(source):
            return Mark(int(fact.source.removeprefix(source)), fact.digest == ALL)
    return Mark()


def reached(session: Session, transcript: str, offset: int, *, all_of_it: bool = False) -> None:
    """Record how far a transcript was read."""
    fact = Imported(f"{_source(transcript)}{offset}", ALL if all_of_it else "")
    session._ground.append([fact])  # noqa: SLF001 - as above


def reconcile(session: Session, transcript: str, unhooked: Unhooked) -> int:
    """Take over what the transcript shows since it was last read; how many events there were.

    unhooked: (offset, before) -> the events from there on, and where to go on from; see
    Dialect.unhooked. What was shown before this session's newest fact on that file is behind it,
    and left out.
    """
    with session._lock:  # noqa: SLF001 - as above
        store = session._ground.store  # noqa: SLF001 - as above
        mark = mark_of(session, transcript)
        state = store.session(session.id) if mark.all_of_it else None
        events, offset = unhooked(mark.offset, state.started if state else 0)
        known = store.known(session.id) if events else {}
        for event in events:
            if not _is_behind(session._ground, event, known):  # noqa: SLF001 - as above
                attend(session, event)
        if offset != mark.offset:
            reached(session, transcript, offset, all_of_it=mark.all_of_it)
        return len(events)


def _is_behind(ground: Ground, event: Event, known: Mapping[str, Knowledge]) -> bool:
    if not isinstance(event, Shown) or event.at is None:
        return False
    try:
        of_it = known.get(ground.workspace.locate(event.path).path)
    except PathRefused:
        return False
    return of_it is not None and event.at < max(of_it.last_read, of_it.last_agent_edit or 0)


def _source(transcript: str) -> str:
    return f"transcript:{transcript}@"
