"""Keep the views of the timeline as rows, stepped inside the transaction of each append.

Rows that were read or written are remembered as long as no other connection has committed (PRAGMA
data_version, asked inside the transaction), so a busy process rarely reads before it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sightline.model import active_claims
from sightline.model.active_claims import CLAIMING, Claim
from sightline.model.projections import DiskFile, Knowledge, column, disk_paths, know, on_disk
from sightline.model.timeline import TURNING, Recorded, branch, turns_at
from sightline.store import codec
from sightline.store.event_index import (
    COLUMN_FACTS,
    DISK_FACTS,
    KNOWING,
    is_pending,
    knowledge_paths,
    settled_by,
)

Run = Callable[[str, Sequence[Any]], list[Any]]

EVENT = "SELECT position, session, kind, version, happened_at, recorded_at, body FROM events"
KNOWLEDGE = (
    "SELECT path, name, position, via, first_seen, last_read, last_agent_edit, first_position,"
    " believed, shown, held, lines FROM knowledge"
)
KNOWERS = (
    f"SELECT session, {KNOWLEDGE.removeprefix('SELECT ')}"  # noqa: S608  all ours
    " WHERE session IN (SELECT id FROM sessions WHERE ended IS NULL) AND path = ? ORDER BY session"
)
DISK = "SELECT path, revision, position, at, cause, mode, moved_to, last_external_edit FROM disk"
NEWEST = (
    "coalesce("
    "(SELECT max(position) FROM events NOT INDEXED"
    " WHERE position > (SELECT max(position) FROM events) - 200 AND session = id),"
    "(SELECT max(position) FROM events WHERE session = id))"
)
"""Select the newest position of a session. A session at work is among the last facts of all; for
any other SQLite walks its part of the index. No row has the position: each append would write it."""

COLUMN = "SELECT id, agent, started, parent, ended, turn, model, owner"
SESSION = f"{COLUMN}, {NEWEST} FROM sessions"
PENDING = f"{EVENT} WHERE position IN (SELECT position FROM intents) ORDER BY position"  # noqa: S608  all ours

PUT_KNOWLEDGE = "INSERT OR REPLACE INTO knowledge VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
PUT_DISK = "INSERT OR REPLACE INTO disk VALUES (?,?,?,?,?,?,?,?)"
PUT_SESSION = "INSERT OR REPLACE INTO sessions VALUES (?,?,?,?,?,?,?,?)"
CLAIMS = "SELECT id, session, paths, expires_at, exclusive, taken_at, position FROM claims"
PUT_CLAIM = "INSERT OR REPLACE INTO claims VALUES (?,?,?,?,?,?,?)"

REMEMBERED = 20_000
"""The most rows in memory; beyond it, all are forgotten and read again as needed."""

PATH = itemgetter(0)
"""Rows are ordered by path in Python: SQLite puts names that are stored as bytes behind all others."""


class Rows:
    """The rows of one connection. Call begin() first in each transaction."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._version = -1
        self.forget()

    def forget(self) -> None:
        """Forget every remembered row: a transaction was given up, or others have written."""
        self._known: dict[tuple[str, str], Knowledge | None] = {}
        self._disks: dict[str, DiskFile | None] = {}
        self._sessions: set[str] = set()
        self._intents: dict[int, Recorded] | None = None

    def begin(self) -> None:
        """Forget the rows where another connection has committed, or there are too many."""
        version = self._run("PRAGMA data_version", ())[0][0]
        if version != self._version or len(self._known) + len(self._disks) > REMEMBERED:
            self.forget()
            self._version = version

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        """Return what a session knows of a canonical path."""
        key = (session, path)
        if key not in self._known:
            rows = self._run(f"{KNOWLEDGE} WHERE session = ? AND path = ?", key)
            self._known[key] = codec.knowledge_of(rows[0]) if rows else None
        return self._known[key]

    def disk(self, path: str) -> DiskFile | None:
        """Return the disk row of a path."""
        if path not in self._disks:
            rows = self._run(f"{DISK} WHERE path = ?", (path,))
            self._disks[path] = codec.disk_of(rows[0]) if rows else None
        return self._disks[path]

    def step(self, recorded: Recorded) -> None:
        """Step every view by a fact that was just put on the timeline."""
        fact, session = recorded.fact, recorded.session
        self._step_session(recorded)
        if isinstance(fact, DISK_FACTS):
            self._step_disks(disk_paths(fact), recorded)
        if isinstance(fact, CLAIMING):
            self._step_claims(recorded)
        known_paths = knowledge_paths(fact)
        if isinstance(fact, TURNING):
            if turns_at(fact):
                self._replace_known(session, fold_known(self._run, session, recorded.position))
        elif known_paths is None:
            states = all_known(self._run, session)
            know(states, recorded)
            self._replace_known(session, states)
        elif known_paths:
            self._step_known(known_paths, recorded)
        self._step_intents(recorded)

    def _step_session(self, recorded: Recorded) -> None:
        session = recorded.session
        if session in self._sessions and not isinstance(recorded.fact, COLUMN_FACTS):
            return
        rows = self._run(f"{COLUMN}, 0 FROM sessions WHERE id = ?", (session,))
        old = codec.session_of(rows[0]) if rows else None
        if old is None or isinstance(recorded.fact, COLUMN_FACTS):
            self._run(PUT_SESSION, codec.session_row(column(old, recorded)))
        self._sessions.add(session)

    def _step_disks(self, paths: Sequence[str], recorded: Recorded) -> None:
        before = {path: state for path in paths if (state := self.disk(path)) is not None}
        states = dict(before)
        on_disk(states, recorded)
        for path, state in states.items():
            if before.get(path) is not state:
                self._run(PUT_DISK, codec.disk_row(state))
                self._disks[path] = state

    def _step_known(self, paths: Sequence[str], recorded: Recorded) -> None:
        session = recorded.session
        before = {
            path: state for path in paths if (state := self.knowledge(session, path)) is not None
        }
        states = dict(before)
        know(states, recorded)
        for path in paths:
            state = states.get(path)
            if state is before.get(path):
                continue
            if state is None:
                self._run("DELETE FROM knowledge WHERE session = ? AND path = ?", (session, path))
            else:
                self._run(PUT_KNOWLEDGE, codec.knowledge_row(session, state))
            self._known[session, path] = state

    def _replace_known(self, session: str, states: Mapping[str, Knowledge]) -> None:
        self._run("DELETE FROM knowledge WHERE session = ?", (session,))
        for state in states.values():
            self._run(PUT_KNOWLEDGE, codec.knowledge_row(session, state))
        self._known = {key: state for key, state in self._known.items() if key[0] != session}

    def _step_claims(self, recorded: Recorded) -> None:
        before = all_claims(self._run)
        states = dict(before)
        active_claims.step(states, recorded)
        for name in before.keys() - states.keys():
            self._run("DELETE FROM claims WHERE id = ?", (name,))
        for name, state in states.items():
            if before.get(name) is not state:
                self._run(PUT_CLAIM, codec.claim_row(state))

    def _step_intents(self, recorded: Recorded) -> None:
        if self._intents is None:
            pending = [codec.recorded_of(row) for row in self._run(PENDING, ())]
            self._intents = {intent.position: intent for intent in pending}
        for position in settled_by(recorded, self._intents):
            self._run("DELETE FROM intents WHERE position = ?", (position,))
            del self._intents[position]
        if is_pending(recorded):
            self._run("INSERT INTO intents VALUES (?)", (recorded.position,))
            self._intents[recorded.position] = recorded


def all_known(run: Run, session: str) -> dict[str, Knowledge]:
    """Return every knowledge row of a session by path, in order."""
    rows = run(f"{KNOWLEDGE} WHERE session = ?", (session,))
    return dict(sorted([(state.path, state) for state in map(codec.knowledge_of, rows)], key=PATH))


def all_claims(run: Run) -> dict[str, Claim]:
    """Return every claim that was not released, oldest first."""
    states = [codec.claim_of(row) for row in run(CLAIMS, ())]
    return {state.id: state for state in sorted(states, key=lambda state: state.taken_at)}


def fold_known(run: Run, session: str, upto: int) -> dict[str, Knowledge]:
    """Fold what a session knows at a position from the facts of its branch alone, by path."""

    def turns_of(name: str) -> list[Recorded]:
        turning = (
            f"{EVENT} WHERE session = ? AND kind IN ('SessionForked', 'RewindEnded')"
            " ORDER BY position"
        )
        return [codec.recorded_of(row) for row in run(turning, (name,))]

    states: dict[str, Knowledge] = {}
    kinds = ",".join(f"'{kind}'" for kind in KNOWING)
    own = (
        f"{EVENT} WHERE session = ? AND position > ? AND position <= ? AND kind IN ({kinds})"
        " ORDER BY position"
    )
    for stretch in branch(session, upto, turns_of):
        for row in run(own, (stretch.session, stretch.after, stretch.upto)):
            know(states, codec.recorded_of(row))
    return dict(sorted(states.items()))
