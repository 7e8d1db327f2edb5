"""Measure sub-tasks beside the bare engine, and the ready set of a large graph.

    python bench/subtasks.py [--json] [--only NAME]... [--tasks N]

throughput: sub-tasks of no work, carried out in the shared tree by a function, and workflows of one
empty step in the same engine with the same queue, one after the other in one run; the ratio of what
each finishes in a second. ready: the ready set of a graph of 10,000 nodes with three dependencies
each, from the fold that a session keeps (milliseconds of the processor, medians).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep
from typing import Any

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sightline
from sightline.config.settings import Settings
from sightline.model.events import SubtaskApproved, SubtaskEnded, SubtaskProposed
from sightline.model.timeline import Recorded
from sightline.subtasks.dependency_graph import topological
from sightline.subtasks.subtask_fold import TaskFold

NODES = 10_000
READY_MS = 50.0
RATIO = 0.6
CONCURRENCY = 8
ROUNDS = 9


def nothing(_work: object) -> None:
    """Do no work."""


def ready() -> list[dict[str, Any]]:
    """The ready set of a large graph."""
    ids = [str(number) for number in range(NODES)]
    edges = {
        name: tuple(ids[at - step] for step in (1, 7, 50) if at % 100 and at >= step)
        for at, name in enumerate(ids)
    }
    facts: list[Any] = [SubtaskProposed(name, "goal", (), edges[name]) for name in ids]
    facts += [SubtaskApproved(name) for name in ids]
    rows = [Recorded(number, "s", number, number, fact) for number, fact in enumerate(facts, 1)]
    fold = TaskFold("s").fold(rows)
    names = iter(fold.ready())
    steps = []
    for position in range(len(rows) + 1, len(rows) + 1 + ROUNDS):
        ended = Recorded(position, "s", 1, 1, SubtaskEnded(next(names), "completed"))
        begun = process_time()
        fold.step(ended)
        assert fold.graph().ready
        steps.append(1_000 * (process_time() - begun))
    folds = []
    for _ in range(3):
        begun = process_time()
        assert TaskFold("s").fold(rows).ready()
        folds.append(1_000 * (process_time() - begun))
    sorts = []
    for _ in range(ROUNDS):
        begun = process_time()
        assert len(topological(edges)) == NODES
        sorts.append(1_000 * (process_time() - begun))
    return [
        row("ready set of 10,000 nodes after a change", median(steps), "ms", READY_MS),
        row("order of 10,000 nodes from nothing", median(sorts), "ms", READY_MS),
        {"name": "fold of its 20,000 facts", "figure": round(median(folds), 1), "unit": "ms"},
    ]


def row(
    name: str, figure: float, unit: str, limit: float, *, is_most: bool = True
) -> dict[str, Any]:
    """A figure with its limit."""
    holds = figure <= limit if is_most else figure >= limit
    return {"name": name, "figure": round(figure, 3), "unit": unit, "limit": limit, "holds": holds}


def bare(folder: str, tasks: int) -> tuple[float, float]:
    """Wall and processor seconds for empty workflows in the engine alone."""
    from dbos import DBOS

    from sightline.subtasks.dbos_engine import POLL_S

    @DBOS.step()
    def step(number: int) -> int:
        return number

    @DBOS.workflow()
    def task(number: int) -> int:
        return step(number)

    @DBOS.workflow()
    def graph(count: int) -> int:
        handles = [DBOS.enqueue_workflow("bare", task, number) for number in range(count)]
        left = {handle.workflow_id for handle in handles}
        while left:
            waiting = [handle for handle in handles if handle.workflow_id in left]
            left.discard(DBOS.wait_first(waiting, polling_interval_sec=POLL_S).workflow_id)
            left -= set(ended(list(left)))
        return count

    @DBOS.step()
    def ended(names: list[str]) -> list[str]:
        found = DBOS.list_workflows(workflow_ids=names, status="SUCCESS", load_input=False)
        return [each.workflow_id for each in found]

    DBOS(
        config={
            "name": "bare",
            "system_database_url": f"sqlite:///{folder}/bare.db",
            "application_version": "1",
            "executor_id": "bare",
            "log_level": "CRITICAL",
        }
    )
    DBOS.launch()
    DBOS.register_queue("bare", worker_concurrency=CONCURRENCY, polling_interval_sec=POLL_S)
    sleep(1.5)  # until the process listens to the queue
    begun, used = perf_counter(), process_time()
    assert DBOS.start_workflow(graph, tasks).get_result(polling_interval_sec=POLL_S) == tasks
    took = perf_counter() - begun, process_time() - used
    DBOS.destroy()
    return took


def ours(folder: str, tasks: int) -> tuple[float, float]:
    """Wall and processor seconds for sub-tasks of no work."""
    root = os.path.join(folder, "ws")
    os.mkdir(root)
    settings = Settings(state_home=os.path.join(folder, "state"), checkpoints="off")
    with sightline.open_session(root, id="bench", settings=settings) as session:
        session.subtasks.propose({"id": "warm", "goal": "Start the engine"} for _ in range(1))
        session.subtasks.approve()
        session.subtasks.run(runner=nothing)  # makes the database, as the bare one has
        proposals = ({"id": f"t{number}", "goal": "Do nothing"} for number in range(tasks))
        session.subtasks.propose(proposals)
        session.subtasks.approve()
        begun, used = perf_counter(), process_time()
        graph = session.subtasks.run(runner=nothing, concurrency=CONCURRENCY)
        took = perf_counter() - begun, process_time() - used
        assert graph.counts == {"completed": tasks + 1}
    return took


def throughput(tasks: int) -> list[dict[str, Any]]:
    """The ratio of sub-tasks in a second to bare workflows in a second."""
    with tempfile.TemporaryDirectory(prefix="sightline-bench-") as folder:
        wall, used = bare(folder, tasks)
        own_wall, own_used = ours(folder, tasks)
    print(
        f"{tasks:,} of no work: bare {tasks / wall:.1f}/s ({used:.1f} s of the processor),"
        f" sub-tasks {tasks / own_wall:.1f}/s ({own_used:.1f} s)",
        file=sys.stderr,
    )
    name = f"throughput of {tasks:,} sub-tasks of no work, beside the bare engine"
    return [
        row(name, wall / own_wall, "ratio", RATIO, is_most=False),
        {"name": "sub-tasks in a second", "figure": round(tasks / own_wall, 1), "unit": "1/s"},
    ]


def main() -> int:
    """Measure, print, and return 1 where a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", action="append", choices=["ready", "throughput"])
    parser.add_argument("--tasks", type=int, default=1_000)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if not options.only or "ready" in options.only:
        rows += ready()
    if not options.only or "throughput" in options.only:
        rows += throughput(options.tasks)
    if options.json:
        print(json.dumps({"schema": 1, "rows": rows}))
    else:
        for each in rows:
            limit = f"  limit {each['limit']:g}" if "limit" in each else ""
            print(f"{each['name']}: {each['figure']:g} {each['unit']}{limit}")
    return int(not all(each.get("holds", True) for each in rows))


if __name__ == "__main__":
    sys.exit(main())
