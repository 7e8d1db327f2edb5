"""kill -9 at any moment of a graph: it finishes after a restart, and applies each effect once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.subtasks import carrying
from tests.subtasks.conftest import SIX
from tests.subtasks.test_runs import check_six, proposed

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
        pass
    was_running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return was_running


def moments():
    """Numbers of facts since the approval, drawn once: a graph of six takes about 60."""
    drawn = random.Random(23).sample(range(1, 60), 20)
    return [
        pytest.param(moment, runner, marks=[] if number in (0, 7) else pytest.mark.wide)
        for number, moment in enumerate(drawn)
        for runner in [("function", "command", "shared")[number % 3]]
    ]


@pytest.mark.parametrize(("moment", "runner"), moments())
def test_a_killed_process_loses_nothing_and_doubles_nothing(repo, moment, runner):
    session = repo.session("p", checkpoints="off")
    proposed(session, SIX)
    before = facts(session)
    kill_after(session, start(repo, runner), before + moment)
    assert start(repo, runner).wait(timeout=120) == 0
    check_six(repo, session)
    names = [name for name in os.listdir(repo.root / "src") if name.endswith(".txt")]
    assert len(names) == 4
