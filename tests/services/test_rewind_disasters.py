"""What restores of other tools did to their users, each by the name of its thread; none of it
happens here."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from sightline.errors import CheckpointFailed, RewindRefused
from sightline.services import checkpoints
from sightline.workspace.syscalls import Calls


def git(place, *args, at=""):
    done = subprocess.run(
        ["git", *args], cwd=place.root / at, check=True, capture_output=True, text=True
    )
    return done.stdout


def picture(folder):
    """Every file below a folder with its bytes and its mode."""
    files = [file for file in Path(folder).rglob("*") if file.is_file()]
    return {file: (file.read_bytes(), file.stat().st_mode) for file in files}


@pytest.fixture
def repository(place):
    """A git repository with a commit, a change that is staged and one that is not."""
    git(place, "init", "-q", "-b", "main")
    place.put("a.py", "one\ntwo\nthree\n")
    place.put("b.py", "b\n")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "first")
    place.put("b.py", "b, staged\n")
    git(place, "add", "b.py")
    place.put("b.py", "b, staged and more\n")
    return place


def test_untracked_user_data_is_kept_copilot_cli_1675(repository):
    s = repository.session()
    s.read("a.py")
    then = s.checkpoint()
    s.edit("a.py", "two", "2")
    repository.put("data/big.bin", os.urandom(1 << 16))
    repository.put("notes.txt", "the user's\n")
    before = picture(repository.root / "data")
    s.rewind(then)
    assert repository.text("a.py") == "one\ntwo\nthree\n"
    assert picture(repository.root / "data") == before
    assert repository.text("notes.txt") == "the user's\n"


def test_a_gitignore_that_goes_back_takes_nothing_with_it_cline_14367(repository):
    repository.put(".gitignore", "*.log\n")
    s = repository.session()
    s.read(".gitignore")
    s.read("a.py")
    then = s.checkpoint()
    s.edit(".gitignore", "*.log\n", "*.log\nprivate/\n")
    s.edit("a.py", "two", "2")
    repository.put("private/keys", "the user's\n")
    report = s.rewind(then)
    assert repository.text(".gitignore") == "*.log\n"
    assert repository.text("private/keys") == "the user's\n"
    assert report.removed == ()


def test_nested_repositories_stand_as_they_are_cline_9590_and_2868(repository):
    repository.put("inner/c.py", "c\n")
    git(repository, "init", "-q", at="inner")
    git(repository, "add", ".", at="inner")
    git(repository, "commit", "-q", "-m", "inner", at="inner")
    s = repository.session()
    s.read("inner/c.py")
    then = s.checkpoint()
    s.edit("inner/c.py", "c", "C")
    before = picture(repository.root / "inner" / ".git"), picture(repository.root / ".git")
    s.rewind(then)
    assert repository.text("inner/c.py") == "c\n"
    assert (
        picture(repository.root / "inner" / ".git"),
        picture(repository.root / ".git"),
    ) == before


def test_a_worktree_is_no_other_case(place):
    main = place.home / "main"
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run(["git", "-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    place.root.rmdir()
    subprocess.run(["git", "-C", str(main), "worktree", "add", "-q", str(place.root)], check=True)
    place.put("a.py", "one\n")
    s = place.session()
    s.read("a.py")
    then = s.checkpoint()
    s.edit("a.py", "one", "1")
    before = picture(main / ".git"), place.text(".git")
    s.rewind(then)
    assert place.text("a.py") == "one\n"
    assert (picture(main / ".git"), place.text(".git")) == before


def test_no_git_identity_is_needed_arbos_390(repository, monkeypatch):
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    monkeypatch.setenv("PATH", "")  # and no git either
    s = repository.session()
    s.read("a.py")
    then = s.checkpoint()
    s.edit("a.py", "two", "2")
    s.rewind(then)
    assert repository.text("a.py") == "one\ntwo\nthree\n"


def test_no_branch_no_index_and_no_staged_change_moves(repository):
    s = repository.session()
    for path in ("a.py", "b.py"):
        s.read(path)
    then = s.checkpoint()
    s.edit("a.py", "two", "2")
    s.edit("b.py", "more", "less")
    git(repository, "commit", "-q", "-m", "what was staged")
    git(repository, "switch", "-q", "-c", "other")
    before = picture(repository.root / ".git")
    s.rewind(then)
    assert repository.text("b.py") == "b, staged and more\n"
    assert picture(repository.root / ".git") == before


def test_what_was_deleted_at_a_shell_comes_back_claude_code_93045(repository):
    s = repository.session()
    then = s.checkpoint()
    with s.ran("rm -r ."):
        (repository.root / "a.py").unlink()
        (repository.root / "b.py").unlink()
    report = s.rewind(then)
    assert repository.text("a.py") == "one\ntwo\nthree\n"
    assert repository.text("b.py") == "b, staged and more\n"
    assert report.restored == ("a.py", "b.py")
    s.rewind(report.safety_checkpoint)  # and goes again: entireio/cli#1408
    assert not (repository.root / "a.py").exists()


def test_another_sessions_work_is_kept_claude_code_28078(repository):
    one, two = repository.session("one"), repository.session("two")
    one.read("a.py")
    then = one.checkpoint()
    one.edit("a.py", "one", "1")
    two.read("a.py")
    two.edit("a.py", "three", "3")
    two.create("two.py", "two's\n")
    two.read("b.py")
    two.delete("b.py")
    one.rewind(then)
    assert repository.text("a.py") == "one\ntwo\n3\n"
    assert repository.text("two.py") == "two's\n"
    assert not (repository.root / "b.py").exists()


def test_the_siblings_in_a_monorepo_are_not_reverted_opencode_3148(repository):
    repository.put("web/w.ts", "w\n")
    s = repository.session()
    s.read("a.py")
    then = s.checkpoint()
    s.edit("a.py", "two", "2")
    repository.put("web/w.ts", "the user's later work\n")
    report = s.rewind(then)
    assert repository.text("web/w.ts") == "the user's later work\n"
    assert report.restored == ("a.py",)


def test_a_user_s_edit_on_top_is_not_overwritten_opencode_49732(repository):
    s = repository.session()
    s.read("a.py")
    then = s.checkpoint()
    s.edit("a.py", "two", "2")
    repository.put("a.py", "one\n2\nthree\nthe user's\n")
    s.rewind(then)
    assert repository.text("a.py") == "one\ntwo\nthree\nthe user's\n"


def test_without_a_safety_checkpoint_nothing_is_rewound_arbos_390(repository, monkeypatch):
    s = repository.session()
    s.read("a.py")
    then = s.checkpoint()
    s.edit("a.py", "two", "2")

    def full(*_, **__):
        raise CheckpointFailed("The store is full.", "Free some room.")

    monkeypatch.setattr(checkpoints, "take", full)
    stood = s._ground.store.position()
    with pytest.raises(RewindRefused, match="Nothing was rewound"):
        s.rewind(then)
    assert repository.text("a.py") == "one\n2\nthree\n"
    assert s._ground.store.position() == stood


class Filling(Calls):
    """A disk that is full from the `left`th write on."""

    left = 0

    def write(self, fd, data):
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(fd, data)


def test_a_disk_that_fills_up_in_the_middle_leaves_every_file_whole_gemini_cli_restore(repository):
    s = repository.session()
    names = [f"f{n}.py" for n in range(5)]
    for name in names:
        repository.put(name, f"{name} of then\n")
        s.read(name)
    then = s.checkpoint()
    for name in names:
        s.edit(name, "then", "now")
    disk = Filling()
    disk.left = 2
    s._ground.workspace._calls = disk
    report = s.rewind(then)
    assert report.restored == ("f0.py", "f1.py")
    assert [each.path for each in report.left_alone] == names[2:]
    assert all("No space left" in each.reason for each in report.left_alone)
    assert [repository.text(name) for name in names[2:]] == [f"{n} of now\n" for n in names[2:]]
    assert s._ground.store.pending() == []
    disk.left = 1_000_000
    assert s.rewind(then).restored == tuple(names[2:])
    assert [repository.text(name) for name in names] == [f"{name} of then\n" for name in names]


def test_one_file_that_cannot_be_read_does_not_end_the_rest_gemini_cli_rewind(repository):
    s = repository.session()
    for path in ("a.py", "b.py"):
        s.read(path)
    then = s.checkpoint()
    s.edit("a.py", "two", "2")
    s.edit("b.py", "more", "less")
    (repository.root / "a.py").unlink()
    (repository.root / "a.py").symlink_to("a.py")  # a loop
    report = s.rewind(then)
    assert repository.text("b.py") == "b, staged and more\n"
    assert [each.path for each in report.left_alone] == ["a.py"]


def test_a_rewrite_with_the_system_s_line_ends_is_taken_back_whole_codex_19943(repository):
    repository.put("w.txt", "one\r\ntwo\r\nthree\r\n")
    s = repository.session()
    then = s.checkpoint()
    with s.ran("dos2unix w.txt"):
        repository.put("w.txt", "one\ntwo\nthree\n")
    s.rewind(then)
    assert repository.bytes("w.txt") == b"one\r\ntwo\r\nthree\r\n"
