"""A repository that somebody else made leads git nowhere but to itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from tests.filesystem.git.test_repository import DEADLINE_S, Tree

import sightline
from sightline.filesystem.deadline import within
from sightline.filesystem.git.rename_history import renames
from sightline.filesystem.git.repository import repository
from sightline.filesystem.git.show import ChangeReader
from sightline.filesystem.git_control import TEXT_BYTES, read_text
from sightline.filesystem.ignore.rules import git_rules
from sightline.filesystem.watch.git_folder import git_files, git_places

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="symlinks and pipes")


@pytest.fixture
def home(tmp_path):
    """A private repository, and files beside it."""
    made = Tree(tmp_path / "private")
    made.commit(secret="password = 1\n")
    made.git("mv", "secret.py", "moved.py")
    made.commit()
    (tmp_path / "private" / "draft.txt").write_text("the draft\n")
    return made


@pytest.fixture
def hostile(tmp_path):
    made = Tree(tmp_path / "ws")
    made.commit(a="1\n")
    return made


def asked(root, path):
    return repository(str(root), path)


def names(touched):
    return [each.path for each in touched[0]]


def only_git(tmp_path, text):
    """Make a folder that has nothing but a `.git`."""
    root = tmp_path / "only"
    root.mkdir()
    (root / ".git").write_text(text)
    return root


def is_refused(root):
    """Return whether nothing asks git, or follows it, from this folder."""
    root = str(root)
    followed = [*git_places(root), *git_files(root)]
    outside = [path for name, path in followed if name.startswith(".git")]
    return asked(root, "a.py") is None and not outside and renames(root) == {}


def test_core_worktree_does_not_lead_git_outside(hostile, home):
    hostile.git("config", "core.worktree", str(home.root))
    found = asked(hostile.root, ".")
    reader = ChangeReader(str(hostile.root), found, DEADLINE_S)
    assert names(reader.untracked()) == names(reader.touched(str(reader.head()), None)) == []
    (hostile.root / "new.txt").write_text("new\n")
    assert names(reader.untracked()) == ["new.txt"]
    assert found.tracked_paths(DEADLINE_S) == ["a.py"]


def test_a_folder_that_looks_like_a_bare_repository_is_not_asked(hostile, home):
    bare = hostile.root / "bare"
    subprocess.run(["git", "clone", "-q", "--bare", home.root, bare], check=True)
    subprocess.run(["git", "-C", bare, "config", "core.worktree", home.root], check=True)
    subprocess.run(["git", "-C", bare, "config", "core.bare", "false"], check=True)
    found = asked(bare, ".")
    assert found.top == str(hostile.root)
    assert found.tracked_paths(DEADLINE_S) == []
    assert renames(str(bare)) == {}


@pytest.mark.parametrize("kind", ["file", "relative file", "link"])
def test_a_git_that_names_another_repository_is_refused(tmp_path, home, kind):
    root = only_git(tmp_path, f"gitdir: {home.root}/.git\n")
    if kind == "relative file":
        (root / ".git").write_text("gitdir: ../private/.git\n")
    if kind == "link":
        (root / ".git").unlink()
        (root / ".git").symlink_to(home.root / ".git")
    assert is_refused(root)
    (root / "below").mkdir()
    assert asked(root / "below", "a.py") is None


def test_a_git_that_names_the_worktree_of_another_repository_is_refused(tmp_path, home):
    home.git("worktree", "add", "-q", str(tmp_path / "linked"))
    root = only_git(tmp_path, f"gitdir: {home.root}/.git/worktrees/linked\n")
    assert is_refused(root)


def test_a_git_that_names_the_submodule_of_another_repository_is_refused(tmp_path, home, hostile):
    home.git("submodule", "--quiet", "add", str(hostile.root), "sub")
    root = only_git(tmp_path, f"gitdir: {home.root}/.git/modules/sub\n")
    assert is_refused(root)


def test_a_commondir_that_names_another_repository_is_refused(hostile, home):
    (hostile.root / ".git" / "commondir").write_text(f"{home.root}/.git\n")
    assert is_refused(hostile.root)


def test_a_worktree_folder_of_its_own_does_not_make_another_repository_its_own(tmp_path, home):
    root = only_git(tmp_path, "gitdir: fake/worktrees/x\n")
    fake = root / "fake" / "worktrees" / "x"
    fake.mkdir(parents=True)
    (fake / "HEAD").write_text("ref: refs/heads/main\n")
    (fake / "gitdir").write_text(f"{root}/.git\n")
    (fake / "commondir").write_text(f"{home.root}/.git\n")
    assert is_refused(root)
    (fake / "commondir").write_text("../..\n")
    (root / "fake" / "objects").symlink_to(home.root / ".git" / "objects")
    assert is_refused(root)


@pytest.mark.parametrize(
    "name", ["objects", "objects/pack", "objects/0a", "refs", "refs/heads", "HEAD", "logs"]
)
def test_a_part_of_git_that_is_a_link_to_another_repository_is_refused(hostile, home, name):
    part = hostile.root / ".git" / name
    if part.is_dir():
        shutil.rmtree(part)
    elif part.exists():
        part.unlink()
    part.symlink_to(home.root / ".git" / name)
    assert asked(hostile.root, ".") is None


def test_borrowed_objects_with_names_that_are_links_are_refused(hostile, home):
    git = hostile.root / ".git"
    (git / "objects/info/alternates").write_text(f"{home.root}/.git/objects\n")
    assert asked(hostile.root, ".") is not None, "a clone with --shared has that"
    (git / "refs/heads/main").unlink()
    (git / "refs/heads/main").symlink_to(home.root / ".git/refs/heads/main")
    assert asked(hostile.root, ".") is None


@pytest.mark.wide
def test_what_git_itself_makes_is_legal(tmp_path, home, hostile):
    linked, sub, inner = tmp_path / "linked", tmp_path / "ws/sub", tmp_path / "inner"
    home.git("worktree", "add", "-q", str(linked), "-b", "other")
    hostile.git("submodule", "--quiet", "add", str(home.root), "sub")
    hostile.commit()
    Tree.git(hostile, "worktree", "add", "-q", str(inner), "-b", "inner", at=sub)
    shared, separate = tmp_path / "shared", tmp_path / "separate"
    home.git("clone", "-q", "--shared", ".", str(shared))
    home.git("clone", "-q", "--separate-git-dir", str(separate / "kept"), ".", str(separate))
    for root in (linked, sub, inner, shared, separate):
        found = asked(root, "moved.py")
        assert found is not None, root
        assert found.top == str(root)
        assert "moved.py" in found.tracked_paths(DEADLINE_S), root
        assert found.head() == home.git("rev-parse", "HEAD")
        assert found.blobs("HEAD", ["moved.py"], DEADLINE_S)["moved.py"] is not None
        assert renames(str(root)) == {"secret.py": "moved.py"}
        assert [*git_places(str(root))]


def test_a_submodule_whose_settings_lie_in_two_files_is_legal(tmp_path, home, hostile):
    hostile.git("submodule", "--quiet", "add", str(home.root), "sub")
    hostile.git("sparse-checkout", "init", at=hostile.root / "sub")
    assert asked(hostile.root / "sub", "a.py") is not None


def test_a_worktree_with_relative_names_is_legal(tmp_path, home):
    linked = tmp_path / "linked"
    home.git("worktree", "add", "-q", str(linked))
    kept = home.root / ".git/worktrees/linked"
    (linked / ".git").write_text("gitdir: ../private/.git/worktrees/linked\n")
    (kept / "gitdir").write_text("../../../../linked/.git\n")
    assert asked(linked, "a.py") is not None


@pytest.mark.parametrize("name", ["logs/HEAD", "HEAD", "commondir", "packed-refs", "index"])
def test_a_pipe_in_git_does_not_hang(hostile, name):
    at = hostile.root / ".git" / name
    at.unlink(missing_ok=True)
    os.mkfifo(at)

    def look():
        found = asked(hostile.root, ".")
        if found is not None:
            assert len(found.moves(0)) == (name != "logs/HEAD")
            assert found.stashed() == ()
            assert len(found.head_state()) == 5
        git_rules(str(hostile.root)).refuses("a.py")

    within(DEADLINE_S, look)


def test_a_file_of_git_is_read_bounded_and_a_pipe_that_somebody_fills_is_not_read(hostile):
    git = str(hostile.root / ".git")
    (hostile.root / ".git/packed-refs").write_text("x" * (2 * TEXT_BYTES))
    assert len(read_text(git, "packed-refs")) == TEXT_BYTES
    os.mkfifo(f"{git}/filled")
    filler = os.open(f"{git}/filled", os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(filler, b"gitdir: /elsewhere")
        assert read_text(git, "filled") == ""
    finally:
        os.close(filler)


def test_a_git_that_is_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / ".git")
    assert within(DEADLINE_S, lambda: asked(tmp_path, "a.py")) is None
    assert within(DEADLINE_S, lambda: git_rules(str(tmp_path)).refuses("a.py")) is False


def test_a_log_that_is_a_link_is_not_read(hostile, home):
    log = hostile.root / ".git/logs/HEAD"
    log.unlink()
    log.symlink_to(home.root / ".git/logs/HEAD")
    found = asked(hostile.root, ".")
    assert found is None or found.moves(0) == ()


def test_a_branch_that_leads_out_of_git_is_not_read(hostile, home):
    (hostile.root / ".git/HEAD").write_text("ref: ../../private/draft.txt\n")
    found = asked(hostile.root, ".")
    assert "the draft" not in repr(found.head_state())


def test_changes_of_a_workspace_with_a_pipe_for_a_log_are_told(place, s):
    place.put("a.py", "1\n")
    s.read("a.py")
    git = Tree(place.root)
    git.commit()
    (place.root / ".git/logs/HEAD").unlink()
    os.mkfifo(place.root / ".git/logs/HEAD")
    place.put("a.py", "2\n")
    assert [change.path for change in s.changes()] == ["a.py"]
    with pytest.raises(sightline.EditRefused):
        s.edit("a.py", "1\n", "3\n")


def test_an_export_makes_no_branch_in_another_repository(tmp_path, place, home):
    place.put(".git", f"gitdir: {home.root}/.git\n")
    place.put("a.py", "1\n")
    s = place.session()
    made = s.checkpoint("here")
    before = home.git("branch", "--list")
    with pytest.raises(sightline.SightlineError):
        s.export(made.id, branch="mine")
    assert home.git("branch", "--list") == before
