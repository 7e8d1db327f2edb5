"""The verbs of a session's sub-tasks, and the verbs for async hosts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import import_module
from importlib.metadata import entry_points
from threading import RLock
from time import sleep
from typing import Annotated, Any

from sightline.api.async_verbs import coroutine
from sightline.api.verbs import HOST_ONLY, Positive, verb
from sightline.changes.session_context import SessionContext
from sightline.errors import SubtaskError
from sightline.store.identity import store_file
from sightline.subtasks import attempt_effects as effects
from sightline.subtasks import carry_out, proposals, words
from sightline.subtasks import task_registry as steps
from sightline.subtasks.carry_out import TIMEOUT_S, Job, Options, Watcher
from sightline.subtasks.dependency_graph import Proposal
from sightline.subtasks.runners import Runner, RunnerSpec, command_runner
from sightline.subtasks.scope import scopes_of
from sightline.subtasks.subtask import (
    ChangedText,
    Graph,
    Isolation,
    ShownTask,
    SubTask,
)
from sightline.subtasks.task_registry import TaskRegistry
from sightline.text.installing import installing

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Functions of this process that carry out sub-tasks, by "module:name"."""

RUNNERS = "sightline.runners"
"""The entry points by which installed packages register kinds of runners. Each names a function that takes
the text behind "kind:" and returns a function that carries out a sub-task."""

CONCURRENCY = 4

LOOK_S = 0.2
"""Seconds between two looks at a run that is waited for."""


class Subtasks:
    """The sub-tasks of a session: parts of the work that are delegated.

    A sub-task waits for approval, then for its dependencies, and is carried out by a command, a
    function or an agent. Its states are facts of the session's timeline.
    """

    def __init__(
        self,
        context: SessionContext,
        lock: RLock,
        running: Callable[[], AbstractContextManager[object]],
        function_runner: Callable[[Callable[..., Any]], Runner],
    ) -> None:
        self._context = context
        self._lock = lock
        self._running = running
        self._registry = TaskRegistry(context)
        self._function_runner = function_runner

    @verb(answer="tasks")
    def propose(
        self, subtasks: Iterable[Proposal | Annotated[Mapping[str, Any], HOST_ONLY]]
    ) -> tuple[SubTask, ...]:
        """Propose sub-tasks, all or none.

        A proposal that was made before, word for word, changes nothing. With the setting `subtasks`
        = "auto", proposals with auto_execute are approved at once.

        Args:
            subtasks: For each an id, a goal, and if wanted files (paths or patterns), dependencies
                (ids), scope (paths or patterns of the files that it may write), auto_execute, and
                budget (tokens).

        Returns:
            The sub-tasks as they stand now.

        Raises:
            SubtaskError for a cycle, an unknown dependency, a sub-task that depends on itself, an id
            that exists, an empty goal, a pattern without a match; its message names all of them.
        """
        return tuple(proposals.propose(self._context, self._registry, subtasks))

    @verb(idempotent=True, answer="tasks")
    def approve(self, ids: str | Iterable[str] = ()) -> tuple[SubTask, ...]:
        """Approve proposed sub-tasks, all or none.

        Args:
            ids: The sub-tasks; every proposed one by default.

        Raises:
            SubtaskError.
        """
        names = [ids] if isinstance(ids, str) else list(ids)
        return tuple(steps.approve(self._registry, [*map(self._registry.named, names)]))

    @verb(read_only=True, tool="subtasks")
    def graph(self) -> Graph:
        """Return all sub-tasks of this session as they stand."""
        return self._registry.graph()

    @verb(read_only=True, answer="tasks")
    def ready(self) -> tuple[SubTask, ...]:
        """Return the sub-tasks that may start now."""
        return self._registry.graph().ready

    @verb(read_only=True)
    def show(self, id: str) -> ShownTask:
        """Return a sub-task, and its result if it has one.

        Args:
            id: The sub-task.

        Raises:
            SubtaskError for an id that there is not.
        """
        task = self._registry.task(id)
        return ShownTask(task, effects.result_of(self._context, task))

    @verb(idempotent=True, answer="task")
    def complete(self, id: str, result: str = "") -> SubTask:
        """Record that a sub-task is done, whoever did it.

        Args:
            id: The sub-task. It is ready, running or failed.
            result: A summary.

        Raises:
            SubtaskError.
        """
        return steps.end(
            self._registry, self._registry.named(id), "completed", result=result or None
        )

    @verb(idempotent=True, answer="task")
    def fail(self, id: str, why: str) -> SubTask:
        """Record that a sub-task failed. Those that depend on it are skipped.

        Args:
            id: The sub-task. It is ready or running.
            why: The reason.

        Raises:
            SubtaskError.
        """
        return steps.end(self._registry, self._registry.named(id), "failed", reason=why)

    @verb(idempotent=True, answer="task")
    def skip(self, id: str, why: str = "skipped by the user") -> SubTask:
        """Leave out a sub-task that has not begun. Those that depend on it are skipped, too.

        Args:
            id: The sub-task.
            why: The reason.

        Raises:
            SubtaskError.
        """
        return steps.end(self._registry, self._registry.named(id), "skipped", reason=why)

    @verb(idempotent=True, answer="task")
    def cancel(self, id: str, why: str = "cancelled by the user") -> SubTask:
        """End a sub-task, also while it runs. Those that depend on it are skipped.

        The process that carries it out ends its command within seconds, and drops its changes.

        Args:
            id: The sub-task.
            why: The reason.

        Raises:
            SubtaskError.
        """
        return steps.end(self._registry, self._registry.named(id), "cancelled", reason=why)

    @verb(answer="task")
    def retry(self, id: str) -> SubTask:
        """Try a sub-task again after it failed or was left out.

        Sub-tasks that were skipped because of it wait for it again.

        Args:
            id: The sub-task.

        Raises:
            SubtaskError.
        """
        return steps.retry(self._registry, self._registry.named(id))

    @verb(destructive=True, answer="task")
    def merge(self, id: str, keep: str | Iterable[str] = ()) -> SubTask:
        """Apply the changes of a sub-task that had a conflict.

        The sub-task is completed then.

        Args:
            id: The sub-task.
            keep: Files that stay as they are in the workspace, where you settled the conflict.

        Raises:
            SubtaskError, whose diff has both sides of the conflicts that are left.
        """
        paths = [keep] if isinstance(keep, str) else list(keep)
        return carry_out.merge_result(self._registry, self._registry.named(id), paths)

    @verb(read_only=True, answer="files")
    def diff(self, id: str) -> tuple[ChangedText, ...]:
        """Return what the newest attempt at a sub-task changed.

        Files that a conflict kept out of the workspace are shown, too. An attempt that failed in a
        tree of its own has no diff: that tree is gone.

        Args:
            id: The sub-task.

        Raises:
            SubtaskError for an id that there is not.
        """
        return effects.changed_texts(self._context, self._registry.task(id))

    @verb(read_only=True, answer="conflicts")
    def conflicts(self) -> tuple[ShownTask, ...]:
        """Return the sub-tasks whose changes could not be applied, with their results.

        A result names the files, the siblings that changed them, and the lines that differ.
        """
        found = []
        for task in self._registry.graph():
            result = effects.result_of(self._context, task) if task.state == "failed" else None
            if result is not None and result.conflicts:
                found.append(ShownTask(task, result))
        return tuple(found)

    @verb(read_only=True, answer="summary")
    def summary(self) -> str:
        """Return a summary of all sub-tasks for the model; "" where there are none."""
        return words.summary_of(self._registry.graph())

    @verb(waits=True, destructive=True, long=True)
    def run(
        self,
        id: str | None = None,
        *,
        runner: Annotated[Callable[..., Any], HOST_ONLY] | Sequence[str] | str,
        isolation: Isolation | None = None,
        attempts: Positive = 1,
        timeout_s: float | None = TIMEOUT_S,
        concurrency: Positive = CONCURRENCY,
        wait: bool = True,
        progress: Annotated[Callable[[Graph], object] | None, HOST_ONLY] = None,
    ) -> Graph:
        """Carry out approved sub-tasks, each behind those it waits for.

        If a process dies or Ctrl-C ends the run, run it again, or start a worker: the work goes on
        where it was.

        Args:
            id: Only this sub-task; all by default.
            runner: A command (a list of words; the prompt is on its standard input), a function that
                takes a Work, or "agent:MODEL": a registered kind with a name.
            isolation: worktree: each works in a tree of its own, and its changes are applied
                as one batch; shared: all work in this tree; remote: as worktree, by workers of any clone
                of the repository. Default: worktree where git has a commit.
            attempts: How often a sub-task is tried before it counts as failed.
            timeout_s: Seconds of one attempt at most.
            concurrency: How many sub-tasks this process carries out at a time.
            wait: Wait until all have ended; else a worker carries them out.
            progress: Called with the graph, several times a second.

        Returns:
            The sub-tasks as they stand at the end.

        Raises:
            SubtaskError, SettingsError, StoreError.

        Note:
            With None as timeout_s, an attempt may take as long as it wants. With wait=False, the call returns at once.
        """
        only = () if id is None else (self._registry.named(id),)
        if timeout_s is not None and timeout_s <= 0:
            raise ValueError(f"timeout_s is a number of seconds above 0, not {timeout_s}")
        job = Job(
            self._context.session,
            spec_of(runner),
            Options(isolation, attempts, timeout_s),
            only,
        )
        if isolation == "remote":
            root, database = self._context.workspace.root, self._context.settings.tasks_database
            engine_module().orders_queue(database, root)  # refuses where there is none
        with self.running_engine(concurrency if wait else 0) as engine:
            name = engine.submit(job)
            try:
                while wait and not engine.is_ended(name):
                    if progress is not None:
                        progress(self._registry.graph())
                    sleep(LOOK_S)
            except KeyboardInterrupt:
                engine.withdraw(name, job)
                raise
        return self._registry.graph()

    @contextmanager
    def running_engine(
        self,
        concurrency: int,
        *,
        takes_orders: bool = False,
        watcher: Watcher = lambda *_: None,
    ) -> Iterator[Any]:
        """Run the engine of this workspace in this process while the block runs. concurrency:
        sub-tasks at a time; 0 to carry out none. takes_orders: from other clones, too. watcher: called as
        attempts begin and end. SubtaskError."""
        context, settings = self._context, self._context.settings
        module = engine_module()
        state = os.path.dirname(store_file(settings.state_home, context.workspace.root))
        folder = os.path.join(state, "tasks")
        registries: dict[str, TaskRegistry] = {context.session: self._registry}
        orders = ""
        with suppress(SubtaskError):  # no other clone can help, which only a run elsewhere needs
            orders = module.orders_queue(settings.tasks_database, context.workspace.root)

        def registry_of(session: str) -> TaskRegistry:
            if session not in registries:
                own, state = context.for_session(session), context.store.session(session)
                own.scopes = scopes_of(own.store, session, state.parent if state else None)
                registries[session] = TaskRegistry(own)
            return registries[session]

        with module.Engine(
            registry_of=registry_of,
            runner_of=self._runner_of,
            database=settings.tasks_database or module.queue_url(folder),
            folder=folder,
            queue=os.path.basename(state),  # the id of the store
            owner=context.owner,
            concurrency=concurrency,
            orders=orders,
            takes_orders=takes_orders,
            watcher=watcher,
        ) as engine:
            yield engine

    def _runner_of(self, spec: RunnerSpec) -> Runner:
        if spec.kind == "command":
            return command_runner(spec.arguments)
        if spec.kind == "function":
            return self._function_runner(function_named(spec.name))
        return self._function_runner(registered_runner(spec.kind, spec.name))


def running_worker(
    subtasks: Subtasks, concurrency: int, watcher: Watcher
) -> AbstractContextManager[Any]:
    """Run the engine in this process while a block runs: sub-tasks of all sessions of the workspace are
    carried out, and those that other clones hand over. concurrency: how many at a time. watcher: called by
    other threads as attempts begin and end. SubtaskError."""
    return subtasks.running_engine(concurrency, takes_orders=True, watcher=watcher)


def engine_module() -> Any:
    """Return the module of the engine. SubtaskError where the extra `tasks` is not installed."""
    try:
        return import_module("sightline.subtasks.dbos_engine")
    except ModuleNotFoundError as error:
        raise SubtaskError(
            "engine",
            "",
            f"Sub-tasks need the extra 'tasks': there is no module {error.name!r}.",
            installing("tasks"),
        ) from error


def spec_of(runner: Callable[..., Any] | Sequence[str] | str) -> RunnerSpec:
    """Return a runner as a job names it. SubtaskError for one that no process could find again."""
    if isinstance(runner, str):
        kind, _, name = runner.partition(":")
        if name and entry_points(group=RUNNERS, name=kind):
            return RunnerSpec(kind, name)
        raise SubtaskError("runner", "", *words.no_runner(runner))
    if callable(runner):
        module, name = getattr(runner, "__module__", ""), getattr(runner, "__qualname__", "")
        FUNCTIONS[f"{module}:{name}"] = runner
        return RunnerSpec("function", f"{module}:{name}")
    arguments = tuple(runner)
    if not arguments or not all(isinstance(word, str) for word in arguments):
        raise SubtaskError(
            "runner", "", "A command is a list of words.", "Give for example ['make']."
        )
    return RunnerSpec("command", "", arguments)


def function_named(name: str) -> Callable[..., Any]:
    """Return a function by "module:name". SubtaskError where this process cannot find it."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)  # waits for another thread that imports it
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise SubtaskError("runner", "", *words.no_runner(name)) from error
    function: Callable[..., Any] = found
    return function


def registered_runner(kind: str, name: str) -> Callable[..., Any]:
    """Return the runner of a registered kind. SubtaskError where the kind is unknown here, or its extra
    is not installed."""
    try:
        (point,) = entry_points(group=RUNNERS, name=kind)
        runner: Callable[..., Any] = point.load()(name)
    except (ImportError, ValueError) as error:
        raise SubtaskError("runner", "", *words.no_runner(f"{kind}:{name}")) from error
    return runner


class AsyncSubtasks:
    """The verbs of Subtasks as coroutines."""

    def __init__(self, subtasks: Subtasks) -> None:
        self._blocking = subtasks

    approve = coroutine(Subtasks.approve)
    cancel = coroutine(Subtasks.cancel)
    complete = coroutine(Subtasks.complete)
    conflicts = coroutine(Subtasks.conflicts)
    diff = coroutine(Subtasks.diff)
    fail = coroutine(Subtasks.fail)
    graph = coroutine(Subtasks.graph)
    merge = coroutine(Subtasks.merge)
    propose = coroutine(Subtasks.propose)
    ready = coroutine(Subtasks.ready)
    retry = coroutine(Subtasks.retry)
    run = coroutine(Subtasks.run)
    show = coroutine(Subtasks.show)
    skip = coroutine(Subtasks.skip)
    summary = coroutine(Subtasks.summary)
