"""From a store URL to an open store; a new one is made aside and given its name when whole."""

from __future__ import annotations

import os
import sqlite3

from sightline.errors import StoreError
from sightline.filesystem import private_files
from sightline.store.identity import store_file
from sightline.store.memory import MemoryStore
from sightline.store.migrations import migrate
from sightline.store.network_folders import refuse_network
from sightline.store.port import Store
from sightline.store.sqlite import SqliteStore
from sightline.store.sqlite_errors import fault, os_fault

SUPPORTED = "Use sqlite:///absolute/path.db, or memory: for a store that ends with the process."

_IN_MEMORY: dict[str, MemoryStore] = {}


def open_store(url: str | None, *, workspace_root: str, state_home: str) -> Store:
    """The store that a URL names; None: the embedded one of this workspace.

    workspace_root: a real, absolute path. state_home: the folder of the embedded stores
    (config.settings.Settings.state_home). StoreError, with nothing changed, when it cannot be opened.
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
    """The store in this file, which is made when nothing is there."""
    refuse_network(file)
    if not os.path.lexists(file):
        _create(file)
    return SqliteStore(file)


def _path_in(url: str) -> str:
    path = url.removeprefix("sqlite://").lstrip("/")
    if os.name != "nt":  # where it is sqlite:///C:/folder/store.db
        path = f"/{path}"
    if not os.path.isabs(path) or path.endswith("/"):
        raise StoreError(f"Not the absolute path of a store: {url!r}.", SUPPORTED)
    return os.path.normpath(path)


def _create(file: str) -> None:
    """Make an empty store. Whoever of several processes is first gives it the name; the others
    open that one."""
    if os.path.lexists(f"{file}-wal"):
        raise StoreError(
            f"The store {file} is gone, but its log {file}-wal is still there.",
            "Put the file back. To begin a new store, move the log away, too.",
        )
    aside = private_files.aside_of(file)
    try:
        private_files.make_folder(os.path.dirname(file))
        os.close(private_files.new_file(aside))
        _build(aside)
        private_files.publish(aside, file)
    except FileExistsError:
        return
    except sqlite3.Error as error:
        raise fault(error, file) from error
    except OSError as error:
        raise os_fault(error, file) from error


def _build(file: str) -> None:
    _write_schema(file)
    with open(file, "rb+") as whole:
        os.fsync(whole.fileno())


def _write_schema(file: str) -> None:
    db = sqlite3.connect(file, isolation_level=None)
    try:
        # Nobody knows its name yet, so it is synced once, when it is whole: ten syncs less.
        db.execute("PRAGMA synchronous = OFF")
        # Freed room can be given back a little at a time (store.disk_usage), not by a rewrite of all
        # for which every writer would wait. Only an empty file takes this.
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("BEGIN IMMEDIATE")
        migrate(db, file)
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")
    finally:
        db.close()
