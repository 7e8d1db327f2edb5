"""Give a new database the present schema, and take an older one through numbered steps to the same
schema. Each step's file has its reason."""

from __future__ import annotations

import os
import sqlite3

from sightline.errors import StoreError
from sightline.store.old_texts import rewrite_some

STEPS = (
    "0001_ground.sql",
    "0002_several_agents.sql",
    "0003_retention.sql",
    "0004_packs.sql",
    "0005_patches.sql",
    "0006_texts.sql",
    "0007_old_texts_gone.sql",
    "0008_checksums.sql",
    "0009_growth.sql",
    "0010_marks.sql",
)
"""user_version counts the steps that a database has taken. A published step never changes."""

NEWEST = "newest.sql"
"""The schema behind all steps. All steps take five times as long as this one file."""

TEXTS_REWRITTEN = "0007_old_texts_gone.sql"
"""Before this step store.old_texts rewrites every old text."""

APPLICATION_ID = 0x53474C4E
"""The header of every store has this id: "SGLN"."""


def create(db: sqlite3.Connection) -> None:
    """Give an empty database the present schema, inside the caller's transaction."""
    _take(db, NEWEST)
    db.execute(f"PRAGMA user_version={len(STEPS)}")
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")


def migrate(db: sqlite3.Connection, file: str) -> None:
    """Take the missing steps inside the caller's transaction: all steps, or none where one fails.
    Where old texts have to be rewritten, take the steps before and rewrite some texts: call this
    again, in a durable transaction of its own, until check() returns True."""
    for number, name in enumerate(STEPS[version_of(db) :], version_of(db) + 1):
        if name == TEXTS_REWRITTEN and rewrite_some(lambda *sql: db.execute(*sql).fetchall(), file):
            break
        _take(db, name)
        db.execute(f"PRAGMA user_version={number}")
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")


def _take(db: sqlite3.Connection, name: str) -> None:
    path = os.path.join(os.path.dirname(__file__), "schema", name)
    with open(path, encoding="utf-8") as file:
        for statement in file.read().split(";\n"):
            db.execute(statement)


def check(db: sqlite3.Connection, file: str) -> bool:
    """Return whether the schema is the present one. StoreError for a file that is no store, or a
    newer one."""
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(
            f"{file} is a database, but not a Sightline store. Nothing was changed.",
            "Name another file with SIGHTLINE_STORE, or move this one away.",
        )
    version = version_of(db)
    if version > len(STEPS):
        raise StoreError(
            f"The store {file} has schema version {version}; this Sightline reads {len(STEPS)}."
            " Nothing was changed.",
            "Upgrade Sightline, or name another store with SIGHTLINE_STORE.",
        )
    return version == len(STEPS)


def check_present(db: sqlite3.Connection, file: str) -> None:
    """Raise StoreError unless the schema is the present one."""
    if not check(db, file):
        raise StoreError(
            f"The store {file} has an older schema, and was opened read-only.",
            "Run any command that writes, such as: sightline status",
        )


def version_of(db: sqlite3.Connection) -> int:
    """Return the number of steps that a database has taken."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])
