"""One SQLite file under write-ahead logging, shared by threads, and by processes that wait in turn.

SQLite 3.7.0 to 3.51.2 can lose commits when one connection checkpoints while another writer
begins the log anew (fixed in 3.51.3). Python links whatever the system has, so no checkpoint
here ever runs beside a writer: automatic ones are off, and checkpoint() runs while this process
holds the writer's lock through its first connection. Asking for TRUNCATE would not do: under a
busy writer SQLite silently falls back to the unguarded kind. What SQLite does by itself when
the last connection closes is safe, for it holds the whole file then.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from threading import RLock
from time import monotonic, sleep
from typing import Any, TypeVar
from weakref import ref

from sightline.errors import StoreError
from sightline.store.migrations import check, migrate
from sightline.store.sqlite_errors import busy, fault

Result = TypeVar("Result")

PATIENCE_S = 30.0
"""How long to wait for other writers; one write takes well under a millisecond."""

LOG_BYTES = 4 << 20
"""A log larger than this is carried over into the file, a few milliseconds of work."""

LOG_KEPT_BYTES = 2 * LOG_BYTES
"""A log begun anew is cut down to this. Not to nothing: syncing a file that grows takes twice
as long as syncing one that is written over."""

LEFT_BYTES = 1 << 18
"""A log larger than this is not left behind: the next one that opens the file reads all of it."""

SETTINGS = (
    "PRAGMA wal_autocheckpoint=0",
    "PRAGMA synchronous=NORMAL",
    f"PRAGMA journal_size_limit={LOG_KEPT_BYTES}",
)
COMMITS_PER_LOOK = 128
"""How often the size of the log is looked at."""


class Database:
    """A connection with its own lock. All errors are StoreError and name the file."""

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
        """The connection, for statements inside write(). StoreError when it is not to be used."""
        if self._db is None:
            raise StoreError(f"The store {self.file} was closed.", "Open it again.")
        if os.getpid() != self._pid:
            raise StoreError(
                f"The store {self.file} was opened before this process was forked; SQLite"
                " connections do not survive that.",
                "Open the store (or the session) again in the new process.",
            )
        return self._db

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """One statement, alone or inside write(); all rows it gives."""
        db = self.open()
        try:
            with self._lock:
                try:
                    return db.execute(sql, values).fetchall()
                except sqlite3.OperationalError as error:
                    if not busy(error):
                        raise
                    return patiently(lambda: db.execute(sql, values).fetchall())
        except sqlite3.Error as error:
            raise fault(error, self.file) from error

    def write(self, work: Callable[[], Result], *, durable: bool = False) -> Result:
        """Run `work` in one transaction. durable: on the platter before this returns, with all
        that was written before it; else safe against the death of the process."""
        db = self.open()
        with self._lock:
            try:
                if durable is not self._full:
                    db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                    self._full = durable
                self._begin(db)
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
        """Carry the log over into the file where it is large."""
        try:
            if self.log_bytes() > LOG_BYTES:
                self.checkpoint()
        except sqlite3.Error as error:
            raise fault(error, self.file) from error

    def checkpoint(self) -> bool:
        """Carry the log over into the file; False when a writer is busy, who will do it later."""
        db = self.open()
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
        """Size of the write-ahead log."""
        try:
            return os.stat(f"{self.file}-wal").st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Let go of the file. In a forked child nothing is touched: it belongs to the parent."""
        if self._db is None or os.getpid() != self._pid:
            return
        with self._lock:
            try:
                self.carry_over()
            finally:
                self._disconnect()

    def leave(self) -> None:
        """Let go of the file as the end of the process does, which is to come at once: without
        carrying the log over, as SQLite does for the last one that closes. That takes longer than
        one commit, so it is left to every twentieth or so."""
        if self._db is None or self.log_bytes() > LEFT_BYTES:
            self.close()
        else:
            _LEFT.append(self._db)
            self._db = None

    def open_by_parent(self) -> object:
        """The connection, only to be held on to."""
        return self._db

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _begin(self, db: sqlite3.Connection) -> None:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not busy(error):
                raise
            patiently(lambda: db.execute("BEGIN IMMEDIATE"))


def connect(file: str) -> sqlite3.Connection:
    """A connection to a file that is there, whatever is in it. sqlite3.Error or StoreError."""
    if os.path.isfile(file) and os.path.getsize(file) == 0:
        raise fault(_cut_short(), file)  # SQLite would take it for a new database
    path = os.path.abspath(file).replace("\\", "/") if os.name == "nt" else file
    for mark in "%?#":
        path = path.replace(mark, f"%{ord(mark):02x}")
    prefix = "file:///" if os.name == "nt" else "file:"
    db = sqlite3.connect(
        f"{prefix}{path}?mode=rw",  # mode=rw: never make one
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
    """Try until no other process is in the way. SQLite's own waiting sleeps in steps of up
    to 100 ms; short random naps let eight writers through in a tenth of the time."""
    give_up = 0.0
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if not busy(error) or (give_up and monotonic() > give_up):
                raise
            give_up = give_up or monotonic() + PATIENCE_S
            sleep((os.urandom(1)[0] + 26) / 256_000)  # 0.1 to 1.1 ms


def _cut_short() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("the file is empty")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


_OPEN: list[ref[Database]] = []
_INHERITED: list[object] = []
_LEFT: list[object] = []


def _park() -> None:
    """After a fork, keep the parent's connections from being closed by the child's collector."""
    living = [database for each in _OPEN if (database := each()) is not None]
    _INHERITED.extend(database.open_by_parent() for database in living)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_park)
