"""The command task, with all that is below it, and worker: delegated work and who carries it out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from queue import SimpleQueue
from shlex import join
from time import sleep
from typing import Any

import click

from sightline import ChangedText, Graph, SubTask
from sightline.api.json_shapes import fields, shape
from sightline.api.subtask_verbs import Subtasks, running_worker
from sightline.api.words import subtask_words as words
from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.input import from_stdin
from sightline.cli.options import command, number_from, pattern_places
from sightline.cli.output import Call
from sightline.cli.task_tree import tree_lines
from sightline.errors import SubtaskError
from sightline.model.path import quoted
from sightline.text import phrases
from sightline.text.printable import printable

DIFF_LINES = 40
"""Lines of a file's change that are shown, unless somebody asks for all of it."""

LOOK_S = 0.5
"""Seconds between two looks of a worker at whether there is work."""

ID = {"metavar": "ID"}


def seconds_from(text: str) -> float:
    """Return a number of seconds above 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if seconds > 0:
        return seconds
    raise click.BadParameter(f"{text!r} is not a number of seconds above 0.")


@command(name="task", example="task --session main")
def task(call: Call) -> None:
    """List the sub-tasks of a session.

    A sub-task is a part of the work that is delegated. Each stands below the last sub-task that it
    waits for.
    """
    _list(call)


@command(name="task list", example="task list")
def list_tasks(call: Call) -> None:
    """List the sub-tasks of a session, with their states."""
    _list(call)


@command(Subtasks.graph, name="task graph", example="task graph")
def graph(call: Call) -> None:
    _list(call)


@command(Subtasks.show, name="task show", example="task show api", id=ID)
def show(call: Call, id: str) -> None:
    """A conflict names the sub-tasks that changed the same lines, and shows both texts."""
    with call.look() as session:
        found, result = session.subtasks.show(id)
        tasks = session.subtasks.graph()
    if call.json:
        output.json({"task": _task(found), "result": result and shape(result)})
        return
    output.prose("\n".join(map(printable, _about(found, tasks))))
    output.prose(printable("\n".join(words.outcome(found, result))))
    for conflict in result.conflicts if result else ():
        output.prose(printable(f"\nConflict: {conflict.message}"))
        sides = words.both_sides(found.id, conflict, DIFF_LINES, f"sightline task diff {found.id}")
        output.text(output.coloured(call, sides) if sides else "There is no text to compare.")
    if rest := words.left_over(found, result):
        output.prose(printable("\n".join(rest)))
    if found.state == "failed":
        conflicts = result.conflicts if result else ()
        hint = words.settle(found.id, conflicts[0]) if conflicts else words.try_again(found.id)
        output.prose(f"\n{printable(output.worded(hint))}")


def _about(found: SubTask, tasks: Graph) -> list[str]:
    """Return the goal of a sub-task, and the sub-tasks before and behind the sub-task."""
    by_id = tasks.by_id
    before = [f"{name} ({by_id[name].state})" for name in found.dependencies if name in by_id]
    behind = [each.id for each in tasks if found.id in each.dependencies]
    lines = [f"{found.id}: {found.goal}"]
    lines += [f"Waits for {phrases.joined(before)}."] if before else []
    lines += [f"{phrases.joined(behind)} waits for it."] if len(behind) == 1 else []
    lines += [f"{phrases.joined(behind)} wait for it."] if len(behind) > 1 else []
    return lines


@command(Subtasks.diff, name="task diff", example="task diff api", id=ID)
def diff(call: Call, id: str) -> None:
    """Exit code 0: nothing changed; 1: something did."""
    with call.look() as session:
        found = session.subtasks.graph().by_id[session.subtasks.show(id).task.id]
        texts = session.subtasks.diff(id)
    if call.json:
        output.json({"task": found.id, "attempt": found.attempt, "files": shape(texts)})
    else:
        for text in texts:
            output.text(_change(call, text))
        if not texts:
            output.note(call, words.no_changes(found))
    if texts:
        raise Answered(NO)


def _change(call: Call, text: ChangedText, most: int | None = None, see_all: str = "") -> str:
    """Return a file's change with a line that names it. most: lines of it; see_all: shows the others."""
    counts = f"+{text.added} -{text.removed}" if text.diff else "no text to compare"
    state = "" if text.applied else ", not applied"
    heading = output.fitted(f"{quoted(text.path)}: {text.kind}{state} ({counts})")
    if not text.diff:
        return heading
    lines = text.diff if most is None else phrases.first_lines(text.diff, most, see_all)
    return f"{heading}\n{output.coloured(call, lines)}"


@command(
    Subtasks.propose,
    name="task propose",
    example="task propose tests 'Write the tests' --scope 'tests/**'",
    without=("subtasks",),
)
@click.argument("id", required=False)
@click.argument("goal", required=False)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    help="A file or pattern that it works on; repeatable.",
)
@click.option(
    "--after",
    multiple=True,
    metavar="ID",
    help="A sub-task that it waits for; repeatable.",
)
@click.option(
    "--scope",
    multiple=True,
    metavar="GLOB",
    callback=pattern_places,
    help="Files that it may write; repeatable.",
)
@click.option("--budget", type=number_from(1), metavar="N", help="Tokens that it may use.")
@click.option("--auto", is_flag=True, help="Begin without approval, where the settings allow it.")
def propose(
    call: Call,
    id: str | None,
    goal: str | None,
    files: tuple[str, ...],
    after: tuple[str, ...],
    scope: list[str],
    budget: int | None,
    *,
    auto: bool,
) -> None:
    """Without ID and GOAL, the command reads a JSON list of proposals from stdin, or an answer with
    "subTasks".
    """
    if id is None:
        wanted = _proposals(from_stdin(call, "the proposals"))
    elif goal is None:
        raise click.UsageError("Give the goal behind the id.")
    else:
        wanted = [
            {
                "id": id,
                "goal": goal,
                "files": [call.path(name) for name in files],
                "dependencies": list(after),
                "scope": scope,
                "auto_execute": auto,
                "budget": budget,
            }
        ]
    with call.open() as session:
        proposed = session.subtasks.propose(wanted)
    ids = ", ".join(each.id for each in proposed) or "nothing"
    waiting = any(each.state == "proposed" for each in proposed)
    then = " Approve: sightline task approve" if waiting else ""
    output.result(call, {"tasks": [_task(each) for each in proposed]}, f"Proposed {ids}.{then}")


@command(
    Subtasks.approve,
    name="task approve",
    example="task approve api tests",
    ids={"metavar": "[ID]..."},
)
def approve(call: Call, ids: tuple[str, ...]) -> None:
    with call.open() as session:
        approved = session.subtasks.approve(ids)
    text = (
        f"Approved {', '.join(each.id for each in approved)}."
        if approved
        else "No sub-task waits for approval."
    )
    output.result(call, {"tasks": [_task(each) for each in approved]}, text)


@command(Subtasks.complete, name="task complete", example="task complete api --result done",
         id=ID, result={"flag": "--result"})  # fmt: skip
def complete(call: Call, id: str, result: str) -> None:
    _moved(call, lambda tasks: tasks.complete(id, result))


@command(Subtasks.fail, name="task fail", example="task fail tests --why 'no database'",
         id=ID, why={"flag": "--why", "required": True})  # fmt: skip
def fail(call: Call, id: str, why: str) -> None:
    _moved(call, lambda tasks: tasks.fail(id, why))


@command(Subtasks.skip, name="task skip", example="task skip docs", id=ID, why={"flag": "--why"})
def skip(call: Call, id: str, why: str) -> None:
    _moved(call, lambda tasks: tasks.skip(id, why))


@command(
    Subtasks.cancel, name="task cancel", example="task cancel deploy", id=ID, why={"flag": "--why"}
)
def cancel(call: Call, id: str, why: str) -> None:
    _moved(call, lambda tasks: tasks.cancel(id, why))


@command(Subtasks.retry, name="task retry", example="task retry tests", id=ID)
def retry(call: Call, id: str) -> None:
    _moved(call, lambda tasks: tasks.retry(id))


@command(
    Subtasks.merge, name="task merge", example="task merge api", id=ID, keep={"flag": "--keep"}
)
def merge(call: Call, id: str, keep: list[str]) -> None:
    with call.open() as session:
        try:
            found = session.subtasks.merge(id, keep)
        except SubtaskError as error:
            error.diff = phrases.first_lines(
                error.diff, 2 * DIFF_LINES, f"sightline task diff {id}"
            )
            raise
        texts = session.subtasks.diff(found.id)
    merged = [text for text in texts if text.applied]
    see_all = f"sightline task diff {found.id}"
    parts = [_change(call, text, DIFF_LINES, see_all) for text in merged]
    kept = [quoted(text.path) for text in texts if not text.applied]
    said = f"{found.id} is {found.state} now: {phrases.count(len(merged), 'file')} applied"
    said += f", {phrases.joined(kept)} kept as it is in the workspace." if kept else "."
    shapes = {"task": _task(found), "files": shape(texts)}
    output.result(call, shapes, "\n".join([*parts, output.fitted(said)]))


@command(
    Subtasks.run,
    name="task run",
    example="task run -- claude -p",
    without=("runner",),
    id={"flag": "--only", "metavar": "ID"},
    timeout_s={"flag": "--timeout", "type": seconds_from, "metavar": "SECONDS"},
    wait={"flag": "--wait/--detach"},
)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND]...")
@click.option("--agent", metavar="MODEL", help="The reference agent with this model.")
def run(call: Call, program: tuple[str, ...], agent: str | None, **options: Any) -> int:
    """COMMAND is any program, such as 'claude -p' or 'codex exec': it works in a folder of its own
    and reads the goal from its standard input. Exit code 1: a sub-task failed.
    """
    if bool(program) == bool(agent):
        raise click.UsageError("Give a COMMAND behind --, or --agent MODEL.")
    runner: Any = f"agent:{agent}" if agent else list(program)
    with call.open() as session:
        try:
            found = _run(call, session.subtasks, runner, options)
        except KeyboardInterrupt:
            again = "sightline task run" + (
                f" --agent {agent}" if agent else f" -- {join(program)}"
            )
            _interrupted(call, session.subtasks, again)
            raise
    if not options["wait"]:
        output.result(
            call, _shape(found), "Handed over. Start as many as you like: sightline worker"
        )
        return 0
    output.answer(call, _shape(found), _drawn(call, found))
    conflicts = [each.id for each in found if each.state == "failed" and each.record]
    for name in () if call.json else conflicts[:1]:
        text = f"What became of {name}, and how to go on: sightline task show {name}"
        output.note(call, output.fitted(text, sys.stderr))
    return int(any(each.state == "failed" for each in found))


def _run(call: Call, subtasks: Subtasks, runner: Any, options: dict[str, Any]) -> Graph:
    if call.json or call.quiet or not sys.stderr.isatty():
        return subtasks.run(runner=runner, **options)
    from sightline.cli.live.task_view import drawing  # rich takes 60 ms

    plain = call.no_color or bool(os.environ.get("NO_COLOR"))
    with drawing(plain=plain, columns=output.columns(sys.stderr)) as progress:
        return subtasks.run(runner=runner, progress=progress, **options)


def _interrupted(call: Call, subtasks: Subtasks, again: str) -> None:
    """Say what stands after Ctrl-C, and how to go on. again: the command that does."""
    found = subtasks.graph()
    waiting = any(not each.is_ended and each.state != "proposed" for each in found)
    then = f" Go on: {again}" if waiting else ""
    said = f"Stopped. What was completed stands. {words.counted(found)}.{then}"
    output.stopped(call, said)


run.context_settings = {"allow_interspersed_args": False}


@command(name="worker", example="worker --concurrency 2")
@click.option(
    "--concurrency",
    type=number_from(1),
    default=4,
    show_default=True,
    metavar="N",
    help="Sub-tasks at a time.",
)
@click.option("--until-idle", is_flag=True, help="End when no work is left.")
def worker(call: Call, concurrency: int, *, until_idle: bool) -> int:
    """Carry out sub-tasks of this workspace that others hand over.

    Prints what the worker takes, and what became of it. Several workers share one queue, and take
    over the work of a process that died. If the setting tasks_database names a PostgreSQL database,
    the worker also carries out sub-tasks that other clones run with --isolation remote. Exit code
    1: a sub-task failed.
    """
    said: SimpleQueue[tuple[SubTask, float | None]] = SimpleQueue()
    failed: list[str] = []

    def speak() -> None:
        while not said.empty():
            task, seconds = said.get()
            if seconds is not None and task.state == "failed":
                failed.append(task.id)
            text = (
                words.attempt_begun(task) if seconds is None else words.attempt_ended(task, seconds)
            )
            output.result(call, {"task": _task(task), "seconds": seconds}, output.fitted(text))

    with call.open() as session:
        try:
            with running_worker(
                session.subtasks, concurrency, lambda *news: said.put(news)
            ) as engine:
                if not until_idle:
                    others = (
                        ", and of other clones of its repository" if engine.takes_orders else ""
                    )
                    text = (
                        f"Carrying out sub-tasks of {session.workspace}{others}. Ctrl-C ends this."
                    )
                    output.note(call, output.fitted(text, sys.stderr))
                while not until_idle or engine.has_work():
                    speak()
                    sleep(LOOK_S)
        except KeyboardInterrupt:
            speak()
            output.stopped(
                call,
                "Stopped. What was completed stands, and other workers take over what was under way."
                " Go on: sightline worker",
            )
            raise
        speak()
    return int(bool(failed))


def _list(call: Call) -> None:
    with call.look() as session:
        found = session.subtasks.graph()
    text = _drawn(call, found) if len(found) else ""
    output.answer(call, _shape(found), text, "This session has no sub-tasks.")


def _drawn(call: Call, found: Graph) -> str:
    """Return a graph as a tree, cut to the columns of a terminal."""
    lines = tree_lines(found, lambda said, colour: output.style(call, said, colour), output.room())
    return "\n".join([*lines, output.fitted(words.counted(found))])


def _moved(call: Call, move: Callable[[Subtasks], SubTask]) -> None:
    with call.open() as session:
        found = move(session.subtasks)
    output.result(call, {"task": _task(found)}, f"{found.id} is {found.state} now.")


def _proposals(text: str) -> list[dict[str, Any]]:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"stdin is no JSON: {error}.") from error
    if isinstance(given, dict):
        given = given.get("subTasks", given.get("sub_tasks", [given]))
    if not isinstance(given, list):
        raise click.UsageError("Give a JSON list of proposals.")
    return given


def _shape(found: Graph) -> dict[str, Any]:
    return {"session": found.session, "tasks": [_task(each) for each in found]}


def _task(each: SubTask) -> dict[str, Any]:
    names = [name for name in each.__struct_fields__ if name not in ("owner", "record")]
    return fields(each, *names)
