"""What each kind of change looks like to a watcher on Linux (parts of an editor, of git, of rm)."""

from __future__ import annotations

import os
import shutil

import pytest
from tests.filesystem.watch.seeing import all_of, hinted, lay, save, told, watching


@pytest.fixture
def tree(root):
    lay(root, "a", "src/b", "src/deep/c")
    return root


@pytest.fixture
def watcher(tree):
    with watching(tree) as made:
        yield made


def test_nothing_is_said_when_nothing_happened(watcher):
    assert watcher.wait(0) is None


def test_a_write_in_place(tree, watcher):
    assert hinted(watcher, lambda: (tree / "src/b").write_text("new")) == {"src/b"}


def test_a_write_is_waited_for(tree, watcher):
    (tree / "a").write_text("new")
    assert told(watcher).paths == {"a"}


def test_an_atomic_save(tree, watcher):
    assert hinted(watcher, lambda: save(tree / "src/b")) == {"src/b", "src/b.tmp~"}


def test_delete_and_recreate(tree, watcher):
    def act():
        (tree / "a").unlink()
        (tree / "a").write_text("again")

    assert hinted(watcher, act) == {"a"}
    assert hinted(watcher, lambda: (tree / "a").write_text("still watched")) == {"a"}


def test_a_delete(tree, watcher):
    assert hinted(watcher, (tree / "src/b").unlink) == {"src/b"}


def test_a_rename_into_another_folder(tree, watcher):
    assert hinted(watcher, lambda: (tree / "a").rename(tree / "src/z")) == {"a", "src/z"}


def test_chmod_and_touch(tree, watcher):
    assert hinted(watcher, lambda: (tree / "a").chmod(0o600)) == {"a"}
    assert hinted(watcher, lambda: os.utime(tree / "src/b")) == {"src/b"}


def test_a_symlink_is_retargeted(tree, watcher):
    (tree / "link").symlink_to("a")
    assert hinted(watcher, lambda: None) == {"link"}

    def act():
        (tree / "next").symlink_to("src/b")
        (tree / "next").rename(tree / "link")

    assert hinted(watcher, act) == {"next", "link"}


def test_reading_says_nothing(tree, watcher):
    def act():
        for file in tree.rglob("*"):
            file.is_dir() or file.read_bytes()

    assert hinted(watcher, act) == set()


def test_new_folders_with_files_are_named_by_the_uppermost(tree, watcher):
    assert hinted(watcher, lambda: lay(tree, "x/y/z/file")) == {"x"}


def test_new_folders_are_watched(tree, watcher):
    hinted(watcher, lambda: (tree / "x/y/z").mkdir(parents=True))
    assert hinted(watcher, lambda: lay(tree, "x/y/z/file")) == {"x/y/z/file"}


def test_what_is_made_before_a_new_folder_is_watched_is_watched_too(tree, watcher):
    """The kernel tells of x only; y and z stand before anybody could watch x."""
    (tree / "x/y/z").mkdir(parents=True)
    assert all_of(watcher).paths == {"x"}
    assert hinted(watcher, lambda: (tree / "x/y/z/file").write_text("")) == {"x/y/z/file"}
    assert hinted(watcher, (tree / "x/y/new").mkdir) == {"x/y/new"}


def test_a_tree_is_removed(tree, watcher):
    before = watcher.eyes().folders
    seen = hinted(watcher, lambda: shutil.rmtree(tree / "src"))
    assert seen >= {"src", "src/b", "src/deep", "src/deep/c"}
    assert watcher.eyes().folders == before - 2


def test_a_folder_is_renamed(tree, watcher):
    before = watcher.eyes().folders
    assert hinted(watcher, lambda: (tree / "src").rename(tree / "lib")) == {"src", "lib"}
    assert hinted(watcher, lambda: (tree / "lib/deep/c").write_text("")) == {"lib/deep/c"}
    assert watcher.eyes().folders == before


def test_a_folder_is_renamed_and_written_to_before_anybody_looks(tree, watcher):
    def act():
        (tree / "src").rename(tree / "lib")
        (tree / "lib/deep/c").write_text("")
        lay(tree, "src/b")

    assert hinted(watcher, act) >= {"src", "lib"}
    assert hinted(watcher, lambda: (tree / "src/b").write_text("")) == {"src/b"}
    assert hinted(watcher, lambda: (tree / "lib/b").write_text("")) == {"lib/b"}


def test_two_folders_change_places(tree, watcher):
    lay(tree, "lib/only")
    all_of(watcher)

    def act():
        (tree / "src").rename(tree / "aside")
        (tree / "lib").rename(tree / "src")
        (tree / "aside").rename(tree / "lib")

    assert hinted(watcher, act) == {"src", "lib", "aside"}
    assert hinted(watcher, lambda: (tree / "lib/deep/c").write_text("")) == {"lib/deep/c"}
    assert hinted(watcher, lambda: (tree / "src/only").write_text("")) == {"src/only"}


def test_a_folder_leaves_the_tree(tree, watcher):
    before = watcher.eyes().folders
    assert hinted(watcher, lambda: (tree / "src").rename(tree.parent / "out")) == {"src"}
    assert watcher.eyes().folders == before - 2
    assert hinted(watcher, lambda: (tree.parent / "out/b").write_text("")) == set()


def test_a_folder_comes_into_the_tree(tree, watcher):
    lay(tree.parent, "out/in/file")
    assert hinted(watcher, lambda: (tree.parent / "out").rename(tree / "came")) == {"came"}
    assert hinted(watcher, (tree / "came/in/file").unlink) == {"came/in/file"}


def test_a_folder_becomes_a_file_and_a_folder_again(tree, watcher):
    def act():
        shutil.rmtree(tree / "src")
        (tree / "src").write_text("a file now")

    assert "src" in hinted(watcher, act)
    hinted(watcher, (tree / "src").unlink)
    hinted(watcher, lambda: lay(tree, "src/b"))
    assert hinted(watcher, lambda: (tree / "src/b").write_text("")) == {"src/b"}


def test_loops_of_symlinks_are_not_followed(tree, watcher):
    before = watcher.eyes().folders
    (tree / "src/loop").symlink_to("..")
    (tree / "self").symlink_to("self")
    assert all_of(watcher).paths == {"src/loop", "self"}
    assert watcher.eyes().folders == before
    with watching(tree) as other:
        assert other.eyes().folders == before


def test_names_that_are_not_unicode_are_told_by_their_folder(tree, watcher):
    folder = os.fsencode(tree / "src")
    assert hinted(watcher, lambda: (tree / "src/\udcff").write_text("")) == {"src"}
    assert hinted(watcher, lambda: os.mkdir(folder + b"/\xfe")) == {"src"}
    (tree / "\udcff").write_text("")
    assert all_of(watcher).everything


def test_our_own_asides_are_not_told(tree, watcher):
    assert hinted(watcher, lambda: (tree / "src/.sightline-x").write_text("")) == set()


def test_many_writes_of_one_file_are_one_path_in_one_answer(tree, watcher):
    for number in range(500):
        (tree / "a").write_text(str(number))
    assert told(watcher).paths == {"a"}
    assert watcher.wait(0) is None
