"""The disk or the store fills up while the changes of an attempt come home: what is said is what stands, and
once there is room the changes come home."""

from __future__ import annotations

import os

import pytest
from tests.subtasks.conftest import LINES, ran
from tests.subtasks.test_crashes import bench_of
from tests.support.examples import widely
from tests.support.full import FullDisk, FullStore
from tests.support.told import linux_only

from sightline.api.session import Session
from sightline.errors import StoreError
from sightline.subtasks.carry_out import Options

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the children are shell scripts")

LEFT = {"app.py": f"{LINES}more\n".encode(), "new.txt": b"new\n", "raw.bin": b"a\0b"}
SCRIPT = r"echo more >> app.py; echo new > new.txt; printf 'a\0b' > raw.bin"


def stands(place):
    """The files of the attempt, as they are in the workspace."""
    return {name: place.bytes(name) for name in LEFT if (place.root / name).exists()}


def changed_in(before, after):
    return [name for name in LEFT if after.get(name) != before.get(name)]


@linux_only
@pytest.mark.parametrize("writes", [1, *widely(0, 2, 3)])
def test_where_the_disk_is_full_each_file_that_stays_changed_is_named(repo, monkeypatch, writes):
    before = stands(repo)
    session = repo.session("p", checkpoints="off")
    with monkeypatch.context() as patch:
        FullDisk(patch, repo.root, writes)
        task, result = ran(session, SCRIPT)
    if writes == 3:
        assert task.state == "completed"
        return
    assert task.state == "failed"
    assert "No space left on device" in task.reason
    for name in changed_in(before, stands(repo)):
        assert f"{name} could not be restored" in task.reason or name in result.outside
    if "could not be restored" in task.reason:
        assert "The file is as it was" not in task.reason
    assert session.changes() == []
    assert session.subtasks.merge("a").state == "completed"
    assert stands(repo) == LEFT


def leaves(work):
    for name, data in LEFT.items():
        with open(os.path.join(work.session.workspace, name), "wb") as file:
            file.write(data)


@pytest.mark.parametrize("appends", [3, *widely(0, 1, 2, 4, 5, 6, 7, 8)])
def test_where_the_store_is_full_the_written_files_are_named_and_the_next_run_goes_on(
    repo, monkeypatch, appends
):
    before = stands(repo)
    session = repo.session("p", checkpoints="off")
    session.subtasks.propose([{"id": "a", "goal": "Change"}])
    session.subtasks.approve()
    bench, registry = bench_of(session, repo)
    run = Session._function_runner(leaves)
    said = ""
    with monkeypatch.context() as patch:

        def fills(assignment):
            outcome = run(assignment)
            FullStore(patch, appends)
            return outcome

        try:
            bench.carry_out("a", 0, fills, Options("worktree"))
        except StoreError as error:
            said = str(error)
    changed = changed_in(before, stands(repo))
    if said and changed:
        assert "Nothing was changed" not in said
        assert all(name in said for name in changed)
    while registry.task("a").state == "running":
        bench.carry_out("a", 0, run, Options("worktree"))
    assert registry.task("a").state == "completed", registry.task("a").reason
    assert stands(repo) == LEFT
    assert session.changes() == []
