"""git, asked: its logs and its program, in real repositories of every shape."""

from __future__ import annotations

import os
import subprocess
from time import time_ns

import pytest

from sightline.changes.git_operations import blob_ids
from sightline.filesystem.git.repository import repository
from sightline.model.revision import revision_of

QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
DEADLINE_S = 30.0


class Tree:
    """A repository of a test."""

    def __init__(self, root, *options):
        self.root = root
        self.root.mkdir(parents=True, exist_ok=True)
        self.git("-c", "init.defaultBranch=main", "init", "--quiet", *options)

    def git(self, *words, at=None):
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        file = ("-c", "protocol.file.allow=always")
        done = subprocess.run(
            ["git", *who, *file, *words],
            cwd=at or self.root,
            env={**os.environ, **QUIET},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, **files):
        for name, text in files.items():
            (self.root / f"{name}.py").write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "work")
        return self.git("rev-parse", "HEAD")

    def asked(self, path="a.py", root=None):
        return repository(str(root or self.root), path)


@pytest.fixture
def tree(tmp_path):
    made = Tree(tmp_path / "ws")
    made.commit(a="1\n", b="1\n")
    return made


def blob(data, algorithm="sha1"):
    [*ids] = blob_ids(data, revision_of(data), algorithm)
    return ids[0]


def test_what_a_commit_has(tree):
    head = tree.git("rev-parse", "HEAD")
    found = tree.asked().blobs(head, ["a.py", "gone.py"], DEADLINE_S)
    assert found == {"a.py": blob(b"1\n"), "gone.py": None}


def test_names_of_every_kind(tree):
    names = ["sp ace.py", "ünï.py", "*.py", ":(top)x", "new\nline", "-dash"]
    for name in names:
        (tree.root / name).write_text(name)
    head = tree.commit()
    found = tree.asked().blobs(head, names, DEADLINE_S)
    assert found == {name: blob(name.encode()) for name in names}


@pytest.mark.wide
def test_more_names_than_a_command_line_holds(tree):
    names = [f"{'n' * 200}{number}.py" for number in range(700)]
    for name in names:
        (tree.root / name).write_text(name)
    head = tree.commit()
    found = tree.asked().blobs(head, [*names, "gone.py"], DEADLINE_S)
    assert found["gone.py"] is None
    assert found[names[-1]] == blob(names[-1].encode())


def test_the_log_is_only_read_when_it_is_newer_than_the_last_look(tree):
    tree.git("checkout", "--quiet", "-b", "other")
    log = tree.root / ".git/logs/HEAD"
    asked = tree.asked()
    assert [move.operation for move in asked.moves(0)][-1] == "checkout"
    os.utime(log, ns=(5_000_000_000, 5_000_000_000))
    assert asked.moves(time_ns()) == ()


def test_a_commit_of_an_unborn_branch_is_none(tmp_path):
    asked = Tree(tmp_path / "ws").asked()
    assert asked.moves(0) == ()
    assert asked.head() is None
    assert asked.stashed() == ()


def test_where_no_repository_is(tmp_path):
    (tmp_path / "ws").mkdir()
    found = repository(str(tmp_path / "ws"), "a.py")
    assert found is None or not found.top.startswith(str(tmp_path))


def test_a_workspace_inside_a_repository(tree):
    (tree.root / "sub").mkdir()
    (tree.root / "sub/c.py").write_text("2\n")
    head = tree.commit()
    asked = tree.asked("c.py", root=tree.root / "sub")
    assert asked.blobs(head, ["c.py"], DEADLINE_S) == {"c.py": blob(b"2\n")}


def test_a_repository_inside_a_workspace(tmp_path):
    inner = Tree(tmp_path / "ws/lib")
    head = inner.commit(c="3\n")
    asked = inner.asked("lib/c.py", root=tmp_path / "ws")
    assert asked.blobs(head, ["lib/c.py"], DEADLINE_S) == {"lib/c.py": blob(b"3\n")}


def test_a_worktree_has_its_own_log_and_shares_the_stash(tree, tmp_path):
    tree.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = tree.asked(root=tmp_path / "side")
    tree.git("checkout", "--quiet", "-b", "third")
    assert all(move.operation != "checkout" for move in side.moves(0))
    (tree.root / "a.py").write_text("dirty\n")
    tree.git("stash")
    assert side.stashed() == tree.asked().stashed() != ()
    assert side.blobs(side.head(), ["a.py"], DEADLINE_S) == {"a.py": blob(b"1\n")}


def test_a_submodule(tree, tmp_path):
    inner = Tree(tmp_path / "inner")
    head = inner.commit(c="3\n")
    tree.git("submodule", "--quiet", "add", str(tmp_path / "inner"), "lib")
    asked = tree.asked("lib/c.py")
    assert asked.folder != str(tree.root / ".git")
    assert asked.blobs(head, ["lib/c.py"], DEADLINE_S) == {"lib/c.py": blob(b"3\n")}


def test_a_repository_with_longer_hashes(tmp_path):
    tree = Tree(tmp_path / "ws", "--object-format=sha256")
    head = tree.commit(a="1\n")
    asked = tree.asked()
    assert asked.algorithm() == "sha256"
    assert asked.blobs(head, ["a.py"], DEADLINE_S) == {"a.py": blob(b"1\n", "sha256")}


def test_the_stash(tree):
    asked = tree.asked()
    began_ns = time_ns()
    os.utime(tree.root / ".git/logs/refs", ns=(5_000_000_000, 5_000_000_000))
    assert not asked.stash_moved(began_ns)
    (tree.root / "a.py").write_text("dirty\n")
    tree.git("stash")
    assert asked.stash_moved(began_ns)
    [commit] = asked.stashed()
    assert asked.blobs(commit, ["a.py"], DEADLINE_S) == {"a.py": blob(b"dirty\n")}
    tree.git("stash", "pop")
    assert asked.stash_moved(began_ns)
    assert asked.stashed() == ()
    assert asked.holds(blob(b"dirty\n"), DEADLINE_S)
    assert not asked.holds(blob(b"never seen\n"), DEADLINE_S)


def test_a_lock_says_that_git_is_at_work(tree):
    assert not tree.asked().busy()
    (tree.root / ".git/index.lock").touch()
    assert tree.asked().busy()


def test_a_merge_that_stopped(tree):
    began_ns = time_ns()
    assert not tree.asked().stopped(began_ns)
    (tree.root / ".git/MERGE_HEAD").touch()
    assert tree.asked().stopped(began_ns)


def test_nothing_of_the_repository_is_run(tree, tmp_path):
    """Hooks, a file system monitor, a pager, aliases: a hostile repository names them all."""
    ran = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho ran >> {ran}\n")
    trap.chmod(0o755)
    hooks = tree.root / ".git/hooks"
    for name in (
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        (hooks / name).write_bytes(trap.read_bytes())
        (hooks / name).chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "pager.ls-tree", "core.sshCommand", "core.editor"):
        tree.git("config", key, str(trap))
    tree.git("config", "alias.ls-tree", f"!{trap}")
    ran.unlink(missing_ok=True)
    head = tree.asked().head()
    assert tree.asked().blobs(head, ["a.py"], DEADLINE_S) is not None
    assert not ran.exists()


def test_the_users_environment_does_not_lead_git_elsewhere(tree, tmp_path, monkeypatch):
    other = Tree(tmp_path / "other")
    other.commit(a="elsewhere\n")
    head = tree.asked().head()
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    assert tree.asked().blobs(head, ["a.py"], DEADLINE_S) == {"a.py": blob(b"1\n")}


def test_what_git_does_not_know_is_no_answer(tree):
    assert tree.asked().blobs("f" * 40, ["a.py"], DEADLINE_S) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root gives files away")
def test_somebody_elses_repository_is_no_answer(tree):
    """git asks nothing of a repository that another user owns; neither do we."""
    head = tree.asked().head()
    for at in (tree.root, tree.root / ".git"):
        os.chown(at, 12345, 12345)
    assert tree.asked().blobs(head, ["a.py"], DEADLINE_S) is None


def test_without_the_program_there_is_no_answer(tree, tmp_path, monkeypatch):
    head = tree.asked().head()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tree.asked().blobs(head, ["a.py"], DEADLINE_S) is None


def test_a_git_in_the_current_folder_is_not_run(tree, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    (tmp_path / "git").write_text(f"#!/bin/sh\necho ran >> {ran}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    assert tree.asked().blobs(tree.asked().head(), ["a.py"], DEADLINE_S) is not None
    assert not ran.exists()


def test_a_program_that_takes_too_long_is_no_answer(tree, tmp_path, monkeypatch):
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert tree.asked().blobs("f" * 40, ["a.py"], 0.05) is None


@pytest.mark.parametrize("text", ["", "gitdir: nowhere\n", "\x00\xff", "gitdir: "])
def test_a_broken_git_file_is_no_repository(tmp_path, text):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/.git").write_text(text)
    found = repository(str(tmp_path / "ws"), "a.py")
    assert found is None or found.blobs("HEAD", ["a.py"], DEADLINE_S) is None
