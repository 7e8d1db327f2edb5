"""A new store and an older one that took every step have one schema."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing

import pytest
from tests.store.contract import seen

from sightline.store import migrations
from sightline.store.opening import open_file


def plain(sql):
    """A statement without comments, quotes of names, and the white space that ALTER TABLE chooses."""
    words = re.sub(r"--[^\n]*", "", sql).replace('"', "")
    return re.sub(r"\s*([(),])\s*", r"\1", " ".join(words.split()))


def schema_of(db):
    """Each table and index by its name as a statement, and what the head of the file says. SQLite's own
    tables are left out: it makes one for the first AUTOINCREMENT, which step 7 drops."""
    rows = db.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema")
    parts = {
        name: (kind, table, plain(sql))
        for kind, name, table, sql in rows
        if name != "sqlite_sequence"
    }
    columns = {name: db.execute(f"PRAGMA table_xinfo({name})").fetchall() for name in parts}
    head = [
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")
    ]
    return parts, columns, head, db.execute("SELECT key FROM meta").fetchall()


def stepped(file, steps):
    """An empty database that took the first steps alone."""
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "STEPS", migrations.STEPS[:steps])
        db.execute("BEGIN")
        migrations.migrate(db, file)
        db.execute("COMMIT")
    db.execute("PRAGMA journal_mode = WAL")
    return db


def test_a_new_store_has_the_schema_behind_all_steps(tmp_path):
    file = str(tmp_path / "store.db")
    open_file(file).close()
    with (
        closing(sqlite3.connect(file)) as new,
        closing(stepped(":memory:", len(migrations.STEPS))) as old,
    ):
        assert schema_of(new) == schema_of(old)
        assert new.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_every_step_has_its_file_and_no_other_file_stands_beside_them():
    folder = os.path.join(os.path.dirname(migrations.__file__), "schema")
    assert sorted(os.listdir(folder)) == [*migrations.STEPS, migrations.NEWEST]


@pytest.mark.parametrize("steps", [1, 8])
def test_a_store_of_an_earlier_schema_opens_and_is_used(tmp_path, steps):
    file = str(tmp_path / "store.db")
    stepped(file, steps).close()
    with closing(open_file(file)) as store:
        store.append("s", [seen("a")], at=1)
        assert store.verify() == []
