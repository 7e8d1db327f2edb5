"""What git's history says was renamed, in real repositories."""

from __future__ import annotations

import os
import subprocess

import pytest

from sightline.filesystem.git import rename_history as module
from sightline.filesystem.git.rename_history import History, renames

QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
PATIENT_S = 30.0


class Tree:
    """A repository of a test; every move is a commit."""

    def __init__(self, root):
        self.root = root
        self.git("-c", "init.defaultBranch=main", "init", "--quiet")

    def git(self, *words):
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        environment = {**os.environ, **QUIET}
        subprocess.run(["git", *who, *words], cwd=self.root, env=environment, check=True)

    def write(self, *names):
        for name in names:
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(f"{name} line {n}\n" for n in range(20)))
        self.commit()

    def move(self, *pairs):
        for old, new in pairs:
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).rename(self.root / new)
        self.commit()

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "work")

    def renames(self, folder=".", **given):
        return renames(str(self.root / folder), **{"deadline_s": PATIENT_S, **given})


@pytest.fixture
def tree(tmp_path):
    made = Tree(tmp_path)
    made.write("a.py", "lib/b.py", "lib/c.py")
    return made


def test_a_chain_leads_every_old_path_to_the_newest(tree):
    tree.move(("a.py", "b.py"))
    tree.move(("b.py", "src/b.py"))
    tree.move(("src/b.py", "src/core.py"))
    assert tree.renames() == dict.fromkeys(("a.py", "b.py", "src/b.py"), "src/core.py")


def test_a_folder_moves_with_all_its_files(tree):
    tree.move(("lib", "src/library"))
    assert tree.renames() == {
        "lib/b.py": "src/library/b.py",
        "lib/c.py": "src/library/c.py",
    }


def test_a_name_used_twice_leads_where_its_last_file_went(tree):
    tree.move(("a.py", "old.py"))
    tree.write("a.py")
    tree.move(("a.py", "new.py"))
    assert tree.renames()["a.py"] == "new.py"


def test_a_file_that_came_back_is_not_renamed(tree):
    tree.move(("a.py", "b.py"))
    tree.move(("b.py", "a.py"))
    assert tree.renames() == {"b.py": "a.py"}


def test_names_are_told_as_they_are(tree):
    tree.write("Ren é.py")
    tree.move(("Ren é.py", "R100 \n new.py"))
    assert tree.renames() == {"Ren é.py": "R100 \n new.py"}


def test_a_file_called_like_a_status_is_a_path(tree):
    tree.write("R100")
    tree.move(("R100", "R090"), ("a.py", "z.py"))
    assert tree.renames() == {"R100": "R090", "a.py": "z.py"}


def test_a_workspace_below_the_repository_is_told_its_own_paths(tree):
    tree.move(("lib/b.py", "lib/d.py"))
    assert tree.renames("lib") == {"b.py": "d.py"}


def test_only_the_last_commits_count(tree):
    tree.move(("a.py", "b.py"))
    tree.move(("lib/c.py", "lib/e.py"))
    assert tree.renames(commits=1) == {"lib/c.py": "lib/e.py"}


def test_no_more_is_kept_than_the_newest(tree, monkeypatch):
    tree.move(("a.py", "b.py"))
    tree.move(("lib/c.py", "lib/e.py"))
    monkeypatch.setattr(module, "RENAMES_MAX", 1)
    assert tree.renames() == {"lib/c.py": "lib/e.py"}


@pytest.mark.parametrize("size", range(0, 70, 9))
def test_an_answer_that_breaks_off_tells_whole_renames_or_none(tree, monkeypatch, size):
    tree.move(("lib", "src/library"))
    tree.move(("a.py", "b.py"))
    whole = tree.renames()
    monkeypatch.setattr(module, "BYTES_MAX", size)
    assert tree.renames().items() <= whole.items()


def test_without_git_nothing_is_known(tmp_path):
    assert renames(str(tmp_path)) == {}
    assert renames(str(tmp_path / "gone")) == {}


def test_without_the_program_nothing_is_known(tree, monkeypatch):
    tree.move(("a.py", "b.py"))
    monkeypatch.setenv("PATH", "")
    assert tree.renames() == {}


def test_without_a_commit_nothing_is_known(tmp_path):
    assert Tree(tmp_path).renames() == {}


def test_a_git_that_does_not_end_is_ended(tree, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("bin")
    (folder / "git").write_text("#!/bin/sh\nprintf 'R100\\0a.py\\0b.py\\0'\nexec sleep 60\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    assert tree.renames(deadline_s=0.3) == {"a.py": "b.py"}


def test_git_is_asked_once_for_each_commit(tree):
    history = History(str(tree.root))
    before = history.renames(PATIENT_S)
    (tree.root / "new.py").touch()
    assert history.renames(PATIENT_S) is before
    tree.move(("a.py", "z.py"))
    assert history.renames(PATIENT_S) == {"a.py": "z.py"}
    tree.git("reset", "--quiet", "--soft", "HEAD~1")
    assert history.renames(PATIENT_S) == {}


@pytest.mark.parametrize("packed", [False, True])
def test_a_commit_shows_without_a_log_too(tree, packed):
    tree.git("config", "core.logAllRefUpdates", "false")
    (tree.root / ".git/logs/HEAD").unlink()
    history = History(str(tree.root))
    assert history.renames(PATIENT_S) == {}
    tree.move(("a.py", "z.py"))
    if packed:
        tree.git("pack-refs", "--all")
    assert history.renames(PATIENT_S) == {"a.py": "z.py"}


def test_what_was_cut_off_early_is_asked_for_again(tree, tmp_path_factory, monkeypatch):
    tree.move(("a.py", "z.py"))
    history = History(str(tree.root))
    assert history.renames(0) == {}
    with monkeypatch.context() as slow:
        folder = tmp_path_factory.mktemp("bin")
        (folder / "git").write_text("#!/bin/sh\nexec sleep 60\n")
        (folder / "git").chmod(0o755)
        slow.setenv("PATH", str(folder), prepend=os.pathsep)
        assert history.renames(0.05) == {}
    monkeypatch.setattr(module, "DEADLINE_S", PATIENT_S)
    told = history.renames(PATIENT_S)
    assert told == {"a.py": "z.py"}
    assert history.renames(0) is told


def test_nothing_of_the_users_is_run(tree, tmp_path_factory):
    trap = tmp_path_factory.mktemp("trap") / "sprung"
    for key in ("diff.external", "core.fsmonitor", "core.pager", "gpg.program"):
        tree.git("config", key, f"touch {trap};")
    tree.git("config", "log.showSignature", "true")
    tree.git("config", "diff.renames", "false")
    tree.move(("a.py", "b.py"))
    trap.unlink(missing_ok=True)  # the commit above may have sprung it
    assert tree.renames() == {"a.py": "b.py"}
    assert not trap.exists()
