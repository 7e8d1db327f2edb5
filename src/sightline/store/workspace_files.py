"""Find what the state folder keeps of a workspace, and delete it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from msgspec import Struct

from sightline.errors import SightlineError, WorkspaceError
from sightline.filesystem.private_files import Locked, check_private
from sightline.store import identity
from sightline.store.sqlite_errors import busy, os_fault

STORE = "store.db"


class StoreInUse(SightlineError):
    """Another program has the store open."""

    reason = "in_use"


class StoredWorkspace(Struct, frozen=True):
    """The files that the state folder has of a workspace. folder: an absolute path. files: path below the
    folder -> bytes."""

    folder: str
    files: dict[str, int]

    @property
    def store(self) -> str | None:
        """The file of the store; None where the folder has none."""
        return os.path.join(self.folder, STORE) if STORE in self.files else None

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(self.files.values())


def find_stored(state_home: str, root: str) -> StoredWorkspace | None:
    """Return what is kept of the workspace at a path; None where nothing is. Nothing is created.

    root: absolute, free of symlinks; its folder may be gone. StoreError; WorkspaceError where the
    folder has another path now.
    """
    home = os.path.join(state_home, "workspaces")
    try:
        check_private(state_home, "workspaces", "workspaces/paths", "workspaces/folders")
        id_, path = identity.recorded(home, root)
        if path != root:
            raise WorkspaceError(
                f"The workspace {root} stands at {path} now.",
                "Name that path to forget the workspace.",
            )
        folder = os.path.join(home, id_)
        if not id_ or not os.path.isdir(folder):
            return None
        check_private(state_home, f"workspaces/{id_}")
        files = {os.path.relpath(file, folder): os.lstat(file).st_size for file in _files(folder)}
        return StoredWorkspace(folder, dict(sorted(files.items())))
    except OSError as error:
        raise os_fault(error, state_home) from error


def delete_stored(kept: StoredWorkspace) -> None:
    """Delete what is kept of a workspace. StoreInUse, with nothing deleted; StoreError."""
    home, id_ = os.path.split(kept.folder)
    try:
        with Locked(os.path.join(home, "lock")), _alone(kept.store):
            shutil.rmtree(kept.folder)
            # Last, so that what an interruption leaves can be found and deleted.
            for entry in identity.entries_of(home, id_):
                os.unlink(entry)
    except OSError as error:
        raise os_fault(error, kept.folder) from error


@contextmanager
def _alone(store: str | None) -> Iterator[None]:
    """Keep every other program out of a store. A store that is damaged belongs to nobody."""
    if store is None:
        yield
        return
    with closing(sqlite3.connect(store, timeout=0, isolation_level=None)) as db:
        try:
            # Under this mode SQLite reads a store only when no other connection has it open.
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if busy(error):
                raise StoreInUse(
                    f"Another program has the store {store} open. Nothing was deleted.",
                    "End the program that works in this workspace: an agent, or a view of yours.",
                ) from error
        yield


def _files(folder: str) -> Iterator[str]:
    for above, _, names in os.walk(folder):
        yield from (os.path.join(above, name) for name in names)
