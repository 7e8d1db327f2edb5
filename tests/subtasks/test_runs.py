"""Graphs that are carried out: by functions and by commands, in worktrees and in the shared tree."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from tests.subtasks import carrying
from tests.subtasks.conftest import LINES, SIX, STATES, git, runs, states
from tests.support.examples import widely

from sightline.api.session import Session
from sightline.api.subtask_verbs import registered_runner, spec_of
from sightline.errors import EditRefused, SubtaskError
from sightline.filesystem.process import started_with
from sightline.model.events import Changed, Refused
from sightline.subtasks import runners
from sightline.subtasks.attempt_effects import take_back
from sightline.subtasks.carry_out import Options, Workbench
from sightline.subtasks.runners import RunnerSpec
from sightline.subtasks.subtask import ResultTodo, TaskResult
from sightline.subtasks.task_registry import TaskRegistry

pytest.importorskip("dbos", reason="the extra tasks is not installed")


def proposed(session, tasks=SIX):
    session.subtasks.propose(tasks)
    session.subtasks.approve()


def check_six(place, session):
    """What the graph of six leaves, whoever carried it out."""
    assert states(session) == STATES, [t.reason for t in session.subtasks.graph()]
    done = [name for name, state in STATES.items() if state == "completed"]
    for name in done:
        assert place.text(f"src/{name}.txt") == f"made by {name}\n"
    text = place.text("app.py")
    assert text.count("\n") == LINES.count("\n")
    for name in ("form", "tests", "docs"):
        assert text.count(f"line of {name}\n") == 1
    assert "api" not in text
    store = session._context.store
    for name in done:
        task = session.subtasks.graph().by_id[name]
        changed = [
            row.fact.path
            for row in store.timeline(session=task.session, kinds=[Changed])
            if row.fact.cause.kind == "agent"
        ]
        assert sorted(changed) == sorted(set(changed)), "an effect was applied twice"
        assert f"src/{name}.txt" in changed


@pytest.mark.parametrize(
    "runner",
    [
        pytest.param(carrying.six, id="function", marks=pytest.mark.wide),
        pytest.param(carrying.COMMAND, id="command"),
        pytest.param(carrying.agent, id="agent", marks=pytest.mark.wide),
    ],
)
def test_the_graph_of_six(repo, parent, runner):
    if runner is carrying.agent:
        pytest.importorskip("pydantic_ai", reason="the extra agent is not installed")
    proposed(parent)
    graph = parent.subtasks.run(runner=runner, isolation="worktree")
    assert {task.id: task.state for task in graph} == STATES
    check_six(repo, parent)
    by_id = graph.by_id
    assert by_id["after"].reason == "'bad', which it depends on, failed"
    task, result = parent.subtasks.show("form")
    assert {(file.path, file.kind, file.applied) for file in result.files} == {
        ("app.py", "changed", True),
        ("src/form.txt", "created", True),
    }
    assert result.summary == task.result == "did form"
    failed, why = parent.subtasks.show("bad")
    if runner is carrying.six:
        assert failed.reason == "ValueError: this cannot be done"
    elif runner is carrying.agent:
        assert failed.reason
        done = {todo.text: todo.state for todo in parent.answer({"summary": ""}).todos}
        assert done == {f"look at {name}": "done" for name in ("api", "form", "tests", "docs")}
    else:
        assert failed.reason.endswith("ended with exit code 3")
        assert (why.exit_code, why.output) == (3, "it cannot be done\n")
    assert "4 completed, 1 failed, 1 skipped" in parent.subtasks.summary()
    assert "form" in str(parent.notice())  # the parent is told whose change it is
    worktrees = subprocess.run(
        ["git", "-C", repo.root, "worktree", "list"], capture_output=True, text=True, check=True
    )
    assert len(worktrees.stdout.splitlines()) == 1


@pytest.mark.wide
def test_a_graph_in_the_shared_tree(repo, parent):
    proposed(parent)
    parent.subtasks.run(runner=carrying.six, isolation="shared")
    check_six(repo, parent)
    assert parent.subtasks.graph().by_id["form"].isolation == "shared"


HANDED: list[str] = []


def handed(work):
    HANDED.append(work.prompt)
    return TaskResult("the api stands", todos=(ResultTodo("write docs"), ResultTodo("a", "done")))


@pytest.mark.wide
def test_a_child_begins_with_what_it_is_handed(repo, parent):
    HANDED.clear()
    parent.answer({"summary": "We build a shop.", "todos": [{"text": "a"}, {"text": "b"}]})
    repo.put("app.py", LINES.replace("line 30", "line thirty"))
    tasks = [
        {
            "id": "one",
            "goal": "The first",
            "files": ["app.py", "new.py"],
            "scope": ["src"],
            "budget": 50_000,
        },
        {"id": "two", "goal": "The second", "dependencies": ["one"]},
    ]
    proposed(parent, tasks)
    parent.subtasks.run(runner=handed, concurrency=1)
    first, second = HANDED
    for part in (
        *("# Sub-task one", "The first", "only these files: src.", "Budget: 50,000 tokens."),
        *("We build a shop.", "- a\n- b"),
        "The parent was shown lines 1-30 of 30. The file changed since.\n```\nline 1\n",
        *("line thirty\n```", "### new.py\nThis file does not exist yet."),
    ):
        assert part in first, part
    assert "- one: the api stands" in second
    progress = parent.answer({"summary": ""}).todos
    assert [(todo.text, todo.state) for todo in progress] == [
        *(("a", "done"), ("b", "proposed"), ("write docs", "proposed"))
    ]


def test_a_text_is_a_to_do_of_a_result_and_nothing_else_is():
    given: Any = ("write docs", ResultTodo("a"))
    assert TaskResult(todos=given).todos[0] == ResultTodo("write docs")
    given = (3,)
    with pytest.raises(TypeError, match="is a ResultTodo or a text, not 3"):
        TaskResult(todos=given)


REFUSED: list[EditRefused] = []


def outside(work):
    try:
        work.session.edit("app.py", "line 1\n", "mine\n")
    except EditRefused as refusal:
        REFUSED.append(refusal)
        return "the file is outside of my scope"
    return "wrote it"


@pytest.mark.wide
def test_a_function_cannot_write_outside_of_its_scope(repo, parent):
    REFUSED.clear()
    proposed(parent, [{"id": "a", "goal": "A", "scope": ["src"]}])
    [task] = parent.subtasks.run(runner=outside)
    assert (task.state, task.result) == ("completed", "the file is outside of my scope")
    assert [refusal.reason for refusal in REFUSED] == ["scope"]
    assert repo.text("app.py") == LINES


def delegates(work):
    """Propose a part of the work without a scope, and one with a wider scope."""
    work.session.subtasks.propose(
        [{"id": "free", "goal": "F"}, {"id": "wide", "goal": "W", "scope": ["*.py", "src"]}]
    )
    work.session.subtasks.approve()
    context = work.session._context
    bench = Workbench(TaskRegistry(context), f"{context.settings.state_home}/inner")
    for part in ("free", "wide"):
        bench.carry_out(part, 0, Session._function_runner(outside), Options("shared"))
    return "delegated"


def test_a_part_of_a_sub_task_cannot_write_outside_of_the_whole_s_scope(repo):
    REFUSED.clear()
    session = repo.session("p")
    proposed(session, [{"id": "a", "goal": "A", "scope": ["src"]}])
    bench = Workbench(TaskRegistry(session._context), f"{repo.state}/tasks")
    bench.carry_out("a", 0, Session._function_runner(delegates), Options("shared"))
    task = session.subtasks.graph().by_id["a"]
    assert (task.state, task.result) == ("completed", "delegated")
    assert [refusal.reason for refusal in REFUSED] == ["scope", "scope"]
    assert "scope: *.py, src, within src." in REFUSED[1].message
    assert repo.text("app.py") == LINES
    part = repo.session("p/a.1/wide.1")  # opened again, as by another process
    assert part._context.scopes == (("src",), ("*.py", "src"))


@pytest.mark.wide
@pytest.mark.parametrize("isolation", ["worktree", *widely("shared")])
def test_a_command_that_wrote_outside_of_its_scope_fails(repo, parent, isolation):
    proposed(parent, [{"id": "a", "goal": "A", "scope": ["src"]}])
    code = "from pathlib import Path; Path('app.py').write_text('gone')"
    [task] = parent.subtasks.run(runner=[sys.executable, "-c", code], isolation=isolation)
    assert task.state == "failed"
    assert "scope" in task.reason
    [(_, result)] = parent.subtasks.conflicts()
    assert [(each.path, each.reason) for each in result.conflicts] == [("app.py", "scope")]
    if isolation == "worktree":
        assert repo.text("app.py") == LINES
        refusals = parent._context.store.timeline(session=task.session, kinds=[Refused])
        assert [row.fact.reason for row in refusals] == ["scope"]
    else:
        assert result.files[0].applied  # a command in the shared tree writes as it likes
        assert result.outside in ((), ("app.py",))


SETS_PROGRAMS = """
import subprocess, sys
from pathlib import Path
marker = sys.argv[1]
script = Path(marker + ".sh")
script.write_text(f"#!/bin/sh\\ntouch '{marker}'\\ncat\\n")
script.chmod(0o755)
keys = ["filter.f.clean", "filter.f.smudge", "filter.f.process", "core.fsmonitor", "diff.external"]
for key in [*keys, "diff.d.textconv"]:
    subprocess.run(["git", "config", key, str(script)], check=True)
subprocess.run(["git", "config", "filter.f.required", "true"], check=True)
Path(".gitattributes").write_text("* filter=f diff=d\\n")
hook = Path(subprocess.check_output(["git", "rev-parse", "--git-path", "hooks"], text=True).strip())
hook.mkdir(exist_ok=True)
for name in ("post-checkout", "post-index-change"):
    (hook / name).write_text(script.read_text())
    (hook / name).chmod(0o755)
Path("app.py").write_text("changed\\n")
Path(marker).unlink(missing_ok=True)
"""


HIDES = """
git update-index --assume-unchanged app.py
git update-index --skip-worktree log.txt
echo app >> app.py
echo log >> log.txt
common=$(git rev-parse --git-common-dir)
echo new.txt >> "$common/info/exclude"
echo other.txt > "$common/info/more"
git config core.excludesFile "$common/info/more"
git config core.checkStat minimal
git config core.trustctime false
echo new > new.txt
echo other > other.txt
touch -r keep.txt before
echo KEEP > keep.txt
touch -r before keep.txt
rm before
echo "built.txt" > .gitignore
echo built > built.txt
git add -f built.txt
"""


@pytest.mark.wide
@pytest.mark.skipif(os.name == "nt", reason="the programs of this test are shell scripts")
def test_no_change_is_hidden_by_what_a_child_tells_git(repo, parent):
    """Marks in the index, patterns outside of the tree, times set back, and a file added by force."""
    repo.put("keep.txt", "keep\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "-m", "second")
    proposed(parent, [{"id": "a", "goal": "Hide"}])
    parent.subtasks.run(runner=["sh", "-e", "-c", HIDES], isolation="worktree")
    task, result = parent.subtasks.show("a")
    assert task.state == "completed", task.reason
    assert repo.text("app.py") == f"{LINES}app\n"
    found = {name: repo.text(name) for name in ("log.txt", "new.txt", "other.txt", "keep.txt")}
    assert found == {
        "log.txt": "log\n",
        "new.txt": "new\n",
        "other.txt": "other\n",
        "keep.txt": "KEEP\n",
    }
    assert repo.text("built.txt") == "built\n"
    assert result.outside == ()
    names = ".git/config, .git/info/exclude, .git/info/more"
    assert result.notes == (f"git's settings changed: {names}",)


@pytest.mark.wide
@pytest.mark.skipif(os.name == "nt", reason="the programs of this test are shell scripts")
def test_what_a_failed_attempt_removed_is_there_for_the_next(repo):
    """In the shared tree: files that no session read, also one that git does not know, and one that
    was read. A file whose text is never kept is named."""
    repo.put("unread.txt", "of the user\n")
    repo.put("more/raw.bin", bytes(range(256)))
    repo.put(".env", "KEY=1\n")
    session = repo.session("p")
    session.read("app.py")
    proposed(session, [{"id": "a", "goal": "Clean up"}])
    removes = "rm -r unread.txt more log.txt app.py .env; exit 1"
    script = f"if mkdir ../once; then {removes}; fi; cat unread.txt more/raw.bin app.py"
    session.subtasks.run(runner=["sh", "-c", script], isolation="shared", attempts=2)
    task, result = session.subtasks.show("a")
    assert (task.state, task.attempt) == ("completed", 2), task.reason
    assert repo.text("unread.txt") == "of the user\n"
    assert repo.bytes("more/raw.bin") == bytes(range(256))
    assert repo.text("log.txt") == ""
    assert repo.text("app.py") == LINES
    assert result.outside == (".env",)


@pytest.mark.wide
@pytest.mark.skipif(os.name == "nt", reason="the programs of this test are shell scripts")
def test_what_a_failed_attempt_left_is_in_its_result_and_taken_back_by_a_retry(repo, parent):
    repo.put("unread.txt", "of the user\n")
    proposed(parent, [{"id": "a", "goal": "Clean up"}])
    fails = ["sh", "-c", "rm unread.txt; echo new > new.txt; sed -i s/1/one/ app.py; exit 1"]
    parent.subtasks.run(runner=fails, isolation="shared")
    task, result = parent.subtasks.show("a")
    assert task.state == "failed"
    assert {(file.path, file.kind) for file in result.files} == {
        *(("unread.txt", "deleted"), ("new.txt", "created"), ("app.py", "changed"))
    }
    assert "unread.txt" in result.outside
    assert not (repo.root / "unread.txt").exists()
    parent.subtasks.retry("a")
    succeeds = ["sh", "-c", "cat unread.txt; test ! -e new.txt"]
    parent.subtasks.run(runner=succeeds, isolation="shared")
    task, _ = parent.subtasks.show("a")
    assert task.state == "completed", task.reason
    take_back(parent._context.for_session("p/a.1"))  # as a successor does that saw no end
    assert repo.text("unread.txt") == "of the user\n"


@pytest.mark.wide
@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for variables of processes")
@pytest.mark.parametrize("isolation", ["shared", *widely("worktree")])
def test_no_process_of_a_child_outlives_its_attempt(repo, parent, isolation):
    """Also one that made a session and a group of its own."""
    proposed(parent, [{"id": "a", "goal": "Leave something behind"}])
    pids = repo.home / "pids"
    script = f"setsid sleep 600 & echo $! >> {pids}; sleep 600 & echo $! >> {pids}"
    environ = os.environ | {"SIGHTLINE_SESSION": "p/a.1"}  # as in another workspace
    with subprocess.Popen(["sleep", "600"], env=environ) as other:
        parent.subtasks.run(runner=["sh", "-c", script], isolation=isolation)
        assert runs(other.pid)
        other.kill()
    assert states(parent) == {"a": "completed"}
    left = [int(line) for line in pids.read_text().split()]
    assert len(left) == 2
    assert not any(map(runs, left))


INNER = """
import sys, sightline
from sightline.config.settings import Settings
root, state, pids = sys.argv[1:]
with sightline.open_session(root, id="inner", settings=Settings(state_home=state)) as session:
    session.subtasks.propose([{"id": "b", "goal": "B"}])
    session.subtasks.approve()
    script = f"echo $$ > {pids}; kill -9 $PPID; exec sleep 600"
    session.subtasks.run(runner=["sh", "-c", script], isolation="shared")
"""


@pytest.mark.wide
@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for variables of processes")
def test_no_process_of_an_attempt_within_outlives_the_outer_attempt(repo, parent):
    """A command runs sub-tasks of its own, and its process is killed."""
    proposed(parent, [{"id": "a", "goal": "Delegate"}])
    inner, pids = repo.home / "inner", repo.home / "pids"
    inner.mkdir()
    runner = [sys.executable, "-c", INNER, str(inner), str(repo.state), str(pids)]
    parent.subtasks.run(runner=runner, isolation="shared")
    task = parent.subtasks.graph().by_id["a"]
    assert task.reason.endswith("ended with exit code -9")
    assert not runs(int(pids.read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for variables of processes")
def test_a_process_that_begins_while_the_others_are_looked_for_is_ended(tmp_path, monkeypatch):
    begun: list[subprocess.Popen[bytes]] = []

    def look(name, word):
        found = started_with(name, word)
        if not begun:
            environ = os.environ | {name: word}
            begun.append(subprocess.Popen(["sleep", "600"], env=environ))
        return found

    monkeypatch.setattr(runners, "started_with", look)
    runners.end_left(str(tmp_path))
    assert begun[0].wait(10) == -signal.SIGTERM


@pytest.mark.wide
@pytest.mark.skipif(os.name == "nt", reason="the programs of this test are shell scripts")
def test_programs_that_a_child_names_in_gits_settings_are_not_run(repo, parent, tmp_path):
    marker = tmp_path / "ran"
    proposed(parent, [{"id": "a", "goal": "A"}, {"id": "b", "goal": "B", "dependencies": ["a"]}])
    sets = [sys.executable, "-c", SETS_PROGRAMS, str(marker)]
    graph = parent.subtasks.run("a", runner=sets, isolation="worktree")
    assert states(parent)["a"] == "completed", graph.by_id["a"].reason
    parent.subtasks.run(runner=["true"], isolation="worktree")
    assert states(parent)["b"] == "completed"
    assert repo.text("app.py") == "changed\n"
    assert "filter=f" in repo.text(".gitattributes")
    assert not marker.exists()


def test_a_conflict_of_siblings_is_shown_before_it_merges(repo, parent):
    proposed(parent, [{"id": "a", "goal": "A"}, {"id": "b", "goal": "B"}])
    graph = parent.subtasks.run(runner=carrying.clash)
    assert sorted(task.state for task in graph) == ["completed", "failed"]
    [(loser, result)] = parent.subtasks.conflicts()
    winner = next(task for task in graph if task.state == "completed")
    [conflict] = result.conflicts
    assert (conflict.path, conflict.siblings) == ("app.py", (winner.id,))
    assert f"+line of {winner.id}" in conflict.diff
    assert repo.text("app.py") == LINES.replace("line 7\n", f"line of {winner.id}\n")
    assert f"+line of {loser.id}" in conflict.wanted
    with pytest.raises(
        SubtaskError, match=f"Sub-task '{winner.id}' changed the same lines"
    ) as caught:
        parent.subtasks.merge(loser.id)
    assert {f"+line of {each.id}" for each in (winner, loser)} <= {*caught.value.diff.splitlines()}
    repo.put("app.py", LINES)  # the user decides for the other one
    assert parent.subtasks.merge(loser.id).state == "completed"
    assert repo.text("app.py") == LINES.replace("line 7\n", f"line of {loser.id}\n")


TRIES: list[str] = []


def second_time(work):
    TRIES.append(work.session.id)
    work.session.edit("app.py", "line 1\n", f"try {len(TRIES)}\n")
    if len(TRIES) == 1:
        raise RuntimeError("not yet")
    return "now"


@pytest.mark.wide
@pytest.mark.parametrize("isolation", ["shared", *widely("worktree")])
def test_a_retry_does_not_double_what_a_failed_attempt_did(repo, parent, isolation):
    TRIES.clear()
    proposed(parent, [{"id": "a", "goal": "A"}])
    [task] = parent.subtasks.run(runner=second_time, attempts=2, isolation=isolation)
    assert (task.state, task.attempt, task.failures) == ("completed", 2, 1)
    assert TRIES == ["p/a.1", "p/a.2"]
    assert repo.text("app.py") == LINES.replace("line 1\n", "try 2\n", 1)


@pytest.mark.wide
def test_a_command_that_takes_too_long_is_ended(repo, parent):
    proposed(parent, [{"id": "a", "goal": "A"}])
    [task] = parent.subtasks.run(runner=["sleep", "60"], timeout_s=0.3)
    assert (task.state, task.reason) == ("failed", "it took longer than 0.3 s")


@pytest.mark.wide
def test_a_sub_task_that_is_cancelled_while_it_runs_leaves_nothing(repo, parent):
    proposed(parent, [{"id": "a", "goal": "A"}, {"id": "b", "goal": "B", "dependencies": ["a"]}])
    other = repo.session("p")

    def cancel(graph):
        if graph.by_id["a"].state == "running":
            other.subtasks.cancel("a", "not wanted")

    program = ["sh", "-c", "echo x >> app.py; sleep 60"]
    graph = parent.subtasks.run(runner=program, progress=cancel, isolation="worktree")
    assert [task.state for task in graph] == ["cancelled", "skipped"]
    assert graph.by_id["a"].reason == "not wanted"
    assert repo.text("app.py") == LINES


@pytest.mark.wide
def test_only_one_sub_task_can_be_run(repo, parent):
    proposed(parent)
    parent.subtasks.run("form", runner=carrying.nothing)
    assert states(parent)["form"] == "completed"
    assert states(parent)["api"] == "ready"


@pytest.mark.wide
def test_without_approval_nothing_is_carried_out_and_nothing_waits(repo, parent):
    parent.subtasks.propose(SIX)
    parent.subtasks.approve("tests")
    parent.subtasks.run(runner=carrying.nothing)
    assert set(states(parent).values()) == {"proposed", "pending"}


def test_a_runner_that_no_process_can_find_is_refused(parent):
    proposed(parent)
    for runner in ("nobody", "agent:", [], [1]):
        with pytest.raises(SubtaskError) as error:
            parent.subtasks.run(runner=runner)
        assert error.value.kind == "runner"


@pytest.mark.wide
def test_a_kind_of_runner_is_registered_by_the_package_that_has_it():
    assert spec_of("agent:some-model") == RunnerSpec("agent", "some-model")
    with pytest.raises(SubtaskError, match="no runner 'nobody:x'"):
        registered_runner("nobody", "x")


def test_files_that_a_command_removed_in_the_shared_tree_are_in_the_result(repo, parent):
    """No session has read them: only the checkpoint before the attempt has their texts."""
    repo.put("src/a.txt", "mine\n")
    before = repo.text("log.txt"), repo.text("src/a.txt")
    proposed(parent, [{"id": "a", "goal": "A", "scope": ["src"]}])
    code = "from pathlib import Path; Path('log.txt').unlink(); Path('src/a.txt').unlink()"
    [task] = parent.subtasks.run(runner=[sys.executable, "-c", code], isolation="shared")
    assert (task.state, "scope" in task.reason) == ("failed", True)
    [(_, result)] = parent.subtasks.conflicts()
    assert [(each.path, each.reason) for each in result.conflicts] == [("log.txt", "scope")]
    assert {(each.path, each.kind) for each in result.files} == {
        ("log.txt", "deleted"),
        ("src/a.txt", "deleted"),
    }
    child = repo.session("p/a.1")
    [checkpoint] = child.checkpoints()
    assert checkpoint.label == "before attempt 1 at sub-task a"
    child.rewind(checkpoint.id, force_paths=["log.txt", "src/a.txt"])
    assert (repo.text("log.txt"), repo.text("src/a.txt")) == before
