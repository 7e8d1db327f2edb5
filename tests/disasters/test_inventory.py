"""The inventory shows whatever restores of other tools did to git's files."""

import os

import pytest
from tests.disasters.inventory import inventory


def renamed_and_back(git):
    """cline/cline#9590: a moment without the name."""
    git.rename(git.with_name(".git_disabled"))
    git.with_name(".git_disabled").rename(git)


def written_with_its_times_put_back(git):
    stat = (git / "index").stat()
    (git / "index").write_bytes((git / "index").read_bytes())
    os.utime(git / "index", ns=(stat.st_atime_ns, stat.st_mtime_ns))


def a_lock_that_came_and_went(git):
    (git / "index.lock").write_bytes(b"")
    (git / "index.lock").unlink()


def a_branch_moved(git):
    (git / "refs/heads/main").write_text("0" * 40 + "\n")


def other_rights(git):
    (git / "config").chmod(0o600)


@pytest.mark.parametrize(
    "act",
    [
        renamed_and_back,
        written_with_its_times_put_back,
        a_lock_that_came_and_went,
        a_branch_moved,
        other_rights,
    ],
)
def test_it_shows(repository, act):
    before = inventory(repository.root)
    assert str(repository.root / ".git" / "index") in before
    assert inventory(repository.root) == before
    act(repository.root / ".git")
    assert inventory(repository.root) != before
