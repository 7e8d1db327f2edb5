"""Whatever a child does with git: the user's repositories stay as they are, and all that the child leaves is
brought back, kept or named."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.test_machine import WIDE
from tests.subtasks.conftest import git
from tests.subtasks.test_any_changes import clear, step, tree
from tests.support.examples import few_examples
from tests.support.places import Place

from sightline.api.session import Session
from sightline.subtasks.carry_out import Options, Workbench
from sightline.subtasks.task_registry import TaskRegistry

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs permissions")

REPOSITORIES = ("", "vendor/lib", "module")
"""The user's: the workspace, one within, and a submodule."""

PLACES = st.sampled_from([*REPOSITORIES, "made", "vendor/made", "module/made"])
NAMES = st.sampled_from(["a", "b", "d/a", "d/c"])
BRANCHES = st.sampled_from(["main", "one", "two"])
WRITES = st.tuples(st.just("write"), NAMES, st.sampled_from([b"1\n", b"2\n", b"\x00\xff"]))
REMOVES = st.tuples(st.just("remove"), NAMES, st.none())
GIT = st.one_of(
    st.sampled_from(
        [
            ("init", "-q", "-b", "main"),
            ("add", "-A"),
            ("commit", "-q", "--allow-empty", "-am", "of the child"),
            ("stash", "-q", "-u"),
            ("stash", "pop", "-q"),
            ("stash", "drop", "-q"),
            ("reset", "-q", "--hard", "HEAD~1"),
            ("clean", "-fdq"),
            ("checkout", "-q", "--detach"),
            ("gc", "-q", "--prune=now"),
            ("update-ref", "-d", "HEAD"),
        ]
    ),
    *(
        st.builds(lambda name, before=before: (*before, name), BRANCHES)
        for before in (
            *(("branch",), ("branch", "-D"), ("checkout", "-q"), ("checkout", "-q", "-B")),
            *(("tag",), ("tag", "-d"), ("merge", "-q")),
        )
    ),
)
STEPS = st.one_of(
    st.tuples(PLACES, GIT),
    st.tuples(PLACES, st.one_of(WRITES, REMOVES)),
    st.tuples(
        st.sampled_from(["vendor/lib", "module", "made", "vendor/made"]), st.just(("forget",))
    ),
    st.tuples(st.just("vendor/lib"), st.just(("rename",))),
)


def said(root, *arguments):
    words = ["git", "-C", str(root), *arguments]
    done = subprocess.run(words, check=False, capture_output=True)
    return done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []


def is_repository(root):
    return os.path.lexists(root / ".git")


def named(root):
    """What a repository names: ref -> object, with HEAD and the stash; {} for no repository."""
    if not is_repository(root):
        return {}
    found = {name: entry for entry, name in map(str.split, said(root, "show-ref", "--head"))}
    if found.pop("refs/stash", None):
        found |= {f"stash {entry}": entry for entry in said(root, "stash", "list", "--format=%H")}
    return found


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A workspace with two repositories within, all with a stash, a branch and uncommitted files. No
    repository has git's example hooks, which each example would copy and remove."""
    patch = pytest.MonkeyPatch()
    patch.setenv("GIT_TEMPLATE_DIR", "")
    home = tmp_path_factory.mktemp("prepared")
    other, workspace = home / "other", home / "ws"
    for root in (other, workspace, workspace / "vendor" / "lib"):
        root.mkdir(parents=True, exist_ok=True)
        git(root, "init", "-q", "-b", "main")
        (root / "a").write_bytes(b"0\n")
        git(root, "add", "a")
        git(root, "commit", "-q", "-m", "first")
    add = ("submodule", "--quiet", "add", str(other), "module")
    git(workspace, "-c", "protocol.file.allow=always", *add)
    git(workspace, "commit", "-q", "-m", "second")
    for name in REPOSITORIES:
        root = workspace / name
        git(root, "branch", "one")
        (root / "a").write_bytes(b"stashed\n")
        git(root, "stash", "-q")
        (root / "b").write_bytes(b"not committed\n")
    yield workspace
    patch.undo()


def do(root, at, action):
    folder = root / at
    if action == ("forget",):
        clear(folder)
    elif action == ("rename",):
        if folder.is_dir() and not (root / "renamed").exists():
            folder.rename(root / "renamed")
    elif action[0] in ("write", "remove") and len(action) == 3:
        step(folder, *action) if folder.is_dir() or action[0] == "write" else None
    else:
        if action[0] == "init":
            folder.mkdir(parents=True, exist_ok=True)
        if is_repository(folder):
            said(folder, "-c", "user.name=c", "-c", "user.email=c@x", *action)


def repositories(root):
    return sorted(
        os.path.relpath(above, root) if Path(above) != root else ""
        for above, folders, files in os.walk(root)
        if ".git" in folders or ".git" in files
        if "/.git/" not in f"{above}/"
    )


@pytest.mark.wide
@given(st.lists(STEPS, min_size=1, max_size=14))
@settings(max_examples=400 if WIDE else few_examples(3, 15), deadline=None)
def test_all_that_a_child_leaves_in_git_is_brought_back_kept_or_named(prepared, steps):
    with TemporaryDirectory() as folder:
        place = Place(Path(folder).resolve())
        place.root.rmdir()
        shutil.copytree(prepared, place.root, symlinks=True)
        before_files = tree(place.root)
        before = {name: named(place.root / name) for name in REPOSITORIES}
        session = place.session("p", checkpoints="off")
        session.subtasks.propose([{"id": "a", "goal": "Change"}])
        session.subtasks.approve()
        begun, left, files = {}, {}, {}

        def child(work):
            root = Path(work.session.workspace)
            begun.update({name: named(root / name) for name in repositories(root)})
            for at, action in steps:
                do(root, at, action)
            left.update({name: named(root / name) for name in repositories(root)})
            files.update(tree(root))

        bench = Workbench(TaskRegistry(session._context), f"{place.state}/tasks")
        bench.carry_out("a", 0, Session._function_runner(child), Options("worktree"))
        task, result = session.subtasks.show("a")
        assert {name: named(place.root / name) for name in REPOSITORIES} == before
        assert task.state == "completed" or result.conflicts, task.reason
        if task.state != "completed":
            assert tree(place.root) == before_files
        else:
            assert tree(place.root) == files
            check_notes(place, result, begun, left)
        for each in place.opened:
            each.close()


def check_notes(place, result, begun, left):
    """Each thing that git names and that differs is named, and what only the child's tree has is kept."""
    notes = "\n".join(result.notes)
    for name in begun.keys() - left.keys():
        assert f"{name}: it is a git repository no longer" in notes or name == ""
    for name, now in left.items():
        then = begun.get(name)
        if then is None:
            assert f"{name} is a git repository" in notes or name.startswith(
                tuple(left.keys() - begun.keys() - {name})
            )
            assert is_repository(Path(result.kept, name))
            continue
        for ref in then.keys() | now.keys():
            if then.get(ref) == now.get(ref):
                continue
            short = (
                ref.rpartition("/")[2] if ref.startswith("refs/") else ref.partition(" ")[2][:10]
            )
            assert short in notes, (ref, notes)
            value = now.get(ref)
            if value and not said(place.root / name, "cat-file", "-t", value):
                assert said(Path(result.kept, name), "cat-file", "-t", value)
