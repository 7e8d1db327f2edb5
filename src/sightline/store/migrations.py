"""Numbered steps from an empty database to the present one; each file says why it is there."""

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
)
"""user_version counts the steps a database has taken. A published step is never changed."""

TEXTS_REWRITTEN = "0007_old_texts_gone.sql"
"""The step before which store.old_texts rewrites every old text."""

APPLICATION_ID = 0x53474C4E
"""Written into the header of every store: "SGLN"."""


def migrate(db: sqlite3.Connection, file: str) -> None:
    """Take the missing steps inside the caller's transaction: all of them, or none where one fails.
    Where old texts have to be rewritten it takes the steps before that and rewrites some: call it
    again, in a durable transaction of its own, until check() says that all steps were taken."""
    for number, name in enumerate(STEPS[version_of(db) :], version_of(db) + 1):
        if name == TEXTS_REWRITTEN and rewrite_some(lambda *sql: db.execute(*sql).fetchall(), file):
            break
        for statement in _read(name).split(";\n"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version={number}")
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")


def check(db: sqlite3.Connection, file: str) -> bool:
    """Whether all steps were taken. StoreError when this is no store, or a newer one."""
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(
            f"{file} is a database, but not a Sightline store. Nothing was changed.",
            "Name another file with --store or SIGHTLINE_STORE, or move this one away.",
        )
    version = version_of(db)
    if version > len(STEPS):
        raise StoreError(
            f"The store {file} has schema version {version}; this sightline knows {len(STEPS)}."
            " Nothing was changed.",
            "Upgrade sightline, or name another store with --store or SIGHTLINE_STORE.",
        )
    return version == len(STEPS)


def version_of(db: sqlite3.Connection) -> int:
    """How many steps a database has taken."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _read(name: str) -> str:
    path = name if os.path.isabs(name) else os.path.join(os.path.dirname(__file__), "schema", name)
    with open(path, encoding="utf-8") as file:
        return file.read()
