"""What `sightline up` shows: the sessions at work, their files, and what happens to them.

A Watch is asked again and again. Most of the time nothing happened, and that is found out by one
question to the watcher and one to the store.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from msgspec import Struct

from sightline.changes.authors import changed_by
from sightline.changes.session_context import SessionContext
from sightline.guard import file_states
from sightline.history import session_history
from sightline.history.log_entries import Entry
from sightline.history.views import FileNow, Overview, SessionNow
from sightline.history.watching import Watching
from sightline.model.active_claims import Claim
from sightline.model.projections import SessionState
from sightline.model.timeline import archived
from sightline.notices.warnings import pending
from sightline.sessions.claims import standing
from sightline.sessions.presence import surely_gone

AT_WORK_US = 24 * 3_600 * 1_000_000
"""A session of which nothing was heard for longer is only counted: many end without a word."""

HELPING_US = 15 * 60 * 1_000_000
"""The same for a sub-agent: there are many, and few of them are asked twice."""

TAIL = 200
"""How many of a session's newest facts are looked through for its last sign of life."""

EVENTS_KEPT = 200


class Watch:
    """Looks at a workspace again and again. ground: one of no session (session_history.survey); watching:
    over the same."""

    def __init__(self, ground: SessionContext, watching: Watching) -> None:
        self._ground = ground
        self._watching = watching
        self._grounds: dict[str, SessionContext] = {}
        self._tails: dict[str, tuple[int, Tail]] = {}
        self._shown: object = None
        self._at_work_now: list[SessionState] = []
        tail = list(session_history.entries(ground.store, newest=EVENTS_KEPT))
        since = ground.clock() - AT_WORK_US
        recent = of_interest(entry for entry in tail if entry.at >= since)
        self._events: deque[Entry] = deque(recent, maxlen=EVENTS_KEPT)

    def look(self) -> Overview | None:
        """How everything stands now; None when nothing happened since the last look. Changes on
        disk are recorded as facts. SightlineError."""
        glance = self._watching.wait(0)
        if glance is None and self._shown == self._standing():
            return None
        states = [s for s in self._ground.store.sessions() if not archived(s.id)]
        at_work = [state for state in states if self._at_work(state)]
        ended = sum(1 for state in states if state.ended is not None)
        resting = len(states) - len(at_work) - ended
        self._grounds = {
            each.id: self._grounds.get(each.id) or self._ground.of(each.id) for each in at_work
        }
        self._at_work_now = at_work
        self._shown = gone, claimed = self._standing()
        sessions = tuple(self._session(state, gone, claimed) for state in self._ordered(at_work))
        news = glance.entries if glance else ()
        self._events.extend(of_interest(news))
        root = self._ground.workspace.root
        return Overview(root, sessions, ended, resting, tuple(self._events), news)

    def _standing(self) -> tuple[frozenset[str], tuple[Claim, ...]]:
        """Which of the sessions at work are gone, and what is claimed: a process ends, and time
        runs out, without a word on the timeline."""
        gone = {each.id for each in self._at_work_now if surely_gone(each)}
        return frozenset(gone), tuple(standing(self._ground))

    def _at_work(self, state: SessionState) -> bool:
        if state.ended is not None:
            return False
        patience = AT_WORK_US if state.parent is None else HELPING_US
        return self._ground.clock() - self._tail(state).last < patience

    def _tail(self, state: SessionState) -> Tail:
        kept = self._tails.get(state.id)
        if kept is None or kept[0] != state.position:
            entries = session_history.entries(self._ground.store, session=state.id, newest=TAIL)
            kept = (state.position, tail_of(state, entries))
            self._tails[state.id] = kept
        return kept[1]

    def _ordered(self, at_work: list[SessionState]) -> list[SessionState]:
        """Newest life first, families together: one is as alive as the liveliest of it."""
        ids = {state.id for state in at_work}
        heads = {s.id: s.parent if s.parent in ids else s.id for s in at_work}
        lively: dict[str, int] = {}
        for state in at_work:
            head = heads[state.id] or state.id
            lively[head] = max(lively.get(head, 0), self._tail(state).last)

        def place(state: SessionState) -> tuple[int, str, bool, int]:
            head = heads[state.id] or state.id
            return -lively[head], head, state.id != head, state.started

        return sorted(at_work, key=place)

    def _session(
        self, state: SessionState, gone: frozenset[str], claimed: Iterable[Claim]
    ) -> SessionNow:
        ground, tail = self._grounds[state.id], self._tail(state)
        odd = dict(file_states.unsettled(ground))
        files = []
        for path, knowledge in ground.tracked().known.items():
            how = odd.get(path, "fresh")
            by = changed_by(ground, path)[1] if how != "fresh" else None
            files.append(FileNow(knowledge.name or path, how, by, tail.marks.get(path)))
        return SessionNow(
            state.id,
            state.agent,
            state.parent,
            state.turn,
            state.model,
            tail.last,
            tuple(files),
            state.id in gone,
            tuple(each for each in claimed if each.session == state.id),
            tuple(pending(ground, state.id)),
        )


class Tail(Struct, frozen=True):
    """What a session's newest facts tell. marks: path -> what came of an attempt of this turn."""

    last: int
    marks: dict[str, Entry]


def tail_of(state: SessionState, entries: Iterable[Entry]) -> Tail:
    """A session's last sign of life, and what came of its attempts of this turn."""
    last, marks = state.started, dict[str, "Entry"]()
    for entry in entries:
        if not foreign(entry):
            last = max(last, entry.at)
        if entry.kind == "turn":
            marks.clear()
        elif entry.path is None or foreign(entry):
            continue
        elif entry.kind in ("refused", "merged"):
            marks[entry.path] = entry
        elif entry.kind in CHANGES:
            marks.pop(entry.path, None)
    return Tail(last, marks)


CHANGES = ("changed", "deleted", "moved")

OF_INTEREST = {
    *CHANGES, "session", "forked", "ended", "refused", "merged", "git", "rewind", "checkpoint",
    "claim", "warning", "sight_lost",
}  # fmt: skip
"""What is told as an event. What an agent was shown stands with its files."""


def foreign(entry: Entry) -> bool:
    """Whether a session's fact is of what others did: it was only the one to find it."""
    return entry.kind in CHANGES and entry.cause.who != entry.session


def of_interest(entries: Iterable[Entry]) -> list[Entry]:
    """The entries that a person wants to see at once. A merge says itself that it changed."""
    told: list[Entry] = []
    for entry in entries:
        if entry.kind not in OF_INTEREST or entry.quiet or archived(entry.session):
            continue
        if entry.kind == "merged" and told and _same(told[-1], entry):
            told.pop()
        told.append(entry)
    return told


def _same(change: Entry, merge: Entry) -> bool:
    made = (change.kind, change.cause.who, change.path)
    return made == ("changed", merge.session, merge.path)
