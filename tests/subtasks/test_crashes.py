"""A process that dies at any fact of an attempt: its successor ends the attempt, and doubles nothing.

The process here is a thread of the test that stops at a fact, under the name of a process that ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.subtasks.conftest import LINES

from sightline.api.session import Session
from sightline.filesystem import process
from sightline.model.events import Changed
from sightline.subtasks.carry_out import LOST_MAX, Options, Workbench
from sightline.subtasks.task_registry import TaskRegistry


class Died(BaseException):
    """The process is gone: nothing after this runs in it."""


def edits(work):
    work.session.edit("app.py", "line 1\n", "line one\n")
    work.session.create("new.py", "new\n")
    return "edited"


RAW = bytes(range(256))


def edits_all_kinds(work):
    """Text, a binary file, a symlink and permissions."""
    work.session.edit("app.py", "line 1\n", "line one\n")
    root = Path(work.session.workspace)
    (root / "raw.bin").write_bytes(RAW)
    (root / "old.bin").unlink()
    (root / "link").symlink_to("app.py")
    (root / "tool.sh").chmod(0o755)
    return "edited"


def ended_process():
    done = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = process.owner_of(done.pid)
    done.communicate(b"\n")
    return name


def bench_of(session, place, owner=None):
    context = session._context.for_session("p")
    context.owner = owner or context.owner
    registry = TaskRegistry(context)
    return Workbench(registry, f"{place.state}/tasks"), registry


def dies_at(monkeypatch, number):
    """Let the store die at the so many-th append from now on, before or after it was written."""
    from sightline.store.sqlite import SqliteStore

    append, left = SqliteStore.append, [number]

    def counted(self, given):
        if given.session.startswith("p"):
            left[0] -= 1
            if left[0] < 0:
                raise Died
            if left[0] == 0:
                append(self, given)
                raise Died
        return append(self, given)

    monkeypatch.setattr(SqliteStore, "append", counted)
    return lambda: monkeypatch.setattr(SqliteStore, "append", append)


def ended_by_a_successor(repo, monkeypatch, number, function, isolation):
    """The session of a successor, and the sub-task that it ended. number: of the fact at which the first
    process died."""
    session = repo.session("p", checkpoints="off")
    session.subtasks.propose([{"id": "a", "goal": "A"}])
    session.subtasks.approve()
    runner, options = Session._function_runner(function), Options(isolation)
    bench, registry = bench_of(session, repo, ended_process())
    revive = dies_at(monkeypatch, number)
    try:
        bench.carry_out("a", 0, runner, options)
    except Died:
        pass
    finally:
        revive()
    successor = repo.session("p", checkpoints="off")  # settles what the dead one had begun to write
    bench, registry = bench_of(successor, repo)
    while bench.carry_out("a", 0, runner, options) != "ended":
        pass
    return successor, registry.task("a")


@pytest.mark.wide
@pytest.mark.parametrize("isolation", ["worktree", "shared"])
@pytest.mark.parametrize(
    "number", [3, 6, *(pytest.param(n, marks=pytest.mark.wide) for n in range(1, 22))]
)
def test_a_successor_ends_what_died_at_a_fact(repo, monkeypatch, number, isolation):
    successor, task = ended_by_a_successor(repo, monkeypatch, number, edits, isolation)
    assert (task.state, task.result) == ("completed", "edited")
    assert repo.text("app.py") == LINES.replace("line 1\n", "line one\n", 1)
    assert repo.text("new.py") == "new\n"
    assert repo.names() == [".git", "app.py", "log.txt", "new.py"]
    changed = [
        row.fact.path
        for row in successor._context.store.timeline(session=task.session, kinds=[Changed])
        if row.fact.cause.kind == "agent" and row.fact.cause.detail is None
    ]
    assert sorted(changed) == ["app.py", "new.py"]
    assert successor._context.store.pending() == []


@pytest.mark.wide
@pytest.mark.skipif(os.name == "nt", reason="needs symlinks and permissions")
@pytest.mark.parametrize(
    "number", [5, 11, *(pytest.param(n, marks=pytest.mark.wide) for n in range(1, 26))]
)
def test_a_successor_ends_what_died_between_text_and_the_rest(repo, monkeypatch, number):
    repo.put("old.bin", RAW[::-1])
    repo.put("tool.sh", "#!/bin/sh\n").chmod(0o644)
    successor, task = ended_by_a_successor(repo, monkeypatch, number, edits_all_kinds, "worktree")
    assert task.state == "completed", task.reason
    assert repo.text("app.py") == LINES.replace("line 1\n", "line one\n", 1)
    assert repo.bytes("raw.bin") == RAW
    assert os.readlink(repo.root / "link") == "app.py"
    assert (repo.root / "tool.sh").stat().st_mode & 0o777 == 0o755
    assert repo.names() == [".git", "app.py", "link", "log.txt", "raw.bin", "tool.sh"]
    assert successor._context.store.pending() == []
    child = repo.session(task.session)
    child.rewind(0)
    assert repo.text("app.py") == LINES
    assert repo.bytes("old.bin") == RAW[::-1]
    assert (repo.root / "tool.sh").stat().st_mode & 0o777 == 0o644
    assert repo.names() == [".git", "app.py", "log.txt", "old.bin", "tool.sh"]


@pytest.mark.wide
def test_a_sub_task_that_kills_its_process_again_and_again_fails(repo):
    session = repo.session("p", checkpoints="off")
    session.subtasks.propose([{"id": "a", "goal": "A"}])
    session.subtasks.approve()

    def kills(assignment):
        raise Died

    for _ in range(LOST_MAX):
        bench, registry = bench_of(session, repo, ended_process())
        with pytest.raises(Died):
            bench.carry_out("a", 0, kills, Options("shared"))
    bench, registry = bench_of(session, repo)
    assert bench.carry_out("a", 0, kills, Options("shared")) == "ended"
    task = registry.task("a")
    assert (task.state, task.lost) == ("failed", LOST_MAX)
    assert f"died {LOST_MAX} times" in task.reason
    session.subtasks.retry("a")
    assert registry.task("a").lost == 0
