"""The commands task and worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from tests.cli.test_examples import example

COMMAND = ("sh", "-c", "echo by $SIGHTLINE_SUBTASK > $SIGHTLINE_SUBTASK.txt; echo done")


@pytest.fixture
def two(sl):
    """A workspace without git, and two approved sub-tasks."""
    sl("task", "propose", "api", "Build it")
    sl("task", "propose", "tests", "Test it", "--after", "api", "--scope", "tests.txt")
    sl("task", "approve")
    return sl


def test_sub_tasks_are_proposed_one_by_one_and_listed(sl):
    assert sl("task").err == "This session has no sub-tasks.\n"
    done = sl("task", "propose", "api", "Build it", "--file", "a.py", "--budget", "5000")
    assert done.out == "Proposed api. Approve: sightline task approve\n"
    [task] = sl("task", "list", "--json").json["tasks"]
    assert (task["id"], task["state"], task["files"], task["budget"]) == (
        *("api", "proposed", ["a.py"]),
        5000,
    )
    assert "api  proposed" in sl("task").out
    assert sl("task", "approve", "api").out == "Approved api.\n"
    assert sl("task", "approve").out == "Nothing waits.\n"


def test_sub_tasks_are_proposed_from_stdin(sl):
    answer = (
        b'{"subTasks": [{"id": "a", "goal": "A"}, {"id": "b", "goal": "B", "dependsOn": ["a"]}]}'
    )
    assert len(sl("task", "propose", "--json", stdin=answer).json["tasks"]) == 2
    assert sl("task", "graph").out.splitlines()[1].startswith("  ")
    assert sl("task", "propose", stdin=b"{").code == 2
    assert sl("task", "propose", "a").code == 2


def test_what_cannot_be_proposed_is_named(sl):
    done = sl("task", "propose", "a", "A", "--after", "b", "--file", "*.nothing")
    assert done.code == 1
    assert "depends on 'b', which does not exist" in done.err
    assert "no file matches '*.nothing'" in done.err


def test_a_person_moves_sub_tasks(two):
    assert two("task", "fail", "api", "--why", "no").out == "api is failed now.\n"
    assert two("task", "show", "tests").out == (
        "tests: Test it\nDepends on api.\nSub-task tests skipped.\n"
        "Why: 'api', which it depends on, failed.\n"
    )
    refused = two("task", "retry", "tests")
    assert (refused.code, "sightline task retry api" in refused.err) == (1, True)
    assert two("task", "retry", "api").out == "api is ready now.\n"
    assert two("task", "complete", "api", "--result", "by hand").code == 0
    assert two("task", "cancel", "tests").out == "tests is cancelled now.\n"
    assert two("task", "skip", "tests").code == 1
    assert "is cancelled: skip is possible where" in two("task", "skip", "tests").err


def test_a_command_carries_them_out(two):
    pytest.importorskip("dbos")
    done = two("task", "run", "--timeout", "60", "--", *COMMAND)
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "2 sub-tasks: 2 completed"
    assert (two.root / "tests.txt").read_text() == "by tests\n"
    shown = two("task", "show", "api", "--json").json
    assert shown["result"]["files"][0]["path"] == "api.txt"
    assert "Sub-task api completed.\ndone\n- created: api.txt" in two("task", "show", "api").out


@pytest.mark.wide
def test_the_examples_of_run_worker_and_merge_work(two, tmp_path, monkeypatch):
    """A program called claude reads the goal, and changes the line that the user changes meanwhile."""
    pytest.importorskip("dbos")
    path = two.put("a.txt", "one\n")
    os.rmdir(two.root / ".git")
    git = ["git", "-C", two.root, "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
        subprocess.run([*git, *words], check=True)
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat > /dev/null\necho two > a.txt\necho three > {path}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    two("task", "skip", "tests")
    done = two(*example(two, "task run"))
    assert done.code == 1, done.out
    with two.spawn(*example(two, "worker"), own_group=True) as worker:
        worker.stderr.readline()
        os.killpg(worker.pid, signal.SIGINT)
        assert worker.wait() == 130
    two.put("a.txt", "one\n")
    merged = two(*example(two, "task merge"))
    assert merged.code == 0, merged.err
    assert (two.root / "a.txt").read_text() == "two\n"


@pytest.mark.wide
def test_exit_code_1_says_that_one_failed(two):
    pytest.importorskip("dbos")
    done = two("task", "run", "--json", "--", "false")
    assert (done.code, [task["state"] for task in done.json["tasks"]]) == (1, ["failed", "skipped"])


@pytest.mark.wide
def test_work_that_was_handed_over_is_carried_out_by_a_worker(two):
    pytest.importorskip("dbos")
    done = two("task", "run", "--detach", "--", *COMMAND)
    assert "sightline worker" in done.out
    assert [task["state"] for task in two("task", "--json").json["tasks"]] == ["ready", "pending"]
    worker = two.process("worker", "--until-idle")
    assert (worker.returncode, worker.stderr) == (0, b"")
    assert [task["state"] for task in two("task", "--json").json["tasks"]] == ["completed"] * 2


@pytest.mark.parametrize(
    "args", [(), ("--agent", "m", "--", "true"), ("--timeout", "0", "--", "x")]
)
def test_wrong_usage_of_run(two, args):
    assert two("task", "run", *args).code == 2


@pytest.mark.wide
def test_without_the_agent_the_error_says_so(two, monkeypatch):
    pytest.importorskip("dbos")
    monkeypatch.setitem(sys.modules, "sightline.reference_agent.agent", None)
    two("task", "run", "--agent", "some-model")
    assert "no runner 'agent:some-model'" in two("task", "show", "api").out
