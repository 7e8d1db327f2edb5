"""The embedded store: one SQLite file per workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from weakref import finalize

from sightline.model.active_claims import Claim
from sightline.model.events import BlobPurged, Changed, Fact, GitMoved, WriteIntended
from sightline.model.projections import DiskFile, Knowledge, SessionState
from sightline.model.revision import Revision, Stamp
from sightline.model.timeline import TURNING, Recorded
from sightline.store import codec
from sightline.store.blobs import Blobs, run_in_chunks
from sightline.store.database import MEMORY, Database
from sightline.store.disk_usage import give_back, measured
from sightline.store.event_index import check_expected, column_conflict, new_part, paths_of
from sightline.store.port import Room
from sightline.store.retention import KeptText
from sightline.store.rows import (
    DISK,
    EVENT,
    KNOWERS,
    KNOWLEDGE,
    PATH,
    PENDING,
    SESSION,
    Rows,
    all_claims,
    all_known,
    fold_known,
)
from sightline.store.verify import differences

Result = TypeVar("Result")

PURGES_PER_CHECKPOINT = 8
"""Each purge writes as many pages as a hundred appends; a large log takes long to carry over."""

KEPT_PER_LOOK_BYTES = 2 << 20
"""Bytes of kept frames between two looks at the size of the log."""

PUT_EVENT = (
    "INSERT INTO events (session, kind, version, happened_at, recorded_at, path, body)"
    " VALUES (?,?,?,?,?,?,?)"
)
COLUMN_MOVED = "SELECT 1 FROM events WHERE position > ? AND +session = ? LIMIT 1"
PUT_PATH = "INSERT INTO event_paths VALUES (?,?)"
PUT_STAMP = "INSERT OR REPLACE INTO stamps VALUES (?,?,?,?)"
STAMP = "SELECT path, signature, revision, read_at_ns FROM stamps"


class SqliteStore:
    """A Store in one existing file (store.opening makes a new one). Safe to use from several
    threads and, opened by each, from several processes."""

    def __init__(self, file: str) -> None:
        self._base = Database(file)
        self._rows = Rows(self._base.run)
        self._blobs = Blobs(self._base.run, file)
        self._purges = 0
        self._kept_bytes = 0

    def append(
        self,
        session: str,
        facts: Sequence[Fact],
        *,
        at: int,
        happened_at: int | None = None,
        blobs: Iterable[bytes] | dict[Revision, bytes] = (),
        expect: Mapping[str, int] | None = None,
        column: int | None = None,
        stats: Mapping[str, Stamp] | None = None,
        durable: bool = False,
        like: Mapping[Revision, Revision] | None = None,
    ) -> list[Recorded]:
        happened = at if happened_at is None else happened_at
        texts = blobs if isinstance(blobs, dict) else list(blobs)
        packed = self._blobs.pack(texts, {**_edited(facts), **(like or {})}) if texts else []

        def work() -> list[Recorded]:
            rows = self._rows
            rows.begin()
            if expect:
                check_expected({path: rows.knowledge(session, path) for path in expect}, expect)
            if column is not None and self._base.run(COLUMN_MOVED, (column, session)):
                raise column_conflict(session, column)
            self._blobs.put(packed)
            for path, stamp in (stats or {}).items():
                self._base.run(PUT_STAMP, codec.stamp_row(path, stamp))
            return [
                self._record(session, part, happened, at)
                for fact in facts
                if (part := new_part(fact, rows.disk, session)) is not None
            ]

        return self._write(work, durable=durable)

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
    ) -> Iterator[Recorded]:
        sql, values = selection(
            session=session, path=path, kinds=kinds, after=after, upto=upto, since=since
        )
        if newest is not None:
            sql, values = f"{sql} DESC LIMIT ?", [*values, newest]
        positions = [position for (position,) in self._base.run(sql, values)]
        if newest is not None:
            positions.reverse()
        # Facts never change, so a long list is read a chunk at a time and stays true.
        found = f"{EVENT} WHERE position IN"
        rows = run_in_chunks(self._base.run, found, positions, " ORDER BY position")
        return map(codec.recorded_of, rows)

    def position(self) -> int:
        return self._base.run("SELECT max(position) FROM events")[0][0] or 0

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        key = (session, path)
        rows = self._base.run(f"{KNOWLEDGE} WHERE session = ? AND path = ?", key)
        if not rows:
            by_name = f"{KNOWLEDGE} INDEXED BY knowledge_named WHERE session = ? AND name = ?"
            rows = self._base.run(f"{by_name} ORDER BY position DESC LIMIT 1", key)
        return codec.knowledge_of(rows[0]) if rows else None

    def known(self, session: str, upto: int | None = None) -> dict[str, Knowledge]:
        if upto is None:
            return all_known(self._base.run, session)
        return fold_known(self._base.run, session, upto)

    def disk(self, path: str) -> DiskFile | None:
        rows = self._base.run(f"{DISK} WHERE path = ?", (path,))
        return codec.disk_of(rows[0]) if rows else None

    def disks(self) -> dict[str, DiskFile]:
        states = map(codec.disk_of, self._base.run(DISK))
        return dict(sorted([(state.path, state) for state in states], key=PATH))

    def paths(self) -> list[str]:
        return [codec.untext(path) for (path,) in self._base.run("SELECT path FROM disk")]

    def session(self, session: str) -> SessionState | None:
        rows = self._base.run(f"{SESSION} WHERE id = ?", (session,))
        return codec.session_of(rows[0]) if rows else None

    def sessions(self) -> list[SessionState]:
        states = [codec.session_of(row) for row in self._base.run(f"{SESSION} WHERE id != ''")]
        return sorted(states, key=lambda state: (state.started, state.id))

    def knowers(self, path: str) -> dict[str, Knowledge]:
        rows = self._base.run(KNOWERS, (path,))
        return {codec.untext(session): codec.knowledge_of(row) for session, *row in rows}

    def claims(self) -> dict[str, Claim]:
        return all_claims(self._base.run)

    def pending(self) -> list[Recorded]:
        return [codec.recorded_of(row) for row in self._base.run(PENDING)]

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        run = self._base.run
        wanted = None if paths is None else [*paths]
        found = f"{STAMP} WHERE path IN"
        rows = run(STAMP) if wanted is None else run_in_chunks(run, found, wanted)
        return dict(sorted(map(codec.stamp_of, rows), key=PATH))

    def keep(
        self, blobs: Iterable[bytes] | dict[Revision, bytes], *, durable: bool = False
    ) -> None:
        packed = self._blobs.pack(blobs)
        self._write(lambda: self._blobs.put(packed, ahead=True), durable=durable)
        self._kept_bytes += sum([len(text.frame or b"") for text in packed])
        if self._kept_bytes > KEPT_PER_LOOK_BYTES:  # the end of a first checkpoint must not wait
            self._kept_bytes = 0
            self._base.carry_over()

    def blob(self, revision: Revision) -> bytes | None:
        return self._blobs.get(revision)

    def texts(self) -> list[KeptText]:
        return self._blobs.sizes()

    def purge(
        self,
        choose: Callable[[], Iterable[Revision]],
        reason: str,
        *,
        session: str,
        at: int,
        secret: bool = False,
    ) -> tuple[Revision, ...]:
        def work() -> tuple[Revision, ...]:
            self._rows.begin()
            # Zero every freed page: a text may be a secret, or turn out to be one long after.
            self._base.run("PRAGMA secure_delete = ON")
            removed = tuple(filter(self._blobs.remove, dict.fromkeys(choose())))
            if removed:
                self._record(session, BlobPurged(removed[0], reason, removed[1:]), at, at)
            return removed

        purged = self._write(work, durable=secret)
        self._purges += 1
        # The log holds the bytes until it begins anew, and a purge writes much of the log.
        if purged and (secret or self._purges % PURGES_PER_CHECKPOINT == 0):
            self._base.checkpoint()
        return purged

    def tally(self) -> dict[str, int]:
        return dict(self._base.run("SELECT kind, count(*) FROM events GROUP BY kind"))

    def room(self) -> Room:
        return measured(self._base)

    def tidy(self) -> int:
        return give_back(self._base)

    def verify(self) -> list[str]:
        torn = [row[0] for row in self._base.run("PRAGMA integrity_check") if row[0] != "ok"]
        return torn or [*differences(self), *self._blobs.damaged()]

    def close(self) -> None:
        self._base.close()

    def _write(self, work: Callable[[], Result], *, durable: bool) -> Result:
        try:
            return self._base.write(work, durable=durable)
        except BaseException:
            self._rows.forget()
            raise

    def _record(self, session: str, fact: Fact, happened_at: int, at: int) -> Recorded:
        """Put a fact on the timeline, index its paths, and step the views."""
        kind, own = type(fact).__name__, getattr(fact, "path", None)
        event = (session, kind, fact.version, happened_at, at, own, codec.encode(fact))
        self._base.run(PUT_EVENT, event)
        position = self.position()
        for path in paths_of(fact):
            if path != own:
                self._base.run(PUT_PATH, (path, position))
        recorded = Recorded(position, session, happened_at, at, fact)
        self._rows.step(recorded)
        return recorded


class MemoryStore(SqliteStore):
    """A Store in this process's memory, for as long as a name refers to it."""

    def __init__(self) -> None:
        super().__init__(MEMORY)
        finalize(self, self._base.open().close)

    def close(self) -> None:
        """Do nothing: another handle of this process may go on reading."""


def _edited(facts: Iterable[Fact]) -> dict[Revision, Revision]:
    """Return the text that a fact put at a path -> the text that it replaced there."""
    return {fact.after: fact.before for fact in facts if isinstance(fact, (Changed, WriteIntended))}


ANY_SESSION = "session IN (SELECT id FROM sessions)"
"""Lets the index on (session, path) find a path alone; see schema/0001_ground.sql."""

POSITIONS = "SELECT position FROM events"
NAMING = (
    f"{POSITIONS} WHERE {ANY_SESSION} AND path = ?"  # noqa: S608  all ours
    " UNION ALL SELECT position FROM event_paths WHERE path = ?"
)

CHANGES = frozenset((Changed, GitMoved))
"""Kinds that name a file in one way each. Changed facts, of which there are many, have an index."""

CHANGING = (
    f"{POSITIONS} WHERE path = ? AND kind = 'Changed'"  # noqa: S608
    " UNION ALL SELECT position FROM event_paths WHERE path = ?"
)

TURNS = frozenset(TURNING)
TURNED = "kind IN ('SessionForked', 'RewindEnded')"
"""SQLite uses the index on these kinds for these very words alone."""


def selection(
    *,
    session: str | None,
    path: str | None,
    kinds: Sequence[type[Fact]] | None,
    after: int,
    upto: int | None,
    since: int | None,
) -> tuple[str, list[Any]]:
    """Return the statement for the positions of the facts that meet every condition, in order,
    and the values of the statement."""
    where = ["position > ?"]
    values: list[Any] = [after]
    for condition, value in (
        ("position <= ?", upto),
        ("happened_at >= ?", since),
        ("session = ?", session),
    ):
        if value is not None:
            where.append(condition)
            values.append(value)
    if path is not None:
        changing = kinds is not None and CHANGES.issuperset(kinds)
        where.append(f"position IN ({CHANGING if changing else NAMING})")
        values += [path, path]
    if kinds is not None and session is not None and TURNS.issuperset(kinds):
        where.append(TURNED)
    elif kinds is not None:
        where.append(f"kind IN ({','.join('?' * len(kinds))})")
        values += [kind.__name__ for kind in kinds]
        if all("path" not in kind.__struct_fields__ for kind in kinds):
            where += ["path IS NULL", ANY_SESSION]
    return f"{POSITIONS} WHERE {' AND '.join(where)} ORDER BY position", values
