"""kill -9 at any moment of a graph: it finishes after a restart, and applies each effect once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.subtasks import carrying
from tests.subtasks.conftest import SIX, runs
from tests.subtasks.test_runs import check_six, proposed
from tests.support.command_line import PROGRAM as PROGRAM_OF_COMMANDS

pytest.importorskip("dbos", reason="the extra tasks is not installed")

PROGRAM = Path(carrying.__file__)
SOURCE = PROGRAM.parents[2] / "src"


def start(place, runner, database=""):
    return subprocess.Popen(
        [sys.executable, PROGRAM, place.root, place.state, runner, database],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdin=subprocess.DEVNULL,
    )


def facts(session):
    return session._context.store.position()


def kill_after(session, process, moment):
    """Kill a process once so many facts stand on the timeline; return whether it still ran."""
    while process.poll() is None and facts(session) < moment:
        time.sleep(0.001)
    was_running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return was_running


def moments():
    """Return numbers of facts since the approval, drawn once, each with a runner. A graph of six takes about
    60 facts."""
    drawn = random.Random(23).sample(range(1, 60), 20)
    moments = zip(drawn, ("function", "command", "shared", "agent") * 5, strict=True)
    return [
        pytest.param(*moment, marks=pytest.mark.wide if number < 4 else pytest.mark.full)
        for number, moment in enumerate(moments)
    ]


@pytest.mark.parametrize(("moment", "runner"), moments())
def test_a_killed_process_loses_nothing_and_doubles_nothing(repo, moment, runner):
    if runner == "agent":
        pytest.importorskip("pydantic_ai", reason="the extra agent is not installed")
    session = repo.session("p", checkpoints="off")
    proposed(session, SIX)
    before = facts(session)
    kill_after(session, start(repo, runner), before + moment)
    assert start(repo, runner).wait(timeout=120) == 0
    check_six(repo, session)
    names = [name for name in os.listdir(repo.root / "src") if name.endswith(".txt")]
    assert len(names) == 4


SLOW_ONCE = """
import os, sys, time
from pathlib import Path
mark = Path(sys.argv[1])
if not mark.exists():
    mark.write_text(str(os.getpid()))
    time.sleep(600)
"""


@pytest.mark.full
@pytest.mark.wide
def test_the_command_of_a_killed_process_is_ended_by_its_successor(repo, tmp_path):
    session = repo.session("p", checkpoints="off")
    proposed(session, [{"id": "a", "goal": "A"}])
    mark = tmp_path / "pid"
    command = [sys.executable, "-c", SLOW_ONCE, str(mark)]
    program = f"""
import sightline
from sightline.config.settings import Settings
with sightline.open_session({str(repo.root)!r}, id="p", settings=Settings({repo.state!r})) as session:
    session.subtasks.run(runner={command!r})
"""
    environ = os.environ | {"PYTHONPATH": str(SOURCE)}
    first = subprocess.Popen([sys.executable, "-c", program], env=environ)
    while not (mark.exists() and mark.read_text()):
        assert first.poll() is None
    left = int(mark.read_text())
    first.kill()
    first.wait()
    while runs(left) and sys.platform == "linux":  # it ends with its runner
        time.sleep(0.01)
    assert subprocess.run([sys.executable, "-c", program], env=environ, check=True).returncode == 0
    assert session.subtasks.graph().by_id["a"].state == "completed"
    assert not runs(left)


@pytest.mark.wide
def test_a_run_that_is_interrupted_gives_its_work_back(repo):
    session = repo.session("cli", checkpoints="off")
    proposed(session, [{"id": "a", "goal": "A"}])
    command = [sys.executable, "-c", PROGRAM_OF_COMMANDS, "task", "run", "--", "sleep", "600"]
    environ = os.environ | {"PYTHONPATH": str(SOURCE), "SIGHTLINE_HOME": repo.state}
    run = subprocess.Popen(command, cwd=repo.root, env=environ, stdin=subprocess.DEVNULL)
    while session.subtasks.graph().by_id["a"].state != "running":
        assert run.poll() is None
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) == 130
    task = session.subtasks.graph().by_id["a"]
    assert (task.state, task.lost, task.failures) == ("ready", 1, 0)
