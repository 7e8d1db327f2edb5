"""The timeline and all sessions, for people.

The SessionContext here may have an empty session: looking at others starts no session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from msgspec import Struct, structs

from sightline.changes.authors import moment
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.time_points import ALWAYS, Since
from sightline.config.settings import Settings
from sightline.filesystem.port import Workspace
from sightline.filesystem.process import owner
from sightline.guard import file_states
from sightline.guard.write_journal import recover_all
from sightline.history.log_entries import FACT_KINDS, Entry, facts_of, readable_entries
from sightline.model.projections import SessionState
from sightline.model.results import FileInContext
from sightline.sessions.presence import Presence, presence
from sightline.store.port import Store


class SessionFiles(Struct, frozen=True):
    """A session and the files that it was shown."""

    session: SessionState
    files: tuple[FileInContext, ...]


class SessionSummary(Struct, frozen=True):
    """A session. files: number of files that it was shown; presence: of its agent, None when not
    asked for."""

    session: SessionState
    files: int
    presence: Presence | None = None

    @property
    def id(self) -> str:
        """The session's id, as other verbs take it."""
        return self.session.id

    @property
    def agent(self) -> str:
        """The name of its agent."""
        return self.session.agent

    @property
    def parent(self) -> str | None:
        """The session that started it."""
        return self.session.parent

    @property
    def turn(self) -> int:
        """Its newest turn."""
        return self.session.turn

    @property
    def model(self) -> str | None:
        """The model it used last."""
        return self.session.model

    @property
    def owner(self) -> str | None:
        """Its process, "machine:pid:start", if known."""
        return self.session.owner

    @property
    def present(self) -> bool | None:
        """True while its agent is present: the session has not ended, and its process lives."""
        return None if self.presence is None else self.presence.state == "present"

    @property
    def started(self) -> datetime:
        """Its beginning."""
        return moment(self.session.started)

    @property
    def ended(self) -> datetime | None:
        """Its end, if it has ended."""
        ended = self.session.ended
        return None if ended is None else moment(ended)

    @property
    def last(self) -> datetime | None:
        """Its agent's last sign of life."""
        return None if self.presence is None else moment(self.presence.last)


class LogQuery(Struct, frozen=True):
    """A selection of the timeline. path: canonical; kinds: words of log_entries.KINDS, None for all;
    newest: only the last N of the selection."""

    path: str | None = None
    session: str | None = None
    since: Since = ALWAYS
    kinds: tuple[str, ...] | None = None
    newest: int | None = None


def survey(
    store: Store, workspace: Workspace, settings: Settings, clock: Callable[[], int]
) -> SessionContext:
    """Return a context without a session. Unfinished writes of dead processes are recovered first."""
    context = SessionContext("", store, workspace, settings, clock, owner())
    recover_all(context)
    return context


def select(store: Store, query: LogQuery, upto: int | None = None) -> Iterable[Entry]:
    """Return the selected part of the timeline, in order."""
    kinds = query.kinds
    # Both words are one kind of fact, which its fields tell apart; so the store cannot count them.
    mixed = kinds is not None and len({"changed", "deleted"} & {*kinds}) == 1
    log = store.timeline(
        session=query.session,
        path=query.path,
        kinds=FACT_KINDS if kinds is None else facts_of(kinds),
        after=query.since.position,
        upto=upto,
        since=query.since.at,
        newest=None if mixed else query.newest,
    )
    entries = readable_entries(log, {state.id: state.agent for state in store.sessions()})
    if kinds is None or not mixed:
        return entries
    return deque((entry for entry in entries if entry.kind in kinds), maxlen=query.newest)


def follow(store: Store, query: LogQuery) -> Iterator[list[Entry]]:
    """Yield the selection, then at each step the entries recorded since, by any process; mostly none.
    A step without news takes one question to the store."""
    position = store.position()
    yield list(select(store, query, position))
    while True:
        now = store.position()
        since = structs.replace(ALWAYS, position=position)
        news = structs.replace(query, since=since, newest=None)
        yield [] if now == position else list(select(store, news, now))
        position = now


def status(context: SessionContext, session: str | None = None) -> list[SessionFiles]:
    """Return every session, or one, with the current state of its files."""
    return [
        SessionFiles(state, tuple(file_states.files(context.for_session(state.id))))
        for state in context.store.sessions()
        if session in (None, state.id)
    ]


def sessions(context: SessionContext) -> list[SessionSummary]:
    """Return every session, oldest first."""
    store = context.store
    return [
        SessionSummary(state, len(store.known(state.id)), presence(context, state))
        for state in store.sessions()
    ]
