"""Sub-tasks and their results, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from json import loads
from typing import Any, Literal

from msgspec import Struct, convert, structs, to_builtins

from sightline.model.json_text import compact_json
from sightline.model.revision import Revision, is_link
from sightline.subtasks.dependency_graph import topological
from sightline.subtasks.transitions import ENDS, State

Isolation = Literal["worktree", "shared", "remote"]
"""Where an attempt works: in a tree of its own, whose changes are applied as one batch when it
ended well; in the workspace itself; or in a tree of another clone, by a worker that may run on another machine."""

ChangeKind = Literal["created", "changed", "deleted"]


class ChangedFile(Struct, frozen=True):
    """A file that an attempt changed. before, after: revisions (a symlink's as model.revision.as_link);
    None for no file. mode: its new permissions, where the attempt made it executable, or no longer
    executable. applied: the change is in the workspace. large: the revisions whose bytes are in the tree
    of the attempt only.

    path: from the workspace's root. kind: created, changed or deleted.
    """

    path: str
    kind: ChangeKind
    before: Revision | None = None
    after: Revision | None = None
    mode: int | None = None
    applied: bool = False
    large: tuple[Revision, ...] = ()


class Conflict(Struct, frozen=True):
    """A change that was not applied. reason: of the guard's refusal; siblings: the sub-tasks that
    changed the same file; diff: from the text that the attempt began with to the one on disk; wanted: from the
    same text to the attempt's own. Both are unified, without names of files, "" where there is no text.

    path: from the workspace's root. message: a sentence on the cause.
    """

    path: str
    reason: str
    message: str
    siblings: tuple[str, ...] = ()
    diff: str = ""
    wanted: str = ""


class ChangedText(Struct, frozen=True):
    """The change that an attempt made to one file. applied: it is in the workspace. diff: unified; None where
    a text is not kept, or the file is no text. added, removed: numbers of lines.

    path: from the workspace's root. kind: created, changed or deleted.
    """

    path: str
    kind: ChangeKind
    applied: bool
    diff: str | None = None
    added: int = 0
    removed: int = 0


class ResultTodo(Struct, frozen=True):
    """A to-do of a child. state: proposed, in_progress, done or dropped.

    text: what is to be done; detail: more about it.
    """

    text: str
    state: str = "proposed"
    detail: str = ""


class TaskResult(Struct, frozen=True):
    """The result of an attempt. outside: paths that were changed past the guard, which no rewind
    takes back; notes: what the attempt left beside files, in git above all, each as a sentence; kept: the
    folder of the attempt's tree where that has what is nowhere else, "" where it is gone; exit_code: of a
    command; output: the beginning and the end of what it printed; tokens: that it used.

    summary: the last words; todos: for the parent's list, where a text alone is a to-do; conflicts: why
    changes were not applied. TypeError for a to-do that is neither.
    """

    summary: str = ""
    files: tuple[ChangedFile, ...] = ()
    todos: tuple[ResultTodo, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    outside: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kept: str = ""
    exit_code: int | None = None
    output: str = ""
    tokens: int | None = None

    def __post_init__(self) -> None:
        todos = tuple(ResultTodo(each) if isinstance(each, str) else each for each in self.todos)
        for each in todos:
            if not isinstance(each, ResultTodo):
                raise TypeError(f"A to-do of a TaskResult is a ResultTodo or a text, not {each!r}.")
        structs.force_setattr(self, "todos", todos)

    def encoded(self) -> bytes:
        """Return the result as stored JSON."""
        return compact_json(to_builtins(self)).encode("utf-8", "surrogatepass")

    @property
    def texts(self) -> tuple[Revision, ...]:
        """Return the revisions of its files' texts that are kept, each once."""
        named = (
            rev for file in self.files for rev in (file.before, file.after) if rev not in file.large
        )
        return tuple(dict.fromkeys(rev for rev in named if rev is not None and not is_link(rev)))


def decode_result(data: bytes) -> TaskResult:
    """Return the result of stored JSON. ValueError."""
    return convert(loads(data.decode("utf-8", "surrogatepass")), TaskResult)


class SubTask(Struct, frozen=True):
    """A sub-task. scope: patterns of the files that it may write, () for all; budget: tokens at most.

    state: as in transitions.State. attempt: the number of attempts so far; failures: those that
    failed since it was proposed or retried; lost: those whose process died since then; round: the
    number of retries. session: of the newest attempt; owner: its process; is_reported: the attempt
    ended well and its changes are being applied. result: a summary; reason: of the present state.
    blocked_by: the dependency because of which it was skipped. record: of its TaskResult.

    id: chosen by who proposed it; goal: what is to be done; dependencies: ids of those that it
    waits for; auto_execute: begin without approval was asked for; approved_by: user or setting;
    isolation: of the newest attempt. proposed_at, started_at, ended_at: aware UTC datetimes.
    """

    id: str
    goal: str
    files: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    state: State = "proposed"
    result: str | None = None
    scope: tuple[str, ...] = ()
    auto_execute: bool = False
    budget: int | None = None
    reason: str = ""
    attempt: int = 0
    failures: int = 0
    lost: int = 0
    round: int = 0
    session: str | None = None
    owner: str = ""
    isolation: str = ""
    is_reported: bool = False
    blocked_by: str | None = None
    approved_by: str | None = None
    record: Revision | None = None
    proposed_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def is_ended(self) -> bool:
        """Return whether the sub-task came to an end."""
        return self.state in ENDS


class ShownTask(Struct, frozen=True):
    """A sub-task, and its result if it has one."""

    task: SubTask
    result: TaskResult | None

    def __iter__(self) -> Iterator[Any]:
        """Yield the sub-task and its result."""
        yield from (self.task, self.result)


class Branch(Struct, frozen=True):
    """A sub-task in the tree of dependencies. depth: 0 for one without dependencies; also: those that the
    sub-task waits for beside the one that it stands below."""

    task: SubTask
    depth: int = 0
    also: tuple[str, ...] = ()


class Graph(Struct, frozen=True):
    """The sub-tasks of a session, in the order of their proposals. session: the parent; position: of
    the timeline that they were read at."""

    tasks: tuple[SubTask, ...]
    session: str
    position: int = 0

    def __iter__(self) -> Iterator[SubTask]:
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def by_id(self) -> Mapping[str, SubTask]:
        """Return the sub-tasks by id."""
        return {task.id: task for task in self.tasks}

    @property
    def ready(self) -> tuple[SubTask, ...]:
        """Return the sub-tasks that may start."""
        return tuple(task for task in self.tasks if task.state == "ready")

    @property
    def is_ended(self) -> bool:
        """Return whether every approved sub-task came to its end."""
        return all(task.is_ended or task.state == "proposed" for task in self.tasks)

    @property
    def order(self) -> tuple[str, ...]:
        """Return the ids, each behind its dependencies."""
        return tuple(topological({task.id: task.dependencies for task in self.tasks}))

    @property
    def counts(self) -> dict[State, int]:
        """Return the number of sub-tasks in each state that one has."""
        counts: dict[State, int] = {}
        for task in self.tasks:
            counts[task.state] = counts.get(task.state, 0) + 1
        return counts

    def tree(self) -> tuple[Branch, ...]:
        """Return the sub-tasks as a tree, in the order to draw it: each stands below the last of its
        dependencies, and behind all of them."""
        waiting = {task.id: len(set(task.dependencies)) for task in self.tasks}
        dependents: dict[str, list[SubTask]] = {task.id: [] for task in self.tasks}
        for task in self.tasks:
            for name in dict.fromkeys(task.dependencies):
                dependents[name].append(task)
        left = [Branch(task) for task in reversed(self.tasks) if not waiting[task.id]]
        branches: list[Branch] = []
        while left:
            branches.append(branch := left.pop())
            below = []
            for task in dependents[branch.task.id]:
                waiting[task.id] -= 1
                if not waiting[task.id]:
                    also = tuple(name for name in task.dependencies if name != branch.task.id)
                    below.append(Branch(task, branch.depth + 1, also))
            left += reversed(below)
        return tuple(branches)

    def levels(self) -> tuple[tuple[SubTask, ...], ...]:
        """Return the sub-tasks by depth: those without dependencies, those that wait for these, …"""
        by_id, depth = self.by_id, dict[str, int]()
        for name in self.order:
            depth[name] = max((depth[d] + 1 for d in by_id[name].dependencies), default=0)
        levels: list[list[SubTask]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
        for task in self.tasks:
            levels[depth[task.id]].append(task)
        return tuple(map(tuple, levels))


def is_before(graph: Graph, one: str, other: str) -> bool:
    """Return whether `other` waits for `one`, directly or through others."""
    by_id, left, visited = graph.by_id, [other], set[str]()
    while left:
        for name in by_id[left.pop()].dependencies:
            if name == one:
                return True
            if name not in visited:
                visited.add(name)
                left.append(name)
    return False


def with_applied(result: TaskResult) -> TaskResult:
    """Return a result all of whose changes were applied."""
    files = tuple(structs.replace(file, applied=True) for file in result.files)
    return structs.replace(result, files=files, conflicts=())
