"""Orders of attempts in another clone of the repository, without a database."""

from __future__ import annotations

import os
import subprocess
from platform import node

import pytest
from tests.subtasks.conftest import LINES, git
from tests.subtasks.test_runs import proposed
from tests.support.places import Place

from sightline.errors import SubtaskError, WorkspaceError
from sightline.subtasks import orders, words, worktree
from sightline.subtasks.file_bytes import FileBytes
from sightline.subtasks.orders import Order
from sightline.subtasks.runners import Assignment, Outcome, RunnerSpec, command_runner
from sightline.subtasks.subtask import SubTask, TaskResult
from sightline.subtasks.worktree import Start


@pytest.fixture
def clone(repo, tmp_path):
    """A session in another clone."""
    (tmp_path / "other").mkdir()
    other = Place(tmp_path / "other")
    other.root.rmdir()
    subprocess.run(["git", "clone", "-q", repo.root, other.root], check=True)
    yield other
    for session in other.opened:
        session.close()


def order(start, *words):
    return Order(SubTask("a", "Go"), "p/a.1", "# Go\n", (), RunnerSpec("command", "", words), start)


def carried_out(clone, asked, *words):
    """The outcome of an order as it comes back, and what is left in the folder of worktrees."""
    folder = clone.home / "tasks"
    asked = orders.decoded_order(orders.encoded(asked))
    context = clone.session("w")._context
    outcome = orders.carry_out(
        asked, command_runner(words), context, str(folder / "order-1"), lambda: ""
    )
    assert os.listdir(folder) == []
    return orders.decoded_outcome(orders.encoded(outcome))


def test_an_outcome_names_what_changed_since_the_uncommitted_files(repo, clone):
    repo.put("app.py", LINES + "more\n")
    repo.put("bytes.bin", bytes(range(256)))
    os.symlink("app.py", repo.root / "link")
    start = worktree.start_of(str(repo.root), 1 << 20)
    script = "cat app.py bytes.bin > all; readlink link; rm log.txt; echo x >> app.py"
    outcome = carried_out(clone, order(start), "sh", "-c", script)
    assert outcome.failed == ""
    assert outcome.result.output == "app.py\n"
    changes = {name: (before.data, after.data) for name, before, after in outcome.changes}
    assert changes == {
        "app.py": (f"{LINES}more\n".encode(), f"{LINES}more\nx\n".encode()),
        "all": (None, f"{LINES}more\n".encode() + bytes(range(256))),
        "log.txt": (b"", None),
    }
    assert clone.text("app.py") == LINES


def test_commits_of_a_child_stay_on_the_worker_and_the_outcome_says_where(repo, clone):
    """A repository within the home's tree is not sent, and that is said."""
    git(repo.root, "init", "-q", "within")
    start = worktree.start_of(str(repo.root), 1 << 20, is_alone=True)
    script = "git checkout -q -b b; git -c user.name=c -c user.email=c@x commit -qm c --allow-empty"
    folder = clone.home / "tasks"
    context = clone.session("w")._context
    runner = command_runner(["sh", "-c", script])
    outcome = orders.carry_out(
        order(start, "true"), runner, context, str(folder / "order-1"), lambda: ""
    )
    assert outcome.failed == ""
    assert outcome.result.notes[0] == words.not_handed_over(["within"])
    assert outcome.result.notes[1].startswith("branch b was made at ")
    assert outcome.result.kept == f"{node()}:{folder}/order-1"
    orders.sweep(context, str(folder))
    assert (folder / "order-1" / ".git").is_dir()


def test_secrets_are_sent_in_neither_direction(repo, clone):
    repo.put(".env", "TOKEN=1\n")
    repo.put("new.txt", "x\n")
    session = repo.session("p")
    from_home = orders.order_of(given(session), RunnerSpec("command", "", ("true",)))
    assert set(from_home.start.dirty) == {"new.txt"}
    outcome = carried_out(clone, from_home, "sh", "-c", "echo TOKEN=2 > .env")
    assert [(name, after.data, after.kind) for name, _, after in outcome.changes] == [
        (".env", b"", "secret")
    ]


def given(session):
    """An assignment of a session's workspace."""
    context = session._context
    root = context.workspace.root
    task = SubTask("a", "Go")
    return Assignment(task, "# Go\n", root, "p/a.1", "remote", context, (), lambda: "", "")


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/evil"])
def test_a_file_outside_of_the_worktree_is_not_written(repo, clone, name):
    start = worktree.start_of(str(repo.root), 1 << 20)
    hostile = Start(start.commit, start.prefix, {name: FileBytes(b"x")})
    outcome = carried_out(clone, order(hostile), "true")
    assert "outside of the tree" in outcome.failed
    assert not os.path.lexists("/evil")


def test_too_many_bytes_are_refused_on_both_sides(repo, clone, monkeypatch):
    monkeypatch.setattr(orders, "BYTES_MAX", 1_000)
    repo.put("large", "x" * 1_001)
    session = repo.session("p")
    with pytest.raises(WorkspaceError, match="uncommitted files have"):
        orders.order_of(given(session), RunnerSpec("command", "", ("true",)))
    os.unlink(repo.root / "large")
    start = worktree.start_of(str(repo.root), 1 << 20)
    outcome = carried_out(clone, order(start), "sh", "-c", "seq 1000 > large")
    assert "changed files have" in outcome.failed
    assert outcome.changes == ()


def test_a_killed_worker_s_worktree_is_swept_and_that_of_a_living_one_stays(repo, clone):
    context = clone.session("w")._context
    folder = clone.home / "tasks"
    folder.mkdir()
    start = worktree.start_of(str(clone.root), 1 << 20)
    for name, owner in (("order-1", "elsewhere:1:1"), ("order-2", context.owner)):
        worktree.make(str(clone.root), start, str(folder / name), 1 << 20)
        (folder / f"{name}.owner").write_text(f"{owner}\n")
    orders.sweep(context, str(folder))
    assert {name.partition(".")[0] for name in os.listdir(folder)} == {"order-2"}
    assert (folder / "order-2" / "app.py").exists()
    orders.remove(context, str(folder / "order-2"))
    assert os.listdir(folder) == []


def test_an_outcome_goes_there_and_back_whole():
    change = ("a\udcff", FileBytes(None), FileBytes(bytes(range(256)), 0o755))
    outcome = Outcome(TaskResult("done", output="\x1b[0m"), (), "", "why", is_lost=True)
    assert orders.decoded_outcome(orders.encoded(outcome)) == outcome
    sent = Outcome(changes=(change,))
    assert orders.decoded_outcome(orders.encoded(sent)) == sent


def test_other_machines_need_postgresql_and_the_first_commit(repo, parent):
    pytest.importorskip("dbos", reason="the extra tasks is not installed")
    from sightline.subtasks.dbos_engine import orders_queue

    proposed(parent, [{"id": "a", "goal": "Go on"}])
    with pytest.raises(SubtaskError, match="PostgreSQL") as caught:
        parent.subtasks.run(runner=["true"], isolation="remote")
    assert "tasks_database" in caught.value.hint
    assert [task.state for task in parent.subtasks.graph()] == ["ready"]
    url = "postgresql://ada@127.0.0.1/x"
    git(repo.home, "init", "-q", "empty")
    with pytest.raises(SubtaskError, match="has no commit yet"):
        orders_queue(url, str(repo.home / "empty"))
    with pytest.raises(SubtaskError, match="is in no git tree"):
        orders_queue(url, str(repo.home))
    queue = orders_queue(url, str(repo.root))
    git(repo.root, "commit", "-q", "--allow-empty", "-m", "later")
    assert orders_queue(url, str(repo.root)) == queue
