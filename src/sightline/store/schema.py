"""Give an empty database the tables of a store, and refuse a file with other tables."""

from __future__ import annotations

import os
import sqlite3

from sightline.errors import Hint, StoreError
from sightline.store.codec import ANOTHER

VERSION = 15
"""The user_version of every store. Raise it with each change of a table, or of a stored fact that this
code could not read as before. Nothing was published under 1 to 14."""

APPLICATION_ID = 0x53474C4E
"""The header of every store has this id: "SGLN"."""

TABLES = os.path.join(os.path.dirname(__file__), "schema.sql")


def create(db: sqlite3.Connection) -> None:
    """Give an empty database the tables, inside the caller's transaction."""
    with open(TABLES, encoding="utf-8") as file:
        for statement in file.read().split(";\n"):
            db.execute(statement)
    db.execute(f"PRAGMA user_version={VERSION}")
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")


def check(db: sqlite3.Connection, file: str) -> None:
    """Raise StoreError for a file that is no store, or a store with other tables."""
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(
            f"{file} is a database, but not a Sightline store.",
            Hint("Move this file away, or name another with ", *ANOTHER),
            "not_a_store",
            unchanged=True,
        )
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise StoreError(
            f"The store {file} has schema version {version}; this Sightline reads {VERSION}.",
            "Use the Sightline that wrote it, or move the file away to begin a new store.",
            "other_version",
            unchanged=True,
        )
