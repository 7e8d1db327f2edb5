"""Whatever a child makes of its worktree, the workspace has afterwards, or the result names the reason."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.subtasks.conftest import git
from tests.support.examples import examples
from tests.support.places import Place

from sightline.api.session import Session
from sightline.subtasks.carry_out import Options, Workbench
from sightline.subtasks.task_registry import TaskRegistry

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs symlinks and permissions")

NAMES = st.sampled_from(["a", "b", "d", "d/a", "d/e", "d/e/a", "f"])
CONTENTS = st.sampled_from(
    [b"", b"text\n", b"other\n", b"no end", b"\x00\xff", b"\r\nmixed\n", b"text\n\x00"]
)
TARGETS = st.sampled_from(["a", "b", "nowhere", "d", "e/a"])
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, CONTENTS),
    st.tuples(st.just("link"), NAMES, TARGETS),
    st.tuples(st.just("remove"), NAMES, st.none()),
    st.tuples(st.just("execute"), NAMES, st.booleans()),
)

TREES = st.tuples(st.lists(STEPS, max_size=6), st.lists(STEPS, max_size=3))
"""What is committed, and what is not."""


def clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


def step(root: Path, kind: str, name: str, value: object) -> None:
    """Change a tree; what is in the way goes."""
    path = root / name
    if kind == "execute":
        if path.is_file() and not path.is_symlink():
            path.chmod(0o755 if value else 0o644)
        return
    if kind == "remove":
        clear(path)
        return
    for above in reversed(path.relative_to(root).parents[:-1]):
        if (root / above).is_symlink() or (root / above).is_file():
            clear(root / above)
    clear(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to(str(value))
    else:
        assert isinstance(value, bytes)
        path.write_bytes(value)


def is_loop(path: Path) -> bool:
    """Return whether a symlink leads to itself."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def tree(root: Path) -> dict[str, object]:
    """Return the files and symlinks of a tree, without git's."""
    found: dict[str, object] = {}
    for above, folders, names in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in [*names, *(each for each in folders if (Path(above) / each).is_symlink())]:
            path = Path(above) / name
            if name == ".git":
                continue
            key = str(path.relative_to(root))
            if path.is_symlink():
                found[key] = os.readlink(path)
            else:
                found[key] = (path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found


def without_modes(tree: dict[str, object], left: dict[str, object]) -> dict[str, object]:
    """Return a tree without the permissions of files that the child deleted, or made symlinks: only a
    checkpoint would know them."""
    return {
        name: found if isinstance(left.get(name), tuple) or isinstance(found, str) else found[0]  # type: ignore[index]
        for name, found in tree.items()
    }


@pytest.mark.wide
@given(TREES, st.lists(STEPS, min_size=1, max_size=8))
@settings(max_examples=examples(50), deadline=None)
def test_what_a_child_leaves_is_there_or_named(start, changes):
    committed, uncommitted = start
    with attempted(committed, uncommitted, changes, []) as (place, task, result, before, left, _):
        if task.state == "completed":
            assert tree(place.root) == left
            names = {*before, *left}
            if not any(other.startswith(f"{name}/") for name in names for other in names):
                # where a folder took the place of a file, the empty folder stays
                place.session(task.session).rewind(0)
                assert without_modes(tree(place.root), left) == without_modes(before, left)
        else:
            assert result.conflicts, task.reason
            assert tree(place.root) == before


@pytest.mark.wide
@given(TREES, st.lists(STEPS, min_size=1, max_size=5), st.lists(STEPS, min_size=1, max_size=4))
@settings(max_examples=examples(50), deadline=None)
def test_no_byte_of_the_user_s_is_lost_meanwhile(start, changes, saves):
    """The user works on in the workspace. Where both left the same file, the guard merged it."""
    committed, uncommitted = start
    with attempted(committed, uncommitted, changes, saves) as (
        place,
        task,
        result,
        before,
        left,
        users,
    ):
        now = tree(place.root)
        if task.state != "completed":
            assert result.conflicts, task.reason
            assert now == users
            return
        for name in {*before, *left, *users, *now}:
            if left.get(name) == before.get(name):
                assert now.get(name) == users.get(name), name
            elif users.get(name) == before.get(name) or users.get(name) == left.get(name):
                assert now.get(name) == left.get(name), name


@contextmanager
def attempted(committed, uncommitted, changes, saves):
    """An attempt at changes of a tree, and saves of the user's meanwhile: the place, the sub-task, its
    result, and the trees before, of the child, and of the user."""
    with TemporaryDirectory() as folder:
        place = Place(Path(folder).resolve())
        git(place.root, "init", "-q")
        for each in committed:
            step(place.root, *each)
        git(place.root, "add", "-A")
        git(place.root, "commit", "-q", "--allow-empty", "-m", "start")
        for each in uncommitted:
            step(place.root, *each)
        before = tree(place.root)
        assume(not any(map(is_loop, place.root.rglob("*"))))  # git does not see what it hides
        session = place.session("p", checkpoints="off")
        session.subtasks.propose([{"id": "a", "goal": "Change"}])
        session.subtasks.approve()
        trees: list[dict[str, object]] = []

        def child(work):
            root = Path(work.session.workspace)
            assert tree(root) == before
            for each in changes:
                step(root, *each)
            for each in saves:
                step(place.root, *each)
            trees.extend([tree(root), tree(place.root)])

        bench = Workbench(TaskRegistry(session._context), f"{place.state}/tasks")
        bench.carry_out("a", 0, Session._function_runner(child), Options("worktree"))
        yield (place, *session.subtasks.show("a"), before, *trees)
        for each in place.opened:
            each.close()
        words = ["git", "-C", str(place.root), "worktree", "list"]
        known = subprocess.run(words, capture_output=True, check=True).stdout
        assert len(known.splitlines()) == 1
