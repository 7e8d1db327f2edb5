"""Repositories inside of others: nested ones, worktrees, submodules, and pointers of git-lfs.

Threads: cline/cline#9590 and #2868, RooCodeInc/Roo-Code#4509 (nested repositories switched
checkpoints off, or were renamed), anomalyco/opencode#10287 (a restore over all of the tree).
"""

from __future__ import annotations

import pytest
from tests.disasters.test_git_is_left_alone import every_verb


@pytest.fixture
def nested(repository):
    """A repository of its own in a folder of the other."""
    repository.put("inner/c.py", "c\n")
    repository.git("init", "-q", at="inner")
    repository.git("add", ".", at="inner")
    repository.git("commit", "-q", "-m", "inner", at="inner")
    repository.put("inner/c.py", "c, and work of the user\n")
    return repository


@pytest.mark.wide
def test_a_nested_repository_stands_as_it_is_cline_9590_and_2868(nested):
    agent = nested.session()
    agent.read("a.py")
    agent.read("inner/c.py")
    then = nested.checkpoint()
    agent.edit("a.py", "two", "2")
    agent.edit("inner/c.py", "c,", "C,")
    told = every_verb(nested, then)
    assert told["restored"] == ["a.py", "inner/c.py"]
    assert nested.text("inner/c.py") == "c, and work of the user\n"


def test_what_is_not_covered_of_a_nested_repository_is_listed(nested):
    nested.session()
    said = nested.user("checkpoint").out
    assert "inner/ (a repository of its own)" in said


@pytest.mark.wide
def test_a_worktree_is_no_other_case_cline_4388(tree):
    main = tree.home / "main"
    main.mkdir()
    tree.git("init", "-q", at=main)
    tree.git("commit", "-q", "--allow-empty", "-m", "x", at=main)
    tree.git("worktree", "add", "-q", "--force", str(tree.root), at=main)
    tree.gits.append(main)
    tree.put("a.py", "one\ntwo\n")
    agent = tree.session()
    agent.read("a.py")
    then = tree.checkpoint()
    agent.edit("a.py", "two", "2")
    agent.create("c.py", "c\n")
    every_verb(tree, then)
    assert tree.text("a.py") == "one\ntwo\n"


@pytest.mark.wide
def test_a_submodule_keeps_its_commit_and_the_users_work_in_it(repository):
    library = repository.home / "library"
    library.mkdir()
    repository.git("init", "-q", at=library)
    (library / "l.py").write_text("l\n")
    repository.git("add", ".", at=library)
    repository.git("commit", "-q", "-m", "library", at=library)
    repository.git("submodule", "--quiet", "add", str(library), "lib")
    repository.put("lib/l.py", "l\nthe user's\n")
    agent = repository.session()
    agent.read("a.py")
    agent.read("lib/l.py")
    then = repository.checkpoint()
    status = repository.git("status", "--porcelain"), repository.git("submodule", "status")
    agent.edit("a.py", "two", "2")
    agent.edit("lib/l.py", "l\nthe", "L\nthe")
    every_verb(repository, then)
    assert repository.text("lib/l.py") == "l\nthe user's\n"
    assert status == (
        repository.git("status", "--porcelain"),
        repository.git("submodule", "status"),
    )


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n".format("0" * 64)


def test_a_pointer_of_git_lfs_is_text_like_any_other_and_no_filter_runs(repository):
    for name in ("clean", "smudge", "process"):
        repository.git("config", f"filter.lfs.{name}", "touch ran")
    repository.put(".gitattributes", "*.bin filter=lfs\n")
    repository.put("model.bin", POINTER)
    agent = repository.session()
    then = repository.checkpoint()
    with agent.ran("git lfs pull"):
        repository.put("model.bin", b"\0weights" * 1000)
    repository.user("checkpoint", "diff", then, code=1)
    told = repository.rewind(then, "--commands")
    assert told["restored"] == ["model.bin"]
    assert repository.text("model.bin") == POINTER
    assert not (repository.root / "ran").exists()
