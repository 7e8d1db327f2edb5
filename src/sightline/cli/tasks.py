"""The command task, with all that is below it, and worker: delegated work and who carries it out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import sleep
from typing import Any

import click

from sightline.api.json_shapes import fields, shape
from sightline.api.subtask_verbs import Subtasks, running_worker
from sightline.cli import output
from sightline.cli.input import from_stdin
from sightline.cli.options import command, number_from, pattern_places
from sightline.cli.output import Call
from sightline.subtasks import words
from sightline.subtasks.subtask import Graph, SubTask
from sightline.text import phrases
from sightline.text.phrases import shortened
from sightline.text.printable import one_line, printable

GOAL = 50
"""Characters of a goal in a list."""

COLOURS = {
    "proposed": "magenta", "pending": "white", "ready": "cyan", "running": "yellow",
    "completed": "green", "failed": "red", "skipped": "white", "cancelled": "white",
}  # fmt: skip

MARKS = {
    "proposed": "?", "pending": "·", "ready": "○", "running": "●", "completed": "✓", "failed": "✗",
    "skipped": "-", "cancelled": "-",
}  # fmt: skip

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

    A sub-task is a part of the work that is delegated: proposed, approved, carried out."""
    _list(call)


@command(name="task list", example="task list")
def list_tasks(call: Call) -> None:
    """List the sub-tasks of a session, with their states."""
    _list(call)


@command(Subtasks.graph, name="task graph", example="task graph")
def graph(call: Call) -> None:
    """They stand by levels: each behind those that it waits for."""
    with call.look() as session:
        found = session.subtasks.graph()
    lines = [
        _line(call, each, depth) for depth, level in enumerate(found.levels()) for each in level
    ]
    output.answer(call, _shape(found), "\n".join([*lines, words.counted(found)]))


@command(Subtasks.show, name="task show", example="task show api", id=ID)
def show(call: Call, id: str) -> None:
    """Conflicts of a sub-task with its siblings are shown with the lines that differ."""
    with call.look() as session:
        found, result = session.subtasks.show(id)
    about = [printable(f"{found.id}: {found.goal}"), words.result_text(found, result)]
    if found.dependencies:
        about.insert(1, f"Depends on {', '.join(found.dependencies)}.")
    output.answer(
        call, {"task": _task(found), "result": result and shape(result)}, "\n".join(about)
    )


@command(
    Subtasks.propose,
    name="task propose",
    example="task propose tests 'Write the tests' --scope 'tests/**'",
    without=("subtasks",),
)
@click.argument("id", required=False)
@click.argument("goal", required=False)
@click.option(
    "--file", "files", multiple=True, metavar="PATH", help="A file or pattern; repeat it."
)
@click.option("--after", multiple=True, metavar="ID", help="It waits for this sub-task; repeat it.")
@click.option(
    "--scope",
    multiple=True,
    metavar="GLOB",
    callback=pattern_places,
    help="It may write these files; repeat it.",
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
    """Give an id and a goal, or nothing: then a JSON list of proposals is read from stdin, or an
    answer with "subTasks"."""
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
    text = f"Approved {', '.join(each.id for each in approved)}." if approved else "Nothing waits."
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


@command(Subtasks.merge, name="task merge", example="task merge api", id=ID)
def merge(call: Call, id: str) -> None:
    _moved(call, lambda tasks: tasks.merge(id))


@command(
    Subtasks.run,
    name="task run",
    example="task run -- claude -p",
    without=("runner", "progress"),
    id={"flag": "--only", "metavar": "ID"},
    timeout_s={"flag": "--timeout", "type": seconds_from, "metavar": "SECONDS"},
    wait={"flag": "--wait/--detach"},
)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND]...")
@click.option("--agent", metavar="MODEL", help="The reference agent with this model.")
def run(call: Call, program: tuple[str, ...], agent: str | None, **options: Any) -> int:
    """COMMAND is any program, such as 'claude -p' or 'codex exec': it works in a folder of its own and
    reads the goal from its standard input. Exit code 1: a sub-task failed."""
    if bool(program) == bool(agent):
        raise click.UsageError("Give a COMMAND behind --, or --agent MODEL.")
    runner: Any = f"agent:{agent}" if agent else list(program)
    with call.open() as session:
        if call.json or call.quiet or not sys.stderr.isatty():
            found = session.subtasks.run(runner=runner, **options)
        else:
            from sightline.cli.live.task_view import drawing  # rich takes 60 ms

            with drawing(plain=call.no_color, colours=COLOURS, marks=MARKS) as progress:
                found = session.subtasks.run(runner=runner, progress=progress, **options)
    if not options["wait"]:
        output.result(
            call, _shape(found), "Handed over. Start as many as you like: sightline worker"
        )
        return 0
    lines = [_line(call, each, 0) for each in found]
    output.answer(call, _shape(found), "\n".join([*lines, words.counted(found)]))
    return int(any(each.state == "failed" for each in found))


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
def worker(call: Call, concurrency: int, *, until_idle: bool) -> None:
    """Carry out sub-tasks of this workspace that others hand over.

    Several workers share one queue. Work of a process that died is taken over. Where the
    setting tasks_database names a PostgreSQL database, the worker also carries out sub-tasks that other clones
    run with --isolation remote. Ctrl-C ends it."""
    with call.open() as session, running_worker(session.subtasks, concurrency) as engine:
        if not until_idle:
            others = ", and of other clones of its repository" if engine.takes_orders else ""
            text = f"Carrying out sub-tasks of {session.workspace}{others}. Ctrl-C ends this."
            output.note(call, text)
        while not until_idle or engine.has_work():
            sleep(LOOK_S)


def _list(call: Call) -> None:
    with call.look() as session:
        found = session.subtasks.graph()
    rows = [("ID", "STATE", "WAITS FOR", "GOAL")]
    for each in found:
        goal = shortened(one_line(each.goal), GOAL)
        rows.append((each.id, each.state, ", ".join(each.dependencies), goal))
    text = "\n".join([*phrases.table(rows), words.counted(found)]) if len(found) else ""
    output.answer(call, _shape(found), text, "This session has no sub-tasks.")


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


def _line(call: Call, each: SubTask, depth: int) -> str:
    said = one_line(each.result or each.reason or each.goal)
    state = output.style(call, f"{MARKS[each.state]} {each.state:<9}", COLOURS[each.state])
    return f"{'  ' * depth}{state} {printable(each.id)}  {shortened(said, 2 * GOAL)}"
