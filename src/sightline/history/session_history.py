"""The timeline and all sessions, for people.

The SessionContext here may have an empty session: looking at others starts no session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Literal

from msgspec import Struct, structs

from sightline.changes.command_texts import worded
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import plain_title
from sightline.config.settings import Settings
from sightline.filesystem.port import Workspace
from sightline.filesystem.process import owner
from sightline.model.events import Cause
from sightline.model.log_entries import FACT_KINDS, Entry, facts_of, readable_entry
from sightline.model.projections import SessionState
from sightline.model.session_ids import LAST_SESSIONS
from sightline.model.timeline import ALWAYS, Recorded, Since
from sightline.model.units import moment
from sightline.sessions.presence import presence, present_sessions
from sightline.store.port import Store, Views


class SessionSummary(Struct, frozen=True):
    """A session. turn: its newest; model: the one that it used last; parent: the session that
    started it; name: its title, None where it has none; files: number of files that it was shown.
    presence: present, gone or ended, since then; last_sign: of its agent's life; holder: the process that
    holds it, "machine:pid:start"; these are None where nobody asked. Times are aware UTC datetimes.

    id, agent: as others name it; started, ended: its beginning and its end.
    """

    id: str
    agent: str
    turn: int
    started: datetime
    ended: datetime | None
    model: str | None
    parent: str | None
    name: str | None
    files: int
    presence: Literal["present", "gone", "ended"] | None = None
    since: datetime | None = None
    last_sign: datetime | None = None
    holder: str | None = None

    @property
    def present(self) -> bool | None:
        """True while its agent is present: the session has not ended, and its process lives."""
        return None if self.presence is None else self.presence == "present"


class SessionPage(Struct, frozen=True):
    """Some sessions, the present ones first. left_out: number of the other ones."""

    sessions: tuple[SessionSummary, ...]
    left_out: int


class LogQuery(Struct, frozen=True):
    """A selection of the timeline. path: canonical; kinds: words of log_entries.KINDS, None for all;
    newest: only the last N of the selection; upto: only facts up to this position, None for all."""

    path: str | None = None
    session: str | None = None
    since: Since = ALWAYS
    kinds: tuple[str, ...] | None = None
    newest: int | None = None
    upto: int | None = None


def survey(
    store: Store, workspace: Workspace, settings: Settings, clock: Callable[[], int]
) -> SessionContext:
    """Return a context without a session. Unfinished writes of dead processes are recovered first."""
    context = SessionContext("", store, workspace, settings, clock, owner())
    if store.pending():
        from sightline.guard.unfinished import recover_all  # mostly nothing is unfinished

        recover_all(context)
    return context


def agents_of(store: Views) -> Callable[[str], str]:
    """Return a function: session -> the name of its agent, asked of the store once."""

    @cache
    def agent_of(session: str) -> str:
        return store.agents([session]).get(session, "unknown")

    return agent_of


def readable_entries(store: Store, recorded: Iterable[Recorded]) -> Iterator[Entry]:
    """Yield facts as entries, without the facts that have no word."""
    agent_of = agents_of(store)

    @cache
    def author(cause: Cause) -> Cause:
        return worded(store, cause)

    for row in recorded:
        if row.fact.words:
            agent = agent_of(row.session) if row.session else ""
            yield readable_entry(row, agent, author(row.fact.author(row.session)))


def select(store: Store, query: LogQuery) -> Iterable[Entry]:
    """Return the selected part of the timeline, in order."""
    kinds = query.kinds
    # Both words are one kind of fact, which its fields tell apart; so the store cannot count them.
    mixed = kinds is not None and len({"changed", "deleted"} & {*kinds}) == 1
    log = store.timeline(
        session=query.session,
        path=query.path,
        kinds=FACT_KINDS if kinds is None else facts_of(kinds),
        after=query.since.position,
        upto=query.upto,
        since=query.since.at,
        newest=None if mixed else query.newest,
    )
    entries = readable_entries(store, log)
    if kinds is None or not mixed:
        return entries
    return deque((entry for entry in entries if entry.kind in kinds), maxlen=query.newest)


def follow(store: Store, query: LogQuery) -> Iterator[list[Entry]]:
    """Yield the selection, then at each step the entries recorded since, by any process; mostly none.
    A step without news takes one question to the store."""
    position = store.position()
    yield list(select(store, structs.replace(query, upto=position)))
    while True:
        now = store.position()
        since = structs.replace(ALWAYS, position=position)
        news = structs.replace(query, since=since, newest=None, upto=now)
        yield [] if now == position else list(select(store, news))
        position = now


def sessions(context: SessionContext, *, last: int | None = LAST_SESSIONS) -> SessionPage:
    """Return the sessions of a page."""
    states, left_out = page(context, last)
    shown: list[SessionSummary] = []
    for state in states:
        there = presence(context, state)
        known = structs.replace(
            summary(state, len(context.store.known(state.id))),
            name=plain_title(context.store, state.id),
            presence=there.state,
            since=moment(there.since),
            last_sign=moment(there.last),
            holder=there.holder,
        )
        shown.append(known)
    return SessionPage(tuple(shown), left_out)


def summary(state: SessionState, files: int) -> SessionSummary:
    """Return a session without its presence and its title. files: as in SessionSummary."""
    began, ended = moment(state.started), None if state.ended is None else moment(state.ended)
    who = (state.id, state.agent, state.turn, began, ended, state.model, state.parent)
    return SessionSummary(*who, name=None, files=files)


def page(context: SessionContext, last: int | None) -> tuple[list[SessionState], int]:
    """Return the present sessions, oldest first, and then the last others to end or to begin; and the
    number of the other ones. last: None for all others."""
    store = context.store
    present = present_sessions(context)
    ids = {state.id for state in present}
    most = None if last is None else last + len(present)
    begun = store.sessions(ended=False, newest=most)
    others = [state for state in begun if state.id not in ids]
    others += store.sessions(ended=True, newest=last)
    others.sort(key=lambda state: (state.ended or state.started, state.id))
    shown = others if last is None else others[max(len(others) - last, 0) :]
    return [*present, *shown], store.session_count() - len(present) - len(shown)
