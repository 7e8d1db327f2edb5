"""Fold the sub-tasks of one session from the facts of its timeline."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import structs

from sightline.model import events
from sightline.model.events import Fact
from sightline.model.timeline import Recorded
from sightline.subtasks.subtask import Graph, SubTask
from sightline.subtasks.transitions import LOST, Move, State, may_move, transition

KINDS: list[type[Fact]] = [
    *(events.SubtaskProposed, events.SubtaskApproved, events.SubtaskStarted),
    *(events.SubtaskReported, events.SubtaskReturned, events.SubtaskEnded, events.SubtaskRetried),
]

ENDING: dict[str, Move] = {
    "completed": "complete", "failed": "fail", "skipped": "skip", "cancelled": "cancel",
}  # fmt: skip
"""State in a SubtaskEnded -> its move."""


class TaskFold:
    """The sub-tasks of one session as of one position. A fact that is no legal move, and one of an
    attempt that another one has replaced, change nothing: they were decided too late."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.position = 0
        self.tasks: dict[str, SubTask] = {}
        self._followers: dict[str, list[str]] = {}
        self._waits: dict[str, int] = {}  # dependencies that have not completed
        self._ready: dict[str, None] = {}

    def graph(self) -> Graph:
        """Return the sub-tasks as a value."""
        return Graph(tuple(self.tasks.values()), self.session, self.position)

    def ready(self) -> list[str]:
        """Return the ids of the sub-tasks that may start, the longest ready first."""
        return list(self._ready)

    def fold(self, rows: Iterable[Recorded]) -> TaskFold:
        """Step by several facts; return this object."""
        for recorded in rows:
            self.step(recorded)
        return self

    def step(self, recorded: Recorded) -> None:
        """Step by a fact of the session."""
        fact, at = recorded.fact, datetime.fromtimestamp(recorded.happened_at / 1_000_000, UTC)
        self.position = recorded.position
        if isinstance(fact, events.SubtaskProposed):
            self._propose(fact, at)
            return
        task = self.tasks.get(getattr(fact, "subtask", ""))
        if task is None:
            return
        if isinstance(fact, events.SubtaskApproved) and may_move(task.state, "approve"):
            self._move(structs.replace(task, approved_by=fact.by), "approve")
        elif isinstance(fact, events.SubtaskStarted) and fact.attempt == task.attempt + 1:
            self._start(task, fact, at)
        elif isinstance(fact, events.SubtaskReported) and self._is_of(task, fact.attempt):
            self.tasks[task.id] = structs.replace(task, is_reported=True, record=fact.record)
        elif isinstance(fact, events.SubtaskReturned) and self._is_of(task, fact.attempt):
            returned = structs.replace(
                task,
                failures=task.failures + (not fact.is_lost),
                lost=task.lost + fact.is_lost,
                reason=fact.reason,
                is_reported=False,
                owner="",
            )
            self._move(returned, "return")
        elif isinstance(fact, events.SubtaskEnded):
            self._end(task, fact, at)
        elif isinstance(fact, events.SubtaskRetried) and may_move(task.state, "retry"):
            again = structs.replace(
                task, round=task.round + 1, failures=0, lost=0, reason="", result=None,
                record=None, blocked_by=None, ended_at=None, approved_by=task.approved_by or "user",
            )  # fmt: skip
            self._move(again, "retry")

    @staticmethod
    def _is_of(task: SubTask, attempt: int) -> bool:
        return task.state == "running" and task.attempt == attempt

    def _propose(self, fact: events.SubtaskProposed, at: datetime) -> None:
        if fact.subtask in self.tasks:
            return
        dependencies = tuple(name for name in dict.fromkeys(fact.dependencies))
        self.tasks[fact.subtask] = SubTask(
            fact.subtask,
            fact.goal,
            fact.files,
            dependencies,
            scope=fact.scope,
            auto_execute=fact.auto_execute,
            budget=fact.budget,
            proposed_at=at,
        )
        self._waits[fact.subtask] = sum(not self._is_completed(name) for name in dependencies)
        for name in dependencies:
            self._followers.setdefault(name, []).append(fact.subtask)

    def _start(self, task: SubTask, fact: events.SubtaskStarted, at: datetime) -> None:
        if not may_move(task.state, "start"):
            return
        started = structs.replace(
            task,
            attempt=fact.attempt,
            session=fact.session,
            owner=fact.owner,
            isolation=fact.isolation,
            is_reported=False,
            reason="",
            started_at=at,
        )
        self._move(started, "start")

    def _end(self, task: SubTask, fact: events.SubtaskEnded, at: datetime) -> None:
        move = ENDING.get(fact.state)
        is_replaced = fact.attempt not in (0, task.attempt)
        if move is None or is_replaced or not may_move(task.state, move):
            return
        ended = structs.replace(
            task,
            result=fact.result,
            reason=fact.reason,
            record=fact.record or task.record,
            is_reported=False,
            owner="",
            ended_at=at,
        )
        self._move(ended, move)

    def _is_completed(self, name: str) -> bool:
        task = self.tasks.get(name)
        return task is not None and task.state == "completed"

    def _move(self, task: SubTask, move: Move) -> None:
        """Move a sub-task, then its dependants, then theirs, to the end."""
        changed = [self._put(task, transition(task.state, move, task.id))]
        while changed:
            before, task = changed.pop()
            changed += self._settle(task.id)
            completed = (task.state == "completed") - (before == "completed")
            for name in self._followers.get(task.id, ()):
                self._waits[name] -= completed
                follower = self.tasks[name]
                if follower.blocked_by == task.id and task.state not in LOST:
                    freed = structs.replace(follower, blocked_by=None, reason="", ended_at=None)
                    changed.append(self._put(freed, transition("skipped", "unblock")))
                changed += self._settle(name)

    def _settle(self, name: str) -> list[tuple[State, SubTask]]:
        """Move a pending sub-task on where its dependencies have ended."""
        task = self.tasks[name]
        if task.state != "pending":
            return []
        lost = next((d for d in task.dependencies if self.tasks[d].state in LOST), None)
        if lost is not None:
            cause = self.tasks[lost]
            reason = f"{lost!r}, which it depends on, {_ended_as(cause.state)}"
            blocked = structs.replace(task, blocked_by=lost, reason=reason, ended_at=cause.ended_at)
            return [self._put(blocked, transition("pending", "block"))]
        if not self._waits[name]:
            return [self._put(task, transition("pending", "unlock"))]
        return []

    def _put(self, task: SubTask, state: State) -> tuple[State, SubTask]:
        """Keep a sub-task with its new state; return the old state and the sub-task."""
        before = self.tasks[task.id].state
        self.tasks[task.id] = moved = structs.replace(task, state=state)
        if state == "ready":
            self._ready[task.id] = None
        else:
            self._ready.pop(task.id, None)
        return before, moved


def _ended_as(state: State) -> str:
    return "failed" if state == "failed" else f"was {state}"
