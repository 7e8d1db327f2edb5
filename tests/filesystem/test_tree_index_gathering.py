"""Many files are read as a look said that they stand, or not at all."""

import os
from pathlib import Path

import pytest

from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.folder import HELD
from sightline.filesystem.system_calls import Calls
from sightline.filesystem.tree_index import read_files

pytestmark = pytest.mark.skipif(not HELD, reason="folders cannot be held open")


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for path in ("a.py", "d/b.py", "d/e/c.py", "d/e/f.py", "d/g/h.py", "z.py"):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"this is {path}\n")
    return root


def rows_of(tree):
    return dict(DiskWorkspace(str(tree), str(tree.parent / "state")).tree().files())


def gathered(tree, rows, calls=None):
    found = read_files(calls or Calls(), str(tree), rows.items())
    return {path: data for path, _, data in found}


def test_every_file_comes_with_its_bytes_in_the_order_asked(tree):
    rows = rows_of(tree)
    found = list(read_files(Calls(), str(tree), rows.items()))
    assert [(path, row) for path, row, _ in found] == list(rows.items())
    assert gathered(tree, rows) == {path: (tree / path).read_bytes() for path in rows}
    backwards = dict(reversed(rows.items()))
    assert gathered(tree, backwards) == gathered(tree, rows)


@pytest.mark.parametrize("text", ["other is d/b.py\n", "", "much longer than it was before\n"])
def test_a_file_that_changed_since_is_not_taken(tree, text):
    rows = rows_of(tree)
    (tree / "d/b.py").write_text(text)
    os.utime(tree / "d/b.py", ns=(0, rows["d/b.py"][1]))
    found = gathered(tree, rows)
    assert [path for path, data in found.items() if data is None] == ["d/b.py"]


def test_a_file_that_changes_while_it_is_read_is_not_taken(tree):
    rows = {path: row for path, row in rows_of(tree).items() if path == "a.py"}

    class Saved(Calls):
        def read(self, fd, size):
            data = os.read(fd, size)
            (tree / "a.py").write_text("saved meanwhile\n")
            return data

    assert gathered(tree, rows, Saved()) == {"a.py": None}


def test_what_is_gone_closed_or_no_file_any_more_is_not_taken(tree):
    rows = rows_of(tree)
    (tree / "a.py").unlink()
    (tree / "z.py").unlink()
    os.mkfifo(tree / "z.py")  # opening it does not wait
    (tree / "d/b.py").unlink()
    (tree / "d/b.py").symlink_to("e/c.py")
    found = gathered(tree, rows)
    assert {path for path, data in found.items() if data is None} == {"a.py", "z.py", "d/b.py"}


def test_no_folder_that_became_a_symlink_is_followed(tree):
    rows = rows_of(tree)
    (tree / "d/e").rename(tree.parent / "elsewhere")
    (tree / "d/e").symlink_to(tree.parent / "elsewhere")
    found = gathered(tree, rows)
    assert {path for path, data in found.items() if data is None} == {"d/e/c.py", "d/e/f.py"}


def test_every_descriptor_is_closed_also_by_who_stops_early(tree):
    rows = rows_of(tree)
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(3):
        gathered(tree, rows)
        next(read_files(Calls(), str(tree), rows.items()))
    assert not before or len(os.listdir("/proc/self/fd")) == before
