"""The embedded store keeps the contract, alone, among other processes, and when they are killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.store.contract import StoreContract, seen
from tests.store.writers import append_one, write_from_processes

from sightline.errors import StoreError
from sightline.model import events
from sightline.store import codec, sqlite_connection
from sightline.store.port import Append
from sightline.store.sqlite import PUT_KNOWLEDGE, PUT_SESSION
from sightline.store.sqlite_file import open_file

ROOT = Path(__file__).parents[2]
APPENDS = int(os.environ.get("SIGHTLINE_TEST_APPENDS", "12"))


class TestSqliteStore(StoreContract):
    @contextmanager
    def empty(self):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:

            def opened():
                store = open_file(f"{folder}/store.db")
                stack.callback(store.close)
                return store

            yield opened


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "state" / "store.db")


@pytest.fixture
def store(file):
    store = open_file(file)
    yield store
    store.close()


@contextmanager
def writer_of(file):
    """A process that appends for ever, and the positions it says it has recorded."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.store.writers", file],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
    ) as process:
        assert process.stdout is not None
        whole_lines = (line for line in process.stdout if line.endswith(b"\n"))
        yield process, map(int, whole_lines)
        process.kill()


@pytest.mark.wide
def test_eight_processes_write_at_once_without_error_or_gap(file):
    """The file is not there before: whoever is first makes it, all the others use that one."""
    assert write_from_processes(file, 8, APPENDS) == [0] * 8
    store = open_file(file)
    assert store.position() == 8 * (APPENDS + -(-APPENDS // 3) * 2)
    assert len(store.sessions()) == 8
    assert store.verify() == []
    store.close()
    assert os.listdir(os.path.dirname(file)) == ["store.db"]


@pytest.mark.wide
def test_checkpoints_beside_writers_lose_nothing(file):
    """Writers of this process carry the log over all the time, those of others write into it."""
    store = open_file(file)
    done = 0
    with writer_of(file) as (_, positions):
        for number in range(150):
            next(positions)
            append_one(store, "mine", number)
            done += store._base.checkpoint()
    assert done > 10
    assert store.verify() == []
    store.close()


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_what_was_recorded_outlives_a_kill(file):
    with writer_of(file) as (writer, positions):
        for _ in range(200):
            told = next(positions)
        writer.send_signal(signal.SIGKILL)
        told = max([told, *positions])
    store = open_file(file)
    assert store.position() >= told
    assert store.verify() == []
    append_one(store, "s", 0)
    assert store.verify() == []
    store.close()


@pytest.mark.wide
def test_a_log_that_grew_is_carried_over_and_begun_anew(store, file, monkeypatch):
    monkeypatch.setattr(sqlite_connection, "LOG_BYTES", 100_000)
    for number in range(600):
        append_one(store, "s", number)
    assert os.path.getsize(f"{file}-wal") < 128 * 2 * 60_000
    assert os.path.getsize(file) > 100_000
    assert store.verify() == []


def test_a_busy_writer_puts_a_checkpoint_off(store, file):
    append_one(store, "s", 1)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert not store._base.checkpoint()
    other.execute("ROLLBACK")
    assert store._base.checkpoint()
    other.close()


def test_a_writer_that_never_ends_is_named(store, file, monkeypatch):
    monkeypatch.setattr(sqlite_connection, "PATIENCE_S", 0.05)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="held by another process") as caught:
        store.append(Append("s", [seen("a")], at=1))
    assert file in caught.value.message
    assert "let it finish" in caught.value.hint
    other.execute("ROLLBACK")
    assert store.append(Append("s", [seen("a")], at=1))
    other.close()


def test_an_append_of_several_facts_asks_for_the_newest_position_once(store):
    asked: list[str] = []
    store._base.open().set_trace_callback(asked.append)
    recorded = store.append(Append("s", [seen("a"), seen("b"), seen("c")], at=1))
    store._base.open().set_trace_callback(None)
    assert [each.position for each in recorded] == [1, 2, 3]
    assert sum("max(position)" in sql for sql in asked) == 1


def test_an_append_that_fails_halfway_leaves_nothing_behind(store):
    facts: list[Any] = [seen("a"), object()]
    with pytest.raises(TypeError):
        store.append(Append("s", facts, at=1, texts=[b"x" * 200]))
    assert store.position() == 0
    assert store.append(Append("s", [seen("a")], at=1, expect={"a": 0}))
    assert store.verify() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_a_forked_child_is_told_to_open_its_own(store, file):
    append_one(store, "s", 1)
    child = os.fork()
    if not child:
        code = 1
        try:
            store.append(Append("s", [seen("a")], at=1))
        except StoreError as error:
            store.close()  # which touches nothing of the parent's
            code = 0 if "forked" in error.message else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    append_one(store, "s", 2)
    assert store.verify() == []


def test_a_closed_store_says_so(store):
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.position()


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_the_owner_may_read_it_whatever_the_umask(file, umask):
    before = os.umask(umask)
    try:
        store = open_file(file)
        store.append(Append("s", [seen("a")], at=1, texts=[os.urandom(2 << 20)]))
        found = {
            os.path.relpath(os.path.join(folder, name), os.path.dirname(file)): stat.S_IMODE(
                os.stat(os.path.join(folder, name)).st_mode
            )
            for folder, folders, files in os.walk(os.path.dirname(file))
            for name in folders + files
        }
        store.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(os.path.dirname(file)).st_mode) == 0o700
    modes = {stat.S_IMODE(os.stat(os.path.dirname(file)).st_mode), *found.values()}
    assert modes == {0o600, 0o700}
    assert found.keys() == {"store.db", "store.db-wal", "store.db-shm", "store.db-newest"}


def test_a_folder_that_is_there_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o755)
    open_file(str(tmp_path / "store.db")).close()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_no_step_of_an_append_and_no_question_about_one_file_walks_a_table(store):
    """What they cost must not grow with the number of facts."""
    asked: list[str] = []
    append_one(store, "s", 0)
    store._rows.forget()
    store._base.open().set_trace_callback(asked.append)
    append_one(store, "s", 3)
    store.append(
        Append("t", [seen("f3", name="link"), events.TurnBegan(1)], at=1, expect={"f3": 0})
    )
    store.knowledge("t", "link")
    store.disk("f3")
    store.stamps(["f3"])
    list(store.timeline(path="f3"))
    list(store.timeline(session="s", kinds=[events.CheckpointTaken]))
    store.position()
    store._base.open().set_trace_callback(None)
    plans = {
        (sql, step)
        for sql in asked
        if sql.split()[0] in ("SELECT", "INSERT", "UPDATE", "DELETE")
        for *_, step in store._base.run(f"EXPLAIN QUERY PLAN {sql}")
    }
    assert len(plans) > 10
    walks = {step for _, step in plans if step.startswith("SCAN") or step.endswith("(session=?)")}
    one_session = (
        "SEARCH commands USING PRIMARY KEY (session=?)"  # its commands under way: one or two
    )
    assert walks <= {"SCAN intents", "SCAN sessions", one_session}


def test_a_text_already_kept_is_not_packed_again(store, monkeypatch):
    store.keep([b"text" * 4000])
    monkeypatch.setattr("sightline.store.blobs.compress", None)
    store.append(Append("s", [seen("a")], at=1, texts=[b"text" * 4000]))


def test_purged_bytes_are_nowhere_in_the_files(store, file):
    from sightline.model.revision import revision_of

    secret = os.urandom(60)  # they do not get smaller
    for number in range(50):
        append_one(store, "s", number)
    store.keep([secret])
    assert any(secret in Path(file + end).read_bytes() for end in ("", "-wal"))
    assert store.purge(lambda: [revision_of(secret)], "secret", session="s", at=1, secret=True)
    store.close()
    assert secret not in Path(file).read_bytes()


@pytest.mark.parametrize(
    ("tamper", "found"),
    [
        ("UPDATE knowledge SET lines = 99", "What a session knows of f0 is damaged"),
        ("DELETE FROM disk WHERE path = 'f1'", "row of disk f1 is None"),
        ("INSERT INTO intents VALUES (1)", "row of intent 1"),
        ("DELETE FROM events WHERE position = 2", "Position 2 of the timeline"),
        ("UPDATE texts SET frame = x'00'", "kept text .* is damaged"),
        ("UPDATE texts SET frame = x''", "kept text .* is damaged"),
        ("UPDATE texts SET frame = substr(frame, 1, length(frame) - 1)", "kept text .* is damaged"),
        (
            "UPDATE texts SET frame = (SELECT frame FROM texts ORDER BY id DESC LIMIT 1)",
            "kept text .* is damaged",
        ),
    ],
)
def test_verify_finds_what_was_tampered_with(store, file, tamper, found):
    import re

    for number in (1, 2, 7):
        append_one(store, "s", number)
    assert store.verify() == []
    other = sqlite3.connect(file, isolation_level=None)
    other.execute(tamper)
    other.close()
    assert any(re.search(found, sentence) for sentence in store.verify())


def test_verify_finds_sound_rows_that_are_not_what_the_timeline_says(store):
    append_one(store, "s", 1)
    known = structs.replace(store.knowledge("s", "f1"), position=99)
    store._base.run(PUT_KNOWLEDGE, codec.knowledge_row("s", known))
    store._base.run(PUT_SESSION, codec.session_row(structs.replace(store.session("s"), turn=9)))
    row, knowledge = store.verify()
    assert row.startswith("The row of session s is")
    assert knowledge.startswith("The row of knowledge of session s, f1 is")


@pytest.mark.wide
def test_what_a_process_left_without_closing_is_there_for_the_next(tmp_path):
    code = (
        "import os, sys\n"
        "from sightline.model.events import TurnBegan\n"
        "from sightline.store.sqlite_file import open_file\n"
        "from sightline.store.port import Append\n"
        "store = open_file(sys.argv[1])\n"
        "store.append(Append('s', [TurnBegan(1)], at=1))\n"
        "os._exit(0)\n"
    )
    file = str(tmp_path / "store.db")
    source = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code, file], check=True, env=source)
    assert (tmp_path / "store.db-wal").stat().st_size > 0
    store = open_file(file)
    assert len(list(store.timeline())) == 3
    assert store.verify() == []
    store.close()
    assert not (tmp_path / "store.db-wal").exists()
