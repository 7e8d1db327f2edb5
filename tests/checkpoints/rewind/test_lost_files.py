"""What a checkpoint does not cover, and what is gone: the report names it, whoever removed it."""

from __future__ import annotations

import os
import shutil

import pytest

from sightline.agents.hook_events import CommandBegan, CommandEnded
from sightline.hooks.dispatch import attend


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
    "var/cache": "var/cache",
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
