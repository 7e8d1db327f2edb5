"""Stores of version 0.1.0: every text is there after the upgrade, whatever form it had."""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from tests.store.contract import seen
from tests.store.writers import append_one, spawn, write_from_processes

from sightline.errors import StoreError
from sightline.model.revision import revision_of
from sightline.store import database, migrations, old_texts
from sightline.store.opening import open_file

SMALL = [f"text {number}\n".encode() * (1 + number * 37 % 400) for number in range(40)]
PLAIN = [b"", b"x", *SMALL[:10]]
PACKED = SMALL[10:30]
BASE = b"".join(b"line %d of a text that is edited\n" % number for number in range(300))
CHAIN = [b"edit %d\n" % number + BASE for number in range(20)]
"""Each a patch of the one before; BASE itself is the end of the chain."""

LARGE = Random(5).randbytes((1 << 20) + 5)
ALL = [*PLAIN, *PACKED, BASE, *CHAIN, LARGE]


def raw(data):
    return bytes.fromhex(revision_of(data))


def write_as_first_version(file, monkeypatch):
    """A store as version 0.1.0 left it, with a text in each form."""
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", (*migrations.STEPS[:5], "0008_checksums.sql"))
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            migrations.migrate(db, file)
        store = open_file(file)  # with the columns that today's facts need
        append_one_without_text(store)
        store.close()
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        for table in ("events", "knowledge", "disk", "stamps", "claims", "sessions"):
            db.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
        db.execute("ALTER TABLE sessions DROP COLUMN newest_message")
        db.execute("PRAGMA user_version = 5")
        for number, data in enumerate([*PLAIN, BASE]):
            form, body = ("zlib", zlib.compress(data)) if number % 2 else ("raw", data)
            row = (revision_of(data), len(data), form, body)
            db.execute("INSERT INTO blobs VALUES (?,?,?,?)", row)
        db.execute("INSERT INTO blobs VALUES (?,?,'raw',NULL)", (revision_of(LARGE), len(LARGE)))
        file_of(file, LARGE).parent.mkdir(parents=True)
        file_of(file, LARGE).write_bytes(LARGE)
        for number in (1, 2):
            texts = [b"forgotten", *PACKED[number - 1 :: 2]]
            lengths = " ".join(str(len(data)) for data in texts)
            pack = (number, number - 1, sum(map(len, texts)), lengths)
            db.execute(
                "INSERT INTO packs VALUES (?,?,?,?,?)", (*pack, zlib.compress(b"".join(texts)))
            )
            for place, data in enumerate(texts[1:], 1):
                db.execute("INSERT INTO packed VALUES (?,?,?)", (raw(data), number, place))
        before = BASE
        for depth, data in enumerate(CHAIN, 1):
            head, tail = (0, len(BASE))
            middle = data[: len(data) - tail]
            patched = (raw(data), raw(before), depth, head, tail, "raw", middle)
            db.execute("INSERT INTO patched VALUES (?,?,?,?,?,?,?)", patched)
            before = data
        db.execute("INSERT INTO ahead VALUES (?, 7)", (revision_of(PLAIN[3]),))


def append_one_without_text(store):
    store.append("s", [seen("a")], at=1)


def file_of(file, data):
    name = revision_of(data)
    return Path(f"{file}-blobs", name[:2], name[2:])


@pytest.fixture
def file(tmp_path, monkeypatch):
    name = str(tmp_path / "store.db")
    write_as_first_version(name, monkeypatch)
    return name


def left_of_old_tables(file):
    with closing(sqlite3.connect(file)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
    return tables & {"blobs", "packs", "packed", "thinned", "patched", "ahead"}


def test_every_text_is_there_in_the_new_form_and_nothing_of_the_old(file):
    with closing(open_file(file)) as store:
        assert [store.blob(revision_of(data)) for data in ALL] == ALL
        assert [each.revision for each in store.texts()] == sorted(map(revision_of, ALL))
        since = {each.revision: each.since for each in store.texts()}
        assert since[revision_of(PLAIN[3])] == 7
        assert {since[revision_of(data)] for data in PACKED[1::2]} == {1}
        assert {since[revision_of(data)] for data in PACKED[::2]} == {0}
        assert store.verify() == []
        append_one(store, "s", 1)
    assert not left_of_old_tables(file)
    assert not Path(f"{file}-blobs").exists()
    assert b"forgotten" not in Path(file).read_bytes()


def test_an_edit_that_was_a_patch_needs_its_text_as_dictionary(file):
    with closing(open_file(file)) as store:
        rows = store._base.run("SELECT depth FROM texts WHERE dictionary IS NOT NULL")
        assert len(rows) >= len(CHAIN) - 2
        sizes = {each.revision: each.size for each in store.texts()}
        assert all(sizes[revision_of(data)] < 250 for data in CHAIN[:16])


def open_and_die(file, texts):
    """Upgrade a store, and be gone after so many texts."""
    old_texts.AT_ONCE_BYTES = 3000
    keep = old_texts._Rewriting._keep
    done = 0

    def keep_or_die(*args, **more):
        nonlocal done
        if done == texts:
            os._exit(9)
        done += 1
        keep(*args, **more)

    old_texts._Rewriting._keep = keep_or_die  # type: ignore[method-assign]
    open_file(file).close()


@pytest.mark.wide
@pytest.mark.parametrize("texts", [1, 12, 30])
def test_a_kill_in_the_middle_of_the_upgrade_loses_nothing(file, texts):
    """Each process goes on where the last transaction ended."""
    codes: list[int | None] = []
    while not codes or codes[-1]:
        process = spawn.Process(target=open_and_die, args=(file, texts))
        process.start()
        process.join()
        codes.append(process.exitcode)
        assert len(codes) < 80
        if texts == 1 and len(codes) == 3:
            break  # no transaction ends there: nothing was done, and nothing is lost
    assert 9 in codes
    with closing(open_file(file)) as store:
        assert [store.blob(revision_of(data)) for data in ALL] == ALL
        assert store.verify() == []
    assert not left_of_old_tables(file)


def test_one_transaction_rewrites_a_part(file, monkeypatch):
    monkeypatch.setattr(old_texts, "AT_ONCE_BYTES", 30_000)
    parts = []
    write = database.Database.write

    def counted(self, work, *, durable=False):
        parts.append(durable)
        return write(self, work, durable=durable)

    monkeypatch.setattr(database.Database, "write", counted)
    with closing(open_file(file)) as store:
        assert store.verify() == []
    assert len(parts) > 5
    assert all(parts)


def test_a_file_stays_until_its_text_is_on_the_platter(file, monkeypatch):
    """It goes in a later transaction than the one that put its text into the store."""
    remove = old_texts._remove_folder

    def seen_by_others(folder):
        assert file_of(file, LARGE).exists()
        with closing(sqlite3.connect(file)) as db:
            assert db.execute("SELECT count(*) FROM texts").fetchone() == (len(ALL),)
            assert db.execute("SELECT count(*) FROM blobs").fetchone() == (0,)
        remove(folder)

    monkeypatch.setattr(old_texts, "_remove_folder", seen_by_others)
    open_file(file).close()
    assert not Path(f"{file}-blobs").exists()


@pytest.mark.wide
def test_several_processes_that_open_it_at_once_share_the_work(file):
    assert write_from_processes(file, 4, 3) == [0] * 4
    with closing(open_file(file)) as store:
        assert [store.blob(revision_of(data)) for data in ALL] == ALL
        assert store.verify() == []


@pytest.mark.wide
@pytest.mark.parametrize(
    ("tamper", "hurt"),
    [
        ("UPDATE blobs SET body = x'00' WHERE revision = '{plain}'", [PLAIN[4]]),
        ("UPDATE blobs SET form = 'zlib' WHERE revision = '{plain}'", [PLAIN[4]]),
        ("UPDATE blobs SET body = x'00' WHERE revision = '{base}'", [BASE, *CHAIN]),
        ("UPDATE packs SET body = x'00'", PACKED),
        ("UPDATE packs SET body = substr(body, 1, length(body) - 5)", []),
        ("UPDATE packs SET lengths = '1 2 3'", PACKED),
        ("UPDATE packed SET place = place + 1", PACKED),
        ("UPDATE packed SET place = place + 90", PACKED),
        ("DELETE FROM packs", PACKED),
        ("UPDATE patched SET body = x'00' WHERE depth = 20", CHAIN[-1:]),
        ("UPDATE patched SET form = 'zlib' WHERE depth = 20", CHAIN[-1:]),
        ("UPDATE patched SET head = 3 WHERE depth = 1", CHAIN),
        ("DELETE FROM patched WHERE depth = 1", CHAIN[1:]),
    ],
)
def test_a_damaged_old_text_is_named_and_the_others_are_whole(file, tamper, hurt):
    """The end of a pack is no text's: what stands before it is whole."""
    names = {"plain": revision_of(PLAIN[4]), "base": revision_of(BASE)}
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute(tamper.format(**names))
    with closing(open_file(file)) as store:
        wrong = store.verify()
        for data in hurt:
            with pytest.raises(StoreError, match="is damaged"):
                store.blob(revision_of(data))
        assert len(wrong) == len(hurt)
        gone = CHAIN[:1] if tamper.startswith("DELETE FROM patched") else []
        whole = [data for data in ALL if data not in hurt and data not in gone]
        assert [store.blob(revision_of(data)) for data in whole] == whole


@pytest.mark.parametrize("hurt", [None, b"", b"other bytes"])
def test_a_damaged_file_is_named(file, hurt):
    if hurt is None:
        file_of(file, LARGE).unlink()
    else:
        file_of(file, LARGE).write_bytes(hurt)
    with closing(open_file(file)) as store:
        with pytest.raises(StoreError, match="is damaged"):
            store.blob(revision_of(LARGE))
        assert len(store.verify()) == 1


def test_a_file_that_no_row_names_goes_as_well(file):
    orphan = file_of(file, b"orphan")
    orphan.parent.mkdir(parents=True, exist_ok=True)
    orphan.write_bytes(b"orphan")
    open_file(file).close()
    assert not orphan.exists()


def test_a_folder_that_cannot_be_removed_is_named_and_nothing_is_lost(file, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    with monkeypatch.context() as patch:
        patch.setattr("sightline.store.old_texts.os.unlink", refuse)
        with pytest.raises(StoreError, match="Permission denied"):
            open_file(file)
    with closing(open_file(file)) as store:
        assert [store.blob(revision_of(data)) for data in ALL] == ALL


def test_a_secret_in_an_old_form_is_nowhere_after_it_was_forgotten(file):
    secrets = [PLAIN[5], PACKED[3], CHAIN[3]]
    with closing(open_file(file)) as store:
        names = [revision_of(data) for data in secrets]
        assert set(store.purge(lambda: names, "secret", session="s", at=1, secret=True)) == {*names}
        assert store.verify() == []
    written = Path(file).read_bytes()
    assert b"edit 3\n" not in written
    assert not Path(f"{file}-wal").exists()
