"""A workspace keeps its store wherever it goes, and no other takes it."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from sightline.errors import StoreError
from sightline.model.revision import Stamp, StatSignature, revision_of
from sightline.store.identity import store_file
from sightline.store.port import Append
from sightline.store.sqlite_file import open_file


@pytest.fixture
def home(tmp_path):
    return str(tmp_path / "state")


@pytest.fixture
def work(tmp_path, home):
    """Makes a workspace with a file in it, opens its store and notes the file."""

    def made(name: str) -> str:
        root = tmp_path / name
        root.mkdir()
        (root / "a.py").write_text(name)
        visit(home, str(root))
        return str(root)

    return made


def visit(home: str, root: str) -> str:
    """Return what a session does: open the store, note what is there."""
    file = store_file(home, root)
    store = open_file(file)
    found = os.lstat(f"{root}/a.py")
    signature = StatSignature(
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_dev,
        found.st_ino,
        found.st_mode,
    )
    store.append(Append("s", [], at=1, stats={"a.py": Stamp(signature, revision_of(b""), 1)}))
    store.close()
    return file


def test_the_same_path_has_the_same_store(home, work):
    root = work("one")
    assert store_file(home, root) == store_file(home, root)
    assert store_file(home, root) != store_file(home, work("two"))


def test_a_folder_that_moved_keeps_its_store(home, work, tmp_path):
    root = work("one")
    file = store_file(home, root)
    for name in ("moved", "moved again"):
        root = shutil.move(root, tmp_path / name)
        assert store_file(home, str(root)) == file


def test_a_copy_begins_its_own(home, work, tmp_path):
    root = work("one")
    file = store_file(home, root)
    shutil.copytree(root, tmp_path / "copy", copy_function=shutil.copy2)
    assert store_file(home, str(tmp_path / "copy")) != file
    assert store_file(home, root) == file


def test_a_path_that_was_deleted_and_made_anew_keeps_its_store(home, work, tmp_path):
    root = work("one")
    file = store_file(home, root)
    os.rename(root, tmp_path / "aside")  # keeps its inode taken
    shutil.rmtree(tmp_path / "aside")
    (tmp_path / "takes the inode").mkdir()
    os.mkdir(root)
    assert store_file(home, root) == file


def test_a_new_folder_in_the_place_of_one_that_moved_begins_its_own(home, work, tmp_path):
    root = work("one")
    file = store_file(home, root)
    os.rename(root, tmp_path / "moved")
    assert store_file(home, str(tmp_path / "moved")) == file
    os.mkdir(root)
    assert store_file(home, root) != file
    assert store_file(home, str(tmp_path / "moved")) == file


def test_two_folders_that_change_places_keep_their_stores(home, work, tmp_path):
    one, two = work("one"), work("two")
    files = store_file(home, one), store_file(home, two)
    os.rename(one, tmp_path / "x")
    os.rename(two, one)
    os.rename(tmp_path / "x", two)
    assert (store_file(home, two), store_file(home, one)) == files


def test_a_folder_that_got_the_inode_of_a_deleted_one_begins_its_own(home, work, tmp_path):
    """File systems give out inodes again; the files inside tell a moved folder from a new one."""
    root = work("one")
    file = store_file(home, root)
    found = os.stat(root)
    other = tmp_path / "other"
    other.mkdir()
    now = os.stat(other)
    folders = tmp_path / "state" / "workspaces" / "folders"
    os.rename(folders / f"{found.st_dev}-{found.st_ino}", folders / f"{now.st_dev}-{now.st_ino}")
    shutil.rmtree(root)
    assert store_file(home, str(other)) != file


def test_one_folder_by_two_names_has_one_store(home, work, tmp_path):
    """As with a bind mount: another path, the same folder, and the first is still there."""
    root = work("one")
    (tmp_path / "other").mkdir()
    assert store_file(home, f"{tmp_path}/other/../one") == store_file(home, root)


def test_all_who_come_first_at_once_get_the_same_store(home, tmp_path):
    (tmp_path / "work").mkdir()
    with ThreadPoolExecutor(8) as pool:
        files = set(pool.map(lambda _: store_file(home, str(tmp_path / "work")), range(32)))
    assert len(files) == 1


def test_a_workspace_that_is_not_there_is_an_error(home, tmp_path):
    with pytest.raises(StoreError, match="nowhere"):
        store_file(home, str(tmp_path / "nowhere"))


@pytest.mark.parametrize("kind", ["paths", "folders"])
@pytest.mark.parametrize("text", ["", "what", "12 34", "0123456789abcdef", "../../etc/x 1 2"])
def test_a_damaged_entry_is_named_and_the_store_is_found_without_it(
    home, work, tmp_path, kind, text
):
    root = work("one")
    file = store_file(home, root)
    (entry,) = (tmp_path / "state" / "workspaces" / kind).iterdir()
    if kind == "folders":  # read only where the path's entry does not answer
        (other,) = (tmp_path / "state" / "workspaces" / "paths").iterdir()
        other.unlink()
    entry.write_text(text)
    with pytest.raises(StoreError, match="is damaged") as caught:
        store_file(home, root)
    assert str(entry) in caught.value.message
    assert "Move the file away" in caught.value.hint
    assert entry.read_text() == text
    if kind == "paths":
        entry.unlink()
        assert store_file(home, root) == file
