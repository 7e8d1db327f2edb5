"""Three worker processes share one queue on PostgreSQL; one is killed, and the graph finishes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("dbos", reason="the extra tasks is not installed")

from tests.subtasks import carrying, postgresql
from tests.subtasks.conftest import SIX, states
from tests.subtasks.test_kills import PROGRAM, SOURCE, facts
from tests.subtasks.test_runs import check_six, proposed

PATIENCE_S = 120

pytestmark = [
    pytest.mark.wide,
    pytest.mark.skipif(not postgresql.BINARIES, reason="PostgreSQL's server is not installed"),
]


@pytest.fixture
def database():
    with postgresql.database() as url:
        yield url


WORKER = """
import sys
from sightline.cli.entry import main
sys.exit(main(["worker", "--session", "p", "--concurrency", "2"]))
"""


def worker(place, database):
    environ = os.environ | {
        "PYTHONPATH": f"{SOURCE}{os.pathsep}{PROGRAM.parents[2]}",
        "SIGHTLINE_HOME": place.state,
        "SIGHTLINE_TASKS_DATABASE": database,
        "SIGHTLINE_CHECKPOINTS": "off",
    }
    return subprocess.Popen(
        [sys.executable, "-c", WORKER],
        cwd=place.root, env=environ, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize(
    "runner",
    [
        pytest.param(carrying.six, id="function"),
        pytest.param(carrying.COMMAND, id="command", marks=pytest.mark.full),
    ],
)
def test_three_workers_finish_a_graph_after_one_was_killed(repo, database, runner):
    session = repo.session("p", checkpoints="off", tasks_database=database)
    proposed(session, SIX)
    session.subtasks.run(runner=runner, isolation="worktree", wait=False)
    before = facts(session)
    workers = [worker(repo, database) for _ in range(3)]
    try:
        until = time.monotonic() + PATIENCE_S
        victim = None
        while time.monotonic() < until:
            graph = session.subtasks.graph()
            if all(task.is_ended for task in graph):
                break
            busy = {int(task.owner.rsplit(":", 2)[1]) for task in graph if task.state == "running"}
            if victim is None and facts(session) > before + 5:
                victim = next((each for each in workers if each.pid in busy), None)
                if victim is not None:
                    victim.send_signal(signal.SIGKILL)
            time.sleep(0.01)
        assert victim is not None, "no worker was busy"
        check_six(repo, session)
        assert victim.wait() == -signal.SIGKILL
        assert len(set(states(session))) == len(SIX)
    finally:
        for each in workers:
            each.kill()
            each.wait()
