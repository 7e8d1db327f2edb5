"""Files that git tracks although a pattern ignores them: listed, found and covered like all others."""

from __future__ import annotations

import os
import subprocess

import pytest

from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.git.tracked import names_of
from sightline.filesystem.ignore.rules import OPEN


def git(root, *words):
    answer = subprocess.run(["git", "-C", root, *words], check=True, capture_output=True)
    return answer.stdout.decode()


def put(root, path, text="x\n"):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w") as file:
        file.write(text)


@pytest.fixture
def root(tmp_path):
    root = str(tmp_path / "root")
    os.mkdir(root)
    git(root, "init", "-q")
    put(root, ".gitignore", "*.db\ndist/\n")
    for path in ("app.db", "b.db", "dist/a.js", "dist/sub/b.js", "dist/c.js", "a.py"):
        put(root, path)
    git(root, "add", "-f", "a.py", "app.db", "dist/sub/b.js")
    return root


TRACKED = {".gitignore", "a.py", "app.db", "dist/sub/b.js"}


def opened(root):
    return DiskWorkspace(root, root + "-state")


def test_tracked_files_are_listed_and_their_ignored_neighbours_are_not(root):
    disk = opened(root)
    assert disk.tree().paths() == TRACKED
    assert [disk.listed(path) for path in ("app.db", "dist/sub/b.js")] == [True, True]
    assert [disk.listed(path) for path in ("b.db", "dist/a.js", "dist/c.js")] == [False] * 3
    assert set(disk.paths()) == TRACKED
    hidden = disk.tree().listings["dist/"].hidden
    assert hidden == {"a.js": "ignored", "c.js": "ignored"}


def test_what_is_added_and_taken_out_later_is_noticed_without_a_change_of_its_folder(root):
    disk = opened(root)
    disk.remember(disk.tree())
    for words, more in (
        (("add", "-f", "b.db"), {"b.db"}),
        (("add", "-f", "dist/c.js"), {"b.db", "dist/c.js"}),
        (("rm", "-q", "--cached", "b.db"), {"dist/c.js"}),
        (("rm", "-rq", "--cached", "dist"), set()),
    ):
        git(root, *words)
        gone = {"dist/sub/b.js"} if not more else set()
        for each in (disk, opened(root)):  # another process begins with the remembered tree
            tree = each.tree(each.remembered())
            assert tree.paths() == TRACKED - gone | more
            each.remember(tree)


def test_the_next_process_knows_from_the_remembered_tree_what_is_open(root):
    disk = opened(root)
    disk.remember(disk.tree())
    another = opened(root)
    known = another.remembered()
    put(root, "dist/sub/new.js")  # its folder is listed anew, those above are not
    found = another.tree(known)
    assert found.paths() == TRACKED
    opens = [
        {p for p, stamp in tree.ignore_files.items() if stamp == OPEN} for tree in (known, found)
    ]
    assert (
        opens[0]
        == opens[1]
        == {f"{root}/{p}" for p in ("app.db", "dist/", "dist/sub/", "dist/sub/b.js")}
    )


def test_a_checkpoint_covers_them_and_a_rewind_brings_them_back(place, s):
    git(str(place.root), "init", "-q")
    place.put(".gitignore", "*.db\ndist/\n")
    place.put("app.db", b"one\0")
    place.put("dist/a.js", "one\n")
    place.put("dist/b.js", "one\n")
    git(str(place.root), "add", "-f", "app.db", "dist/a.js")
    taken = s.checkpoint("before")
    assert {each.path for each in taken.not_covered} == {"dist/b.js"}
    with s.ran("rm -rf app.db dist"):
        for path in ("app.db", "dist/a.js", "dist/b.js"):
            os.remove(place.root / path)
        os.rmdir(place.root / "dist")
    report = s.rewind(taken)
    assert report.restored == ("app.db", "dist/a.js")
    assert (place.bytes("app.db"), place.text("dist/a.js")) == (b"one\0", "one\n")
    assert [each.path for each in report.lost] == ["dist/b.js"]


@pytest.mark.parametrize(
    ("digest", "version"),
    [("sha1", "4"), ("sha256", "3"), pytest.param("sha1", "2", marks=pytest.mark.wide)],
)
def test_an_index_of_any_form_is_read_as_git_lists_it(tmp_path, version, digest):
    root = str(tmp_path)
    git(root, "init", "-q", f"--object-format={digest}")
    for path in ("a.py", "é/ü.py", "a/b/c.py", "a/b/cd.py", "x" * 200 + ".py", "later"):
        put(root, path)
    git(root, "add", "a*", "é*", "x*")
    if version != "2":
        git(root, "add", "-N", "later")
    git(root, "update-index", "--index-version", version)
    with open(f"{root}/.git/index", "rb") as file:
        index = file.read()
    assert [*names_of(index)] == sorted(filter(None, git(root, "ls-files", "-z").split("\0")))
    assert [*names_of(index[: len(index) // 2])] == [*names_of(b"")] == []
