"""Ignored folders cost nothing, followed paths are seen all the same, git says what it does."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from tests.filesystem.watch.seeing import all_of, hinted, lay, save, watching

from sightline.filesystem.disk import DiskWorkspace


def git(folder, *words):
    options = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *options, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def tree(root):
    lay(root, "a", "src/b", "dist/js/app", "node_modules/x/y/z")
    (root / ".gitignore").write_text("dist\nnode_modules/\n*.log\n")
    return root


def test_ignored_folders_are_not_watched(tree):
    with watching(tree) as watcher:
        assert watcher.eyes().folders == 2
        lay(tree, "node_modules/new/deep/file", "dist/js/app", "noise.log", "src/noise.log")
        assert watcher.wait(0) is None
        assert watcher.eyes().folders == 2


def test_ignored_files_do_not_wake_anybody(tree):
    with watching(tree) as watcher:
        assert hinted(watcher, lambda: lay(tree, "src/x.log", "src/b")) == {"src/b"}


def test_a_folder_renamed_to_an_ignored_name_is_watched_no_more(tree):
    with watching(tree) as watcher:
        (tree / "node_modules").rename(tree / "kept")
        assert all_of(watcher).paths == {"kept"}
        assert watcher.eyes().folders == 5
        (tree / "kept").rename(tree / "node_modules")
        assert all_of(watcher).paths == {"kept"}
        assert watcher.eyes().folders == 2


def test_what_is_ignored_no_more_is_seen(tree):
    with watching(tree) as watcher:
        save(tree / ".gitignore", "node_modules\n")
        assert all_of(watcher).everything
        assert watcher.eyes().folders == 4
        assert hinted(watcher, lambda: lay(tree, "dist/js/app", "x.log")) == {
            "dist/js/app",
            "x.log",
        }
        assert watcher.wait(0) is None


def test_what_is_ignored_from_now_on_is_watched_no_more(tree):
    lay(tree, "src/gen/file")
    with watching(tree) as watcher:
        before = watcher.eyes().folders
        assert hinted(watcher, lambda: (tree / "src/.gitignore").write_text("gen\n")) == {
            "src",
            "src/.gitignore",
        }
        assert watcher.eyes().folders == before - 1
        assert hinted(watcher, lambda: lay(tree, "src/gen/file")) == set()
        (tree / "src/.gitignore").unlink()
        assert all_of(watcher).paths == {"src", "src/.gitignore"}
        assert watcher.eyes().folders == before


def test_sightlineignore_is_followed_as_well(tree):
    with watching(tree) as watcher:
        (tree / ".sightlineignore").write_text("src\n")
        assert all_of(watcher).everything
        assert watcher.eyes().folders == 1


def test_what_is_watched_is_what_is_listed(tree):
    lay(tree, "dist/not", "src/other/x", "src/dist/y", "nested/in/z", "w/.hidden/v")
    (tree / "src/.gitignore").write_text("!dist\nother\n")
    (tree / "nested/.git").mkdir()
    listed = {path for path, _ in DiskWorkspace(str(tree), f"{tree}-state").walk()}
    with watching(tree) as watcher:
        for folder, _, names in os.walk(tree):
            for name in set(names) - {".gitignore"}:
                os.utime(os.path.join(folder, name))
        assert all_of(watcher).paths == listed - {".gitignore", "src/.gitignore"}


def test_a_nested_repository_is_not_watched_until_it_is_none(tree):
    lay(tree, "sub/in/file")
    with watching(tree) as watcher:
        before = watcher.eyes().folders
        (tree / "sub/.git").mkdir()
        assert all_of(watcher).paths == {"sub"}
        assert watcher.eyes().folders == before - 1
        assert hinted(watcher, lambda: lay(tree, "sub/in/file", "sub/new/file")) == set()
        (tree / "sub/.git").rmdir()
        assert all_of(watcher).paths == {"sub"}
        assert watcher.eyes().folders == before + 1
        assert hinted(watcher, lambda: lay(tree, "sub/in/file")) == {"sub/in/file"}


def test_followed_paths_are_seen_where_nothing_else_is(tree):
    with watching(tree) as watcher:
        watcher.follow(["dist/js/app", "x.log"])
        assert hinted(watcher, lambda: lay(tree, "dist/js/app", "dist/js/other")) == {"dist/js/app"}
        assert hinted(watcher, lambda: lay(tree, "x.log", "y.log")) == {"x.log"}
        assert watcher.eyes().followed == 2
        watcher.follow([])
        assert hinted(watcher, lambda: lay(tree, "dist/js/app", "x.log")) == set()
        assert watcher.eyes().folders == 2


def test_a_followed_path_is_seen_when_its_folders_are_made_again(tree):
    with watching(tree) as watcher:
        watcher.follow(["dist/js/app"])
        assert "dist" in hinted(watcher, lambda: shutil.rmtree(tree / "dist"))
        assert "dist" in hinted(watcher, (tree / "dist").mkdir)
        assert "dist/js" in hinted(watcher, (tree / "dist/js").mkdir)
        assert hinted(watcher, lambda: lay(tree, "dist/js/app")) == {"dist/js/app"}
        hinted(watcher, lambda: shutil.rmtree(tree / "dist"))
        assert hinted(watcher, lambda: lay(tree, "dist/js/app")) == {"dist"}
        assert hinted(watcher, lambda: lay(tree, "dist/js/app")) == {"dist/js/app"}


def test_a_folder_made_again_while_somebody_holds_the_old_one_is_seen(tree):
    held = os.open(tree / "dist/js", os.O_RDONLY)
    try:
        with watching(tree) as watcher:
            watcher.follow(["dist/js/app"])
            shutil.rmtree(tree / "dist/js")
            lay(tree, "dist/js/app")
            assert all_of(watcher).paths >= {"dist/js"}
            assert hinted(watcher, lambda: lay(tree, "dist/js/app")) == {"dist/js/app"}
    finally:
        os.close(held)


def test_a_followed_path_in_a_nested_repository_is_seen(tree):
    lay(tree, "sub/in/file", "sub/in/other")
    (tree / "sub/.git").mkdir()
    with watching(tree) as watcher:
        watcher.follow(["sub/in/file"])
        assert hinted(watcher, lambda: lay(tree, "sub/in/file", "sub/in/other")) == {"sub/in/file"}


def test_a_write_by_another_of_its_names_is_found_by_looking(tree):
    os.link(tree / "a", tree.parent / "other")
    with watching(tree) as watcher:
        watcher.follow(["a", "src/b"])
        assert watcher.eyes().polled == 1
        (tree.parent / "other").write_text("by the other name")
        hints = watcher.wait(30)
        assert hints is not None
        assert hints.paths == {"a"}
        os.link(tree / "src/b", tree.parent / "third")  # no event tells of this
        assert hinted(watcher, lambda: lay(tree, "src/b")) == {"src/b"}
        assert watcher.eyes().polled == 2


def test_git_says_what_it_does(root):
    git(root, "init", "-q", "-b", "main")
    lay(root, "a")
    with watching(root) as watcher:
        git(root, "add", "a")
        assert all_of(watcher).paths == {".git/index"}
        git(root, "commit", "-q", "-m", "one")
        assert ".git/logs" in all_of(watcher).paths
        git(root, "checkout", "-q", "-b", "other")
        assert all_of(watcher).paths >= {".git/HEAD", ".git/logs/HEAD"}
        (root / "a").write_text("changed")
        git(root, "stash")
        all_of(watcher)
        (root / "a").write_text("changed again")
        git(root, "stash")
        assert all_of(watcher).paths >= {"a", ".git/logs/refs/stash"}


def test_git_objects_wake_nobody(root):
    git(root, "init", "-q")
    lay(root, "a")
    with watching(root) as watcher:
        git(root, "hash-object", "-w", "a")
        assert watcher.wait(0) is None


def test_a_repository_that_begins_later_is_seen(tree):
    with watching(tree) as watcher:
        git(tree, "init", "-q")
        assert all_of(watcher).everything
        git(tree, "add", "a")
        assert all_of(watcher).paths == {".git/index"}


def test_a_worktree_has_its_git_folder_elsewhere(root):
    main = root / "main"
    lay(root, "main/a")
    git(main, "init", "-q")
    git(main, "add", "a")
    git(main, "commit", "-q", "-m", "one")
    git(main, "worktree", "add", "-q", "../beside")
    with watching(root / "beside") as watcher:
        git(root / "beside", "checkout", "-q", "-b", "x")
        assert all_of(watcher).paths >= {".git/HEAD", ".git/logs/HEAD"}


def test_rules_above_the_workspace_are_followed(root):
    git(root, "init", "-q")
    lay(root, "part/of/file")
    with watching(root / "part") as watcher:
        before = watcher.eyes().folders
        (root / ".gitignore").write_text("of\n")
        assert all_of(watcher).everything
        assert watcher.eyes().folders == before - 1
        assert hinted(watcher, lambda: lay(root, "beside", "part/x")) == {"x"}
        (root / ".git/info/exclude").write_text("x\n")
        assert all_of(watcher).everything
        assert hinted(watcher, lambda: lay(root, "part/x")) == set()
