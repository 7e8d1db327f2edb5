"""A checkpoint given to git: what the branch and the patch hold, and that nothing else moves."""

import os
import subprocess
from pathlib import Path

import pytest

from sightline.checkpoints import take
from sightline.checkpoints.export import AUTHOR, export
from sightline.errors import CheckpointFailed, UnknownName
from sightline.filesystem.git import branch_commit
from sightline.model.results import NotCovered


def git(folder, *words, stdin=None):
    """git as its user runs it, who has a name."""
    who = ("-c", "user.name=user", "-c", "user.email=user@users.example")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, input=stdin, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def inventory(folder):
    """All that a user has in a `.git`, but objects, which nothing names until it is named."""
    files = [file for file in Path(folder).rglob("*") if file.is_file()]
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in files
        if "objects" not in file.parts
    }


def standing(file):
    """Return what would tell that somebody wrote to a file; when it was read last is nobody's harm."""
    told = file.lstat()
    return told.st_ino, told.st_mode, told.st_size, told.st_mtime_ns, told.st_ctime_ns


def tree(place, at):
    return git(place.root, "rev-parse", f"{at}^{{tree}}")


@pytest.fixture
def repo(place):
    """A repository with one commit."""
    git(place.root, "init", "-q", "-b", "main")
    place.put("a.py", "one\n")
    place.put("gone.py", "gone\n")
    git(place.root, "add", "-A")
    git(place.root, "commit", "-qm", "first")
    return place


@pytest.fixture
def changed(repo, s):
    """Files of every kind, changed in every way; the checkpoint of it."""
    repo.put("a.py", "one\r\ntwo")
    (repo.root / "gone.py").unlink()
    repo.put("new/tool", "#!/bin/sh\n").chmod(0o755)
    repo.put("picture", bytes(range(256)))
    (repo.root / "link").symlink_to("new/tool")
    return s.checkpoint("changed")


def exported(session, *args, **more):
    return export(session._context, *args, **more)


def test_a_branch_holds_the_tree_as_it_was_then(repo, s, changed):
    git(repo.root, "add", "-A")
    wanted = git(repo.root, "write-tree")
    git(repo.root, "reset", "-q")
    repo.put("a.py", "later\n")
    made = exported(s, changed, "then")
    assert tree(repo, "then") == wanted
    assert (made.branch, made.files, made.not_contained) == ("then", 4, ())
    assert made.commit == git(repo.root, "rev-parse", "then")
    assert (
        made.parent == git(repo.root, "rev-parse", "then~") == git(repo.root, "rev-parse", "HEAD")
    )
    git(repo.root, "fsck", "--strict")


def test_nothing_of_the_repository_moves_but_that_it_has_a_branch_more(repo, s, changed):
    repo.put("staged.py", "staged\n")
    git(repo.root, "add", "staged.py")
    git(repo.root, "pack-refs", "--all")
    (repo.root / ".git/index.lock").touch()  # another git is at work
    before = inventory(repo.root / ".git")
    names = [name for name in repo.names() if name != ".git"]  # in which git puts locks of its own
    files = {name: standing(repo.root / name) for name in names}
    exported(s, changed, "a/b")
    after = inventory(repo.root / ".git")
    new = {"refs/heads/a/b", "logs/refs/heads/a/b"}
    assert after.keys() - before.keys() == new
    assert {name: kept for name, kept in after.items() if name not in new} == before
    assert {name: standing(repo.root / name) for name in names} == files


def test_hooks_and_settings_of_the_user_are_not_asked(repo, s, changed, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    for name in ("reference-transaction", "post-commit", "pre-commit", "post-index-change"):
        hook = repo.put(f".git/hooks/{name}", f"#!/bin/sh\ntouch '{ran}'\n")
        hook.chmod(0o755)
    git(repo.root, "config", "core.hooksPath", str(repo.root / ".git/hooks"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text("this is [no configuration\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    exported(s, changed, "then")
    monkeypatch.undo()
    assert not ran.exists()
    assert not (tmp_path / "index").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root gives files away")
def test_a_repository_of_another_user_gets_no_branch(repo, s, changed):
    before = inventory(repo.root / ".git")
    os.chown(repo.root / ".git", 12345, 12345)
    with pytest.raises(CheckpointFailed, match="belongs to another user"):
        exported(s, changed, "then")
    assert inventory(repo.root / ".git") == before


def test_no_identity_is_needed_and_one_can_be_given(repo, s, changed):
    exported(s, changed, "ours")
    exported(s, changed, "theirs", author="Ada <ada@users.example>")
    told = git(repo.root, "log", "-1", "--format=%an <%ae>, %cn <%ce>", "ours")
    assert told == f"{AUTHOR}, {AUTHOR}"
    told = git(repo.root, "log", "-1", "--format=%an <%ae>, %cn <%ce>", "theirs")
    assert told == "Ada <ada@users.example>, Ada <ada@users.example>"
    with pytest.raises(ValueError, match="an author is written as"):
        exported(s, changed, "wrong", author="Ada\n<ada@users.example>")


def test_twice_is_the_same_commit(repo, s, changed):
    assert exported(s, changed, "one").commit == exported(s, "changed", "two").commit


def test_before_the_first_commit_it_is_the_first(place, s):
    git(place.root, "init", "-q")
    place.put("a.py", "a\n")
    made = exported(s, s.checkpoint(), "first")
    assert made.parent is None
    assert git(place.root, "ls-tree", "--name-only", "first") == "a.py"
    assert git(place.root, "rev-list", "--count", "first") == "1"


def test_a_repository_of_another_hash(place, s):
    git(place.root, "init", "-q", "--object-format=sha256")
    place.put("a.py", "a\n")
    git(place.root, "add", "-A")
    git(place.root, "commit", "-qm", "first")
    place.put("b.bin", b"\0b")
    made = exported(s, s.checkpoint(), "then")
    assert len(made.commit) == len(made.parent) == 64
    assert git(place.root, "ls-tree", "--name-only", "then") == "a.py\nb.bin"


def test_a_worktree_gets_it_on_top_of_its_own_head(repo, tmp_path):
    git(repo.root, "worktree", "add", "-q", "-b", "other", tmp_path / "tree")
    repo.root = tmp_path / "tree"
    git(repo.root, "commit", "-q", "--allow-empty", "-m", "of the worktree")
    session = repo.session("in the tree")
    repo.put("b.py", "b\n")
    made = exported(session, session.checkpoint(), "then")
    assert made.parent == git(repo.root, "rev-parse", "other")
    assert git(repo.root, "show", "then:b.py") == "b"


def test_of_a_workspace_inside_a_repository_the_rest_stays_as_it_is(repo):
    top, repo.root = repo.root, repo.root / "deep/inside"
    repo.put("old.py", "old\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "second")
    (repo.root / "old.py").unlink()
    repo.put("new.py", "new\n")
    (top / "a.py").write_text("not the workspace's\n")
    session = repo.session("inside")
    exported(session, session.checkpoint(), "then")
    names = git(top, "ls-tree", "-r", "--name-only", "then").split()
    assert names == ["a.py", "deep/inside/new.py", "gone.py"]
    assert git(top, "show", "then:a.py") == "one"


def test_what_a_checkpoint_does_not_cover_is_as_in_the_commit_before(repo):
    repo.put(".env", "KEY=1\n")
    repo.put("large", "small\n")
    repo.put("out/tracked", "out\n")
    inner = repo.root / "sub"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "inner")
    git(repo.root, "add", "-A")
    git(repo.root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},empty")
    git(repo.root, "commit", "-qm", "second")
    repo.put(".gitignore", "out/\n")
    repo.put(".env", "KEY=2\n")
    repo.put("out/tracked", "other\n")
    repo.put("out/untracked", "other\n")
    repo.put("large", "x" * 5000)
    session = repo.session("small", checkpoint_file_bytes=4000)
    made = exported(session, session.checkpoint(), "then")
    for path in (".env", "large", "sub", "empty"):
        was, now = [git(repo.root, "rev-parse", f"{at}:{path}") for at in ("HEAD", "then")]
        assert now == was, path
    assert {each.path for each in made.not_contained} >= {".env", "large", "sub"}
    assert git(repo.root, "show", "then:out/tracked").strip() == "other"  # git tracks it
    assert (
        NotCovered("sub", "a repository of its own; as in the commit before") in made.not_contained
    )
    told = git(repo.root, "log", "-1", "--format=%B", "then")
    assert ".env (its text is never stored; as in the commit before)" in told
    assert "out/untracked" not in git(repo.root, "ls-tree", "-r", "--name-only", "then")


def test_what_a_sparse_checkout_leaves_out_is_not_taken_for_removed(repo, s):
    repo.put("far/away.py", "far\n")
    repo.put("near/by.py", "near\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-qm", "second")
    git(repo.root, "sparse-checkout", "set", "near")
    assert not (repo.root / "far").exists()
    exported(s, s.checkpoint(), "then")
    assert tree(repo, "then") == tree(repo, "HEAD")


def test_a_file_where_a_folder_was_and_a_folder_where_a_file_was(repo, s):
    repo.put("d/x", "x\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-qm", "second")
    (repo.root / "d/x").unlink()
    (repo.root / "d").rmdir()
    (repo.root / "a.py").unlink()
    repo.put("d", "a file now\n")
    repo.put("a.py/inside", "a folder now\n")
    exported(s, s.checkpoint(), "then")
    names = git(repo.root, "ls-tree", "-r", "--name-only", "then").split()
    assert names == ["a.py/inside", "d", "gone.py"]


@pytest.mark.parametrize(
    "name", ["", "-x", "a..b", "a b", "@{-1}", "a.lock", "refs/../x", "x\ny", "HEAD", "a\0b"]
)
def test_what_is_no_name_of_a_branch_is_refused(repo, s, changed, name):
    before = inventory(repo.root / ".git")
    with pytest.raises(CheckpointFailed, match="No branch was made"):
        exported(s, changed, name)
    assert inventory(repo.root / ".git") == before


def test_a_branch_that_is_there_stays(repo, s, changed):
    git(repo.root, "branch", "mine")
    before = inventory(repo.root / ".git")
    for name in ("mine", "main", "mine/below"):
        with pytest.raises(CheckpointFailed, match="No branch was made"):
            exported(s, changed, name)
    assert inventory(repo.root / ".git") == before


def test_without_a_repository_there_is_no_branch(place, s):
    place.put("a.py", "a\n")
    made = s.checkpoint()
    with pytest.raises(CheckpointFailed, match="is in no git repository"):
        exported(s, made, "then")
    assert place.names() == ["a.py"]


def test_without_git_there_is_no_branch_and_still_a_patch(repo, s, changed, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CheckpointFailed, match="git is not installed"):
        exported(s, changed, "then")
    assert exported(s, changed).patch


def test_a_checkpoint_whose_text_is_gone_is_not_exported(repo, s, changed):
    context = s._context
    gone = take.load_manifest(context, changed)["new/tool"].revision
    context.store.purge(lambda: [gone], "asked", session="s", at=0)
    (repo.root / "new/tool").unlink()
    before = inventory(repo.root / ".git")
    for more in ({"branch": "then"}, {}):
        with pytest.raises(CheckpointFailed, match="the text of new/tool is not kept any more"):
            exported(s, changed, **more)
    assert inventory(repo.root / ".git") == before


def test_an_unknown_checkpoint(repo, s):
    with pytest.raises(UnknownName):
        exported(s, "cp-none", "then")


# --- patches


def applied(place, patch, folder, at="HEAD"):
    """The tree that a patch makes of a commit."""
    git(place.root, "worktree", "add", "-q", "--detach", folder, at)
    git(folder, "apply", "--whitespace=nowarn", "-", stdin=patch)
    git(folder, "add", "-A")
    return git(folder, "write-tree")


def test_a_patch_is_what_a_checkpoint_changed_since_the_one_before(repo, s, tmp_path):
    first = s.checkpoint("first")
    repo.put("a.py", "one\r\ntwo")
    (repo.root / "gone.py").unlink()
    repo.put("new/tool", "#!/bin/sh\n").chmod(0o755)
    repo.put("picture", bytes(range(256)))
    (repo.root / "link").symlink_to("new/tool")
    second = s.checkpoint("second")
    made = exported(s, second)
    assert (made.since, made.until, made.files) == (first.id, second.id, 5)
    exported(s, second, "then")
    assert applied(repo, made.patch, tmp_path / "tree") == tree(repo, "then")


def test_a_patch_begins_where_it_is_told_to(repo, s):
    first = s.checkpoint("first")
    repo.put("a.py", "two\n")
    s.checkpoint("second")
    repo.put("a.py", "three\n")
    third = s.checkpoint("third")
    assert b"-two\n+three\n" in exported(s, third).patch
    assert b"-one\n+three\n" in exported(s, third, since=first).patch
    assert b"-three\n+one\n" in exported(s, first, since="third").patch
    assert b"new file mode" in exported(s, first).patch  # nothing came before it


def test_a_patch_until_now_needs_no_checkpoint_of_now(repo, s):
    first = s.checkpoint("first")
    repo.put("a.py", "not kept\n")
    made = exported(s, first, until_now=True)
    assert (made.since, made.until) == (first.id, None)
    assert b"-one\n+not kept\n" in made.patch
    assert len(s.checkpoints()) == 1


def test_a_file_that_one_side_does_not_cover_did_not_come_or_go(repo):
    session = repo.session("small", checkpoint_file_bytes=4000)
    session.checkpoint("small")
    repo.put("a.py", "x" * 5000)
    repo.put("b.py", "new\n")
    large = session.checkpoint("large")
    made = exported(session, large)
    assert b"a.py" not in made.patch
    assert b"b/b.py" in made.patch
    [lacks] = made.not_contained
    assert lacks.path == "a.py"
    assert "the later checkpoint does not cover it" in lacks.reason
    back = exported(session, "small", since=large)
    assert "the earlier checkpoint does not cover it" in back.not_contained[0].reason


def test_rights_that_git_does_not_keep_are_said(repo, s):
    s.checkpoint("first")
    (repo.root / "a.py").chmod(0o600)
    made = exported(s, s.checkpoint("second"))
    assert (made.patch, made.files) == (b"", 0)
    assert made.not_contained[0].path == "a.py"


def test_what_does_not_go_together_is_an_error(repo, s, changed):
    for more in (
        {"branch": "x", "since": changed},
        {"branch": "x", "until_now": True},
        {"since": changed, "until_now": True},
        {"author": "Ada <ada@users.example>"},
    ):
        with pytest.raises(ValueError, match=r"patch|since"):
            exported(s, changed, **more)


def test_an_import_that_fails_leaves_nothing_behind(repo, s, changed, monkeypatch):
    monkeypatch.setattr(branch_commit, "MADE", b"no..name")
    before = inventory(repo.root / ".git")
    with pytest.raises(CheckpointFailed, match="No branch was made"):
        exported(s, changed, "then")
    assert inventory(repo.root / ".git") == before


@pytest.mark.parametrize("name", [".GIT/config", "d/.Git", "git~1/x", ".git ./x", ".g\u200cit/x"])
def test_a_name_that_is_dangerous_elsewhere_is_left_out_and_said(repo, s, name):
    """On a disk that folds case, checking such a branch out would write into the `.git`."""
    s.checkpoint("first")
    repo.put(name, "[alias]\n")
    repo.put("b.py", "b\n")
    made = s.checkpoint("second")
    for answer in (exported(s, made, "then"), exported(s, made)):
        assert [each.path for each in answer.not_contained] == [name]
    assert git(repo.root, "diff", "--name-only", "HEAD", "then") == "b.py"
    git(repo.root, "fsck", "--strict")
