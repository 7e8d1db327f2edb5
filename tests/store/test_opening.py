"""A store that cannot be used says so, with its name and the way out, and stays as it is."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.store.contract import seen
from tests.store.writers import append_one

from sightline.errors import StoreError
from sightline.filesystem.mounts import NETWORK, file_system
from sightline.store import codec, schema
from sightline.store.opening import open_store
from sightline.store.port import Append
from sightline.store.schema import VERSION
from sightline.store.sqlite_file import is_racy, open_file, refuse_network

ROOT = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path):
    """A store with a few hundred facts in it, closed."""
    name = str(tmp_path / "store.db")
    store = open_file(name)
    for number in range(150):
        append_one(store, "s", number)
    store.close()
    return name


@contextmanager
def refused(file, words):
    """Using it is refused with the file's name and a hint, and nothing in it is changed."""
    before = Path(file).read_bytes()
    with pytest.raises(StoreError, match=words) as caught:
        yield caught
    assert file in caught.value.message
    assert caught.value.hint
    assert Path(file).read_bytes() == before


def use(file):
    store = open_file(file)
    try:
        store.append(Append("s", [seen("a")], at=1))
        list(store.timeline())
    finally:
        store.close()


def append_until_it_fails(store, told=None, *, large=False):
    for number in range(5000):
        position = append_one(store, "s", number)
        if told is not None:
            told.append(position)
        if large:
            store.keep([os.urandom(2 << 20)])


def test_urls_name_stores(tmp_path):
    def opened(url, root="/w"):
        return open_store(url, workspace_root=root, state_home=str(tmp_path / "state"))

    store = opened(f"sqlite://{tmp_path.as_posix()}/a b%20?#.db")
    store.append(Append("s", [seen("a")], at=1))
    assert (tmp_path / "a b%20?#.db").exists()
    store.close()
    assert opened("memory:") is opened("memory:")
    assert opened("memory:") is not opened("memory:", "/other")
    for url, words in (
        ("postgresql://host/db", "Not a store URL"),
        ("memory:elsewhere", "Not a store URL"),
        ("mysql://host/db", "Not a store URL"),
        ("", "Not a store URL"),
        ("sqlite:///", "Not the absolute path"),
        ("sqlite://relative.db", "Not the absolute path"),
    ):
        with pytest.raises(StoreError, match=words) as caught:
            opened(url)
        assert caught.value.hint.startswith("Use ")
        assert caught.value.kind == "bad_url"


def test_the_default_store_lies_under_the_state_folder(tmp_path):
    (tmp_path / "work").mkdir()
    root = str(tmp_path / "work")
    store = open_store(None, workspace_root=root, state_home=str(tmp_path / "state"))
    store.append(Append("s", [seen("a")], at=1))
    store.close()
    (found,) = tmp_path.glob("state/workspaces/*/store.db")
    again = open_store(None, workspace_root=root, state_home=str(tmp_path / "state"))
    assert again.position() == 1
    again.close()
    assert found.exists()


def test_no_database_at_all(file):
    Path(file).write_bytes(b"not a database, whatever its name says\n" * 300)
    with refused(file, "is not a Sightline store") as caught:
        use(file)
    assert caught.value.kind == "not_a_store"


@pytest.mark.parametrize("part", [0, 0.001, 0.3, 0.5, 0.9])
def test_a_file_that_was_cut(file, part):
    os.truncate(file, int(os.path.getsize(file) * part))
    with refused(file, "damaged or was cut short|is not a Sightline store"):
        use(file)


def test_a_page_that_was_overwritten(file):
    size = os.path.getsize(file)
    with open(file, "r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xff" * (size - 4096))
    with refused(file, "damaged"):
        use(file)


def test_the_database_of_another_program(file):
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("PRAGMA application_id=7")
    db.close()
    with refused(file, "not a Sightline store"):
        use(file)


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_a_store_of_another_schema_version_is_refused_and_says_what_to_do(file, version):
    db = sqlite3.connect(file, isolation_level=None)
    db.execute(f"PRAGMA user_version={version}")
    db.close()
    words = f"schema version {version}; this Sightline reads {VERSION}. Nothing was changed"
    with refused(file, words) as caught:
        use(file)
    assert "move the file away to begin a new store" in caught.value.hint
    assert (caught.value.kind, caught.value.unchanged) == ("other_version", True)
    assert caught.value.message == f"{caught.value.fault} Nothing was changed."


def test_a_fact_of_a_newer_sightline(file):
    db = sqlite3.connect(file, isolation_level=None)
    row = codec.sealed((3, "s", "Teleported", 1, 1, "{}"))
    db.execute(
        "UPDATE events SET kind = ?, happened_at = ?, recorded_at = ?, body = ?, checksum = ?"
        " WHERE position = 3",
        row[2:],
    )
    db.close()
    store = open_file(file)
    with pytest.raises(StoreError, match="of an unknown kind: Teleported") as caught:
        next(store.timeline(after=2))
    assert "Upgrade" in caught.value.hint
    store.close()


def test_no_two_stores_have_one_key_for_marks():
    keys = set()
    for _ in range(4):
        db = sqlite3.connect(":memory:", isolation_level=None)
        schema.create(db)
        keys |= set(db.execute("SELECT value FROM meta WHERE key = 'marks_key'"))
        db.close()
    assert len(keys) == 4


def test_a_log_without_its_file_is_not_taken_for_a_new_store(file):
    os.rename(file, f"{file}-wal")
    with pytest.raises(StoreError, match="is gone, but its log"):
        open_file(file)
    assert not os.path.exists(file)


def test_a_store_that_reached_its_limit_goes_on_when_there_is_room(file):
    store = open_file(file)
    (pages,) = store._base.run("PRAGMA page_count")[0]
    store._base.run(f"PRAGMA max_page_count={pages}")
    before = store.position()
    with pytest.raises(StoreError, match="the disk is full") as caught:
        append_until_it_fails(store)
    assert caught.value.kind == "full"
    assert "Free some space" in caught.value.hint
    assert store.position() >= before
    assert store.verify() == []
    store._base.run("PRAGMA max_page_count=1000000")
    append_one(store, "s", 1)
    assert store.verify() == []
    store.close()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a few hundred kilobytes."""
    point = str(tmp_path / "small")
    os.mkdir(point)
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", point]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(mount, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield point
    subprocess.run(["umount", point], check=True)


@pytest.mark.parametrize("large", [False, True])
def test_a_full_disk_loses_nothing_that_was_recorded(small_disk, large):
    store = open_file(f"{small_disk}/store.db")
    told: list[int] = []
    with pytest.raises(StoreError, match=r"full|No space|disk answers"):
        append_until_it_fails(store, told, large=large)
    assert store.position() >= max(told)
    assert store.verify() == []
    store.close()


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "state").write_text("")
    with pytest.raises(StoreError, match="cannot use") as caught:
        open_file(str(tmp_path / "state" / "store.db"))
    assert "SIGHTLINE_HOME" in caught.value.hint


@pytest.fixture
def folder():
    """A folder that anybody may look into and nobody but root may write to."""
    if not hasattr(os, "fork"):
        pytest.skip("POSIX permissions")
    made = tempfile.mkdtemp(prefix="sightline-")
    yield made
    os.chmod(made, 0o700)
    shutil.rmtree(made)


def said_to_nobody(file: str) -> str:
    """Return what somebody without rights is told who writes to this store."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setuid(65534)
            use(file)
        except StoreError as error:
            os.write(into, str(error).encode())
        finally:
            os._exit(0)
    os.close(into)
    with open(out, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_a_folder_that_cannot_be_written(folder):
    os.chmod(folder, 0o555)
    said = said_to_nobody(f"{folder}/deep/store.db")
    assert f"The store cannot use {folder}/deep (Permission denied)" in said
    assert "SIGHTLINE_HOME" in said


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
@pytest.mark.parametrize(("mode", "words"), [(0o000, "cannot be opened"), (0o444, "read-only")])
def test_a_file_of_somebody_else(folder, mode, words):
    file = f"{folder}/store.db"
    open_file(file).close()
    os.chmod(file, mode)
    os.chmod(folder, 0o555)
    said = said_to_nobody(file)
    assert f"The store {file} cannot be" in said
    assert words in said


# Network folders

TABLE = r"""/dev/vda / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
server:/export /mnt/ada nfs4 rw,vers=4.2 0 0
/dev/vdb /mnt/ada/local ext4 rw 0 0
//nas/my\040share /mnt/my\040share cifs rw 0 0
C:\134 /mnt/c 9p rw,aname=drvfs 0 0
me@host: /mnt/ssh fuse.sshfs rw 0 0
/dev/vdc /over ext4 rw 0 0
server:/x /over nfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/store.db", "ext4"),
        ("/mnt/ada/me/store.db", "nfs4"),
        ("/mnt/ada", "nfs4"),
        ("/mnt/adawork/store.db", "ext4"),
        ("/mnt/ada/local/store.db", "ext4"),
        ("/mnt/my share/store.db", "cifs"),
        ("/mnt/c/Users/me/store.db", "9p"),
        ("/mnt/ssh/store.db", "fuse.sshfs"),
        ("/over/store.db", "nfs"),
    ],
)
def test_the_innermost_mount_says_what_a_path_stands_on(path, kind):
    assert file_system(path, TABLE) == kind
    if kind in NETWORK:
        with pytest.raises(StoreError, match=kind) as caught:
            refuse_network(path, TABLE)
        assert "SIGHTLINE_HOME" in caught.value.hint
    else:
        refuse_network(path, TABLE)


def test_a_network_share_is_told_by_its_name_where_there_is_no_table():
    refuse_network("/Users/me/store.db", "")
    with pytest.raises(StoreError, match="network"):
        refuse_network(r"\\server\share\store.db", "")


def test_a_symlink_to_a_network_folder_does_not_hide_it(tmp_path):
    (tmp_path / "link").symlink_to("/mnt/ada")
    with pytest.raises(StoreError, match="nfs4"):
        refuse_network(str(tmp_path / "link" / "store.db"), TABLE)


def test_the_machine_this_runs_on_has_a_table_or_none(tmp_path):
    refuse_network(str(tmp_path / "store.db"))


def test_a_store_whose_log_was_removed_says_which_facts_it_lost(tmp_path):
    file = str(tmp_path / "store.db")
    store = open_file(file)
    append_one(store, "s", 1)
    store.close()
    assert os.listdir(tmp_path) == ["store.db"]
    killed = (
        "import os, sys; from sightline.store.sqlite_file import open_file;"
        " from tests.store.writers import append_one;"
        " store = open_file(sys.argv[1]);"
        " [append_one(store, 's', n) for n in range(5)];"
        " print(store.position(), flush=True); os._exit(9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", killed, file], env=environment, stdout=subprocess.PIPE, check=False
    )
    recorded = int(done.stdout)
    os.rename(f"{file}-wal", tmp_path / "aside")
    with pytest.raises(StoreError, match="has lost its facts") as caught:
        open_file(file)
    assert f"to {recorded}: its log {file}-wal was removed" in caught.value.message
    assert "Put the log back" in caught.value.hint

    os.rename(tmp_path / "aside", f"{file}-wal")
    store = open_file(file)
    assert store.position() == recorded
    store.close()
    assert os.listdir(tmp_path) == ["store.db"]


def test_a_store_goes_on_without_its_log_when_the_user_says_so(tmp_path):
    file = str(tmp_path / "store.db")
    store = open_file(file)
    append_one(store, "s", 1)
    store.close()
    Path(f"{file}-newest").write_text(f"{99:020}")
    with pytest.raises(StoreError, match="lost its facts") as caught:
        open_file(file)
    assert f"delete {file}-newest" in caught.value.hint
    os.unlink(f"{file}-newest")
    store = open_file(file)
    assert store.verify() == []
    store.close()


@pytest.mark.wide
def test_threads_note_one_newest_position(tmp_path):
    store = open_file(str(tmp_path / "store.db"))
    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda number: append_one(store, "s", number), range(400)):
            pass
    assert Path(f"{tmp_path}/store.db-newest").read_text() == f"{store.position():020}"
    store.close()


@pytest.mark.parametrize("left", [b"", bytes(20), b"7", b"0" * 40])
def test_a_position_that_a_power_cut_damaged_says_nothing(tmp_path, left):
    file = str(tmp_path / "store.db")
    store = open_file(file)
    append_one(store, "s", 1)
    store.close()
    Path(f"{file}-newest").write_bytes(left)
    store = open_file(file)
    assert store.verify() == []
    store.close()


@pytest.mark.parametrize(
    ("version", "racy"),
    [((3, 6, 23), False), ((3, 7, 0), True), ((3, 51, 2), True), ((3, 51, 3), False)],
)
def test_which_sqlite_can_lose_a_commit(version, racy):
    assert is_racy(version) is racy
