"""session.subtasks: proposals, a person's moves, scope at the guard, and what an answer proposes."""

from __future__ import annotations

import asyncio
import sys

import pytest
from tests.answers import seeds

import sightline
from sightline.errors import AnswerInvalid, EditRefused, PathRefused, SubtaskError
from sightline.model.events import SubtaskProposed, SubtaskStarted

CHAIN = [("a", ""), ("b", "a"), ("c", "b")]


def ids(tasks):
    return [task.id for task in tasks]


def test_a_proposal_waits_for_approval_and_then_for_its_dependencies(s):
    tasks = s.subtasks
    proposed = tasks.propose(
        [{"id": "a", "goal": "A"}, {"id": "b", "goal": "B", "dependencies": ["a"]}]
    )
    assert [task.state for task in proposed] == ["proposed", "proposed"]
    assert tasks.ready() == ()
    assert [task.state for task in tasks.approve()] == ["ready", "pending"]
    assert ids(tasks.ready()) == ["a"]
    assert tasks.complete("a", "done").result == "done"
    assert ids(tasks.ready()) == ["b"]
    assert tasks.graph().order == ("a", "b")
    assert [ids(level) for level in tasks.graph().levels()] == [["a"], ["b"]]


def test_every_wrong_proposal_is_named_and_none_is_recorded(place, s):
    place.put("src/a.py", "a\n")
    with pytest.raises(SubtaskError) as error:
        s.subtasks.propose(
            [
                {"id": "a", "goal": "A", "dependencies": ["b"]},
                {"id": "b", "goal": "B", "dependencies": ["a"]},
                {"id": "c", "goal": "", "dependencies": ["c", "x"]},
                {"id": "c", "goal": "C", "files": ["src/*.ts", "src/*.py", "../out"]},
            ]
        )
    kinds = [kind for kind, _, _ in error.value.problems]
    assert set(kinds) == {
        *("cycle", "empty_goal", "self_dependency", "unknown_dependency", "duplicate_id"),
        *("no_match", "invalid"),
    }
    assert "a → b → a" in error.value.message
    assert "no file matches 'src/*.ts'" in error.value.message
    assert len(s.subtasks.graph()) == 0


@pytest.mark.parametrize(
    "wrong", ["a", {"id": "a", "goal": "A", "file": []}, {"id": 3, "goal": "A"}, {"goal": "A"}]
)
def test_what_is_no_proposal_is_refused(s, wrong):
    with pytest.raises(SubtaskError):
        s.subtasks.propose([wrong])


def test_globs_become_files_and_names_may_be_of_new_files(place, s):
    place.put("src/a.py", "a\n")
    place.put("src/b.py", "b\n")
    [task] = s.subtasks.propose(
        [{"id": "a", "goal": "A", "files": ["src/*.py", "new/c.py"], "scope": ["./src/", "*.md"]}]
    )
    assert task.files == ("src/a.py", "src/b.py", "new/c.py")
    assert task.scope == ("src", "*.md")


def test_the_same_proposal_again_changes_nothing_and_another_of_that_id_is_refused(s):
    s.subtasks.propose([{"id": "a", "goal": "A"}])
    s.subtasks.approve("a")
    assert s.subtasks.propose([{"id": "a", "goal": " A "}])[0].state == "ready"
    with pytest.raises(SubtaskError) as error:
        s.subtasks.propose([{"id": "a", "goal": "Another"}])
    assert (error.value.kind, error.value.subtask) == ("duplicate_id", "a")


def test_a_failure_skips_what_depends_on_it_and_a_retry_brings_it_back(s):
    tasks = s.subtasks
    tasks.propose([{"id": x, "goal": x, "dependencies": list(d)} for x, d in CHAIN])
    tasks.approve()
    tasks.fail("a", "no")
    assert [task.state for task in tasks.graph()] == ["failed", "skipped", "skipped"]
    with pytest.raises(SubtaskError, match="retry\\('a'\\)"):
        tasks.retry("b")
    assert tasks.retry("a").state == "ready"
    assert [task.state for task in tasks.graph()] == ["ready", "pending", "pending"]
    tasks.cancel("b")
    assert [task.state for task in tasks.graph()] == ["ready", "cancelled", "skipped"]


def test_an_illegal_move_and_an_unknown_id_say_what_is_legal(s):
    s.subtasks.propose([{"id": "api", "goal": "A"}])
    with pytest.raises(
        SubtaskError, match="is proposed, so complete is not possible: it has to be ready"
    ):
        s.subtasks.complete("api")
    with pytest.raises(SubtaskError, match="Nearest: api"):
        s.subtasks.approve("apu")


def test_auto_execute_is_approved_only_where_the_settings_allow_it(place, s):
    wanted = [{"id": "a", "goal": "A", "autoExecute": True}, {"id": "b", "goal": "B"}]
    assert [task.state for task in s.subtasks.propose(wanted)] == ["proposed", "proposed"]
    free = place.session("free", subtasks="auto")
    assert [task.state for task in free.subtasks.propose(wanted)] == ["ready", "proposed"]
    assert free.subtasks.graph().by_id["a"].approved_by == "setting"


def test_sub_tasks_survive_the_session_and_their_states_do_not_go_back_with_it(place, s):
    point = s.checkpoint()
    s.subtasks.propose([{"id": "a", "goal": "A"}])
    s.subtasks.approve()
    s.rewind(point, conversation=True)
    assert [task.state for task in place.session("s").subtasks.graph()] == ["ready"]


def test_decisions_of_two_processes_are_made_one_after_the_other(place, s):
    other = place.session("s")
    s.subtasks.propose([{"id": "a", "goal": "A"}])
    assert ids(other.subtasks.approve()) == ["a"]
    with pytest.raises(SubtaskError):
        s.subtasks.approve("a")
    s.subtasks.skip("a")
    assert other.subtasks.graph().by_id["a"].state == "skipped"


def test_the_sub_tasks_of_an_answer_become_proposals(s):
    result = s.answer(seeds.SUBTASKS)
    assert [task.state for task in result.subtasks] == ["proposed"] * 3
    assert "Sub-tasks that wait for the user's approval: api, frontend, tests." in str(result)
    assert s.subtasks.graph().by_id["tests"].dependencies == ("api", "frontend")
    again = s.answer(seeds.SUBTASKS)  # a model repeats itself
    assert len(s.subtasks.graph()) == len(again.subtasks) == 3
    assert "| api | proposed |" in s.subtasks.summary()


def test_an_answer_with_a_wrong_sub_task_changes_nothing(place, s):
    place.put("a.py", "a\n")
    s.read("a.py")
    answer = {
        "fileChanges": [{"path": "a.py", "content": "b\n"}],
        "subTasks": [{"id": "a", "goal": "A", "dependencies": ["x"]}, {"id": "a", "goal": "B"}],
    }
    with pytest.raises(AnswerInvalid) as error:
        s.answer(answer)
    assert [place for place, _ in error.value.places] == [
        "subTasks[0].dependencies[0]",
        "subTasks[1].id",
    ]
    assert place.text("a.py") == "a\n"


def test_a_preview_proposes_nothing(s):
    s.answer(seeds.SUBTASKS, apply="preview")
    assert len(s.subtasks.graph()) == 0


@pytest.fixture
def child(place, s):
    """A session that is an attempt at a sub-task with a scope."""
    for name in ("src/a.py", "b.py"):
        place.put(name, "a\n")
    context = s._context
    context.append([SubtaskProposed("t", "goal", scope=("src/**",)), SubtaskStarted("t", "s/t.1")])
    made = sightline.open_session(place.root, id="s/t.1", parent="s", settings=place.settings())
    place.opened.append(made)
    for name in ("src/a.py", "b.py"):
        made.read(name)
    return made


def test_a_write_outside_of_the_scope_is_refused(place, child):
    child.edit("src/a.py", "a", "b")
    for attempt in (
        lambda: child.edit("b.py", "a", "b"),
        lambda: child.create("c.py", "c\n"),
        lambda: child.delete("b.py"),
        lambda: child.move("src/a.py", "a.py"),
        lambda: child.move("b.py", "src/b.py"),
    ):
        with pytest.raises(
            EditRefused, match="outside of this sub-task's scope: src/\\*\\*"
        ) as error:
            attempt()
        assert error.value.reason == "scope"
    assert place.text("b.py") == "a\n"
    assert child.check("b.py", old="a").decision == "ask"
    assert child.check("src/a.py", old="b").decision == "allow"


def test_a_write_outside_of_the_scope_is_asked_for_where_a_user_can_be_asked(place, child):
    asked: list[str] = []

    def approve(path, diff):
        asked.append(path)
        return True

    child._context.approve = approve
    child.edit("b.py", "a", "b")
    assert (place.text("b.py"), asked) == ("b\n", ["b.py"])


def test_a_scope_stays_in_the_workspace(s):
    for scope in ("../x", "../*.py", "/etc/**"):
        with pytest.raises((SubtaskError, PathRefused), match="workspace"):
            s.subtasks.propose([{"id": "a", "goal": "A", "scope": [scope]}])


def test_the_verbs_work_for_async_hosts(s):
    async def work():
        await s.aio.subtasks.propose([{"id": "a", "goal": "A"}])
        return await s.aio.subtasks.approve()

    assert [task.state for task in asyncio.run(work())] == ["ready"]


def test_a_briefing_brings_the_states_of_sub_tasks_once_for_each_change(s):
    s.subtasks.propose([{"id": "a", "goal": "A|B"}])
    told = s.briefing("and now?")
    assert [part.name for part in told.parts] == ["subtasks"]
    assert "| a | proposed | A\\|B |" in told.text
    s.acknowledge(told)
    assert s.briefing("and now?").text == ""
    s.subtasks.approve()
    assert "| a | ready |" in s.briefing("and now?").text


def test_a_sub_task_that_runs_stands_once_in_a_briefing(s):
    s.subtasks.propose([{"id": "api", "goal": "Build it"}])
    s.subtasks.approve()
    context = s._context
    context.append([SubtaskStarted("api", "s/api.1", 1, context.owner, "worktree")])
    told = s.briefing()
    assert {"running", "subtasks"} <= {part.name for part in told.parts}
    assert told.text.count("Build it") == 1
    assert "1 sub-task: 1 running" in told.text
    s.acknowledge(told)
    assert s.briefing("and the docs?").text == ""  # the same states, told before


def test_without_the_engine_the_error_names_the_extra(s, monkeypatch):
    monkeypatch.setitem(sys.modules, "dbos", None)
    monkeypatch.delitem(sys.modules, "sightline.subtasks.dbos_engine", raising=False)
    s.subtasks.propose([{"id": "a", "goal": "A"}])
    s.subtasks.approve()
    with pytest.raises(SubtaskError, match="pip install '\\.\\[tasks\\]'") as error:
        s.subtasks.run(runner=["true"])
    assert error.value.kind == "engine"
