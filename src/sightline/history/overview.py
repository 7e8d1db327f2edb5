"""The overview of `sightline up`: the sessions at work, their files, and the newest events.

A Watch is asked again and again. Mostly nothing happened, and one question to the watcher and one to
the store find that out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice, takewhile

from msgspec import Struct, structs

from sightline.changes.authors import changed_by
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import names_of, title_of
from sightline.guard import file_states
from sightline.history.session_history import readable_entries
from sightline.history.watching import Watching
from sightline.model.active_claims import Claim
from sightline.model.events import Changed, Fact, Merged, Moved, Refused, TurnBegan
from sightline.model.live_sessions import FileNow, Overview, SessionNow
from sightline.model.log_entries import Entry, facts_of, foreign
from sightline.model.projections import SessionState
from sightline.model.session_ids import AT_SHELL, NOBODY, archived
from sightline.model.timeline import newest_first
from sightline.notices.warnings import pending
from sightline.sessions.claims import active
from sightline.sessions.lifecycle import UNNAMED
from sightline.sessions.presence import last_sign, surely_gone
from sightline.store.port import Store
from sightline.text.causes import SESSION_OF, named_cause, named_entry

AT_WORK_US = 24 * 3_600 * 1_000_000
"""A session without a sign of life for longer is only counted: many never record their end."""

HELPING_US = 15 * 60 * 1_000_000
"""The same limit for a sub-agent: there are many, and few get a second request."""

EVENTS_KEPT = 200
"""Newest events of interest that are shown."""

YOU = "you"
"""The name of the session of commands at a shell."""


class Watch:
    """Observes a workspace. context: without a session (session_history.survey); watching: of the
    same workspace."""

    def __init__(self, context: SessionContext, watching: Watching) -> None:
        self._context = context
        self._watching = watching
        self._contexts: dict[str, SessionContext] = {}
        self._tails: dict[str, tuple[int, Tail]] = {}
        self._shown: object = None
        self._names: dict[str, str] = {}
        self._at_work: list[SessionState] = []
        self._recent = context.active_sessions(AT_WORK_US)
        since = context.clock() - AT_WORK_US
        self._events = deque(newest_events(context.store, since, EVENTS_KEPT), maxlen=EVENTS_KEPT)

    def look(self) -> Overview | None:
        """Return the present state; None when nothing happened since the last look. Records changes
        on disk as facts. SightlineError."""
        news = self._watching.wait(0)
        if news is None and self._shown == self._gone_and_claims():
            return None
        now = self._context.clock()
        store = self._context.store
        self._recent |= {entry.session for entry in news or () if entry.session != NOBODY}
        ids = [name for name in self._recent if not archived(name)]
        states = [state for name in ids if (state := store.session(name)) is not None]
        states.sort(key=lambda state: (state.started, state.id))
        self._at_work = [
            state
            for state in states
            if state.ended is None
            and not _is_own(state)
            and now - self._tail(state).last < (HELPING_US if state.parent else AT_WORK_US)
        ]
        self._contexts = {
            state.id: self._contexts.get(state.id) or self._context.for_session(state.id)
            for state in self._at_work
        }
        own = sum(state.ended is None and _is_own(state) for state in states)
        self._shown = gone, claims = self._gone_and_claims()
        self._events.extend(of_interest(news or ()))
        return Overview(
            self._context.workspace.root,
            tuple(self._session_now(state, gone, claims) for state in self._by_family()),
            store.session_count(ended=True, archived=False),
            store.session_count(ended=False, archived=False) - len(self._at_work) - own,
            tuple(named_entry(entry, self._name_of) for entry in self._events),
            news or (),
        )

    def _gone_and_claims(self) -> tuple[frozenset[str], tuple[Claim, ...]]:
        """Return the sessions at work whose process ended, and the valid claims: neither an end nor an
        expiry is on the timeline."""
        gone = frozenset(state.id for state in self._at_work if surely_gone(state))
        return gone, tuple(active(self._context))

    def _tail(self, state: SessionState) -> Tail:
        position, tail = self._tails.get(state.id, (None, None))
        if tail is None or position != state.position:
            tail = tail_of(self._context.store, state)
            self._tails[state.id] = state.position, tail
        return tail

    def _by_family(self) -> list[SessionState]:
        """Return the sessions at work by family, the family with the latest sign of life first."""
        ids = {state.id for state in self._at_work}
        heads = {s.id: s.parent if s.parent and s.parent in ids else s.id for s in self._at_work}
        latest: dict[str, int] = {}
        for state in self._at_work:
            head = heads[state.id]
            latest[head] = max(latest.get(head, 0), self._tail(state).last)

        families = sorted(latest, key=lambda head: (-latest[head], head))
        return sorted(
            self._at_work,
            key=lambda s: (families.index(heads[s.id]), s.id != heads[s.id], s.started),
        )

    def _session_now(
        self, state: SessionState, gone: frozenset[str], claims: Iterable[Claim]
    ) -> SessionNow:
        context, tail = self._contexts[state.id], self._tail(state)
        unsettled = dict(file_states.unsettled(context))
        files = []
        for path, knowledge in context.tracked().known.items():
            file_state = unsettled.get(path, "fresh")
            by = changed_by(context, path)[1] if file_state != "fresh" else None
            if by is not None:
                cause = named_cause(by.cause, self._name_of)
                by = structs.replace(by, who=cause.who, detail=cause.detail)
            files.append(FileNow(knowledge.name or path, file_state, by, tail.marks.get(path)))
        return SessionNow(
            state.id,
            state.agent,
            state.parent,
            state.turn,
            state.model,
            tail.last,
            tuple(files),
            state.id in gone,
            tuple(claim for claim in claims if claim.session == state.id),
            tuple(pending(context, state.id)),
            self._name_of(state.id),
        )

    def _name_of(self, session: str) -> str:
        """Return a session's name for people. A session gets its title with its first prompt."""
        if session in self._names:
            return self._names[session]
        if session == AT_SHELL:
            return YOU
        name = names_of(self._context.store)(session)
        if title_of(self._context.store, session):
            self._names[session] = name
            return name
        agent, of, began = name.partition(SESSION_OF)
        return f"{of.lstrip()}{began}" if of else agent  # its agent stands beside it


def _is_own(state: SessionState) -> bool:
    """Return whether a session is a person's own experiment: commands at a shell, or a program that
    named no agent and has ended."""
    return state.agent == AT_SHELL or (state.agent == UNNAMED and surely_gone(state))


class Tail(Struct, frozen=True):
    """A summary of a session's newest facts. last: its last sign of life, UTC microseconds; marks:
    path -> the entry of a refused or merged attempt of this turn."""

    last: int
    marks: dict[str, Entry]


def tail_of(store: Store, state: SessionState) -> Tail:
    """Return the summary of a session's newest facts."""
    marks: dict[str, Entry] = {}
    turns = store.timeline(session=state.id, kinds=[TurnBegan], newest=1)
    began = next((each.position for each in turns), 0)
    kinds: list[type[Fact]] = [Refused, Merged, Changed, Moved]
    for entry in readable_entries(
        store, store.timeline(session=state.id, kinds=kinds, after=began)
    ):
        if entry.path is not None and entry.kind in ("refused", "merged"):
            marks[entry.path] = entry
        elif entry.path is not None and not foreign(entry):
            marks.pop(entry.path, None)
    return Tail(last_sign(store, state), marks)


def newest_events(store: Store, since: int, most: int) -> list[Entry]:
    """Return the newest events of interest, oldest first. since: UTC microseconds, before which they are
    not looked for."""
    facts = newest_first(store.timeline, kinds=facts_of(OF_INTEREST))
    young = takewhile(lambda each: each.happened_at >= since, facts)
    # Of a merge two facts are one event.
    entries = islice(filter(_is_of_interest, readable_entries(store, young)), 2 * most)
    return of_interest(reversed([*entries]))[-most:]


CHANGES = ("changed", "deleted", "moved")

OF_INTEREST = {
    *CHANGES, "session", "forked", "ended", "refused", "merged", "git", "rewind", "checkpoint",
    "claim", "warning", "sight_lost",
}  # fmt: skip
"""Kinds of entries that are events. Shown files stand in the list of files instead."""


def _is_of_interest(entry: Entry) -> bool:
    if entry.kind not in OF_INTEREST or entry.quiet or archived(entry.session):
        return False
    return entry.agent != AT_SHELL or entry.kind not in ("session", "ended")


def of_interest(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries for people to see at once. A merge replaces the entry of its own change."""
    events: list[Entry] = []
    for entry in filter(_is_of_interest, entries):
        if entry.kind == "merged" and events:
            last = events[-1]
            change = (last.kind, last.cause.who, last.path)
            if change == ("changed", entry.session, entry.path):
                events.pop()
        events.append(entry)
    return events
