"""The commands task and worker."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from itertools import pairwise
from time import sleep

import pytest
from tests.cli.test_examples import example
from tests.subtasks.conftest import runs

from sightline.api.opening import open_session
from sightline.cli.output import worded
from sightline.cli.task_tree import tree_lines
from sightline.subtasks.carry_out import Options, Workbench
from sightline.subtasks.subtask import Conflict, Graph, SubTask, TaskResult
from sightline.subtasks.task_registry import TaskRegistry
from sightline.subtasks.words import settle
from sightline.text.terminal_cells import cells

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
    assert sl("task").out.splitlines()[0] == "? proposed   api  Build it"
    assert sl("task", "approve", "api").out == "Approved api.\n"
    assert sl("task", "approve").out == "No sub-task waits for approval.\n"


def test_sub_tasks_are_proposed_from_stdin(sl):
    answer = (
        b'{"subTasks": [{"id": "a", "goal": "A"}, {"id": "b", "goal": "B", "dependsOn": ["a"]}]}'
    )
    assert len(sl("task", "propose", "--json", stdin=answer).json["tasks"]) == 2
    assert sl("task", "graph").out.splitlines()[1] == "? proposed   └─ b  B"
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
        "tests: Test it\nWaits for api (failed).\nSub-task tests skipped.\n"
        "Why: 'api', which it depends on, failed.\n"
    )
    refused = two("task", "retry", "tests")
    assert (refused.code, "sightline task retry api" in refused.err) == (1, True)
    assert two("task", "retry", "api").out == "api is ready now.\n"
    assert two("task", "complete", "api", "--result", "by hand").code == 0
    assert two("task", "cancel", "tests").out == "tests is cancelled now.\n"
    assert two("task", "skip", "tests").code == 1
    assert "is cancelled, so skip is not possible" in two("task", "skip", "tests").err


def test_a_command_carries_them_out(two):
    pytest.importorskip("dbos")
    done = two("task", "run", "--timeout", "60", "--", *COMMAND)
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "2 sub-tasks: 2 completed"
    assert (two.root / "tests.txt").read_text() == "by tests\n"
    shown = two("task", "show", "api", "--json").json
    assert shown["result"]["files"][0]["path"] == "api.txt"
    said = two("task", "show", "api").out.splitlines()
    assert said[:2] == ["api: Build it", "tests waits for it."]
    assert said[2].startswith("Sub-task api completed after ")
    assert said[3:5] == ["done", "- created: api.txt"]


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
    begun, ended, *_ = worker.stdout.decode().splitlines()
    assert begun == "Taking api: Build it"
    assert re.fullmatch(r"api completed after \d+(\.\d)? s: done", ended)
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


GOAL = (
    "Give ten percent on every cart above one hundred, and say so in the docstring of the function"
)


@pytest.fixture
def clash(sl):
    """Two sub-tasks changed the same line: rounding was first, discount has a conflict and a new file."""
    sl.put("shop.py", "def price(cart):\n    return sum(cart)\n")
    os.rmdir(sl.root / ".git")
    git = ["git", "-C", sl.root, "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
        subprocess.run([*git, *words], check=True)
    sl("task", "propose", "rounding", "Round the price")
    sl("task", "propose", "discount", GOAL)
    sl("task", "propose", "docs", "Describe it", "--after", "rounding", "--after", "discount")
    sl("task", "approve")

    def change(given):
        line = {"rounding": "round(sum(cart), 2)", "discount": "sum(cart) * 0.9"}[given.task.id]
        with open(f"{given.root}/shop.py", "w", encoding="utf-8") as file:
            file.write(f"def price(cart):\n    return {line}\n")
        if given.task.id == "discount":
            with open(f"{given.root}/new.txt", "w", encoding="utf-8") as file:
                file.writelines(f"{number}\n" for number in range(100))
            bench.carry_out("rounding", 0, change, Options())
        return TaskResult(f"did {given.task.id}")

    with open_session(sl.root, id="cli") as session:
        context = session._context
        bench = Workbench(TaskRegistry(context), f"{context.settings.state_home}/tasks")
        bench.carry_out("discount", 0, change, Options())
    return sl


BOTH = """\
--- shop.py when sub-task 'discount' began
+++ shop.py in the workspace now, by sub-task 'rounding'
@@ -1,2 +1,2 @@
 def price(cart):
-    return sum(cart)
+    return round(sum(cart), 2)
--- shop.py when sub-task 'discount' began
+++ shop.py as sub-task 'discount' left it, not applied
@@ -1,2 +1,2 @@
 def price(cart):
-    return sum(cart)
+    return sum(cart) * 0.9
"""

SETTLE = """\
Put what you want of both into shop.py, then apply the rest: sightline task merge discount --keep shop.py
Or do its work again on the files as they are now: sightline task retry discount
"""


def test_a_file_outside_of_the_scope_has_no_two_texts_to_put_together():
    said = worded(settle("docs", Conflict("app.py", "scope", "It is outside.")))
    assert said.splitlines()[0] == (
        "If you want this change, make it in app.py yourself. Then apply the rest:"
        " sightline task merge docs --keep app.py"
    )
    assert "scope" in said


@pytest.mark.wide
def test_a_conflict_is_settled_with_the_commands_that_it_names(clash):
    shown = clash("task", "show", "discount").out
    assert "Conflict: Sub-task 'rounding' changed the same lines of shop.py meanwhile.\n" in shown
    assert BOTH in shown
    assert shown.endswith(f"\n{SETTLE}")
    refused = clash("task", "merge", "discount")
    assert (refused.code, refused.out) == (1, BOTH)
    assert refused.err.endswith(f"Hint: {SETTLE}")
    clash.put("shop.py", "def price(cart):\n    return round(sum(cart) * 0.9, 2)\n")
    wrong = clash("task", "merge", "discount", "--keep", "other.py")
    assert "did not change other.py" in wrong.err
    merged = clash("task", "merge", "discount", "--keep", "shop.py")
    assert merged.code == 0, merged.err
    lines = merged.out.splitlines()
    assert lines[:2] == ["new.txt: created (+100 -0)", "--- /dev/null"]
    assert lines[-2] == "… 63 more lines. See all: sightline task diff discount"
    assert lines[-1] == (
        "discount is completed now: 1 file applied, shop.py kept as it is in the workspace."
    )
    assert (clash.root / "new.txt").exists()
    assert (clash.root / "shop.py").read_text().endswith("round(sum(cart) * 0.9, 2)\n")
    assert [task["state"] for task in clash("task", "--json").json["tasks"]][-1] == "ready"


@pytest.mark.wide
def test_task_diff_shows_what_an_attempt_changed(clash):
    nothing = clash("task", "diff", "docs")
    assert (nothing.code, nothing.err) == (0, "No attempt at docs was made yet.\n")
    done = clash("task", "diff", "discount")
    assert done.code == 1
    assert "new.txt: created, not applied (+100 -0)\n--- /dev/null\n+++ b/new.txt\n" in done.out
    assert done.out.endswith("shop.py: changed, not applied (+1 -1)\n--- a/shop.py\n+++ b/shop.py\n"
                             + BOTH[BOTH.rindex("@@ -1,2") :])  # fmt: skip
    [file] = clash("task", "diff", "rounding", "--json").json["files"]
    assert (file["path"], file["applied"], file["added"], file["removed"]) == (
        "shop.py",
        True,
        1,
        1,
    )
    assert "no sub-task 'nobody'" in clash("task", "diff", "nobody").err


def graph_of(*tasks):
    return Graph(tuple(SubTask(name, goal, (), after) for name, goal, after in tasks), "s")


def plain(words, _):
    return words


def test_the_graph_is_a_tree_each_below_the_last_that_it_waits_for():
    found = graph_of(
        ("a", "A", ()),
        ("b", "B", ()),
        ("d", "D", ("a", "b")),
        ("c", "C", ()),
        ("e", "E", ("c", "d")),
    )
    assert [line[13:] for line in tree_lines(found, plain, None)] == [
        *("a     A", "b     B", "└─ d  D (also after a)", "c     C", "└─ e  E (also after d)"),
    ]
    found = graph_of(("a", "A", ()), ("b", "B", ("a",)), ("c", "C", ("b",)), ("d", "D", ("a",)))
    assert [line[13:20].rstrip() for line in tree_lines(found, plain, None)] == [
        *("a", "├─ b", "│  └─ c", "└─ d"),
    ]


@pytest.mark.parametrize("width", [40, 60, 120])
def test_goals_stay_visible_in_a_narrow_terminal(width):
    ids = [f"number-{number}-with-a-long-name" for number in range(12)]
    chain = [(name, f"{name[7:9]} {GOAL}", (before,)) for before, name in pairwise(ids)]
    found = graph_of((ids[0], "0 日本語 の 目標 " * 20, ()), *chain)
    lines = tree_lines(found, plain, width)
    assert all(cells(line) <= width for line in lines if "number-" not in line)
    assert all(any(f"{goal[:12]}" in line for line in lines) for _, goal, _ in chain)
    assert tree_lines(Graph((), "s"), plain, width) == []


@pytest.mark.wide
def test_a_worker_says_what_it_takes_and_what_became_of_it(two):
    pytest.importorskip("dbos")
    two("task", "run", "--detach", "--", "sh", "-c", "echo no disk; exit 3")
    worker = two.process("worker", "--until-idle", "--json")
    begun, ended = map(json.loads, worker.stdout.splitlines())
    assert (begun["task"]["id"], begun["task"]["state"], begun["seconds"]) == (
        "api",
        "running",
        None,
    )
    assert (ended["task"]["state"], ended["seconds"] > 0, worker.returncode) == ("failed", True, 1)


@pytest.mark.wide
@pytest.mark.parametrize("command", ["run", "worker"])
def test_ctrl_c_says_what_stands_and_how_to_go_on(two, command, monkeypatch):
    pytest.importorskip("dbos")
    slow = ["sh", "-c", "echo $$ > $PIDS.new; mv $PIDS.new $PIDS; exec sleep 100"]
    pids = two.home / "pids"
    monkeypatch.setenv("PIDS", str(pids))
    words = ["worker"] if command == "worker" else ["task", "run", "--", *slow]
    if command == "worker":
        two("task", "run", "--detach", "--", *slow)
    with two.spawn(*words, own_group=True) as child:
        while not pids.exists() and child.poll() is None:
            sleep(0.05)
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate()
    assert child.returncode == 130, err
    assert not runs(int(pids.read_text()))
    stands = (
        "What was completed stands. 2 sub-tasks: 1 ready, 1 pending."
        if command == "run"
        else ("What was completed stands, and other workers take over what was under way.")
    )
    again = f"task run -- {shlex.join(slow)}" if command == "run" else "worker"
    assert f"Stopped. {stands} Go on: sightline {again}" in err.decode()
    assert out.decode().startswith("Taking api: Build it\napi is left to other workers") is (
        command == "worker"
    )
    if command == "run":  # another command goes on, not the one that was stopped
        done = two("task", "run", "--timeout", "60", "--", *COMMAND)
        assert done.out.splitlines()[-1] == "2 sub-tasks: 2 completed"
    assert two("doctor").code in (0, 1)
