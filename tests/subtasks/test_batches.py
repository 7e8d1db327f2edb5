"""The batch of an attempt is applied once, whatever else the session of the attempt wrote at home."""

from __future__ import annotations

import os

import pytest
from tests.subtasks.conftest import LINES, ran
from tests.subtasks.test_crashes import Died, bench_of, dies_at, ended_process

from sightline.api.session import Session
from sightline.subtasks.carry_out import Options

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the children are shell scripts")

LEFT = {"app.py": f"{LINES}more\n", "new.txt": "new\n"}


def wrote_at_home(place, session="p/a.1"):
    """Write a file in the workspace itself, as a child does that runs `sightline` there: it has the
    session of its attempt from SIGHTLINE_SESSION."""
    place.session(session).create("note.txt", "by sightline\n")


def leaves(place):
    """Return a function that writes at home first, and then in the tree of its attempt."""

    def carry_out(work):
        wrote_at_home(place, work.session.id)
        root = work.session.workspace
        for name, text in LEFT.items():
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)

    return Session._function_runner(carry_out)


def proposed(place):
    session = place.session("p", checkpoints="off")
    session.subtasks.propose([{"id": "a", "goal": "Change"}])
    session.subtasks.approve()
    return session


def check(place, task):
    assert task.state == "completed", task.reason
    assert {name: place.text(name) for name in LEFT} == LEFT
    assert place.text("note.txt") == "by sightline\n"


@pytest.mark.wide
def test_a_write_at_home_does_not_stand_for_the_batch(repo):
    session = proposed(repo)
    bench, registry = bench_of(session, repo)
    bench.carry_out("a", 0, leaves(repo), Options("worktree"))
    check(repo, registry.task("a"))
    _, result = session.subtasks.show("a")
    assert {(file.path, file.kind, file.applied) for file in result.files} == {
        *(("app.py", "changed", True), ("new.txt", "created", True), ("note.txt", "created", True))
    }


@pytest.mark.wide
@pytest.mark.parametrize(
    "number", [3, 5, *(pytest.param(n, marks=pytest.mark.wide) for n in (2, 4, 6, 7))]
)
def test_nor_for_a_successor_of_a_process_that_died(repo, monkeypatch, number):
    """At every fact from the return of the child on. Where nothing was reported, the successor takes the
    write at home back, and makes the attempt again."""
    session = proposed(repo)
    bench, registry = bench_of(session, repo, ended_process())
    revive = []

    def dies(assignment):
        result = leaves(repo)(assignment)
        revive.append(dies_at(monkeypatch, number - 1))
        return result

    with pytest.raises(Died):
        bench.carry_out("a", 0, dies, Options("worktree"))
    revive[0]()
    bench, registry = bench_of(repo.session("p", checkpoints="off"), repo)
    while bench.carry_out("a", 0, leaves(repo), Options("worktree")) != "ended":
        pass
    check(repo, registry.task("a"))


@pytest.mark.wide
def test_nor_for_a_merge_by_hand(repo):
    session = repo.session("p")
    script = f"echo more >> app.py; echo new > new.txt; echo mine > {repo.root}/new.txt"
    _, result = ran(session, script)
    assert [(each.path, each.reason) for each in result.conflicts] == [("new.txt", "exists")]
    wrote_at_home(repo)
    (repo.root / "new.txt").unlink()
    check(repo, session.subtasks.merge("a"))
