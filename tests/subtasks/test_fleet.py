"""Three worker processes share one queue on PostgreSQL; one is killed, and the graph finishes."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any

import pytest
from tests.subtasks import carrying
from tests.subtasks.conftest import SIX, states
from tests.subtasks.test_kills import PROGRAM, SOURCE, facts
from tests.subtasks.test_runs import check_six, proposed

pytest.importorskip("dbos", reason="the extra tasks is not installed")

BINARIES = sorted(glob("/usr/lib/postgresql/*/bin/initdb"))
PATIENCE_S = 120

pytestmark = [
    pytest.mark.wide,
    pytest.mark.skipif(not BINARIES, reason="PostgreSQL's server is not installed"),
]


@contextmanager
def server(folder: Path):
    """A PostgreSQL server of the test's own, on a free port, by a user who is not root."""
    programs = Path(BINARIES[-1]).parent
    data = folder / "data"
    folder.mkdir(mode=0o755)
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "ada", "-A", "trust", "-E", "UTF8"],
        check=True, capture_output=True, env=environ, cwd="/", **user,
    )  # fmt: skip
    log = folder / "log"
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder}"
    control: list[str | Path] = [programs / "pg_ctl", "-D", data, "-w", "-l", log]
    run: dict[str, Any] = {"stdout": subprocess.DEVNULL, "env": environ, "cwd": "/", **user}
    subprocess.run([*control, "-o", options, "start"], check=True, **run)
    try:
        yield f"postgresql://ada@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, **run)


@pytest.fixture
def database():
    """Its folder lies where another user than root may get to."""
    base = Path(tempfile.mkdtemp(prefix="sightline-pg-"))
    base.chmod(0o755)
    with server(base / "pg") as url:
        yield url
    shutil.rmtree(base)


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


@pytest.mark.parametrize("runner", [carrying.six, carrying.COMMAND], ids=["function", "command"])
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
