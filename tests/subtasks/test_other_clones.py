"""Workers in other clones of the repository, as on other machines, share a database of PostgreSQL."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.support.examples import fully

pytest.importorskip("dbos", reason="the extra tasks is not installed")

import psycopg
from tests.subtasks import carrying, postgresql
from tests.subtasks.conftest import LINES, SIX, git, runs, states
from tests.subtasks.test_kills import PROGRAM, SOURCE
from tests.subtasks.test_runs import check_six, proposed

from sightline.errors import SubtaskError
from sightline.subtasks import dbos_orders

PATIENCE_S = 120

pytestmark = [
    pytest.mark.wide,
    pytest.mark.skipif(not postgresql.BINARIES, reason="PostgreSQL's server is not installed"),
]

WORKER = """
import sys
from sightline.filesystem import process
process.machine = lambda: sys.argv[1]
from sightline.cli.entry import main
sys.exit(main(["worker", "--concurrency", "2"]))
"""
"""A worker that takes its machine for another one."""


@pytest.fixture(scope="module")
def server():
    with postgresql.database() as url:
        yield url


@pytest.fixture
def database(server, request):
    """A database of each test's own."""
    name = f"test_{abs(hash(request.node.name))}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres", f"/{name}")


class Machine:
    """A clone of the repository with a home of its own, and a worker in the clone."""

    def __init__(self, name: str, folder: Path, origin: Path, database: str) -> None:
        self.name = name
        self.home = folder / name
        self.root = self.home / "clone"
        self.home.mkdir()
        subprocess.run(["git", "clone", "-q", origin, self.root], check=True)
        self._database = database
        self.worker: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environ = os.environ | {
            "PYTHONPATH": f"{SOURCE}{os.pathsep}{PROGRAM.parents[2]}",
            "SIGHTLINE_HOME": str(self.home / "state"),
            "SIGHTLINE_TASKS_DATABASE": self._database,
        }
        self.worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, self.name],
            cwd=self.root, env=environ, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def kill(self) -> None:
        if self.worker is not None:
            self.worker.kill()
            self.worker.wait()

    def left(self) -> list[str]:
        """Return what orders left in the clone's state, and worktrees that git knows."""
        folders = [*(self.home / "state").glob("workspaces/*/tasks/order-*")]
        known = subprocess.run(
            ["git", "-C", self.root, "worktree", "list"], capture_output=True, check=True, text=True
        ).stdout.splitlines()
        return [path.name for path in folders] + known[1:]


@pytest.fixture
def machines(repo, database, tmp_path):
    made: list[Machine] = []

    def make(name: str) -> Machine:
        machine = Machine(name, tmp_path, repo.root, database)
        made.append(machine)
        return machine

    yield make
    for each in made:
        each.kill()


@pytest.fixture
def session(repo, database):
    return repo.session("p", checkpoints="off", tasks_database=database)


def wait_for(what):
    until = time.monotonic() + PATIENCE_S
    while not (found := what()):
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.02)
    return found


def rows(database):
    """The orders that the database keeps."""
    with psycopg.connect(database) as connection:
        query = "SELECT count(*) FROM dbos.workflow_status WHERE workflow_uuid LIKE 'order:%'"
        [[number]] = connection.execute(query).fetchall()
        return number


WHERE = ["sh", "-c", "cat app.py new.txt; echo $SIGHTLINE_HOME; echo by child > made.txt"]


@pytest.mark.parametrize(
    "runner", [*fully(carrying.six), carrying.COMMAND], ids=["function", "command"]
)
def test_the_graph_of_six_is_carried_out_elsewhere(repo, session, machines, database, runner):
    both = [machines("one"), machines("two")]
    for each in both:
        each.start()
    proposed(session)
    session.subtasks.run(runner=runner, isolation="remote")
    check_six(repo, session)
    assert {task.isolation for task in session.subtasks.graph() if task.attempt} == {"remote"}
    assert rows(database) == 0
    wait_for(lambda: not any(each.left() for each in both))
    for each in both:
        assert (each.root / "app.py").read_text() == LINES


def test_a_worker_sees_uncommitted_files_but_no_secrets(repo, session, machines):
    one = machines("one")
    one.start()
    repo.put("app.py", LINES.replace("line 3\n", "uncommitted\n"))
    repo.put("new.txt", "untracked\n")
    repo.put(".env", "TOKEN=1\n")
    session.subtasks.propose([{"id": "a", "goal": "Look"}, {"id": "b", "goal": "Leak"}])
    session.subtasks.approve()
    session.subtasks.run("a", runner=[*WHERE[:2], f"{WHERE[2]}; ls -a"], isolation="remote")
    task, result = session.subtasks.show("a")
    assert task.state == "completed", task.reason
    assert "uncommitted\n" in result.output
    assert "untracked\n" in result.output
    assert f"{one.home}/state" in result.output
    assert ".env" not in result.output
    assert repo.text("made.txt") == "by child\n"
    session.subtasks.run("b", runner=["sh", "-c", "echo S=2 > .env"], isolation="remote")
    task, result = session.subtasks.show("b")
    assert [(each.path, each.reason) for each in result.conflicts] == [(".env", "secret")]
    assert repo.text(".env") == "TOKEN=1\n"


def test_a_write_outside_of_the_scope_is_refused_at_home(repo, session, machines):
    machines("one").start()
    proposed(session, [{"id": "a", "goal": "Write", "scope": ["src"]}])
    session.subtasks.run(runner=["sh", "-c", "echo x >> app.py"], isolation="remote")
    task, result = session.subtasks.show("a")
    assert task.state == "failed"
    assert [(each.path, each.reason) for each in result.conflicts] == [("app.py", "scope")]
    assert repo.text("app.py") == LINES


def test_a_change_at_home_meanwhile_is_merged_or_a_conflict(repo, session, machines, tmp_path):
    machines("one").start()
    proposed(session, [{"id": "a", "goal": "Edit"}, {"id": "b", "goal": "Clash"}])
    program = "touch {0}; while [ ! -e {1} ]; do sleep 0.02; done; sed -i 's/^{2}$/{3}/' app.py"
    for name, mine, users, state in [
        ("a", "line 9", "line 20", "completed"),
        ("b", "a", "a", "failed"),
    ]:
        began, go_on = tmp_path / f"{name}.began", tmp_path / f"{name}.go"
        command = ["sh", "-c", program.format(began, go_on, mine, name)]
        run = threading.Thread(
            target=session.subtasks.run, args=(name,),
            kwargs={"runner": command, "isolation": "remote"},
        )  # fmt: skip
        run.start()
        wait_for(began.exists)
        repo.put("app.py", repo.text("app.py").replace(f"{users}\n", "user\n"))
        go_on.touch()
        run.join()
        assert states(session)[name] == state
    assert repo.text("app.py") == LINES.replace("line 9\n", "user\n").replace("line 20\n", "user\n")


SLOW = ["sh", "-c", 'echo $$ > "$SIGHTLINE_HOME/child"; sleep 600']


@pytest.mark.full
def test_a_killed_worker_s_order_is_made_again_by_another(repo, session, machines, database):
    one, two = machines("one"), machines("two")
    one.start()
    once = (
        'if mkdir "{}"; then echo $$ > "$SIGHTLINE_HOME/child"; sleep 600; fi; echo done > made.txt'
    )
    proposed(session, [{"id": "a", "goal": "Go on"}])
    command = ["sh", "-c", once.format(repo.home / "once")]
    run = threading.Thread(
        target=session.subtasks.run, kwargs={"runner": command, "isolation": "remote"}
    )
    run.start()
    wait_for((one.home / "state" / "child").exists)
    child = int(wait_for((one.home / "state" / "child").read_text))
    one.kill()
    two.start()
    run.join()
    task = session.subtasks.graph().by_id["a"]
    assert (task.state, task.attempt, task.lost, task.failures) == ("completed", 2, 1, 0)
    assert repo.text("made.txt") == "done\n"
    assert rows(database) == 0
    assert one.left()
    one.start()  # a later worker of the clone ends and removes what is left
    wait_for(lambda: not one.left())
    wait_for(lambda: not runs(child))


def test_a_killed_home_goes_on_and_withdraws_its_order(repo, session, machines, database):
    one = machines("one")
    one.start()
    proposed(session, SIX)
    environ = os.environ | {"PYTHONPATH": str(SOURCE)}
    words = [sys.executable, PROGRAM, repo.root, repo.state, "remote", database]
    home = subprocess.Popen(words, env=environ, stdin=subprocess.DEVNULL)
    wait_for(lambda: "running" in states(session).values())
    wait_for(lambda: rows(database))
    home.send_signal(signal.SIGKILL)
    home.wait()
    assert subprocess.run(words, env=environ, check=False, timeout=PATIENCE_S).returncode == 0
    check_six(repo, session)
    assert rows(database) == 0
    wait_for(lambda: not one.left())


def test_a_cancelled_sub_task_ends_on_the_worker(session, machines, database):
    one = machines("one")
    one.start()
    proposed(session, [{"id": "a", "goal": "Wait"}])
    run = threading.Thread(
        target=session.subtasks.run, kwargs={"runner": SLOW, "isolation": "remote"}
    )
    run.start()
    child = int(wait_for(lambda: _text(one.home / "state" / "child")))
    session.subtasks.cancel("a")
    run.join()
    assert states(session) == {"a": "cancelled"}
    proposed(session, [{"id": "b", "goal": "Go on"}])
    session.subtasks.run(runner=["true"], isolation="remote")
    assert states(session) == {"a": "cancelled", "b": "completed"}
    wait_for(lambda: not runs(child))
    wait_for(lambda: not one.left())
    assert rows(database) == 0


def test_a_restart_of_the_database_loses_no_run(repo, session, machines, database, tmp_path):
    one = machines("one")
    one.start()
    proposed(session, [{"id": "a", "goal": "Go on"}])
    began, go_on = tmp_path / "began", tmp_path / "go"
    script = f"touch {began}; while [ ! -e {go_on} ]; do sleep 0.02; done; echo done > made.txt"
    run = threading.Thread(
        target=session.subtasks.run,
        kwargs={"runner": ["sh", "-c", script], "isolation": "remote"},
    )
    run.start()
    wait_for(began.exists)
    postgresql.restart(database)
    go_on.touch()
    run.join()
    task = session.subtasks.graph().by_id["a"]
    assert (task.state, task.attempt) == ("completed", 1), task.reason
    assert repo.text("made.txt") == "done\n"


def test_a_run_that_takes_too_long_is_ended(session, machines):
    one = machines("one")
    one.start()
    proposed(session, [{"id": "a", "goal": "Wait"}])
    session.subtasks.run(runner=SLOW, isolation="remote", timeout_s=1)
    assert session.subtasks.graph().by_id["a"].reason == "it took longer than 1 s"
    wait_for(lambda: not one.left())


def test_a_clone_without_the_commit_says_what_to_do(repo, session, machines):
    one = machines("one")
    repo.put("later.txt", "x\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "-m", "later")
    one.start()
    proposed(session, [{"id": "a", "goal": "Go on"}])
    session.subtasks.run(runner=["true"], isolation="remote")
    reason = session.subtasks.graph().by_id["a"].reason
    assert "does not have commit" in reason
    assert "git fetch" in reason
    git(one.root, "fetch", "-q")
    session.subtasks.retry("a")
    session.subtasks.run(runner=["true"], isolation="remote")
    assert states(session) == {"a": "completed"}


def test_a_graph_without_a_worker_does_not_wait_for_ever(session, monkeypatch):
    monkeypatch.setattr(dbos_orders, "NO_WORKER_S", 1.0)
    proposed(session, [{"id": "a", "goal": "Wait"}])
    session.subtasks.run(runner=["true"], isolation="remote")
    task = session.subtasks.graph().by_id["a"]
    assert task.state == "failed"
    assert "sightline worker" in task.reason


def test_what_only_this_process_knows_is_no_runner_elsewhere(session, machines):
    machines("one").start()
    proposed(session, [{"id": "a", "goal": "Go on"}])
    session.subtasks.run(runner=lambda work: None, isolation="remote")
    assert "lambda" in session.subtasks.graph().by_id["a"].reason


def test_a_shallow_clone_is_refused(repo, database, tmp_path):
    shallow = tmp_path / "shallow"
    words = ["git", "clone", "-q", "--depth", "1", f"file://{repo.root}", shallow]
    git(repo.root, "commit", "-q", "--allow-empty", "-m", "second")
    subprocess.run(words, check=True)
    shutil.rmtree(repo.root)
    shallow.rename(repo.root)
    session = repo.session("p", tasks_database=database)
    proposed(session, [{"id": "a", "goal": "Go on"}])
    with pytest.raises(SubtaskError, match="shallow") as caught:
        session.subtasks.run(runner=["true"], isolation="remote")
    assert "git fetch --unshallow" in caught.value.hint
    assert states(session) == {"a": "ready"}


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
