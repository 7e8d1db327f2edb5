"""The embedded store: one SQLite file per workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sightline.model.active_claims import Claim
from sightline.model.events import BlobPurged, Changed, Fact, GitMoved, WriteIntended
from sightline.model.projections import DiskFile, Knowledge, SessionState, news
from sightline.model.revision import Revision, Stamp
from sightline.model.timeline import TURNING, Recorded
from sightline.store import codec
from sightline.store.blob_removal import damaged_texts, kept_texts, remove
from sightline.store.blobs import Blobs
from sightline.store.codec import text
from sightline.store.database import Database
from sightline.store.disk_usage import give_back, measured
from sightline.store.event_index import check_expected, paths_of, went_on
from sightline.store.port import Room
from sightline.store.retention import KeptText
from sightline.store.rows import (
    DISK,
    EVENT,
    KNOWERS,
    KNOWLEDGE,
    PENDING,
    SESSION,
    Rows,
    all_claims,
    all_known,
    disks_of,
    fold_known,
    stamps_of,
)
from sightline.store.verify import differences

Result = TypeVar("Result")

CHUNK = 500
"""Rows or bound values of one statement."""

PURGES_PER_CHECKPOINT = 8
"""Each writes as many pages as a hundred appends; a large log takes long to carry over."""

PUT_EVENT = (
    "INSERT INTO events (session, kind, version, happened_at, recorded_at, path, body)"
    " VALUES (?,?,?,?,?,?,?)"
)
WENT_ON = "SELECT 1 FROM events WHERE position > ? AND +session = ? LIMIT 1"
PUT_PATH = "INSERT INTO event_paths VALUES (?,?)"
PUT_STAMP = "INSERT OR REPLACE INTO stamps VALUES (?,?,?,?)"
STAMP = "SELECT path, signature, revision, read_at_ns FROM stamps"


MUCH = 2 << 20
"""Bytes of kept frames after which the log is looked at."""


class SqliteStore:
    """A Store in one file that is there already (store.opening makes it). Safe to use from
    several threads and, opened by each, from several processes."""

    def __init__(self, file: str) -> None:
        self._base = Database(file)
        self._rows = Rows(self._base.run)
        self._blobs = Blobs(self._base.run, file)
        self._purges = 0
        self._kept = 0

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
        packed = self._blobs.pack(texts, {**_edited(facts), **(like or {})}) if texts else None

        def work() -> list[Recorded]:
            rows = self._rows
            rows.begin()
            if expect:
                check_expected({path: rows.knowledge(session, path) for path in expect}, expect)
            if column is not None and self._base.run(WENT_ON, (column, codec.text(session))):
                raise went_on(session, column)
            if packed:
                self._blobs.put(packed)
            for path, stamp in (stats or {}).items():
                self._base.run(PUT_STAMP, codec.stamp_row(path, stamp))
            return [
                self._record(session, left, happened, at)
                for fact in facts
                if (left := news(fact, rows.disk, session)) is not None
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
            session=session,
            path=path,
            kinds=kinds,
            after=after,
            upto=upto,
            since=since,
            newest=newest,
        )
        if newest is not None and newest <= CHUNK:  # most ask for one
            rows = self._base.run(f"{EVENT} WHERE position IN ({sql}) ORDER BY position", values)
            return map(codec.recorded_of, rows)
        found = [row[0] for row in self._base.run(sql, values)]
        return self._facts_at(found if newest is None else found[::-1])

    def position(self) -> int:
        return self._base.run("SELECT max(position) FROM events")[0][0] or 0

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        key = (codec.text(session), codec.text(path))
        rows = self._base.run(f"{KNOWLEDGE} WHERE session = ? AND path = ?", key)
        if not rows:
            named = f"{KNOWLEDGE} INDEXED BY knowledge_named WHERE session = ? AND name = ?"
            rows = self._base.run(f"{named} ORDER BY position DESC LIMIT 1", key)
        return codec.knowledge_of(rows[0]) if rows else None

    def known(self, session: str, upto: int | None = None) -> dict[str, Knowledge]:
        if upto is None:
            return all_known(self._base.run, session)
        return fold_known(self._base.run, session, upto)

    def disk(self, path: str) -> DiskFile | None:
        rows = self._base.run(f"{DISK} WHERE path = ?", (codec.text(path),))
        return codec.disk_of(rows[0]) if rows else None

    def disks(self) -> dict[str, DiskFile]:
        return disks_of(self._base.run(f"{DISK} ORDER BY path"))

    def paths(self) -> list[str]:
        return [codec.untext(path) for (path,) in self._base.run("SELECT path FROM disk")]

    def session(self, session: str) -> SessionState | None:
        rows = self._base.run(f"{SESSION} WHERE id = ?", (codec.text(session),))
        return codec.session_of(rows[0]) if rows else None

    def sessions(self) -> list[SessionState]:
        states = [codec.session_of(row) for row in self._base.run(f"{SESSION} WHERE id != ''")]
        return sorted(states, key=lambda state: (state.started, state.id))

    def knowers(self, path: str) -> dict[str, Knowledge]:
        rows = self._base.run(KNOWERS, (codec.text(path),))
        return {codec.untext(session): codec.knowledge_of(row) for session, *row in rows}

    def claims(self) -> dict[str, Claim]:
        return all_claims(self._base.run)

    def pending(self) -> list[Recorded]:
        return [codec.recorded_of(row) for row in self._base.run(PENDING)]

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        if paths is None:
            rows = self._base.run(f"{STAMP} ORDER BY path")
        else:
            rows = self._chunked(f"{STAMP} WHERE path IN", [codec.text(path) for path in paths])
        return stamps_of(rows)

    def keep(
        self, blobs: Iterable[bytes] | dict[Revision, bytes], *, durable: bool = False
    ) -> None:
        packed = self._blobs.pack(blobs)
        self._write(lambda: self._blobs.put(packed, ahead=True), durable=durable)
        self._kept += sum([len(each.frame or b"") for each in packed])
        if self._kept > MUCH:  # a first checkpoint's: its end is not to carry all over
            self._kept = 0
            self._base.carry_over()

    def blob(self, revision: Revision) -> bytes | None:
        return self._blobs.get(revision)

    def texts(self) -> list[KeptText]:
        return kept_texts(self._base.run)

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
            # Zero what is freed: it may be a secret now, or found to be one when it is long gone.
            self._base.run("PRAGMA secure_delete = ON")
            gone = tuple(
                [
                    each
                    for each in dict.fromkeys(choose())
                    if remove(self._base.run, self._blobs, each)
                ]
            )
            if gone:
                self._record(session, BlobPurged(gone[0], reason, gone[1:]), at, at)
            return gone

        purged = self._write(work, durable=secret)
        self._purges += 1
        # The log still holds the bytes until it is begun anew; and much goes through it here.
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
        return torn or [*differences(self), *damaged_texts(self._base.run, self._blobs)]

    def close(self) -> None:
        self._base.close()

    def leave(self) -> None:
        self._base.leave()

    def _write(self, work: Callable[[], Result], *, durable: bool) -> Result:
        try:
            return self._base.write(work, durable=durable)
        except BaseException:
            self._rows.forget()
            raise

    def _record(self, session: str, fact: Fact, happened_at: int, at: int) -> Recorded:
        kind, path = type(fact).__name__, getattr(fact, "path", None)
        row = (
            codec.text(session),
            kind,
            fact.version,
            happened_at,
            at,
            None if path is None else codec.text(path),
            codec.encode(fact),
        )
        position = self._base.open().execute(PUT_EVENT, row).lastrowid
        assert position is not None
        for further in paths_of(fact):
            if further != path:
                self._base.run(PUT_PATH, (codec.text(further), position))
        recorded = Recorded(position, session, happened_at, at, fact)
        self._rows.step(recorded)
        return recorded

    def _facts_at(self, found: Sequence[int]) -> Iterator[Recorded]:
        """Facts are never changed, so a long list is read a chunk at a time and stays true."""
        for start in range(0, len(found), CHUNK):
            chunk = found[start : start + CHUNK]
            for row in self._chunked(f"{EVENT} WHERE position IN", chunk, " ORDER BY position"):
                yield codec.recorded_of(row)

    def _chunked(self, sql: str, values: Sequence[Any], end: str = "") -> list[Any]:
        rows: list[Any] = []
        for start in range(0, len(values), CHUNK):
            chunk = values[start : start + CHUNK]
            rows += self._base.run(f"{sql} ({','.join('?' * len(chunk))}){end}", chunk)
        return rows


def _edited(facts: Iterable[Fact]) -> dict[Revision, Revision]:
    """The texts that facts say came in place of another at their path."""
    return {fact.after: fact.before for fact in facts if isinstance(fact, (Changed, WriteIntended))}


ANY_SESSION = "session IN (SELECT id FROM sessions)"
"""Lets the index on (session, path) find a path alone; see schema/0001_ground.sql."""

POSITIONS = "SELECT position FROM events"
NAMING = (
    f"{POSITIONS} WHERE {ANY_SESSION} AND path = ?"  # noqa: S608  all ours
    " UNION ALL SELECT position FROM event_paths WHERE path = ?"
)

CHANGES = frozenset((Changed, GitMoved))
"""They name a file in one way each, and the one of them that there are many of has an index."""

CHANGING = (
    f"{POSITIONS} WHERE path = ? AND kind = 'Changed'"  # noqa: S608
    " UNION ALL SELECT position FROM event_paths WHERE path = ?"
)

TURNS = frozenset(TURNING)
TURNED = "kind IN ('SessionForked', 'RewindEnded')"
"""Spelled out, because SQLite takes the index on them for these very words alone."""


def selection(
    *,
    session: str | None,
    path: str | None,
    kinds: Sequence[type[Fact]] | None,
    after: int,
    upto: int | None,
    since: int | None,
    newest: int | None,
) -> tuple[str, list[Any]]:
    """The statement that answers the positions of the facts that meet every condition given, in
    order, with newest the last one first; and its values."""
    where = ["position > ?"]
    values: list[Any] = [after]
    if upto is not None:
        where.append("position <= ?")
        values.append(upto)
    if since is not None:
        where.append("happened_at >= ?")
        values.append(since)
    if session is not None:
        where.append("session = ?")
        values.append(text(session))
    if path is not None and kinds is not None and CHANGES.issuperset(kinds):
        where.append(f"position IN ({CHANGING})")
        values += [text(path)] * 2
    elif path is not None:
        where.append(f"position IN ({NAMING})")
        values += [text(path)] * 2
    if kinds is not None and session is not None and TURNS.issuperset(kinds):
        where.append(TURNED)
    elif kinds is not None:
        where.append(f"kind IN ({','.join('?' * len(kinds))})")
        values += [kind.__name__ for kind in kinds]
        if all("path" not in kind.__struct_fields__ for kind in kinds):
            where += ["path IS NULL", ANY_SESSION]
    sql = f"{POSITIONS} WHERE {' AND '.join(where)} ORDER BY position"
    if newest is not None:
        sql += " DESC LIMIT ?"
        values.append(newest)
    return sql, values
