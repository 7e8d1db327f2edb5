"""Folders that a command made or removed: a rewind sets them back where they are empty, and says so."""

from __future__ import annotations

import shutil

import pytest
from tests.guard.test_changed_places import tree

from sightline.checkpoints.rewind import words
from sightline.hooks.dispatch import attend
from sightline.model.hook_events import CommandBegan, CommandEnded


@pytest.fixture
def files(place):
    place.put("a.py", "a = 1\n")
    place.put("src/b.py", "b = 1\n")
    (place.root / "logs/old").mkdir(parents=True)
    return place


def mkdir(root):
    (root / "out/deep").mkdir(parents=True)


def rmdir(root):
    shutil.rmtree(root / "logs")


def mv(root):
    (root / "src").rename(root / "lib")


def with_a_file(root):
    (root / "out/deep").mkdir(parents=True)
    (root / "out/deep/x.txt").write_text("x\n")


COMMANDS = {
    "mkdir -p out/deep": mkdir,
    "rm -r logs": rmdir,
    "mv src lib": mv,
    "mkdir -p out/deep && echo x > out/deep/x.txt": with_a_file,
    "python3 make.py": mkdir,
}


def play(place, session, command, face):
    if face == "library":
        with session.ran(command) as run:
            COMMANDS[command](place.root)
            run.exit_code = 0
        return
    cwd = str(place.root)
    attend(session, CommandBegan(command, "call", cwd))
    COMMANDS[command](place.root)
    attend(session, CommandEnded(command, "call", cwd, "", 0))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("face", ["library", "hook"])
def test_folders_of_a_command_go_and_come_back_with_a_rewind(files, s, command, face):
    before, then = tree(files), s.checkpoint("before")
    play(files, s, command, face)
    after = tree(files)
    plan = s.rewind(then, commands=True, dry_run=True)
    assert tree(files) == after
    report = s.rewind(then, commands=True)
    assert tree(files) == before
    assert (plan.folders_removed, plan.folders_restored) == (
        report.folders_removed,
        report.folders_restored,
    )
    assert report.folders_removed or report.folders_restored
    s.rewind(report.safety_checkpoint)
    assert tree(files) == after


@pytest.mark.parametrize("face", ["library", "hook"])
def test_undo_takes_back_a_command_that_made_folders_alone(files, s, face):
    before = tree(files)
    s.turn()
    play(files, s, "mkdir -p out/deep", face)
    report = s.undo()
    assert report.folders_removed == ("out", "out/deep")
    assert tree(files) == before


def test_a_folder_that_stood_before_the_command_or_came_after_it_stays(files, s):
    then = s.checkpoint("before")
    (files.root / "mine").mkdir()
    (files.root / "src/empty").mkdir()
    play(files, s, "mkdir -p out/deep", "hook")
    (files.root / "out/users").mkdir()
    (files.root / "later").mkdir()
    (files.root / "src/b.py").unlink()
    report = s.rewind(then)
    assert report.folders_removed == ("out/deep",)
    assert {"mine/", "src/", "src/empty/", "out/users/", "later/"} <= {*tree(files)}


def test_a_folder_that_holds_an_ignored_or_a_users_file_stays(files, s):
    files.put(".gitignore", "*.log\n")
    then = s.checkpoint("before")
    play(files, s, "mkdir -p out/deep", "hook")
    files.put("out/deep/users.log", "u\n")
    assert s.rewind(then, dry_run=True).folders_removed == ()
    assert s.rewind(then).folders_removed == ()
    assert files.text("out/deep/users.log") == "u\n"


def test_a_plan_and_a_rewind_name_the_folders_in_words(files, s):
    then = s.checkpoint("before")
    play(files, s, "mkdir -p out/deep", "hook")
    play(files, s, "rm -r logs", "hook")
    plan = [*words.lines_of(s.rewind(then, dry_run=True), str)]
    assert plan == [
        f"A rewind to {then.id} would restore or remove only empty folders:",
        "  restore   logs/ (empty, as it was)",
        "  restore   logs/old/ (empty, as it was)",
        "  remove    out/ (empty, and this session made it)",
        "  remove    out/deep/ (empty, and this session made it)",
    ]
    done = [*words.lines_of(s.rewind(then), str)]
    assert done[:3] == [
        f"Rewound to {then.id}: only empty folders were restored or removed.",
        "  restored  logs/ (empty, as it was)",
        "  restored  logs/old/ (empty, as it was)",
    ]
