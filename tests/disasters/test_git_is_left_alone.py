"""No file of git is touched by any verb of this room, however the repository is made.

Threads: cline/cline#1313, #2868, #5598, #9590 (a `.git` left renamed), #13550 (a branch moved, its
commits dropped), anthropics/claude-code#90943 (an index gone back), unconst/arbos#390 (no identity).
"""

from __future__ import annotations

from subprocess import CalledProcessError

import pytest
from tests.support.examples import widely


def plain(tree):
    """With work that is staged, work that is not, a stash and packed refs."""
    tree.put("b.py", "stashed\n")
    tree.git("stash", "-q")
    tree.put("b.py", "b, staged\n")
    tree.git("add", "b.py")
    tree.put("b.py", "b, staged and more\n")
    tree.git("pack-refs", "--all")


def unborn(tree):
    tree.git("update-ref", "-d", "HEAD")


def detached(tree):
    tree.git("checkout", "-q", "--detach")


def merging(tree):
    """In the middle of a merge with a conflict in a file that the agent leaves alone."""
    tree.git("commit", "-q", "-am", "second")
    tree.git("switch", "-q", "-c", "other", "HEAD~1")
    tree.put("b.py", "b of the other\n")
    tree.git("commit", "-q", "-am", "third")
    with pytest.raises(CalledProcessError):
        tree.git("merge", "-q", "main")
    assert (tree.root / ".git" / "MERGE_HEAD").exists()


def elsewhere(tree):
    """`.git` is a file."""
    tree.git("init", "-q", "--separate-git-dir", str(tree.home / "kept.git"))
    tree.gits.append(tree.home / "kept.git")


def cached(tree):
    """With the settings by which git keeps a view of the tree of its own."""
    for name in ("core.untrackedCache", "core.splitIndex"):
        tree.git("config", name, "true")
    tree.git("update-index", "--untracked-cache", "--split-index")
    tree.git("status")


@pytest.mark.wide
@pytest.mark.parametrize("shape", [plain, merging, *widely(unborn, detached, elsewhere, cached)])
def test_around_every_verb(repository, agent, shape):
    shape(repository)
    then = repository.checkpoint("then")
    agent.edit("a.py", "two", "2")
    agent.create("c.py", "c\n")
    told = every_verb(repository, then)
    assert told["restored"] == ["a.py"]
    assert told["removed"] == ["c.py"]
    assert repository.text("a.py") == "one\ntwo\nthree\n"


def every_verb(tree, then):
    """Each verb of this room once, as a user types them; what the last rewind did."""
    tree.user("checkpoint")
    tree.user("checkpoint", "list")
    tree.user("checkpoint", "diff", then, code=1)
    tree.user("checkpoint", "diff", then, "--stat", code=1)
    tree.user("rewind", then, "--dry-run")
    safety = tree.rewind(then)["safety_checkpoint"]
    tree.rewind(safety)
    tree.rewind(then, "--no-files", "--conversation")
    tree.user("warnings")
    tree.user("changes", "--since", then)
    tree.user("gc", "--max-size", "0")
    tree.user("rewind", safety, "--dry-run", "--force-path", "a.py")
    return tree.rewind(then, "--conversation")


def test_without_an_identity_and_without_git(repository, agent, monkeypatch):
    """unconst/arbos#390: the commit that was to be the checkpoint failed, and what it had not saved
    was cleaned away."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    monkeypatch.setenv("PATH", "")
    repository.put("untracked.txt", "the user's\n")
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    told = repository.rewind(then)
    assert told["restored"] == ["a.py"]
    assert repository.text("untracked.txt") == "the user's\n"


def test_a_branch_that_was_made_and_committed_to_since_stays_cline_13550(repository, agent):
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    agent.edit("b.py", "more", "less")
    repository.git("commit", "-q", "-m", "what was staged")
    repository.git("switch", "-q", "-c", "other")
    repository.git("commit", "-q", "-am", "all")
    log, status = repository.git("log", "--all", "--format=%H"), repository.git("branch")
    repository.rewind(then)
    assert repository.text("b.py") == "b, staged and more\n"
    assert (repository.git("log", "--all", "--format=%H"), repository.git("branch")) == (
        log,
        status,
    )


def test_the_environment_of_a_git_hook_leads_nowhere_else_roo_code(repository, agent, monkeypatch):
    """A process that git started is told of another repository by variables."""
    other = repository.home / "other"
    other.mkdir()
    repository.git("init", "-q", at=other)
    repository.gits.append(other)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    assert repository.rewind(then)["restored"] == ["a.py"]
