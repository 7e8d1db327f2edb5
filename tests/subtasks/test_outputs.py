"""What a child says, and large files: neither fills memory, disk, prompts or terminals."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tracemalloc

import pytest
from tests.subtasks.conftest import ran
from tests.support.command_line import PROGRAM

from sightline.api.session import Session
from sightline.model.revision import revision_of
from sightline.subtasks import runners, words
from sightline.subtasks.carry_out import TIMEOUT_S, Options, Workbench
from sightline.subtasks.task_registry import TaskRegistry

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the children are shell scripts")

MB = 1 << 20


@pytest.mark.wide
def test_of_a_long_output_the_beginning_and_the_end_are_kept(repo, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "there-is-none"))  # nothing else is written there
    script = "echo first; yes 'a line of many' | head -n 1000000; echo; echo last"
    _, result = ran(repo.session("p"), script)
    assert result.output.startswith("first\na line of many\n")
    assert result.output.endswith("a line of many\n\nlast\n")
    assert len(result.output) < runners.HEAD_BYTES + runners.TAIL_BYTES + 100
    assert " bytes are left out]\n" in result.output
    assert result.summary == "last"


TOKEN = "correct-horse-battery"


@pytest.mark.wide
def test_secrets_that_a_child_prints_reach_no_result_and_no_prompt(repo, monkeypatch):
    """Neither the values of secret variables nor known forms; also not by a function's result, nor by an
    error."""
    monkeypatch.setenv("SHOP_API_KEY", TOKEN)
    session = repo.session("p")
    session.subtasks.propose(
        [{"id": "a", "goal": "A"}, {"id": "b", "goal": "B"},
         {"id": "c", "goal": "C", "dependencies": ["a"]}]
    )  # fmt: skip
    session.subtasks.approve()
    bench = Workbench(TaskRegistry(session._context), f"{repo.state}/tasks")
    prints = runners.command_runner(["sh", "-c", "echo $SHOP_API_KEY; echo password=hunter22"])
    bench.carry_out("a", 0, prints, Options("worktree"))

    def fails(work):
        raise ValueError(f"cannot log in with {TOKEN}")

    bench.carry_out("b", 0, Session._function_runner(fails), Options("worktree"))
    prompts = []

    def looks(work):
        prompts.append(work.prompt)
        return f"logged in with {TOKEN}"

    bench.carry_out("c", 0, Session._function_runner(looks), Options("worktree"))
    said = [*prompts, session.subtasks.summary()]
    for name in "abc":
        task, result = session.subtasks.show(name)
        said += [
            repr(task),
            repr(result),
            *words.outcome(task, result),
            *words.left_over(task, result),
        ]
    assert TOKEN not in "".join(said)
    assert "hunter22" not in "".join(said)
    assert session.subtasks.show("a").result.output == "[secret]\npassword=[secret]\n"
    assert session.subtasks.show("b").task.reason == "ValueError: cannot log in with [secret]"


@pytest.mark.wide
def test_what_a_child_prints_does_not_steer_the_terminal(repo):
    script = r"printf '\033]0;mine\007\033[2Jdone\r\n' | tee out; exit 1"
    ran(repo.session("cli"), script)
    environ = os.environ | {"SIGHTLINE_HOME": repo.state, "PYTHONPATH": "src"}
    words = [sys.executable, "-c", PROGRAM, "task", "show", "a"]
    environ["PYTHONPATH"] = os.path.join(os.getcwd(), "src")
    done = subprocess.run(words, cwd=repo.root, env=environ, capture_output=True, check=True)
    assert b"done" in done.stdout
    assert not {0x1B, 0x07, 0x0D}.intersection(done.stdout)


@pytest.mark.wide
def test_the_database_of_the_engine_is_the_user_s_alone(repo, parent):
    pytest.importorskip("dbos", reason="the extra tasks is not installed")
    before = os.umask(0o022)
    try:
        parent.subtasks.propose([{"id": "a", "goal": "A"}])
        parent.subtasks.approve()
        parent.subtasks.run(runner=["true"])
    finally:
        os.umask(before)
    [folder] = {path.parent for path in repo.home.rglob("tasks.db")}
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.glob("tasks.db*")}
    assert set(modes.values()) == {0o600}, modes


def test_an_attempt_has_a_time_limit_unless_somebody_says_otherwise():
    assert Options().timeout_s == TIMEOUT_S


@pytest.mark.parametrize(
    ("size", "limit"),
    [
        (300_000, 100_000),
        pytest.param(100 * MB, 10 * MB, marks=pytest.mark.wide),
        pytest.param(400 * MB, 10 * MB, marks=pytest.mark.full),
    ],
)
def test_a_large_file_comes_home_in_pieces(repo, size, limit):
    """One that is handed over, one that is made, one that is changed and one that is deleted; their bytes
    are neither held nor kept."""
    for name in ("mine.bin", "gone.bin"):
        with open(repo.root / name, "wb") as file:
            file.truncate(size)
    session = repo.session("p", max_file_bytes=limit, checkpoints="off")
    script = (
        f"test $(stat -c %s mine.bin) = {size}; printf x >> mine.bin; rm gone.bin;"
        f"truncate -s {size} made.bin; printf y >> made.bin; echo text > text.txt"
    )
    tracemalloc.start()
    task, result = ran(session, script)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert task.state == "completed", task.reason
    for name, end in (("mine.bin", b"x"), ("made.bin", b"y")):
        with open(repo.root / name, "rb") as found:
            assert found.seek(-2, os.SEEK_END) == size - 1
            assert found.read() == b"\0" + end
    assert not (repo.root / "gone.bin").exists()
    assert repo.text("text.txt") == "text\n"
    assert set(result.outside) == {"mine.bin", "gone.bin", "made.bin"}
    assert peak < 30 * MB, peak
    kept = session._context.store.blob
    assert all(kept(file.after) is None for file in result.files if file.large and file.after)


def test_a_large_file_of_the_user_s_is_not_overwritten(repo):
    session = repo.session("p", max_file_bytes=1_000)
    repo.put("big.bin", bytes(5_000))
    script = f"printf x >> big.bin; printf user >> {repo.root}/big.bin"
    _, result = ran(session, script)
    assert [(each.path, each.reason) for each in result.conflicts] == [("big.bin", "modified")]
    assert repo.bytes("big.bin") == bytes(5_000) + b"user"
    repo.put("big.bin", bytes(5_000))  # the user decides for the child's
    assert session.subtasks.merge("a").state == "completed"
    assert repo.bytes("big.bin") == bytes(5_000) + b"x"
    assert revision_of(bytes(5_000) + b"x") == session.subtasks.show("a").result.files[0].after
