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
from pathlib import Path
from threading import RLock
from time import monotonic, sleep
from typing import Any, TypeVar
from weakref import ref

from sightline.errors import StoreError
from sightline.store.codec import text
from sightline.store.migrations import check, migrate
from sightline.store.sqlite_errors import busy, fault

Result = TypeVar("Result")

PATIENCE_S = 30.0
"""Seconds to wait for other writers; one write takes well under a millisecond."""

LOG_BYTES = 4 << 20
"""A larger log is carried over into the file, which takes a few milliseconds."""

LOG_KEPT_BYTES = 2 * LOG_BYTES
"""SQLite cuts a log that begins anew down to this size. Syncing a file that grows takes twice as
long as syncing one that is written over, so the log is not cut down to nothing."""

MEMORY = ":memory:"
"""Stands for the file of a store in the process's memory. A forked child has a copy of that store."""

SETTINGS = (
    "PRAGMA wal_autocheckpoint=0",
    "PRAGMA synchronous=NORMAL",
    f"PRAGMA journal_size_limit={LOG_KEPT_BYTES}",
)
COMMITS_PER_LOOK = 128
"""Commits between two looks at the size of the log."""


class Database:
    """Hold a connection and its lock. Every error is a StoreError that names the file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._lock = RLock()
        self._pid = os.getpid()
        self._full = False
        self._commits = 0
        self._db: sqlite3.Connection | None = None
        try:
            self._db = connect(file)
            while not patiently(lambda: check(self.open(), file)):
                self.write(lambda: migrate(self.open(), file), durable=True)
                self.carry_over()
        except BaseException as error:
            self._disconnect()
            if isinstance(error, sqlite3.Error):
                raise fault(error, file) from error
            raise
        _OPEN.append(ref(self, _OPEN.remove))

    def open(self) -> sqlite3.Connection:
        """Return the connection, for statements inside write(). StoreError where the store was
        closed, or opened before this process was forked."""
        if self._db is None:
            raise StoreError(f"The store {self.file} was closed.", "Open it again.")
        if self.file != MEMORY and os.getpid() != self._pid:
            raise StoreError(
                f"The store {self.file} was opened before this process was forked; SQLite"
                " connections do not survive that.",
                "Open the store (or the session) again in the new process.",
            )
        return self._db

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement, alone or inside write(), and return all its rows. values: strings are
        bound as codec.text() stores them."""
        db = self.open()
        bound = [text(value) if type(value) is str else value for value in values]
        try:
            with self._lock:
                return patiently(lambda: db.execute(sql, bound).fetchall())
        except sqlite3.Error as error:
            raise fault(error, self.file) from error

    def write(self, work: Callable[[], Result], *, durable: bool = False) -> Result:
        """Run `work` in one transaction. durable: this transaction and all before it survive a
        power cut once this returns; else they survive the death of the process."""
        db = self.open()
        with self._lock:
            try:
                if durable is not self._full:
                    db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                    self._full = durable
                patiently(lambda: db.execute("BEGIN IMMEDIATE"))
                try:
                    result = work()
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:  # SQLite itself gives up on a full disk
                        db.execute("ROLLBACK")
                    raise
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
        if self.file == MEMORY:
            return True
        with self._lock:
            try:
                db.execute("BEGIN IMMEDIATE")  # from here on nobody begins the log anew
            except sqlite3.OperationalError as error:
                if busy(error):
                    return False
                raise
            second = connect(self.file)
            try:
                blocked, _, _ = second.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                return not blocked
            finally:
                second.close()
                db.execute("ROLLBACK")

    def log_bytes(self) -> int:
        """Return the size of the write-ahead log."""
        try:
            return os.stat(f"{self.file}-wal").st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Close the connection. In a forked child do nothing: the connection is the parent's."""
        if self._db is None or os.getpid() != self._pid:
            return
        with self._lock:
            try:
                self.carry_over()
            finally:
                self._disconnect()

    def keep_inherited(self) -> None:
        """After a fork, keep the child's garbage collector from closing the parent's connection."""
        _INHERITED.append(self._db)

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None


def connect(file: str) -> sqlite3.Connection:
    """Return a connection to a file that exists, whatever it holds, or to a new store in memory.
    sqlite3.Error or StoreError."""
    if file == MEMORY:
        db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        migrate(db, file)
        return db
    if os.path.isfile(file) and os.path.getsize(file) == 0:  # SQLite would take it for a new one
        error = sqlite3.DatabaseError("the file is empty")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise fault(error, file)
    db = sqlite3.connect(
        f"{Path(file).absolute().as_uri()}?mode=rw",  # mode=rw: never make one
        uri=True,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        patiently(lambda: [db.execute(setting) for setting in SETTINGS])
    except BaseException:
        db.close()
        raise
    return db


def patiently(attempt: Callable[[], Result]) -> Result:
    """Try until no other process is in the way, for PATIENCE_S at most. SQLite's own waiting sleeps
    in steps of up to 100 ms; short random naps let eight writers through in a tenth of the time."""
    give_up = 0.0
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if not busy(error) or (give_up and monotonic() > give_up):
                raise
            give_up = give_up or monotonic() + PATIENCE_S
            sleep((os.urandom(1)[0] + 26) / 256_000)  # 0.1 to 1.1 ms


_OPEN: list[ref[Database]] = []
_INHERITED: list[object] = []


def _keep_inherited() -> None:
    for reference in _OPEN:
        if (database := reference()) is not None:
            database.keep_inherited()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_inherited)
