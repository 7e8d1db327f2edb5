"""Open one SQLite file under write-ahead logging, shared by threads and by processes in turn.

SQLite 3.7.0 to 3.51.2 can lose commits when one connection checkpoints while another writer begins
the log anew (fixed in 3.51.3). Python links whatever SQLite the system has, so no checkpoint here
ever runs beside a writer: automatic checkpoints are off, and checkpoint() runs while the first
connection of this process holds the writer's lock. TRUNCATE would not help: under a busy writer
SQLite silently falls back to the unguarded kind. The checkpoint that SQLite takes when the last
connection closes is safe, because SQLite then holds the whole file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from threading import RLock
from time import monotonic, sleep
from typing import Any, TypeVar
from weakref import ref

from sightline.errors import StoreError
from sightline.filesystem.private_files import new_file
from sightline.store.blobs import ROW_BYTES
from sightline.store.codec import text
from sightline.store.port import Room
from sightline.store.schema import check
from sightline.store.sqlite_errors import busy, fault, os_fault

Result = TypeVar("Result")

PATIENCE_S = 30.0
"""Seconds to wait for other writers; one write takes well under a millisecond."""

LOG_BYTES = 4 << 20
"""A larger log is carried over into the file, which takes a few milliseconds."""

LOG_KEPT_BYTES = 2 * LOG_BYTES
"""SQLite cuts a log that begins anew down to this size. Syncing a file that grows takes twice as
long as syncing one that is written over, so the log is not cut down to nothing."""

PLAIN = frozenset(b"/-_.~:" + bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123)))
"""Bytes of a path that a URI has as they are."""

SETTINGS = (
    "PRAGMA wal_autocheckpoint=0",
    "PRAGMA synchronous=NORMAL",
    f"PRAGMA journal_size_limit={LOG_KEPT_BYTES}",
)
NEWEST_BYTES = 20
"""Digits of a position in the file beside a store."""

COMMITS_PER_LOOK = 128
"""Commits between two looks at the size of the log."""

PAGES_AT_ONCE = 48
"""Free pages given back in one transaction, which holds the writers' lock for some milliseconds."""

REST_S = 0.003
"""Seconds between two transactions. A waiting writer tries every millisecond, so it comes first."""

FREE_KEPT_BYTES = 1 << 20
"""Free room that stays in the file for the next facts and texts."""

FACTS = (
    "SELECT coalesce(sum(length(body) + length(session) + length(kind)"
    " + coalesce(length(path), 0) + 30), 0) FROM events"
)
STAMPS = (
    "SELECT coalesce(sum(length(path) + length(signature) + length(revision) + 20), 0) FROM stamps"
)
TEXTS = (
    f"SELECT coalesce(sum(length(frame) + {ROW_BYTES}), 0)"  # noqa: S608  all ours
    " FROM (SELECT frame FROM texts UNION ALL SELECT frame FROM marks)"
)


class Database:
    """Hold a connection. Every error is a StoreError that names the file.

    lock: held by the thread that uses the connection, from before a transaction begins.
    """

    def __init__(self, file: str, *, read_only: bool = False) -> None:
        """read_only: only look at a file, without waiting for anybody."""
        self.file = file
        self.lock = RLock()
        self._read_only = read_only
        self._pid = os.getpid()
        self._full = False
        self._commits = 0
        self._db: sqlite3.Connection | None = None
        self._newest = NewestPosition(file)
        try:
            recorded, has_log = self._newest.read(), self.log_bytes() > 0
            self._db = connect(file, read_only=read_only)
            if read_only:
                check(self._db, file)
                return
            patiently(lambda: check(self.open(), file))
            if recorded and not has_log:
                self._refuse_lost(recorded)
            self._newest.open()
        except BaseException as error:
            self._disconnect(keep_newest=True)
            if isinstance(error, sqlite3.Error):
                raise fault(error, file) from error
            if isinstance(error, OSError):
                raise os_fault(error, file) from error
            raise
        _OPEN.append(ref(self, _OPEN.remove))

    def _refuse_lost(self, recorded: int) -> None:
        """Raise StoreError where the store ends before a position that was recorded: the log that had
        the facts was removed. A process that closes the store carries the log over first."""
        newest = self.run("SELECT max(position) FROM events")[0][0] or 0
        if newest < recorded:
            raise StoreError(
                f"The store {self.file} has lost its facts {newest + 1} to {recorded}: its log"
                f" {self.file}-wal was removed.",
                "Put the log back. To go on without these facts, delete"
                f" {self._newest.file}: sessions then read their files again.",
                "damaged",
            )

    def note_newest(self, position: int) -> None:
        """Note the position of the newest fact, which is committed, outside the store and its log."""
        self._newest.write(position)

    def open(self) -> sqlite3.Connection:
        """Return the connection, for statements inside write(). StoreError where the store was
        closed, or opened before this process was forked."""
        if self._db is None:
            raise StoreError(f"The store {self.file} was closed.", "Open it again.", "closed")
        if os.getpid() != self._pid:
            raise StoreError(
                f"The store {self.file} was opened before this process was forked; SQLite"
                " connections do not survive that.",
                "Open the store (or the session) again in the new process.",
                "closed",
            )
        return self._db

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement, alone or inside write(), and return all its rows. values: strings are
        bound as codec.text() stores them."""
        db = self.open()
        try:
            with self.lock:
                if db.in_transaction:  # no other process is in the way
                    return db.execute(sql, values).fetchall()
                return patiently(
                    lambda: db.execute(sql, values).fetchall(), 0 if self._read_only else PATIENCE_S
                )
        except UnicodeEncodeError:  # a name that is not UTF-8, which SQLite does not take as text
            bound = [text(value) if type(value) is str else value for value in values]
            return self.run(sql, bound)
        except UnicodeDecodeError as error:
            raise fault(_damaged(error), self.file) from error
        except sqlite3.Error as error:
            raise fault(error, self.file) from error

    def write(self, work: Callable[[], Result], *, durable: bool = False) -> Result:
        """Run `work` in one transaction. durable: this transaction and all before it survive a
        power cut once this returns; else they survive the death of the process."""
        db = self.open()
        with self.lock:
            try:
                if durable is not self._full:
                    db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                    self._full = durable
                try:  # before BEGIN: a signal may raise as soon as the transaction has begun
                    patiently(lambda: db.execute("BEGIN IMMEDIATE"), PATIENCE_S)
                    result = work()
                    db.execute("COMMIT")
                finally:
                    _roll_back(db)
                self._commits += 1
                if self._commits % COMMITS_PER_LOOK == 0:
                    self.carry_over()
            except sqlite3.Error as error:
                raise fault(error, self.file) from error
            return result

    def carry_over(self) -> None:
        """Carry the log over into the file where the log is large."""
        try:
            if self.log_bytes() > LOG_BYTES:
                self.checkpoint()
        except sqlite3.Error as error:
            raise fault(error, self.file) from error

    def checkpoint(self) -> bool:
        """Carry the log over into the file; False when a writer is busy, who will do so later."""
        db = self.open()
        with self.lock:
            try:
                db.execute("BEGIN IMMEDIATE")  # from here on nobody begins the log anew
                with closing(connect(self.file)) as second:
                    blocked, _, _ = second.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                return not blocked
            except sqlite3.OperationalError as error:
                if busy(error) and not db.in_transaction:
                    return False
                raise
            finally:
                _roll_back(db)

    def log_bytes(self) -> int:
        """Return the size of the write-ahead log."""
        try:
            return os.stat(f"{self.file}-wal").st_size
        except FileNotFoundError:
            return 0

    def room(self) -> Room:
        """Return the room by use. Facts, stats and texts count their rows, with a few bytes for the
        head of each row; views count the remaining pages."""
        facts, caches, texts = (self.run(sql)[0][0] for sql in (FACTS, STAMPS, TEXTS))
        page = self._pragma("page_size")
        free = self._pragma("freelist_count") * page
        used = self._pragma("page_count") * page - free
        views = max(used - facts - caches - texts, 0)
        return Room(facts, views, caches, texts, free, self.log_bytes())

    def give_back(self) -> int:
        """Shorten the file by its free pages while other processes go on writing. Return the bytes
        by which the file is smaller."""

        def drop() -> None:
            for _ in range(min(PAGES_AT_ONCE, self._pragma("freelist_count") - kept)):
                self.run("PRAGMA incremental_vacuum(1)")  # one page, whatever number it is given

        self.checkpoint()  # only then the file has its final length
        before = os.path.getsize(self.file)
        kept = FREE_KEPT_BYTES // self._pragma("page_size")
        rounds = 0
        while (free := self._pragma("freelist_count")) > kept:
            self.write(drop)
            if self._pragma("freelist_count") >= free:
                break  # others free pages as fast, or no page can be given back: try the next time
            rounds += 1
            if rounds % 16 == 0:
                self.checkpoint()  # until then the log has the pages that were moved
            sleep(REST_S)
        if rounds:
            self.checkpoint()
        return max(before - os.path.getsize(self.file), 0)

    def close(self) -> None:
        """Close the connection. In a forked child do nothing: the connection is the parent's."""
        if self._db is None or os.getpid() != self._pid:
            return
        with self.lock:
            try:
                if not self._read_only:
                    self.carry_over()
            finally:
                self._disconnect()

    def keep_inherited(self) -> None:
        """After a fork, keep the child's garbage collector from closing the parent's connection."""
        _INHERITED.append(self._db)

    def _pragma(self, name: str) -> int:
        return int(self.run(f"PRAGMA {name}")[0][0])

    def _disconnect(self, *, keep_newest: bool = False) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        self._newest.close(keep=keep_newest or self.log_bytes() > 0)


class NewestPosition:
    """The position of the newest committed fact, in a file of its own beside an open store. The last
    process that closes the store deletes the file."""

    def __init__(self, store: str) -> None:
        self.file = f"{store}-newest"
        self._descriptor = -1

    def read(self) -> int:
        """Return the position; 0 where none was noted, or where a power cut left anything else in the
        file, which is never synced. OSError."""
        try:
            with open(self.file, "rb") as file:
                text = file.read()
        except FileNotFoundError:
            return 0
        return int(text) if text.isdigit() and len(text) == NEWEST_BYTES else 0

    def open(self) -> None:
        """Open the file, or make a new one. OSError."""
        try:
            self._descriptor = new_file(self.file)
        except FileExistsError:
            self._descriptor = os.open(self.file, os.O_RDWR | getattr(os, "O_BINARY", 0))

    def write(self, position: int) -> None:
        """Note a position. One small write, not synced: it is for the death of processes."""
        if self._descriptor >= 0:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, b"%0*d" % (NEWEST_BYTES, position))

    def close(self, *, keep: bool) -> None:
        """Close the file, and delete it unless a log may still hold facts."""
        if self._descriptor < 0:
            return
        os.close(self._descriptor)
        self._descriptor = -1
        if not keep:
            with suppress(FileNotFoundError):
                os.unlink(self.file)


def _roll_back(db: sqlite3.Connection) -> None:
    """End a transaction that was not committed. SQLite itself ends one where the disk is full."""
    if db.in_transaction:
        db.execute("ROLLBACK")


def connect(
    file: str, patience_s: float = PATIENCE_S, *, read_only: bool = False
) -> sqlite3.Connection:
    """Return a connection to a file that exists, whatever it holds.
    patience_s: as in patiently(). sqlite3.Error or StoreError."""
    if os.path.isfile(file) and os.path.getsize(file) == 0:  # SQLite would take it for a new one
        error = sqlite3.DatabaseError("the file is empty")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise fault(error, file)
    db = sqlite3.connect(
        # Neither mode makes a file.
        f"{_uri(file)}?mode={'ro' if read_only else 'rw'}",
        uri=True,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if not read_only:
            patiently(lambda: [db.execute(setting) for setting in SETTINGS], patience_s)
    except BaseException:
        db.close()
        raise
    return db


def _uri(file: str) -> str:
    """Return the URI of a file, whatever bytes its path has."""
    path = os.fsencode(os.path.abspath(file).replace(os.sep, "/"))
    quoted = "".join([chr(byte) if byte in PLAIN else f"%{byte:02X}" for byte in path])
    return f"file://{'' if quoted.startswith('/') else '/'}{quoted}"


def patiently(attempt: Callable[[], Result], patience_s: float = PATIENCE_S) -> Result:
    """Try until no other process is in the way, for so many seconds at most. SQLite's own waiting
    sleeps in steps of up to 100 ms; short random naps let eight writers through in a tenth of the
    time."""
    give_up = 0.0
    while True:
        try:
            return attempt()
        except UnicodeDecodeError as error:
            raise _damaged(error) from error
        except sqlite3.OperationalError as error:
            if not busy(error) or not patience_s or (give_up and monotonic() > give_up):
                raise
            give_up = give_up or monotonic() + patience_s
            sleep((os.urandom(1)[0] + 26) / 256_000)  # 0.1 to 1.1 ms


def _damaged(error: UnicodeDecodeError) -> sqlite3.DatabaseError:
    """Return the error for a damaged schema, whose bytes SQLite repeats in its message."""
    damaged = sqlite3.DatabaseError(str(error))
    damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return damaged


_OPEN: list[ref[Database]] = []
_INHERITED: list[object] = []


def _keep_inherited() -> None:
    for reference in _OPEN:
        if (database := reference()) is not None:
            database.keep_inherited()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_inherited)
