"""Nothing that a child leaves in git hides what the child changed, and the result names what is left."""

from __future__ import annotations

import os

import pytest
from tests.subtasks.conftest import LINES, git, ran

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the children are shell scripts")

CHANGES = (
    "echo new > new.txt; echo '$Id: mine$' > id.txt; sed -i 's/$/\\r/' app.py; echo x > LOG.TXT;"
)

BEFORE = {
    "line ends": "git config core.autocrlf true",
    "attributes": "echo '* text=auto ident' > .gitattributes",
    "attributes for all trees": 'echo "* text=auto ident" > "$common/info/attributes"',
    "another tree": (
        "git config extensions.worktreeConfig true; mkdir ../other; cp * ../other;"
        "git config --worktree core.worktree $(realpath ../other)"
    ),
    "case of names": "git config core.ignoreCase true",
    "another repository": "rm -r .git; git init -q; git add -A; git commit -q -m mine",
}


AFTER = {
    "replaced objects": (
        "for name in app.py id.txt; do"
        "  git replace $(git rev-parse HEAD:$name) $(git hash-object -w $name); done"
    ),
}


@pytest.mark.wide
@pytest.mark.parametrize("how", [*BEFORE, *AFTER])
def test_no_change_is_hidden(repo, how):
    repo.put("id.txt", "$Id$\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "-m", "second")
    common = "common=$(git rev-parse --git-common-dir)"
    script = f"{common}; {BEFORE.get(how, '')}\n{CHANGES}{AFTER.get(how, '')}"
    task, result = ran(repo.session("p"), script)
    assert task.state == "completed", task.reason
    assert repo.text("new.txt") == "new\n"
    assert repo.text("LOG.TXT") == "x\n"
    assert repo.text("id.txt") == "$Id: mine$\n"
    assert repo.bytes("app.py") == LINES.replace("\n", "\r\n").encode()
    attributes = {".gitattributes"} if how == "attributes" else set()
    assert {file.path for file in result.files} == {
        *("new.txt", "LOG.TXT", "id.txt", "app.py"),
        *attributes,
    }


@pytest.mark.wide
@pytest.mark.parametrize(
    "words", [("core.autocrlf", "true"), ("core.splitIndex", "true"), ("core.fileMode",)]
)
def test_settings_of_the_repository_hold_in_a_worktree(repo, words):
    """A file that the child did not change is as at home, also with a setting that has no value."""
    if len(words) == 1:
        config = repo.root / ".git" / "config"
        config.write_text(f"{config.read_text()}[core]\n\tfileMode\n")
    else:
        git(repo.root, "config", *words)
    git(repo.root, "rm", "-q", "--cached", "app.py")
    git(repo.root, "reset", "-q", "--hard")
    end = b"\r\n" if words[0] == "core.autocrlf" else b"\n"
    assert repo.bytes("app.py").startswith(b"line 1" + end)
    task, result = ran(repo.session("p"), "sed -i 's/line 3\\b/three/' app.py; touch log.txt")
    assert task.state == "completed", task.reason
    assert [file.path for file in result.files] == ["app.py"]
    assert repo.bytes("app.py") == LINES.replace("line 3\n", "three\n").encode().replace(b"\n", end)


@pytest.mark.wide
def test_a_file_that_a_sparse_checkout_leaves_out_is_no_new_one(repo):
    repo.put("a/in.txt", "in\n")
    repo.put("b/out.txt", "out\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "-m", "second")
    git(repo.root, "sparse-checkout", "set", "a")
    _, result = ran(repo.session("p"), "mkdir b; echo mine > b/out.txt; echo more >> a/in.txt")
    assert {file.path: file.kind for file in result.files} == {
        "a/in.txt": "changed",
        "b/out.txt": "changed",
    }
    assert [each.path for each in result.conflicts] == ["b/out.txt"]


LEAVES = """
common=$(git rev-parse --git-common-dir)
mkdir -p $common/hooks
git config core.editor mine
echo '[alias]' > $common/config.worktree
echo mine > $common/hooks/pre-commit
"""
LEFT = (".git/config", ".git/config.worktree", ".git/hooks/pre-commit")


@pytest.mark.parametrize("code", [0, 1])
def test_git_s_settings_that_an_attempt_left_are_in_its_result(repo, code):
    """Also in that of a failed attempt."""
    task, result = ran(repo.session("p"), f"{LEAVES}exit {code}", "shared")
    assert task.state == ("failed" if code else "completed"), task.reason
    assert result.outside == LEFT


@pytest.mark.wide
def test_git_s_settings_of_a_tree_of_its_own_stay_there_and_are_named(repo):
    before = repo.text(".git/config")
    task, result = ran(repo.session("p"), LEAVES)
    assert task.state == "completed", task.reason
    assert result.outside == ()
    assert result.notes == (f"git's settings changed: {', '.join(LEFT)}",)
    assert repo.text(".git/config") == before
    assert not (repo.root / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.wide
def test_git_s_settings_that_a_returned_attempt_left_are_in_the_reason(repo):
    task, _ = ran(repo.session("p"), f"{LEAVES}exit 1", "shared", attempts=2)
    assert task.state == "ready"
    assert task.reason == f"sh ended with exit code 1; changed outside the guard: {', '.join(LEFT)}"


def test_an_attempt_in_the_shared_tree_needs_no_git(place):
    task, result = ran(place.session("p"), "echo new > new.txt", "shared")
    assert task.state == "completed", task.reason
    assert (place.text("new.txt"), [file.path for file in result.files]) == ("new\n", ["new.txt"])
