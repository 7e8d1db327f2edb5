"""A workspace in a git repository, and the graph of six sub-tasks of the issue."""

from __future__ import annotations

import subprocess

import pytest
from tests.support.places import Place

from sightline.subtasks.carry_out import Options, Workbench
from sightline.subtasks.runners import command_runner
from sightline.subtasks.task_registry import TaskRegistry

SIX = [
    {"id": "api", "goal": "Build the endpoint", "files": ["app.py"], "scope": ["app.py", "src"]},
    {"id": "form", "goal": "Build the form"},
    {"id": "bad", "goal": "Do what cannot be done"},
    {"id": "tests", "goal": "Test both", "dependencies": ["api", "form"]},
    {"id": "docs", "goal": "Describe it", "dependencies": ["tests"]},
    {"id": "after", "goal": "Go on from what failed", "dependencies": ["bad"]},
]
"""Two levels of dependencies, and one that fails."""

STATES = {
    **dict.fromkeys(["api", "form", "tests", "docs"], "completed"),
    "bad": "failed",
    "after": "skipped",
}

LINES = "".join(f"line {number}\n" for number in range(1, 31))


def git(root, *args):
    words = ["git", "-C", str(root), "-c", "core.hooksPath=/dev/null", *args]
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def repo(place: Place) -> Place:
    git(place.root, "init", "-q", "-b", "main")
    place.put("app.py", LINES)
    place.put("log.txt", "")
    git(place.root, "add", "-A")
    git(place.root, "commit", "-q", "-m", "start")
    return place


@pytest.fixture
def parent(repo):
    session = repo.session("p")
    session.read("app.py")
    return session


def ran(session, script, isolation="worktree", attempts=1, **more):
    """Make an attempt at a sub-task by a shell script; return the sub-task and its result."""
    session.subtasks.propose([{"id": "a", "goal": "Change", **more}])
    session.subtasks.approve()
    context = session._context
    bench = Workbench(TaskRegistry(context), f"{context.settings.state_home}/tasks")
    runner = command_runner(["sh", "-e", "-c", script])
    bench.carry_out("a", 0, runner, Options(isolation, attempts))
    return session.subtasks.show("a")


def runs(pid):
    """Return whether a process runs. One that ended, and that nobody waited for yet, does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def states(session):
    return {task.id: task.state for task in session.subtasks.graph()}
