"""The embedded store: one SQLite file per workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import itemgetter
from typing import Any, TypeVar

from msgspec import structs

from sightline.errors import StoreError
from sightline.model.active_claims import Claim
from sightline.model.events import FACTS, BlobPurged, Changed, Fact, WriteIntended
from sightline.model.projections import ACTIVE_US, DiskFile, Knowledge, SessionState, Stash
from sightline.model.revision import Revision, Stamp
from sightline.model.session_ids import ARCHIVE
from sightline.model.timeline import TURNING, Recorded, Stretch, of_kind
from sightline.store import codec
from sightline.store.blobs import Blobs, Packed, Run, compress, run_in_chunks
from sightline.store.event_index import (
    KNOWING,
    check_expected,
    check_needed,
    column_conflict,
    has_other_paths,
    has_own_path,
    new_part,
    paths_of,
)
from sightline.store.port import Append, Room
from sightline.store.retention import KeptText
from sightline.store.sqlite_connection import Database
from sightline.store.verify import differences
from sightline.store.view_rows import (
    Change,
    ClaimRow,
    CommandRow,
    DiskRow,
    IntentRow,
    KnowledgeRow,
    KnowledgeRows,
    NoCommands,
    SessionRow,
    StashRow,
    changes,
    fold_known,
)

Result = TypeVar("Result")


def _names(kinds: Iterable[type[Fact]]) -> str:
    """Return the names of kinds as SQL."""
    return ",".join([f"'{kind.__name__}'" for kind in kinds])


PURGES_PER_CHECKPOINT = 8
"""Each purge writes as many pages as a hundred appends; a large log takes long to carry over."""

KEPT_PER_LOOK_BYTES = 2 << 20
"""Bytes of kept frames between two looks at the size of the log."""

PUT_EVENT = (
    "INSERT INTO events (position, session, kind, happened_at, recorded_at, body, checksum, path)"
    " VALUES (?,?,?,?,?,?,?,?)"
)
NEWEST_OF_ALL = "SELECT coalesce(max(position), 0) FROM events"
COLUMN_MOVED = "SELECT 1 FROM events WHERE position > ? AND +session = ? LIMIT 1"
PUT_PATH = "INSERT INTO event_paths VALUES (?,?,?,?)"
PUT_STAMP = "INSERT OR REPLACE INTO stamps VALUES (?,?,?,?,?)"
STAMP = "SELECT path, signature, revision, read_at_ns, checksum FROM stamps"

HELD = (
    "SELECT id, owner FROM sessions WHERE ended IS NULL AND owner >= ? AND owner < ? AND id != ''"
)
OTHER_SIDE = "({0}, id) {1} (SELECT {0}, id FROM sessions WHERE id = ?)"
HAS_ENDED = {None: "1", False: "ended IS NULL", True: "ended IS NOT NULL"}
COUNTED = {None: "", False: " WHERE ended IS NULL", True: " WHERE ended IS NOT NULL"}
"""SQLite counts a whole table, or a whole index, without a look at each row."""

ARCHIVED = f"FROM sessions WHERE id GLOB '{ARCHIVE}*'"


EVENT = "SELECT position, session, kind, happened_at, recorded_at, body, checksum FROM events"
KNOWLEDGE = (
    "SELECT path, name, position, via, first_seen, last_read, last_agent_edit, first_position,"
    " believed, shown, held, lines, checksum FROM knowledge"
)
DISK = "SELECT path, revision, position, at, cause, mode, moved_to, last_external_edit, changes, checksum FROM disk"
OF_KIND = "SELECT (SELECT max(position) FROM events WHERE session = id AND kind = '{}') AS newest"
OF_KINDS = " UNION ALL ".join(map(OF_KIND.format, FACTS))
NEWEST = (
    "coalesce("  # noqa: S608  all ours
    "(SELECT max(position) FROM events NOT INDEXED"
    " WHERE position > (SELECT max(position) FROM events) - 200 AND session = id),"
    f"(SELECT max(newest) FROM ({OF_KINDS})))"
)
"""Select the newest position of a session. A session at work is among the last facts of all; for
any other each kind of fact is one search. No row has the position: each append would write it."""

COLUMN = (
    "SELECT id, agent, started, parent, ended, turn, model, owner, newest_message, active, checksum"
)
SESSION = f"{COLUMN}, {NEWEST} FROM sessions"
ACTIVE = (
    "SELECT id FROM sessions WHERE ended IS NULL AND active > ?1 - ?2 AND id != ''"  # noqa: S608  all ours
    f" AND (active >= ?1 + ?2 OR ?1 <= (SELECT recorded_at FROM events WHERE position = {NEWEST}))"
)
"""Only the newest facts of those sessions are looked up whose state does not tell."""

KNOWERS = (
    f"SELECT session, {KNOWLEDGE.removeprefix('SELECT ')}"  # noqa: S608  all ours
    f" WHERE session IN ({ACTIVE} UNION SELECT id FROM ({HELD})) AND path = ?"
)
"""Each session that may be present is one search, however many have known the path."""

PENDING = f"{EVENT} WHERE position IN (SELECT position FROM intents) ORDER BY position"  # noqa: S608  all ours
RUNNING = f"{EVENT} WHERE position IN (SELECT position FROM commands) ORDER BY position"  # noqa: S608  all ours
RUNNING_OF = f"{EVENT} WHERE position IN (SELECT position FROM commands WHERE session = ?)"  # noqa: S608  all ours

TURNINGS = f"{EVENT} WHERE session = ? AND kind IN ({_names(TURNING)}) ORDER BY position"
KNOWN_BY = (
    f"{EVENT} WHERE session = ? AND position > ? AND position <= ? AND kind IN ({_names(KNOWING)})"
    " ORDER BY position"
)

PUT_KNOWLEDGE = "INSERT OR REPLACE INTO knowledge VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
PUT_DISK = "INSERT OR REPLACE INTO disk VALUES (?,?,?,?,?,?,?,?,?,?)"
PUT_SESSION = "INSERT OR REPLACE INTO sessions VALUES (?,?,?,?,?,?,?,?,?,?,?)"
CLAIMS = (
    "SELECT id, session, paths, expires_at, exclusive, taken_at, position, checksum FROM claims"
)
PUT_CLAIM = "INSERT OR REPLACE INTO claims VALUES (?,?,?,?,?,?,?,?)"

STASHES = "SELECT entry, path, position, checksum FROM stashes ORDER BY position"
PUT_STASH = "INSERT OR REPLACE INTO stashes VALUES (?,?,?,?)"

REMEMBERED = 20_000
"""The most rows in memory; beyond it, all are forgotten and read again as needed."""

PATH = itemgetter(0)
"""Rows are ordered by path in Python: SQLite puts names that are stored as bytes behind all others."""


class SqliteStore:
    """A Store in one existing file (store.opening makes a new one). Safe to use from several
    threads and, opened by each, from several processes."""

    def __init__(self, file: str, *, read_only: bool = False) -> None:
        """read_only: as for Database."""
        self._base = Database(file, read_only=read_only)
        self._rows = RowCache(self._base.run)
        self._blobs = Blobs(self._base.run, file)
        self._purges = 0
        self._recorded = 0
        self._kept_bytes = 0

    def append(self, append: Append) -> list[Recorded]:
        session = append.session
        happened = append.at if append.happened_at is None else append.happened_at
        packed = self._packed(append)

        def work() -> list[Recorded]:
            rows = self._rows
            rows.begin()
            self._check(append)
            if packed:
                self._blobs.put(packed)
            for path, stamp in append.stats.items():
                self._base.run(PUT_STAMP, codec.stamp_row(path, stamp))
            recorded = []
            for fact in append.facts:
                if (part := new_part(fact, rows.disk, session)) is not None:
                    position = rows.newest + 1
                    recorded.append(Recorded(position, session, happened, append.at, part))
                    self._record(recorded[-1])
            return recorded

        return self._write(work, durable=append.durable)

    def _packed(self, append: Append) -> list[Packed]:
        """Compress the texts of an append, each with the text that it replaces as its dictionary."""
        texts = append.texts if isinstance(append.texts, dict) else list(append.texts)
        if not texts:
            return []
        edits = [fact for fact in append.facts if isinstance(fact, (Changed, WriteIntended))]
        replaced = {fact.after: fact.before for fact in edits}
        return self._blobs.pack(texts, {**replaced, **append.like})

    def _check(self, append: Append) -> None:
        """Raise StoreConflict where a condition of an append does not hold any more."""
        session, expect = append.session, append.expect
        if expect:
            check_expected({path: self._rows.knowledge(session, path) for path in expect}, expect)
        if append.column is not None and self._base.run(COLUMN_MOVED, (append.column, session)):
            raise column_conflict(session, append.column)
        if append.needed_since is not None:
            purged = self.timeline(kinds=[BlobPurged], after=append.needed_since)
            check_needed(of_kind(BlobPurged, purged), append.needed)

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
        sql, values = selection(
            session=session,
            path=path,
            kinds=kinds,
            after=after,
            upto=upto,
            since=since,
            is_limited=newest is not None or limit is not None,
        )
        if newest is not None:
            sql, values = f"{sql} DESC LIMIT ?", [*values, newest]
        elif limit is not None:
            sql, values = f"{sql} LIMIT ?", [*values, limit]
        positions = [position for (position,) in self._base.run(sql, values)]
        if newest is not None:
            positions.reverse()
        # Facts never change, so a long list is read a chunk at a time and stays true.
        found = f"{EVENT} WHERE position IN"
        rows = run_in_chunks(self._base.run, found, positions, " ORDER BY position")
        return _all_of(positions, map(codec.recorded_of, rows))

    def paths_changed(self, session: str) -> list[str]:
        return [codec.untext(path) for (path,) in self._base.run(PATHS_CHANGED, [session] * 3)]

    def position(self) -> int:
        return int(self._base.run(NEWEST_OF_ALL)[0][0])

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        key = (session, path)
        rows = self._base.run(f"{KNOWLEDGE} WHERE session = ? AND path = ?", key)
        if not rows:
            by_name = f"{KNOWLEDGE} INDEXED BY knowledge_named WHERE session = ? AND name = ?"
            rows = self._base.run(f"{by_name} ORDER BY position DESC LIMIT 1", key)
        return codec.knowledge_of(rows[0]) if rows else None

    def known(self, session: str, upto: int | None = None) -> dict[str, Knowledge]:
        if upto is None:
            return self._rows.all_knowledge(session)
        return fold_known(self._rows, session, upto)

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
        time = "ended" if ended else "started"
        where, values = f"{HAS_ENDED[ended]} AND id != ''", list[Any]()
        for condition, value in (
            ("parent = ?", parent),
            (OTHER_SIDE.format(time, ">"), after),
            (OTHER_SIDE.format(time, "<"), before),
        ):
            if value is not None:
                where, values = f"{where} AND {condition}", [*values, value]
        if newest is not None:
            where, values = f"{where} ORDER BY {time} DESC, id DESC LIMIT ?", [*values, newest]
        elif limit is not None:
            where, values = f"{where} ORDER BY {time}, id LIMIT ?", [*values, limit]
        rows = self._base.run(f"{SESSION} WHERE {where}", values)
        states = map(codec.session_of, rows)
        return sorted(states, key=lambda state: (state.ended if ended else state.started, state.id))

    def held_on(self, machine: str) -> dict[str, str]:
        rows = self._base.run(HELD, _holders(machine))
        return {codec.untext(name): codec.untext(owner) for name, owner in rows}

    def active_since(self, at: int) -> list[str]:
        rows = self._base.run(ACTIVE, [at, ACTIVE_US])
        return [codec.untext(name) for (name,) in rows]

    def session_count(self, *, ended: bool | None = None, archived: bool | None = None) -> int:
        archives = f"SELECT count(*) {ARCHIVED} AND {HAS_ENDED[ended]}"
        nobody = f"SELECT count(*) FROM sessions WHERE id = '' AND {HAS_ENDED[ended]}"  # noqa: S608
        live = f"SELECT (SELECT count(*) FROM sessions{COUNTED[ended]}) - ({nobody})"  # noqa: S608
        sql = {None: live, False: f"{live} - ({archives})", True: archives}[archived]
        return int(self._base.run(sql)[0][0])

    def agents(self, sessions: Iterable[str]) -> dict[str, str]:
        wanted = "SELECT id, agent FROM sessions WHERE id IN"
        rows = run_in_chunks(self._base.run, wanted, [*dict.fromkeys(sessions)])
        return {codec.untext(name): agent for name, agent in rows}

    def knowers(self, path: str, machine: str, at: int) -> dict[str, Knowledge]:
        rows = self._base.run(KNOWERS, [at, ACTIVE_US, *_holders(machine), path])
        found = {codec.untext(session): codec.knowledge_of(row) for session, *row in rows}
        return dict(sorted(found.items()))

    def claims(self) -> dict[str, Claim]:
        return self._rows.claims()

    def stashes(self) -> dict[str, Stash]:
        return self._rows.stashes()

    def pending(self) -> list[Recorded]:
        return [codec.recorded_of(row) for row in self._base.run(PENDING)]

    def running(self, sessions: Iterable[str] | None = None) -> list[Recorded]:
        run = self._base.run
        if sessions is None:
            return [codec.recorded_of(row) for row in run(RUNNING)]
        rows = [row for name in {*sessions} for row in run(RUNNING_OF, [name])]
        return sorted(map(codec.recorded_of, rows), key=lambda recorded: recorded.position)

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        run = self._base.run
        wanted = None if paths is None else [*paths]
        found = f"{STAMP} WHERE path IN"
        rows = run(STAMP) if wanted is None else run_in_chunks(run, found, wanted)
        return dict(sorted(map(codec.stamp_of, rows), key=PATH))

    def keep(self, texts: Iterable[bytes] | dict[Revision, bytes]) -> None:
        packed = self._blobs.pack(texts)
        self._write(lambda: self._blobs.put(packed, ahead=True), durable=False)
        self._kept_bytes += sum([len(text.frame or b"") for text in packed])
        if self._kept_bytes > KEPT_PER_LOOK_BYTES:  # the end of a first checkpoint must not wait
            self._kept_bytes = 0
            self._base.carry_over()

    def stored_among(self, revisions: Iterable[Revision]) -> set[Revision]:
        return self._blobs.stored_among([*revisions])

    def blob(self, revision: Revision) -> bytes | None:
        return self._blobs.get(revision)

    def keep_marks(self, revision: Revision, marks: bytes) -> None:
        frame = compress(marks)
        self._write(lambda: self._blobs.put_marks(revision, frame), durable=False)

    def marks(self, revision: Revision) -> bytes | None:
        return self._blobs.marks(revision)

    def marks_key(self) -> bytes:
        [(key,)] = self._base.run("SELECT value FROM meta WHERE key = 'marks_key'")
        return bytes.fromhex(key)

    def texts(self, *, after: Revision = "", limit: int | None = None) -> list[KeptText]:
        return self._blobs.sizes(after, limit)

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
                fact = BlobPurged(removed[0], reason, removed[1:])
                self._record(Recorded(self._rows.newest + 1, session, at, at, fact))
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
        return self._base.room()

    def tidy(self) -> int:
        return self._base.give_back()

    def verify(self) -> list[str]:
        torn = [row[0] for row in self._base.run("PRAGMA integrity_check") if row[0] != "ok"]
        if torn:
            return torn
        try:
            wrong = differences(self)
        except StoreError as error:  # a row whose checksum is of another row
            wrong = [error.message]
        return [*wrong, *self._blobs.damaged()]

    def close(self) -> None:
        self._base.close()

    def _write(self, work: Callable[[], Result], *, durable: bool) -> Result:
        with self._base.lock:  # another thread's next position must not be noted before its commit
            try:
                result = self._base.write(work, durable=durable)
            except BaseException:
                self._rows.forget()
                self._recorded = 0
                raise
            if self._recorded:
                self._base.note_newest(self._recorded)
                self._recorded = 0
            return result

    def _record(self, recorded: Recorded) -> None:
        """Put a fact on the timeline, index its paths, and step the views."""
        fact = recorded.fact
        kind, own = type(fact).__name__, getattr(fact, "path", None)
        self._base.run(PUT_EVENT, (*codec.event_row(recorded), own))
        for path in paths_of(fact):
            if path != own:
                self._base.run(PUT_PATH, (path, kind, recorded.position, recorded.session))
        self._recorded = self._rows.newest = recorded.position
        for change in changes(self._rows, recorded):
            self._rows.put(change)


def _holders(machine: str) -> tuple[str, str]:
    """Return the bounds of the owners of a machine: ";" stands behind ":"."""
    return f"{machine}:", f"{machine};"


def _all_of(positions: Sequence[int], rows: Iterator[Recorded]) -> Iterator[Recorded]:
    """Yield the rows, one for each position. StoreError where one is missing."""
    for position, row in zip_longest(positions, rows):
        if row is None or row.position != position:
            raise StoreError(f"Fact {position} is missing in the store.", codec.DAMAGED, "damaged")
        yield row


# --- the views of the timeline as rows


class RowCache:
    """The rows of one connection (view_rows.Rows), put inside the transaction of each append. Call
    begin() first in each transaction.

    Rows that were read or written are remembered as long as no other connection has recorded a fact, for
    every change of a row comes with one. So a busy process rarely reads before it writes. newest: the
    position of the newest fact; -1 where that is not known.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.forget()

    def forget(self) -> None:
        """Forget every remembered row: a transaction was given up, or others have written."""
        self._known: dict[tuple[str, str], Knowledge | None] = {}
        self._disks: dict[str, DiskFile | None] = {}
        self._active: dict[str, int] = {}
        self._intents: dict[int, Recorded] | None = None
        self.newest = -1

    def begin(self) -> None:
        """Forget the rows where another connection has recorded a fact, or there are too many."""
        newest = self._run(NEWEST_OF_ALL, ())[0][0]
        if newest != self.newest or len(self._known) + len(self._disks) > REMEMBERED:
            self.forget()
            self.newest = newest

    def active(self, session: str) -> int | None:
        if session not in self._active:
            self.session(session)
        return self._active.get(session)

    def session(self, session: str) -> SessionState | None:
        rows = self._run(f"{COLUMN}, 0 FROM sessions WHERE id = ?", (session,))
        if not rows:
            return None
        state = codec.session_of(rows[0])
        self._active[session] = state.active
        return state

    def disk(self, path: str) -> DiskFile | None:
        if path not in self._disks:
            rows = self._run(f"{DISK} WHERE path = ?", (path,))
            self._disks[path] = codec.disk_of(rows[0]) if rows else None
        return self._disks[path]

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        key = (session, path)
        if key not in self._known:
            rows = self._run(f"{KNOWLEDGE} WHERE session = ? AND path = ?", key)
            self._known[key] = codec.knowledge_of(rows[0]) if rows else None
        return self._known[key]

    def all_knowledge(self, session: str) -> dict[str, Knowledge]:
        rows = self._run(f"{KNOWLEDGE} WHERE session = ?", (session,))
        states = map(codec.knowledge_of, rows)
        return dict(sorted([(state.path, state) for state in states], key=PATH))

    def claims(self) -> dict[str, Claim]:
        states = map(codec.claim_of, self._run(CLAIMS, ()))
        return {state.id: state for state in sorted(states, key=lambda state: state.taken_at)}

    def intents(self) -> dict[int, Recorded]:
        if self._intents is None:
            pending = map(codec.recorded_of, self._run(PENDING, ()))
            self._intents = {intent.position: intent for intent in pending}
        return self._intents

    def stashes(self) -> dict[str, Stash]:
        states = map(codec.stash_of, self._run(STASHES, ()))
        return {state.commit: state for state in states}

    def turnings(self, session: str) -> list[Recorded]:
        return [codec.recorded_of(row) for row in self._run(TURNINGS, (session,))]

    def knowing(self, stretch: Stretch) -> Iterator[Recorded]:
        return map(codec.recorded_of, self._run(KNOWN_BY, structs.astuple(stretch)))

    def put(self, change: Change) -> None:
        """Carry out a change of rows."""
        PUT[type(change)](self, change)

    def put_session(self, change: SessionRow) -> None:
        self._run(PUT_SESSION, codec.session_row(change.state))
        self._active[change.state.id] = change.state.active

    def put_disk(self, change: DiskRow) -> None:
        self._run(PUT_DISK, codec.disk_row(change.state))
        self._disks[change.state.path] = change.state

    def put_knowledge(self, change: KnowledgeRow) -> None:
        key = (change.session, change.path)
        if change.state is None:
            self._run("DELETE FROM knowledge WHERE session = ? AND path = ?", key)
        else:
            self._run(PUT_KNOWLEDGE, codec.knowledge_row(change.session, change.state))
        self._known[key] = change.state

    def put_all_knowledge(self, change: KnowledgeRows) -> None:
        self._run("DELETE FROM knowledge WHERE session = ?", (change.session,))
        for state in change.states.values():
            self._run(PUT_KNOWLEDGE, codec.knowledge_row(change.session, state))
        self._known = {key: row for key, row in self._known.items() if key[0] != change.session}

    def put_claim(self, change: ClaimRow) -> None:
        if change.state is None:
            self._run("DELETE FROM claims WHERE id = ?", (change.id,))
        else:
            self._run(PUT_CLAIM, codec.claim_row(change.state))

    def put_intent(self, change: IntentRow) -> None:
        if change.recorded is None:
            self._run("DELETE FROM intents WHERE position = ?", (change.position,))
            self.intents().pop(change.position, None)
        else:
            self._run("INSERT INTO intents VALUES (?)", (change.position,))
            self.intents()[change.position] = change.recorded

    def put_stash(self, change: StashRow) -> None:
        if change.state is None:
            self._run("DELETE FROM stashes WHERE entry = ?", (change.commit,))
        else:
            self._run(PUT_STASH, codec.stash_row(change.state))

    def put_command(self, change: CommandRow) -> None:
        key = (change.session, change.run)
        if change.recorded is None:
            self._run("DELETE FROM commands WHERE session = ? AND run = ?", key)
        else:
            put = "INSERT OR REPLACE INTO commands VALUES (?, ?, ?)"
            self._run(put, (*key, change.recorded.position))

    def end_commands(self, change: NoCommands) -> None:
        self._run("DELETE FROM commands WHERE session = ?", (change.session,))


PUT: Mapping[type[Change], Callable[[RowCache, Any], None]] = {
    SessionRow: RowCache.put_session,
    DiskRow: RowCache.put_disk,
    KnowledgeRow: RowCache.put_knowledge,
    KnowledgeRows: RowCache.put_all_knowledge,
    ClaimRow: RowCache.put_claim,
    IntentRow: RowCache.put_intent,
    StashRow: RowCache.put_stash,
    CommandRow: RowCache.put_command,
    NoCommands: RowCache.end_commands,
}


# --- the positions of facts

EVERY_KIND = tuple(FACTS.values())

PATHS_CHANGED = """
WITH RECURSIVE own (path) AS (
  SELECT min(path) FROM events WHERE session = ? AND path IS NOT NULL
  UNION ALL
  SELECT (SELECT min(path) FROM events WHERE session = ? AND path > own.path)
  FROM own WHERE own.path IS NOT NULL
)
SELECT path FROM own WHERE path IS NOT NULL AND EXISTS (
  SELECT 1 FROM events WHERE session = ? AND events.path = own.path AND kind = 'Changed'
)"""
"""Each path is one search for the next one: SQLite would read every fact for SELECT DISTINCT."""

OF_EVENTS = "SELECT position FROM events WHERE "
OF_NAMES = "SELECT position FROM event_paths WHERE "
NAMED_AT = "(SELECT happened_at FROM events WHERE position = event_paths.position)"
NOTHING = f"{OF_EVENTS} 0"
BY_POSITION = " ORDER BY position"


def selection(
    *,
    session: str | None,
    path: str | None,
    kinds: Sequence[type[Fact]] | None,
    after: int,
    upto: int | None,
    since: int | None,
    is_limited: bool,
) -> tuple[str, list[Any]]:
    """Return the statement for the positions of the facts that meet every condition, in order, and
    the values of the statement. is_limited: only the first or the last of them are wanted.

    The statement has one search for each kind. One index answers each search in order of position;
    SQLite merges their results and stops at the limit."""
    if kinds is None and session is not None and is_limited:
        kinds = EVERY_KIND
    anybodys = session is None and path is None
    groups: list[Sequence[type[Fact]] | None] = [kinds]
    is_apart = bool(kinds) and not (anybodys and any(has_own_path(kind) for kind in kinds or ()))
    if is_apart:
        groups = [[kind] for kind in dict.fromkeys(kinds or ())]
    given = [
        (condition, value)
        for condition, value in (
            ("position > ?", after),
            ("position <= ?", upto),
            ("session = ?", session),
            ("path = ?", path),
        )
        if value is not None
    ]
    searches: list[str] = []
    values: list[Any] = []
    for group in groups:
        where = [condition for condition, _ in given]
        # SQLite uses a partial index only where it sees the names of the kinds.
        names = _names(group or ())
        if group is not None:
            where.append(f"kind = {names}" if len(group) == 1 else f"kind IN ({names})")
        if is_apart and anybodys:
            where.append("path IS NULL")
        tables = []
        if path is None or group is None or any(map(has_own_path, group)):
            tables.append((OF_EVENTS, "happened_at"))
        if path is not None and (group is None or any(map(has_other_paths, group))):
            tables.append((OF_NAMES, NAMED_AT))
        for table, happened_at in tables:
            then = [] if since is None else [f"{happened_at} >= ?"]
            searches.append(table + " AND ".join([*where, *then]))
            values += [value for _, value in given] + ([] if since is None else [since])
    return f"{' UNION ALL '.join(searches) or NOTHING}{BY_POSITION}", values
