"""The sub-tasks of a session: read from its timeline, and changed by decisions on what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import RLock

from sightline.changes.session_context import TRIES, SessionContext
from sightline.errors import StoreConflict, SubtaskError
from sightline.filesystem.process import alive
from sightline.model.events import (
    Fact,
    SubtaskApproved,
    SubtaskEnded,
    SubtaskRetried,
)
from sightline.model.lookup import Lookup, look_up
from sightline.store.port import Append
from sightline.subtasks import words
from sightline.subtasks.subtask import Graph, SubTask
from sightline.subtasks.subtask_fold import KINDS, TaskFold
from sightline.subtasks.transitions import LOST, Move, transition

Decision = Callable[[TaskFold], Sequence[Fact]]
"""Decides by the sub-tasks as they stand which facts to record; () for none. SubtaskError."""


class TaskRegistry:
    """The sub-tasks of one session. Threads may share it; processes each have their own. It keeps
    what it folded and reads only newer facts: else each step of 1,000 sub-tasks would read the facts
    of all (docs/design/0018-subtasks.md has the figure)."""

    def __init__(self, context: SessionContext) -> None:
        self.context = context
        self._fold = TaskFold(context.session)
        self._read_upto = 0
        self._lock = RLock()

    def graph(self) -> Graph:
        """Return the sub-tasks as they stand."""
        with self._lock:
            return self._read().graph()

    def ready(self) -> list[str]:
        """Return the ids of the sub-tasks that may start."""
        with self._lock:
            return self._read().ready()

    def find(self, subtask: str) -> SubTask | None:
        """Return a sub-task as it stands; None for an id that there is not."""
        with self._lock:
            return self._read().tasks.get(subtask)

    def task(self, subtask: str) -> SubTask:
        """Return a sub-task as it stands. SubtaskError for a name that there is not."""
        return self.graph().by_id[self.named(subtask)]

    def named(self, subtask: str) -> str:
        """Return the id of the sub-task that somebody names, by id or goal, whole or by their beginning. SubtaskError where none fits, or several do."""
        by_id = self.graph().by_id
        found = look_up(subtask, {name: (task.goal,) for name, task in by_id.items()})
        if not found.id:
            raise unknown(subtask, found, has_any=bool(by_id))
        return found.id

    def decide(
        self, decision: Decision, *, blobs: Iterable[bytes] = (), durable: bool = False
    ) -> list[Fact]:
        """Record what a decision returns, at the position that it was decided at, and return it.
        Where another process went on with the session meanwhile, decide again. StoreError."""
        texts, context = list(blobs), self.context
        with self._lock:
            for number in range(TRIES):
                fold = self._read()
                facts = decision(fold)
                if not facts:
                    return []
                try:
                    recorded = context.store.append(
                        Append(
                            context.session,
                            facts,
                            at=context.clock(),
                            texts=texts,
                            column=self._read_upto,
                            durable=durable,
                        )
                    )
                except StoreConflict:
                    if number == TRIES - 1:
                        raise
                    continue
                fold.fold(recorded)
                return [each.fact for each in recorded]
        return []

    def _read(self) -> TaskFold:
        context = self.context
        newest = context.store.position()  # first, so that a fact behind it is a conflict
        rows = context.store.timeline(
            session=context.session, kinds=KINDS, after=self._fold.position
        )
        self._fold.fold(rows)
        self._read_upto = newest
        return self._fold


def unknown(subtask: str, found: Lookup, *, has_any: bool) -> SubtaskError:
    """Return the error for a name that no sub-task has, or several. has_any: the session has sub-tasks."""
    text = words.no_subtask(subtask, found.several, found.nearest, has_any=has_any)
    return SubtaskError("unknown", subtask, *text)


def moved(
    registry: TaskRegistry, subtask: str, move: Move, fact: Callable[[SubTask], Fact]
) -> SubTask:
    """Record a person's move of a sub-task, and return the sub-task after it. SubtaskError for a
    move that is not legal."""

    def decision(fold: TaskFold) -> Sequence[Fact]:
        task = fold.tasks.get(subtask)
        if task is None:
            raise unknown(subtask, Lookup(), has_any=bool(fold.tasks))
        transition(task.state, move, subtask)
        if task.is_reported:
            raise SubtaskError(
                "move", subtask, *words.being_applied(subtask, is_alive=alive(task.owner))
            )
        return [fact(task)]

    registry.decide(decision)
    return registry.task(subtask)


def approve(registry: TaskRegistry, subtasks: Sequence[str]) -> list[SubTask]:
    """Approve proposed sub-tasks, all or none; without ids every one that is proposed. Return them as
    they stand then. SubtaskError."""
    names: list[str] = []

    def decision(fold: TaskFold) -> Sequence[Fact]:
        graph = fold.graph()
        wanted = subtasks or [each.id for each in graph if each.state == "proposed"]
        names[:] = dict.fromkeys(wanted)
        for name in names:
            if name not in fold.tasks:
                raise unknown(name, Lookup(), has_any=len(graph) > 0)
            transition(fold.tasks[name].state, "approve", name)
        return [SubtaskApproved(name) for name in names]

    registry.decide(decision)
    return [registry.task(name) for name in names]


def end(
    registry: TaskRegistry, subtask: str, state: str, *, result: str | None = None, reason: str = ""
) -> SubTask:
    """Record that a person ended a sub-task. state: completed, failed, skipped or cancelled.
    SubtaskError."""
    moves: dict[str, Move] = {
        "completed": "complete", "failed": "fail", "skipped": "skip", "cancelled": "cancel",
    }  # fmt: skip
    return moved(
        registry,
        subtask,
        moves[state],
        lambda task: SubtaskEnded(task.id, state, result, 0, reason),
    )


def retry(registry: TaskRegistry, subtask: str) -> SubTask:
    """Try a sub-task again that failed, was skipped or was cancelled. SubtaskError where a dependency
    did not complete: that one has to be tried again first."""

    def decision(fold: TaskFold) -> Sequence[Fact]:
        task = fold.tasks.get(subtask)
        if task is None:
            raise unknown(subtask, Lookup(), has_any=bool(fold.tasks))
        transition(task.state, "retry", subtask)
        lost = [name for name in task.dependencies if fold.tasks[name].state in LOST]
        if lost:
            raise SubtaskError("move", subtask, *words.retry_first(subtask, lost))
        return [SubtaskRetried(subtask)]

    registry.decide(decision)
    return registry.task(subtask)
