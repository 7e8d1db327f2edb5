"""Open the store that a URL names. A new one is built under another name, and renamed when whole."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from sightline.errors import StoreError
from sightline.filesystem import private_files
from sightline.filesystem.mounts import NETWORK, TABLE, file_system
from sightline.store.database import connect, patiently
from sightline.store.identity import recorded_file, store_file
from sightline.store.memory import MemoryStore
from sightline.store.port import Store
from sightline.store.schema import create
from sightline.store.sqlite import SqliteStore
from sightline.store.sqlite_errors import busy, fault, os_fault

SUPPORTED = "Use sqlite:///absolute/path.db, or memory: for a store that ends with the process."

_IN_MEMORY: dict[str, MemoryStore] = {}


def open_store(url: str | None, *, workspace_root: str, state_home: str) -> Store:
    """Return the store that a URL names; without a URL the embedded store of this workspace.

    workspace_root: a real, absolute path. state_home: the folder of the embedded stores
    (config.settings.Settings.state_home). StoreError, with nothing changed, where the store cannot
    be opened.
    """
    if url is None:
        return open_file(store_file(state_home, workspace_root))
    if url == "memory:":
        return _IN_MEMORY.setdefault(workspace_root, MemoryStore())
    if url.startswith("sqlite:///"):
        return open_file(_path_in(url))
    if url.startswith(("postgresql:", "postgres:")):
        raise StoreError("PostgreSQL stores are not in this version of sightline.", SUPPORTED)
    raise StoreError(f"Not a store URL: {url!r}.", SUPPORTED)


def open_file(file: str) -> SqliteStore:
    """Return the store in a file, and make the file where it does not exist."""
    refuse_network(file)
    if not os.path.lexists(file):
        _create(file)
    return SqliteStore(file)


def open_to_look(url: str | None, *, workspace_root: str, state_home: str) -> SqliteStore | None:
    """Return the store that open_store would open, to read only; None where there is none yet. Makes
    no file, and waits for nobody. StoreError, OSError."""
    if url is None:
        file = recorded_file(state_home, workspace_root)
    else:
        file = _path_in(url) if url.startswith("sqlite:///") else None
    if file is None or not os.path.isfile(file):
        return None
    refuse_network(file)
    return SqliteStore(file, read_only=True)


HELD_S = 0.05
"""Seconds to wait for other writers, of which each takes well under a millisecond."""


def is_held(url: str | None, *, workspace_root: str, state_home: str) -> bool:
    """Return whether another process keeps everybody from writing to the store that a URL names. False
    where the store cannot be asked. StoreError."""
    file = store_file(state_home, workspace_root)
    if url is not None:
        file = _path_in(url) if url.startswith("sqlite:///") else ""
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
    path = url.removeprefix("sqlite://").lstrip("/")
    if os.name != "nt":  # where it is sqlite:///C:/folder/store.db
        path = f"/{path}"
    if not os.path.isabs(path) or path.endswith("/"):
        raise StoreError(f"Not the absolute path of a store: {url!r}.", SUPPORTED)
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
        # store.database gives freed room back a little at a time. Without this setting, which only
        # an empty file takes, every writer would wait for a rewrite of the whole file.
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("BEGIN IMMEDIATE")
        create(db)
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")
    finally:
        db.close()
