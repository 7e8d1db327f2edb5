"""What a checkpoint does not cover, and what is gone: the report names it, whoever removed it."""

from __future__ import annotations

import os
import shutil

import pytest
from tests.support.examples import widely

from sightline.checkpoints.rewind import words
from sightline.hooks.dispatch import attend
from sightline.model.hook_events import CommandBegan, CommandEnded


@pytest.fixture
def tree(place):
    place.put(".gitignore", "*.db\nvar/\n")
    place.put("app.db", b"SQLite format 3\0")
    place.put("var/cache/a.bin", "a")
    place.put("var/b.bin", "b")
    place.put("vendor/lib/.git/HEAD", "ref: refs/heads/main\n")
    place.put("vendor/lib/a.py", "a\n")
    place.put("a.py", "a = 1\n")
    return place


def remove(tree, path):
    full = tree.root / path
    shutil.rmtree(full) if full.is_dir() else full.unlink()


REMOVED = {
    "app.db": "app.db",
    "var": "var/",
    "vendor/lib": "vendor/lib/",
    "vendor": "vendor/lib/",
    "var/b.bin": "var/b.bin",
    "var/cache": "var/cache/",
    "vendor/lib/a.py": "vendor/lib/a.py",
}


@pytest.mark.parametrize("path", REMOVED)
@pytest.mark.parametrize("face", ["library", "hook"])
def test_what_a_command_removed_and_nobody_kept_is_named(tree, s, path, face):
    then = s.checkpoint("before")
    command = f"rm -rf {path}"
    if face == "library":
        with s.ran(command) as run:
            remove(tree, path)
            run.exit_code = 0
    else:
        cwd = str(tree.root)
        attend(s, CommandBegan(command, "call", cwd))
        remove(tree, path)
        attend(s, CommandEnded(command, "call", cwd, "", 0))
    assert [each.path for each in s.rewind(then, dry_run=True).lost] == [REMOVED[path]]
    for report in (s.rewind(then), s.undo()):
        [lost] = report.lost
        assert lost.path == REMOVED[path]
        assert lost.command == command
        assert not report.changed


def test_what_somebody_else_removed_is_named_without_a_command(tree, s):
    then = s.checkpoint("before")
    s.edit("a.py", "1", "2")
    remove(tree, "app.db")
    remove(tree, "vendor/lib")
    report = s.rewind(then)
    assert report.restored == ("a.py",)
    assert [(each.path, each.command) for each in report.lost] == [
        ("app.db", None),
        ("vendor/lib/", None),
    ]


def test_what_still_stands_and_what_came_later_is_not_lost(tree, s):
    then = s.checkpoint("before")
    tree.put("later.db", "later")
    s.edit("a.py", "1", "2")
    os.remove(tree.root / "later.db")
    assert s.rewind(then).lost == ()


def test_an_undo_goes_on_to_the_turn_before_one_that_lost_all(tree, s):
    s.read("a.py")
    s.turn()
    s.edit("a.py", "1", "2")
    s.turn()
    with s.ran("rm app.db"):
        remove(tree, "app.db")
    report = s.undo()
    assert tree.text("a.py") == "a = 1\n"
    assert [each.path for each in report.lost] == ["app.db"]


def play(session, tree, face, command, *removed):
    if face == "library":
        with session.ran(command) as run:
            for path in removed:
                remove(tree, path)
            run.exit_code = 0
        return
    cwd = str(tree.root)
    attend(session, CommandBegan(command, "call", cwd))
    for path in removed:
        remove(tree, path)
    attend(session, CommandEnded(command, "call", cwd, "", 0))


UNNAMED = {
    "var/b.bin": ("var/b.bin", "ignored, 1 byte"),
    "var/cache/a.bin": ("var/cache/a.bin", "ignored, 1 byte"),
    "var/cache": ("var/cache/", "ignored, 1 file, 1 byte"),
    "var": ("var/", "ignored, 2 files, 2 bytes"),
    "vendor/lib/a.py": ("vendor/lib/a.py", "a repository of its own, 2 bytes"),
    "vendor/lib": ("vendor/lib/", "a repository of its own, 1 file, 2 bytes"),
    "app.db": ("app.db", "ignored, 16 bytes"),
}


@pytest.mark.parametrize("path", ["var/cache", "vendor/lib/a.py", *widely(*UNNAMED)])
@pytest.mark.parametrize("face", ["library", "hook"])
def test_what_a_command_removed_without_naming_it_is_named(tree, s, path, face):
    s.turn()
    then = s.checkpoint("before")
    play(s, tree, face, "make clean", path)
    for report in (s.rewind(then, dry_run=True), s.undo()):
        [lost] = report.lost
        name, why = UNNAMED[path]
        assert (lost.path, lost.command) == (name, "make clean")
        assert f"({why})" in lost.reason


TREES = {
    "node_modules": {"node_modules/left-pad/index.js": "x"},
    ".venv": {".venv/lib/site.py": "x"},
    "env": {"env/pyvenv.cfg": "home = /usr\n", "env/lib/site.py": "x"},
    "target": {"target/CACHEDIR.TAG": "Signature: 8a47\n", "target/debug/app": "x"},
    "large": {f"large/{number}.bin": "x" for number in range(201)},
}


@pytest.mark.parametrize("folder", TREES)
def test_a_tree_that_a_tool_makes_again_and_a_large_folder_count_as_one(place, s, folder):
    place.put(".gitignore", f"{folder}/\n")
    for path, text in TREES[folder].items():
        place.put(path, text)
    then = s.checkpoint("before")
    file = next(reversed(TREES[folder]))
    play(s, place, "hook", "make", file)
    assert s.rewind(then).lost == ()
    play(s, place, "hook", "make clean", folder)
    assert [(each.path, each.command) for each in s.rewind(then).lost] == [
        (f"{folder}/", "make clean")
    ]


def test_of_many_lost_files_the_words_name_a_few_and_count_the_others(tree, s):
    paths = [f"var/{number:02}.bin" for number in range(14)]
    for path in paths:
        tree.put(path, "x")
    then = s.checkpoint("before")
    play(s, tree, "hook", "make clean", *paths)
    report = s.rewind(then)
    assert len(report.lost) == 14
    assert [*words.lines_of(report, str)][-1] == "  and 4 more files"


def test_a_file_that_came_into_an_ignored_folder_since_is_not_named(tree, s):
    then = s.checkpoint("before")
    tree.put("var/new.bin", "new")
    play(s, tree, "hook", "make clean", "var/new.bin")
    assert s.rewind(then).lost == ()


def test_the_next_checkpoint_names_what_came_into_an_ignored_folder(tree, s):
    s.checkpoint("before")
    tree.put("var/new.bin", "new")
    tree.put("a.py", "a = 2\n")
    then = s.checkpoint("later")
    play(s, tree, "hook", "make clean", "var/new.bin")
    assert [each.path for each in s.rewind(then).lost] == ["var/new.bin"]
