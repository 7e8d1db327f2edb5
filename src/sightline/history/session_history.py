"""The timeline and all sessions, for people.

The SessionContext here may have an empty session: looking at others starts no session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Generic, Literal, TypeVar

from msgspec import Struct, structs

from sightline.changes.command_texts import worded
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import plain_title
from sightline.config.settings import Settings
from sightline.filesystem.port import Workspace
from sightline.filesystem.process import owner
from sightline.guard import file_states
from sightline.guard.unfinished import recover_all
from sightline.model.events import Cause
from sightline.model.log_entries import FACT_KINDS, Entry, facts_of, readable_entry
from sightline.model.projections import SessionState
from sightline.model.results import FileInContext
from sightline.model.session_ids import LAST_SESSIONS
from sightline.model.timeline import ALWAYS, Recorded, Since
from sightline.model.units import moment
from sightline.sessions.presence import Presence, presence, present_sessions
from sightline.store.port import Store, Views

Shown = TypeVar("Shown")


class SessionFilesView(Struct, frozen=True):
    """A session with its files as JSON has it: see SessionView."""

    id: str
    agent: str
    turn: int
    started: datetime
    ended: datetime | None
    model: str | None
    parent: str | None
    files: tuple[FileInContext, ...]


class SessionFiles(Struct, frozen=True):
    """A session and the files that it was shown."""

    session: SessionState
    files: tuple[FileInContext, ...]

    def as_view(self) -> SessionFilesView:
        """Return the session with times as times."""
        state = self.session
        times = (moment(state.started), None if state.ended is None else moment(state.ended))
        began = (state.id, state.agent, state.turn, *times, state.model, state.parent)
        return SessionFilesView(*began, self.files)


class SessionView(Struct, frozen=True):
    """A session as JSON has it. turn: its newest; model: the one that it used last; parent: the session that
    started it; name: its title, None where it has none; files: number of files that it was shown.
    presence: present, gone or ended, since then; last_sign: of its agent's life; holder: the process that
    holds it, "machine:pid:start". Times are aware UTC datetimes."""

    id: str
    agent: str
    turn: int
    started: datetime
    ended: datetime | None
    model: str | None
    parent: str | None
    name: str | None
    files: int
    presence: Literal["present", "gone", "ended"] | None
    since: datetime | None
    last_sign: datetime | None
    holder: str | None


class SessionSummary(Struct, frozen=True):
    """A session. files: number of files that it was shown; presence: of its agent, None when not
    asked for; name: its title, None where it has none."""

    session: SessionState
    files: int
    presence: Presence | None = None
    name: str | None = None

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

    def as_view(self) -> SessionView:
        """Return the session as everybody is shown it."""
        is_there = self.presence
        return SessionView(
            *(self.id, self.agent, self.turn, self.started, self.ended, self.model, self.parent),
            *(self.name, self.files),
            is_there.state if is_there else None,
            moment(is_there.since) if is_there else None,
            *(self.last, is_there.holder if is_there else None),
        )


class Page(Struct, Generic[Shown], frozen=True):
    """Some sessions, the present ones first. left_out: number of the other ones."""

    sessions: list[Shown]
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


def status(
    context: SessionContext, session: str | None = None, *, last: int | None = LAST_SESSIONS
) -> Page[SessionFiles]:
    """Return the sessions of a page, or one session, with the current state of its files."""
    if session is not None:
        state = context.store.session(session)
        chosen = Page([] if state is None else [state], 0)
    else:
        chosen = _page(context, last)
    shown = [
        SessionFiles(state, tuple(file_states.files(context.for_session(state.id))))
        for state in chosen.sessions
    ]
    return Page(shown, chosen.left_out)


def sessions(context: SessionContext, *, last: int | None = LAST_SESSIONS) -> Page[SessionSummary]:
    """Return the sessions of a page."""
    chosen = _page(context, last)
    shown = [
        SessionSummary(
            state,
            len(context.store.known(state.id)),
            presence(context, state),
            plain_title(context.store, state.id),
        )
        for state in chosen.sessions
    ]
    return Page(shown, chosen.left_out)


def _page(context: SessionContext, last: int | None) -> Page[SessionState]:
    """Return the present sessions, oldest first, and then the last others to end or to begin. None:
    all others."""
    store = context.store
    present = present_sessions(context)
    ids = {state.id for state in present}
    most = None if last is None else last + len(present)
    begun = store.sessions(ended=False, newest=most)
    others = [state for state in begun if state.id not in ids]
    others += store.sessions(ended=True, newest=last)
    others.sort(key=lambda state: (state.ended or state.started, state.id))
    shown = others if last is None else others[max(len(others) - last, 0) :]
    return Page([*present, *shown], store.session_count() - len(present) - len(shown))
