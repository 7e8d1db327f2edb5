"""The embedded store as a file: open it, make a new one, and say whether others hold it.

A new file is built under another name, and renamed when whole.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from sightline.errors import StoreError
from sightline.filesystem import private_files
from sightline.filesystem.mounts import NETWORK, TABLE, file_system
from sightline.store.port import Engine, Store, StoreKind
from sightline.store.schema import create
from sightline.store.sqlite import SqliteStore
from sightline.store.sqlite_connection import connect, patiently
from sightline.store.sqlite_errors import busy, fault, os_fault

SCHEME = "sqlite://"

RACY = ((3, 7, 0), (3, 51, 2))
"""First and last SQLite version in which a WAL checkpoint can lose a concurrent commit."""

HELD_S = 0.05
"""Seconds to wait for other writers, of which each takes well under a millisecond."""


def url_of(file: str) -> str:
    """Return the URL of a store in a file."""
    return f"{SCHEME}/{file.lstrip('/')}"


class SqliteFiles(StoreKind):
    """Stores that are one SQLite file each."""

    usage = "sqlite:///absolute/path.db"

    def open(self, url: str, root: str) -> Store:
        return open_file(_path_in(url))

    def open_to_look(self, url: str) -> Store | None:
        file = _path_in(url)
        if not os.path.isfile(file):
            return None
        refuse_network(file)
        return SqliteStore(file, read_only=True)

    def is_held(self, url: str) -> bool:
        file = _path_in(url)
        if not os.path.isfile(file):
            return False
        try:
            with closing(connect(file, HELD_S)) as db:
                patiently(lambda: db.execute("BEGIN IMMEDIATE"), HELD_S)
                db.execute("ROLLBACK")
        except sqlite3.Error as error:
            return busy(error)
        except StoreError:  # the file is empty
            return False
        return False

    def files(self, url: str) -> list[str]:
        return [f"{_path_in(url)}{ending}" for ending in ("", "-wal", "-shm", "-newest")]

    def size(self, url: str) -> int:
        store, log, *_ = self.files(url)
        return sum(os.path.getsize(file) for file in (store, log) if os.path.exists(file))

    def engine(self) -> Engine:
        version = sqlite3.sqlite_version_info
        return Engine("sqlite", ".".join(map(str, version)), is_racy=is_racy(version))


def is_racy(version: tuple[int, ...]) -> bool:
    """Return whether a version of SQLite can lose a commit."""
    return RACY[0] <= version <= RACY[1]


KIND = SqliteFiles()


def open_file(file: str) -> SqliteStore:
    """Return the store in a file, and make the file where it does not exist."""
    refuse_network(file)
    if not os.path.lexists(file):
        _create(file)
    return SqliteStore(file)


def refuse_network(file: str, table: str | None = None) -> None:
    """Raise StoreError where a store would be on a network file system: SQLite's log needs memory
    that all who open the store share. table: the text of /proc/self/mounts, read where None. A
    system without that table is judged by the path alone."""
    if table is None:
        try:
            with open(TABLE, encoding="utf-8", errors="surrogateescape") as mounts:
                table = mounts.read()
        except FileNotFoundError:  # not Linux
            table = ""
    kind = file_system(os.path.realpath(file), table)
    if kind in NETWORK or file.startswith(("\\\\", "//")):
        raise StoreError(
            f"The store {file} would be on a network file system ({kind or 'a network share'}),"
            " where its log could be damaged.",
            "Set SIGHTLINE_HOME to a folder on a local disk.",
        )


def _path_in(url: str) -> str:
    path = url.removeprefix(SCHEME).lstrip("/")
    if os.name != "nt":  # where it is sqlite:///C:/folder/store.db
        path = f"/{path}"
    is_absolute = url.startswith(f"{SCHEME}/") and os.path.isabs(path)
    if not is_absolute or path.endswith("/"):
        raise StoreError(
            f"Not the absolute path of a store: {url!r}.", f"Use {SqliteFiles.usage}.", "bad_url"
        )
    return os.path.normpath(path)


def _create(file: str) -> None:
    """Make an empty store. Of several processes the first one gives it the name; the others then
    open that store."""
    if os.path.lexists(f"{file}-wal"):
        raise StoreError(
            f"The store {file} is gone, but its log {file}-wal is still there.",
            "Put the file back. To begin a new store, move the log away, too.",
        )
    aside = private_files.aside_of(file)
    try:
        private_files.make_folder(os.path.dirname(file))
        os.close(private_files.new_file(aside))
        _write_schema(aside)
        with open(aside, "rb+") as whole:
            os.fsync(whole.fileno())
        private_files.publish(aside, file)
    except FileExistsError:
        return
    except sqlite3.Error as error:
        raise fault(error, file) from error
    except OSError as error:
        raise os_fault(error, file) from error


def _write_schema(file: str) -> None:
    db = sqlite3.connect(file, isolation_level=None)
    try:
        # No other process knows the file yet, so one sync of the whole file is enough.
        db.execute("PRAGMA synchronous = OFF")
        # store.sqlite_connection gives freed room back a little at a time. Without this setting, which only
        # an empty file takes, every writer would wait for a rewrite of the whole file.
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("BEGIN IMMEDIATE")
        create(db)
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")
    finally:
        db.close()
