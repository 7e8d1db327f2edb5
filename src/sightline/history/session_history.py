"""What happened, for people to look at: the timeline, and all sessions at once.

A Ground whose session is empty serves here: looking at others starts no session of one's own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from msgspec import Struct, structs

from sightline.changes.authors import moment
from sightline.changes.session_context import Policy, SessionContext
from sightline.checkpoints.time_points import ALWAYS, Since
from sightline.filesystem.port import Workspace
from sightline.filesystem.process import owner
from sightline.guard import file_states
from sightline.guard.write_journal import recover_all
from sightline.history.log_entries import TOLD, Entry, facts_of, told
from sightline.model.projections import SessionState
from sightline.model.results import FileInContext
from sightline.sessions.presence import Presence, presence
from sightline.store.port import Store


class SessionFiles(Struct, frozen=True):
    """A session and the files it was shown."""

    session: SessionState
    files: tuple[FileInContext, ...]


class SessionSummary(Struct, frozen=True):
    """A session, how many files it was shown, and whether its agent is there; None where that was
    not asked."""

    session: SessionState
    files: int
    presence: Presence | None = None

    @property
    def id(self) -> str:
        """As other verbs take it."""
        return self.session.id

    @property
    def agent(self) -> str:
        """Which agent's it is."""
        return self.session.agent

    @property
    def parent(self) -> str | None:
        """The session that it came from."""
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
        """The process that holds it, "machine:pid:start", where that was told."""
        return self.session.owner

    @property
    def present(self) -> bool | None:
        """Whether its agent is there: it has not ended, and its process lives."""
        return None if self.presence is None else self.presence.state == "present"

    @property
    def started(self) -> datetime:
        """When it began."""
        return moment(self.session.started)

    @property
    def ended(self) -> datetime | None:
        """When it ended."""
        ended = self.session.ended
        return None if ended is None else moment(ended)

    @property
    def last(self) -> datetime | None:
        """Its agent's last sign of life."""
        return None if self.presence is None else moment(self.presence.last)


class Asked(Struct, frozen=True):
    """What of the timeline is asked for. path: canonical; kinds: words of log_entries.KINDS, None for
    all; newest: only the last N of what is left."""

    path: str | None = None
    session: str | None = None
    since: Since = ALWAYS
    kinds: tuple[str, ...] | None = None
    newest: int | None = None


def survey(
    store: Store, workspace: Workspace, settings: Policy, clock: Callable[[], int]
) -> SessionContext:
    """Ports to look through without a session; writes of dead processes are settled first."""
    ground = SessionContext("", store, workspace, settings, clock, owner())
    recover_all(ground)
    return ground


def entries(
    store: Store,
    *,
    path: str | None = None,
    session: str | None = None,
    after: int = 0,
    newest: int | None = None,
) -> Iterator[Entry]:
    """The timeline in order: all of it, or what names a canonical path, or one session's part.
    after: only what stands behind that position; newest: only the last N."""
    log = store.timeline(session=session, path=path, kinds=TOLD, after=after, newest=newest)
    return told(log, _agents(store))


def select(store: Store, asked: Asked, upto: int | None = None) -> Iterable[Entry]:
    """The part of the timeline that is asked for, in order."""
    kinds = asked.kinds
    # These two are one kind of fact: which of them it is, only its fields say.
    apart = kinds is not None and len({"changed", "deleted"} & {*kinds}) == 1
    log = store.timeline(
        session=asked.session,
        path=asked.path,
        kinds=TOLD if kinds is None else facts_of(kinds),
        after=asked.since.position,
        upto=upto,
        since=asked.since.at,
        newest=None if apart else asked.newest,
    )
    if asked.newest is not None and not apart:
        few = list(log)
        return told(few, _agents_of(store, {recorded.session for recorded in few}))
    found = told(log, _agents(store))
    if kinds is None or not apart:
        return found
    return deque((entry for entry in found if entry.kind in kinds), maxlen=asked.newest)


def follow(store: Store, asked: Asked) -> Iterator[list[Entry]]:
    """What is asked for, then what is recorded from now on, by any process: at each step what came
    since the one before, mostly nothing. To find that out takes one look at the end of an index."""
    position = store.position()
    yield list(select(store, asked, position))
    while True:
        now = store.position()
        since = structs.replace(ALWAYS, position=position)
        news = structs.replace(asked, since=since, newest=None)
        yield [] if now == position else list(select(store, news, now))
        position = now


def status(
    ground: SessionContext,
    session: str | None = None,
) -> list[SessionFiles]:
    """Every session, or one, with its files as they stand now."""
    return [
        SessionFiles(state, tuple(file_states.files(ground.of(state.id))))
        for state in ground.store.sessions()
        if session in (None, state.id)
    ]


def sessions(ground: SessionContext) -> list[SessionSummary]:
    """Every session, oldest first."""
    store = ground.store
    return [
        SessionSummary(state, len(store.known(state.id)), presence(ground, state))
        for state in store.sessions()
    ]


def _agents(store: Store) -> dict[str, str]:
    return {state.id: state.agent for state in store.sessions()}


def _agents_of(store: Store, sessions: Iterable[str]) -> dict[str, str]:
    """The same of few, which takes less where there are many."""
    found = (store.session(each) for each in sessions)
    return {state.id: state.agent for state in found if state is not None}
