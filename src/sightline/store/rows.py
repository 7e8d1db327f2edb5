"""The views as rows: stepped by core's pure functions, inside the transaction of the append.

Rows that were read or written are remembered as long as no other connection has committed
(PRAGMA data_version, asked inside the transaction), so a busy process rarely reads before it
writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sightline.model import active_claims
from sightline.model.active_claims import CLAIMING, Claim
from sightline.model.projections import (
    DiskFile,
    Knowledge,
    column,
    disk_paths,
    know,
    knowledge_paths,
    on_disk,
)
from sightline.model.revision import Stamp
from sightline.model.timeline import Recorded, branch, turns_at
from sightline.store import codec
from sightline.store.event_index import COLUMN_FACTS, KNOWING, pends, settled

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
"""A session's newest position: a session at work is among the last facts of all; any other is
found by walking its part of the index. Kept in no row, where each append would have to write it."""

COLUMN = "SELECT id, agent, started, parent, ended, turn, model, owner"
SESSION = f"{COLUMN}, {NEWEST} FROM sessions"
PENDING = f"{EVENT} WHERE position IN (SELECT position FROM intents) ORDER BY position"  # noqa: S608  all ours

NEW_KNOWLEDGE = "INSERT INTO knowledge VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
SET_KNOWLEDGE = (
    "UPDATE knowledge SET name=?3, position=?4, via=?5, first_seen=?6, last_read=?7,"
    " last_agent_edit=?8, first_position=?9, believed=?10, shown=?11, held=?12, lines=?13"
    " WHERE session=?1 AND path=?2"
)
PUT_DISK = "INSERT OR REPLACE INTO disk VALUES (?,?,?,?,?,?,?,?)"
PUT_SESSION = "INSERT OR REPLACE INTO sessions VALUES (?,?,?,?,?,?,?,?)"
CLAIMS = "SELECT id, session, paths, expires_at, exclusive, taken_at, position FROM claims"
PUT_CLAIM = "INSERT OR REPLACE INTO claims VALUES (?,?,?,?,?,?,?)"

REMEMBERED = 20_000
"""Rows held in memory at most; past it, all are forgotten and read again as needed."""


class Rows:
    """Projection rows of one connection, for the time of one transaction after another."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._version = -1
        self.forget()

    def forget(self) -> None:
        """Remember nothing: a transaction was given up, or others have written."""
        self._known: dict[tuple[str, str], Knowledge | None] = {}
        self._disks: dict[str, DiskFile | None] = {}
        self._sessions: set[str] = set()
        self._intents: dict[int, Recorded] | None = None

    def begin(self) -> None:
        """First thing in a transaction."""
        version = self._run("PRAGMA data_version", ())[0][0]
        if version != self._version or len(self._known) + len(self._disks) > REMEMBERED:
            self.forget()
            self._version = version

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        """What a session knows of a path, by its canonical name."""
        key = (session, path)
        if key not in self._known:
            where = f"{KNOWLEDGE} WHERE session = ? AND path = ?"
            rows = self._run(where, (codec.text(session), codec.text(path)))
            self._known[key] = codec.knowledge_of(rows[0]) if rows else None
        return self._known[key]

    def disk(self, path: str) -> DiskFile | None:
        """What the timeline says stands at a path."""
        if path not in self._disks:
            rows = self._run(f"{DISK} WHERE path = ?", (codec.text(path),))
            self._disks[path] = codec.disk_of(rows[0]) if rows else None
        return self._disks[path]

    def step(self, recorded: Recorded) -> None:
        """Step every view by a fact that was just put on the timeline."""
        fact = recorded.fact
        self._step_session(recorded)
        if disks := disk_paths(fact):
            self._step_disks(disks, recorded)
        if isinstance(fact, CLAIMING):
            self._step_claims(recorded)
        if turns_at(fact):
            states = fold_known(self._run, recorded.session, recorded.position)
            self._replace_known(recorded.session, states)
        elif paths := knowledge_paths(fact):
            self._step_known(paths, recorded)
        elif paths is None:
            states = all_known(self._run, recorded.session)
            know(states, recorded)
            self._replace_known(recorded.session, states)
        self._step_intents(recorded)

    def _step_session(self, recorded: Recorded) -> None:
        session = recorded.session
        if session in self._sessions and not isinstance(recorded.fact, COLUMN_FACTS):
            return
        rows = self._run(f"{COLUMN}, 0 FROM sessions WHERE id = ?", (codec.text(session),))
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
                gone = (codec.text(session), codec.text(path))
                self._run("DELETE FROM knowledge WHERE session = ? AND path = ?", gone)
            else:
                put = SET_KNOWLEDGE if path in before else NEW_KNOWLEDGE
                self._run(put, codec.knowledge_row(session, state))
            self._known[session, path] = state

    def _replace_known(self, session: str, states: Mapping[str, Knowledge]) -> None:
        self._run("DELETE FROM knowledge WHERE session = ?", (codec.text(session),))
        for state in states.values():
            self._run(NEW_KNOWLEDGE, codec.knowledge_row(session, state))
        self._known = {key: state for key, state in self._known.items() if key[0] != session}

    def _step_claims(self, recorded: Recorded) -> None:
        before = all_claims(self._run)
        states = dict(before)
        active_claims.step(states, recorded)
        for name in before.keys() - states.keys():
            self._run("DELETE FROM claims WHERE id = ?", (codec.text(name),))
        for name, state in states.items():
            if before.get(name) is not state:
                self._run(PUT_CLAIM, codec.claim_row(state))

    def _step_intents(self, recorded: Recorded) -> None:
        if self._intents is None:
            pending = [codec.recorded_of(row) for row in self._run(PENDING, ())]
            self._intents = {each.position: each for each in pending}
        for position in settled(recorded.fact, self._intents, recorded.session):
            self._run("DELETE FROM intents WHERE position = ?", (position,))
            del self._intents[position]
        if pends(recorded):
            self._run("INSERT INTO intents VALUES (?)", (recorded.position,))
            self._intents[recorded.position] = recorded


def all_known(run: Run, session: str) -> dict[str, Knowledge]:
    """Every knowledge row of a session, by path in order."""
    rows = run(f"{KNOWLEDGE} WHERE session = ? ORDER BY path", (codec.text(session),))
    return dict(sorted([(each.path, each) for each in map(codec.knowledge_of, rows)], key=PATH))


def all_claims(run: Run) -> dict[str, Claim]:
    """Every claim that was not released, oldest first."""
    states = [codec.claim_of(row) for row in run(CLAIMS, ())]
    return {state.id: state for state in sorted(states, key=lambda each: each.taken_at)}


def fold_known(run: Run, session: str, upto: int) -> dict[str, Knowledge]:
    """What a session knows at a position, folded along its branch from its own facts alone."""

    def turns_of(name: str) -> list[Recorded]:
        turning = (
            f"{EVENT} WHERE session = ? AND kind IN ('SessionForked', 'RewindEnded')"
            " ORDER BY position"
        )
        return [codec.recorded_of(row) for row in run(turning, (codec.text(name),))]

    states: dict[str, Knowledge] = {}
    kinds = ",".join(f"'{kind}'" for kind in KNOWING)
    own = f"{EVENT} WHERE session = ? AND position > ? AND position <= ? AND kind IN ({kinds})"
    for stretch in branch(session, upto, turns_of):
        place = (codec.text(stretch.session), stretch.after, stretch.upto)
        for row in run(f"{own} ORDER BY position", place):
            know(states, codec.recorded_of(row))
    return dict(sorted(states.items()))


def disks_of(rows: Sequence[Any]) -> dict[str, DiskFile]:
    """Return the rows of the disk table by path, in order."""
    return dict(sorted([(state.path, state) for state in map(codec.disk_of, rows)], key=PATH))


def stamps_of(rows: Sequence[Any]) -> dict[str, Stamp]:
    """Return the rows of the stamps table by path, in order."""
    return dict(sorted(map(codec.stamp_of, rows), key=PATH))


PATH = itemgetter(0)
"""What rows are ordered by here: SQLite puts names that are no text behind all others."""
