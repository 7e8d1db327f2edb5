"""A store of Python values: the specification of what every store does.

Each append steps whole views by the functions of the model; a rewind or a fork folds the timeline from
zero. A question looks at every fact: there is no index, and nothing is kept for speed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import urandom
from threading import RLock
from typing import TypeVar

from sightline.errors import StoreError
from sightline.model import active_claims
from sightline.model.active_claims import Claim
from sightline.model.events import BlobPurged, Changed, Fact
from sightline.model.projections import (
    DiskFile,
    Knowledge,
    SessionState,
    Stash,
    column,
    fold_columns,
    know,
    on_disk,
    run,
    running_in_order,
    stash,
)
from sightline.model.revision import Revision, Stamp, named
from sightline.model.session_ids import NOBODY
from sightline.model.session_ids import archived as is_archived
from sightline.model.timeline import Recorded, columns_of, of_kind, turns_at
from sightline.store.event_index import (
    check_expected,
    check_needed,
    column_conflict,
    is_pending,
    new_part,
    paths_of,
    settled_by,
)
from sightline.store.port import Append, Room, Store, StoreKind
from sightline.store.retention import KeptText
from sightline.store.verify import differences

Row = TypeVar("Row")


class MemoryStore:
    """A Store in the memory of this process, which ends with the last reference to the object. Safe to use
    from several threads; a forked child has a copy of its own."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._log: list[Recorded] = []
        self._knowledge: dict[str, dict[str, Knowledge]] = {}
        self._disks: dict[str, DiskFile] = {}
        self._sessions: dict[str, SessionState] = {}
        self._claims: dict[str, Claim] = {}
        self._stashes: dict[str, Stash] = {}
        self._commands: dict[str, dict[str, Recorded]] = {}
        self._intents: dict[int, Recorded] = {}
        self._stamps: dict[str, Stamp] = {}
        self._blobs: dict[Revision, bytes] = {}
        self._ahead: dict[Revision, int] = {}
        self._marks: dict[Revision, tuple[bytes, int]] = {}
        self._key = urandom(32)

    def append(self, append: Append) -> list[Recorded]:
        session = append.session
        happened = append.at if append.happened_at is None else append.happened_at
        with self._lock:
            check_expected(self._knowledge.get(session, {}), append.expect)
            behind = append.column
            if behind is not None and any(r.session == session for r in self._log[behind:]):
                raise column_conflict(session, behind)
            if append.needed_since is not None:
                purged = of_kind(BlobPurged, self._log[append.needed_since :])
                check_needed(purged, append.needed)
            self._blobs.update(named(append.texts))
            self._stamps.update(append.stats)
            start = len(self._log)
            for fact in append.facts:
                part = new_part(fact, self._disks.get, session)
                if part is not None:
                    self._step(Recorded(len(self._log) + 1, session, happened, append.at, part))
            return self._log[start:]

    def _step(self, recorded: Recorded) -> None:
        fact, session = recorded.fact, recorded.session
        self._log.append(recorded)
        self._sessions[session] = column(self._sessions.get(session), recorded)
        on_disk(self._disks, recorded)
        active_claims.step(self._claims, recorded)
        stash(self._stashes, recorded)
        run(self._commands, recorded)
        if turns_at(fact):
            self._knowledge[session] = self._folded(session, recorded.position)
        else:
            know(self._knowledge.setdefault(session, {}), recorded)
        for position in settled_by(recorded, self._intents):
            del self._intents[position]
        if is_pending(recorded):
            self._intents[recorded.position] = recorded

    def _folded(self, session: str, upto: int) -> dict[str, Knowledge]:
        return fold_columns(columns_of(self._log), session, upto)

    def timeline(
        self,
        *,
        session: str | None = None,
        path: str | None = None,
        kinds: Sequence[type[Fact]] | None = None,
        after: int = 0,
        upto: int | None = None,
        since: int | None = None,
        newest: int | None = None,
        limit: int | None = None,
    ) -> Iterator[Recorded]:
        with self._lock:
            facts = [
                recorded
                for recorded in self._log[after:upto]
                if session in (None, recorded.session)
                and (since is None or recorded.happened_at >= since)
                and (path is None or path in paths_of(recorded.fact))
                and (kinds is None or type(recorded.fact) in kinds)
            ]
        return iter(page(facts, limit, newest))

    def paths_changed(self, session: str) -> list[str]:
        changes = self.timeline(session=session, kinds=[Changed])
        return list({each.fact.path: 0 for each in changes if isinstance(each.fact, Changed)})

    def position(self) -> int:
        return len(self._log)

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        with self._lock:
            states = self._knowledge.get(session, {})
            by_name = [state for state in states.values() if state.name == path]
            return states.get(path) or max(by_name, key=lambda state: state.position, default=None)

    def known(self, session: str, upto: int | None = None) -> dict[str, Knowledge]:
        with self._lock:
            if upto is None:
                return dict(sorted(self._knowledge.get(session, {}).items()))
            return dict(sorted(self._folded(session, upto).items()))

    def disk(self, path: str) -> DiskFile | None:
        return self._disks.get(path)

    def disks(self) -> dict[str, DiskFile]:
        with self._lock:
            return dict(sorted(self._disks.items()))

    def paths(self) -> list[str]:
        with self._lock:
            return list(self._disks)

    def session(self, session: str) -> SessionState | None:
        return self._sessions.get(session)

    def sessions(
        self,
        *,
        ended: bool | None = None,
        parent: str | None = None,
        after: str | None = None,
        before: str | None = None,
        limit: int | None = None,
        newest: int | None = None,
    ) -> list[SessionState]:
        def place_of(name: str) -> tuple[int, str] | None:
            state = self._sessions.get(name)
            time = None if state is None else state.ended if ended else state.started
            return None if time is None else (time, name)

        with self._lock:
            places = {
                place: state
                for state in self._sessions.values()
                if state.id != NOBODY
                and ended in (None, state.ended is not None)
                and parent in (None, state.parent)
                and (place := place_of(state.id)) is not None
                and (after is None or ((first := place_of(after)) and first < place))
                and (before is None or ((last := place_of(before)) and place < last))
            }
        return page([places[place] for place in sorted(places)], limit, newest)

    def held_on(self, machine: str) -> dict[str, str]:
        return {
            state.id: state.owner
            for state in self.sessions(ended=False)
            if state.owner and state.owner.startswith(f"{machine}:")
        }

    def active_since(self, at: int) -> list[str]:
        with self._lock:
            return [
                state.id
                for state in self.sessions(ended=False)
                if self._log[state.position - 1].recorded_at >= at
            ]

    def session_count(self, *, ended: bool | None = None, archived: bool | None = None) -> int:
        states = self.sessions(ended=ended)
        return sum(archived in (None, is_archived(state.id)) for state in states)

    def agents(self, sessions: Iterable[str]) -> dict[str, str]:
        with self._lock:
            return {name: self._sessions[name].agent for name in sessions if name in self._sessions}

    def knowers(self, path: str, machine: str, at: int) -> dict[str, Knowledge]:
        with self._lock:
            sessions = sorted({*self.held_on(machine), *self.active_since(at)})
            states = {session: self._knowledge.get(session, {}) for session in sessions}
            return {session: known[path] for session, known in states.items() if path in known}

    def claims(self) -> dict[str, Claim]:
        with self._lock:
            return dict(self._claims)

    def stashes(self) -> dict[str, Stash]:
        with self._lock:
            return dict(self._stashes)

    def pending(self) -> list[Recorded]:
        with self._lock:
            return [self._intents[position] for position in sorted(self._intents)]

    def running(self, sessions: Iterable[str] | None = None) -> list[Recorded]:
        with self._lock:
            wanted = self._commands if sessions is None else self._commands.keys() & {*sessions}
            return running_in_order(self._commands[session] for session in wanted)

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        with self._lock:
            wanted = self._stamps if paths is None else self._stamps.keys() & set(paths)
            return {path: self._stamps[path] for path in sorted(wanted)}

    def keep(self, texts: Iterable[bytes] | dict[Revision, bytes]) -> None:
        with self._lock:
            by_revision = named(texts)
            self._blobs.update(by_revision)
            self._ahead.update(dict.fromkeys(by_revision, len(self._log)))

    def stored_among(self, revisions: Iterable[Revision]) -> set[Revision]:
        return {revision for revision in revisions if revision in self._blobs}

    def blob(self, revision: Revision) -> bytes | None:
        return self._blobs.get(revision)

    def keep_marks(self, revision: Revision, marks: bytes) -> None:
        with self._lock:
            self._marks.setdefault(revision, (marks, len(self._log)))

    def marks(self, revision: Revision) -> bytes | None:
        marks, _ = self._marks.get(revision, (None, 0))
        return marks

    def marks_key(self) -> bytes:
        return self._key

    def texts(self, *, after: Revision = "", limit: int | None = None) -> list[KeptText]:
        with self._lock:
            texts = [self._kept(name) for name in sorted(self._marks.keys() | self._blobs.keys())]
        return page([text for text in texts if text.revision > after], limit, None)

    def _kept(self, revision: Revision) -> KeptText:
        marks, since = self._marks.get(revision, (b"", 0))
        size = len(self._blobs.get(revision, b"")) + len(marks)
        return KeptText(revision, size, max(since, self._ahead.get(revision, 0)))

    def purge(
        self,
        choose: Callable[[], Iterable[Revision]],
        reason: str,
        *,
        session: str,
        at: int,
        secret: bool = False,
    ) -> tuple[Revision, ...]:
        with self._lock:
            kept = self._blobs.keys() | self._marks.keys()
            removed = tuple(filter(kept.__contains__, dict.fromkeys(choose())))
            for revision in removed:
                self._blobs.pop(revision, None)
                self._marks.pop(revision, None)
                self._ahead.pop(revision, None)
            if removed:
                self.append(Append(session, [BlobPurged(removed[0], reason, removed[1:])], at=at))
            return removed

    def tally(self) -> dict[str, int]:
        with self._lock:
            return dict(Counter(type(recorded.fact).__name__ for recorded in self._log))

    def room(self) -> Room:
        with self._lock:
            return Room(texts=sum(map(len, self._blobs.values())))

    def tidy(self) -> int:
        return 0

    def verify(self) -> list[str]:
        with self._lock:
            return differences(self)

    def close(self) -> None:
        """Do nothing: another handle may go on reading."""


def page(rows: list[Row], limit: int | None, newest: int | None) -> list[Row]:
    """Return the first or the last rows, or all."""
    return rows[:limit] if newest is None else rows[max(len(rows) - newest, 0) :]


class Memory(StoreKind):
    """Stores in the memory of this process, one for each workspace."""

    usage = "memory: for a store that ends with the process"

    def __init__(self) -> None:
        self._stores: dict[str, MemoryStore] = {}

    def open(self, url: str, root: str) -> Store:
        if url != "memory:":
            raise StoreError(f"Not a store URL: {url!r}.", f"Use {self.usage}.", "bad_url")
        return self._stores.setdefault(root, MemoryStore())


KIND = Memory()
