"""Schedule attempts durably with DBOS. The engine decides nothing: each step reads the timeline.

A run of a graph is a workflow that hands out the sub-tasks that are ready; each sub-task is a
workflow in a queue, whose steps are attempts. A process that dies leaves its workflows pending;
another one, or its successor, finds that its process is gone and takes them over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from threading import Condition, Event, Lock, Thread
from typing import Any, Self

from dbos import DBOS, DBOSConfig, SetWorkflowID, WorkflowStatus
from msgspec import Struct, convert, structs, to_builtins

from sightline.errors import SubtaskError, WorkspaceError
from sightline.filesystem.private_files import make_folder
from sightline.filesystem.process import alive
from sightline.model.events import SubtaskEnded
from sightline.model.json_text import compact_json
from sightline.subtasks import words
from sightline.subtasks.carry_out import Job, Options, Watcher, Workbench
from sightline.subtasks.dbos_orders import WORKFLOW, OrderTaker, RemoteOrders
from sightline.subtasks.runners import Runner, RunnerSpec
from sightline.subtasks.subtask_fold import TaskFold
from sightline.subtasks.task_registry import TaskRegistry
from sightline.subtasks.worker_presence import is_postgresql
from sightline.subtasks.worktree import repository_of

VERSION = "1"
"""Raised when a workflow below changes its steps: workflows of another version are left alone."""

POLL_S = 0.1
"""Seconds between two looks of a process at its queues, and at whether a sub-task ended."""

RECOVER_S = 2.0
"""Seconds between two looks for workflows of processes that died."""

LOOKS = 20
"""Looks at the timeline for one at the workflows that were handed out."""

RECOVERIES = 1_000
"""Times that DBOS itself lets a workflow be recovered. A sub-task fails after carry_out.LOST_MAX."""

WAIT_S = (0.1, 0.5, 2.0)
"""Seconds to wait for an attempt elsewhere: after the first look, the second, and so on."""

STOPPED_WITHIN_S = 10.0
"""Seconds that a process waits for its attempts to stop. One that goes on longer is made again."""

OPEN = ("PENDING", "ENQUEUED", "DELAYED")
"""DBOS's states of a workflow that has not ended."""


class Stopped(BaseException):
    """This process is about to end. DBOS records no outcome for it, so another process goes on."""


class Due(Struct, frozen=True):
    """The sub-tasks to hand out, each with the number of its retries; and the workflows whose
    sub-tasks ended."""

    ready: tuple[tuple[str, int], ...]
    ended: tuple[str, ...]


class Engine:
    """DBOS in this process, for one workspace: one at a time. database: a URL, sqlite:///… or
    postgresql://…. folder: for worktrees. queue: the name of the workspace among those that share the
    database. concurrency: sub-tasks at a time in this process; 0 to carry out none. orders: the name of
    the queue of the repository's orders, "" where other machines cannot help; takes_orders: carry out
    those of other clones, too. watcher: as a Workbench calls it."""

    _current: Engine | None = None
    _launching = Lock()

    def __init__(
        self,
        *,
        registry_of: Callable[[str], TaskRegistry],
        runner_of: Callable[[RunnerSpec], Runner],
        database: str,
        folder: str,
        queue: str,
        owner: str,
        concurrency: int,
        orders: str = "",
        takes_orders: bool = False,
        watcher: Watcher = lambda *_: None,
    ) -> None:
        self._watcher = watcher
        self._registry_of = registry_of
        self._runner_of = runner_of
        self._database = database
        self._folder = folder
        self._graphs = f"sightline-graphs-{queue}"
        self._tasks = f"sightline-tasks-{queue}"
        self._prefix = queue
        self._owner = owner
        self._concurrency = concurrency
        self._orders = RemoteOrders(database, orders, queue, VERSION) if orders else None
        self._takes_orders = takes_orders
        self._taker: OrderTaker | None = None
        self._benches: dict[str, Workbench] = {}
        self._lock = Lock()
        self._idle = Condition(self._lock)
        self._busy = 0
        self._has_left = False
        self._stopping = Event()
        self._watch: Thread | None = None

    def __enter__(self) -> Self:
        with Engine._launching:
            if Engine._current is not None:
                raise SubtaskError(
                    "engine",
                    "",
                    "This process runs sub-tasks already.",
                    "Wait until that has ended.",
                )
            Engine._current = self
        try:
            self._launch()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._wait_for_attempts()
        self._leave()

    def _wait_for_attempts(self) -> None:
        """End the attempts of this process, which record why, and begin no other."""
        self._stopping.set()
        if self._watch is not None:
            self._watch.join()
        with self._idle:
            self._idle.wait_for(lambda: not self._busy, STOPPED_WITHIN_S)
            self._has_left = True

    def _launch(self) -> None:
        config: DBOSConfig = {
            "name": "sightline",
            "system_database_url": self._database,
            "application_version": VERSION,
            "executor_id": self._owner,
            "log_level": "CRITICAL",
            "max_executor_threads": 2 * max(self._concurrency, 1) + 64,
            "notification_listener_polling_interval_sec": POLL_S,
        }
        queues = [self._graphs, self._tasks] if self._concurrency else []
        limits = {self._tasks: max(self._concurrency, 1)}
        try:
            if self._orders is not None and self._takes_orders:
                clone = self._registry_of("").context
                self._taker = OrderTaker(
                    self._orders,
                    clone,
                    self._folder,
                    self._runner_of,
                    self._stopping,
                    self._working,
                    self._watcher,
                )
                queues.append(self._orders.queue)
                limits[self._orders.queue] = self._concurrency
            DBOS(config=config)
            DBOS.listen_queues(queues)
            DBOS.launch()
            DBOS.register_queue(self._graphs, polling_interval_sec=POLL_S)
            for name, limit in limits.items():
                DBOS.register_queue(
                    name,
                    worker_concurrency=limit,
                    polling_interval_sec=POLL_S,
                    on_conflict="always_update" if self._concurrency else "never_update",
                )
        except Exception as error:
            raise SubtaskError(
                "engine",
                "",
                f"The database of sub-tasks cannot be used: {type(error).__name__}: {error}",
                "Check the setting tasks_database.",
            ) from error
        if self._concurrency:
            self._recover()
            self._watch = Thread(target=self._keep_recovering, name="subtasks", daemon=True)
            self._watch.start()

    def _leave(self) -> None:
        if self._taker is not None:
            self._taker.close()
        if self._orders is not None:
            self._orders.close()
        DBOS.destroy()
        Engine._current = None

    def submit(self, job: Job) -> str:
        """Hand over a run of a graph, and return its name. The run goes on without this process."""
        registry = self._registry_of(job.session)
        number = registry.context.store.position()
        name = f"{self._prefix}:{_digest(job)}:{number}"
        with SetWorkflowID(name):
            DBOS.enqueue_workflow(self._graphs, run_graph, to_builtins(job))
        return name

    def withdraw(self, name: str, job: Job) -> None:
        """End the attempts of this process, and take a run back, so that nobody goes on with its runner by
        himself. A run and sub-tasks that a living process carries out stay its own. Nothing is taken back
        while another run of the workspace is open: both may have handed out the same sub-tasks."""
        self._wait_for_attempts()
        runs = DBOS.list_workflows(
            status=list(OPEN), queue_name=self._graphs, load_input=False, load_output=False
        )
        if any(each.workflow_id != name or self._is_elsewhere(each) for each in runs):
            return
        given = DBOS.list_workflows(
            status=list(OPEN),
            queue_name=self._tasks,
            workflow_id_prefix=self._start_of(job),
            load_input=False,
            load_output=False,
        )
        DBOS.delete_workflows(
            [name, *(each.workflow_id for each in given if not self._is_elsewhere(each))]
        )

    def _is_elsewhere(self, workflow: WorkflowStatus) -> bool:
        """Return whether a living process other than this one carries out a workflow."""
        executor = workflow.executor_id
        return workflow.status == "PENDING" and executor != self._owner and alive(executor or "::")

    def is_ended(self, name: str) -> bool:
        """Return whether a run has ended. SubtaskError where the engine broke it off."""
        status = DBOS.get_workflow_status(name)
        if status is not None and status.status in OPEN:
            return False
        if status is None or status.status != "SUCCESS":
            why = "it is unknown" if status is None else status.error or status.status
            raise SubtaskError(
                "engine",
                "",
                f"The engine broke the run off: {why}.",
                "What was completed is recorded. Run the sub-tasks again.",
            )
        return True

    @property
    def takes_orders(self) -> bool:
        """Return whether this process carries out orders of other clones."""
        return self._taker is not None

    def has_work(self) -> bool:
        """Return whether a run of this workspace, or an order that this process may take, has not
        ended."""
        queues = [self._graphs]
        if self._taker is not None:
            queues.append(self._taker.queue)
        open_runs = DBOS.list_workflows(
            status=list(OPEN), queue_name=queues, limit=1, load_input=False, load_output=False
        )
        return bool(open_runs)

    def stop(self) -> None:
        """End the attempts of this process: they are made again by another one."""
        self._stopping.set()

    # What the workflows ask of the engine of their process

    def enqueue(self, job: Job, subtask: str, round: int) -> None:
        """Put a sub-task into the queue, once for each round."""
        with SetWorkflowID(self.name_of(job, subtask, round)):
            DBOS.enqueue_workflow(self._tasks, run_subtask, to_builtins(job), subtask, round)

    def name_of(self, job: Job, subtask: str, round: int) -> str:
        """Return the name of the workflow of a sub-task: the same in every run."""
        return f"{self._start_of(job)}{subtask}:{round}"

    def _start_of(self, job: Job) -> str:
        return f"{self._prefix}:{_short(job.session)}:"

    def due(self, job: Job, given: Collection[str]) -> Due:
        """Wait until there is something to hand out, or all that was handed out ended: so the steps of
        a run are as many as its levels, and not as many as its sub-tasks. given: the workflows that
        this run handed out and that count as not ended. Stopped."""
        registry = self._registry_of(job.session)
        finished: set[str] = set()
        looks = 0
        while True:
            with self._working():
                found = self._found(registry, job, given, finished)
            if found.ready or len(found.ended) == len(given):
                return found
            if self._stopping.wait(POLL_S):
                raise Stopped
            looks += 1
            if looks % LOOKS == 0:  # a workflow that ended without ending its sub-task
                ended = DBOS.list_workflows(
                    workflow_ids=sorted(set(given).difference(found.ended)),
                    status=["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"],
                    load_input=False,
                    load_output=False,
                )
                finished = {each.workflow_id for each in ended}

    def _found(
        self, registry: TaskRegistry, job: Job, given: Collection[str], finished: Collection[str]
    ) -> Due:
        """Return what is to be handed out now. finished: workflows that ended. A sub-task whose
        workflow ended without ending it fails: nobody would carry it out any more."""
        ready: list[tuple[str, int]] = []
        left, start = set(given), self._start_of(job)
        for task in registry.graph():
            if job.subtasks and task.id not in job.subtasks:
                continue
            if task.state not in ("ready", "running"):
                continue
            name = f"{start}{task.id}:{task.round}"
            if name in finished:
                why = "the engine gave it up: see what its process printed"
                _give_up(registry, task.id, task.round, why)
            elif name in left:
                left.discard(name)
            else:
                ready.append((task.id, task.round))
        return Due(tuple(ready), tuple(sorted(left)))

    def attempt(self, job: Job, subtask: str, round: int) -> str:
        """Make an attempt at a sub-task (Workbench.carry_out). Stopped."""
        with self._lock:
            if job.session not in self._benches:
                self._benches[job.session] = Workbench(
                    self._registry_of(job.session),
                    self._folder,
                    self._stopping.is_set,
                    self._orders.withdraw if self._orders else None,
                    self._watcher,
                )
            bench = self._benches[job.session]
        with self._working():
            try:
                runner, options = self._runner(job)
                done = bench.carry_out(subtask, round, runner, options)
            except SubtaskError as error:  # this process cannot find the runner
                _give_up(bench.registry, subtask, round, error.message)
                return "ended"
        if self._stopping.is_set() and done != "ended":
            raise Stopped
        return done

    def _runner(self, job: Job) -> tuple[Runner, Options]:
        """Return the runner of a job and its options. The time of a run elsewhere is the runner's to
        count: from the moment on when a worker takes it. SubtaskError."""
        if job.options.isolation != "remote":
            return self._runner_of(job.runner), job.options
        if self._orders is None:
            raise SubtaskError("engine", "", *words.NO_POSTGRESQL)
        runner = self._orders.runner(job.runner, job.options.timeout_s)
        return runner, structs.replace(job.options, timeout_s=None)

    def carry_out_order(self, name: str, data: bytes) -> bytes:
        """Carry out an order (OrderTaker.carry_out). Stopped."""
        if self._taker is None:
            raise Stopped
        return self._taker.carry_out(name, data)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Keep the engine from leaving while the block uses the store, which is closed then. Stopped."""
        with self._idle:
            if self._has_left:
                raise Stopped
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()

    def _keep_recovering(self) -> None:
        while not self._stopping.wait(RECOVER_S):
            self._recover()

    def _recover(self) -> None:
        """Put workflows of processes that died back into their queues. One process does so at a time,
        so that none is put back twice."""
        registry = self._registry_of("")
        with registry.context.workspace.lock("subtasks recovery"):
            for queue in (self._graphs, self._tasks):
                pending = DBOS.list_workflows(
                    status="PENDING", queue_name=queue, load_input=False, load_output=False
                )
                dead = [
                    each.workflow_id
                    for each in pending
                    if each.executor_id != self._owner and not alive(each.executor_id or "::")
                ]
                if dead:
                    DBOS.resume_workflows(dead, queue_name=queue)
        if self._taker is not None:
            self._taker.keep()


def _engine() -> Engine:
    engine = Engine._current  # noqa: SLF001 - this module's own
    if engine is None:  # a thread that DBOS left behind
        raise Stopped
    return engine


@DBOS.workflow(name="sightline_run_graph", max_recovery_attempts=RECOVERIES)
def run_graph(raw: dict[str, Any]) -> None:
    """Hand out sub-tasks as they become ready, until none is left."""
    job, engine = convert(raw, Job), _engine()
    given: list[str] = []
    while True:
        due = convert(_due(raw, given), Due)
        given = [name for name in given if name not in due.ended]
        for subtask, number in due.ready:
            engine.enqueue(job, subtask, number)
            given.append(engine.name_of(job, subtask, number))
        if not given:
            return


@DBOS.step(name="sightline_due")
def _due(raw: dict[str, Any], given: list[str]) -> dict[str, Any]:
    return dict(to_builtins(_engine().due(convert(raw, Job), given)))


@DBOS.workflow(name="sightline_run_subtask", max_recovery_attempts=RECOVERIES)
def run_subtask(raw: dict[str, Any], subtask: str, round: int) -> None:
    """Make attempts at a sub-task until it ended."""
    waits = 0
    while True:
        done = _attempt(raw, subtask, round)
        if done == "ended":
            return
        waits = waits + 1 if done == "elsewhere" else 0
        DBOS.sleep(WAIT_S[min(waits, len(WAIT_S) - 1)])


@DBOS.step(name="sightline_attempt")
def _attempt(raw: dict[str, Any], subtask: str, round: int) -> str:
    return _engine().attempt(convert(raw, Job), subtask, round)


@DBOS.workflow(name=WORKFLOW)
def run_order(data: bytes) -> bytes:
    """Carry out an order of another clone, without steps: nobody takes up that of a dead worker."""
    return _engine().carry_out_order(str(DBOS.workflow_id), data)


def _give_up(registry: TaskRegistry, subtask: str, round: int, why: str) -> None:
    """Record that a sub-task failed because nobody carries it out any more."""

    def decision(fold: TaskFold) -> Sequence[SubtaskEnded]:
        task = fold.tasks[subtask]
        if task.round != round or task.state not in ("ready", "running"):
            return []
        return [SubtaskEnded(subtask, "failed", None, 0, why)]

    registry.decide(decision)


def queue_url(folder: str) -> str:
    """Return the URL of the engine's own database in a folder. Both are made, for the user alone."""
    make_folder(folder)
    path = os.path.join(folder, "tasks.db")
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    os.chmod(path, 0o600)  # the files beside it get its permissions
    return f"sqlite:///{path}"


def orders_queue(database: str | None, root: str) -> str:
    """Return the name of the queue of a repository's orders, other ones for other versions: a worker of
    another version takes none, and must not count as there. root: of a workspace in it. SubtaskError
    where other machines cannot share the database, or the repository has no name."""
    if not database or not is_postgresql(database):
        raise SubtaskError("engine", "", *words.NO_POSTGRESQL)
    try:
        return f"sightline-orders-{VERSION}-{repository_of(root)[:16]}"
    except WorkspaceError as error:
        raise SubtaskError("engine", "", error.message, error.next_step) from error


def _short(session: str) -> str:
    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _digest(job: Job) -> str:
    return sha256(compact_json(to_builtins(job)).encode("utf-8", "surrogatepass")).hexdigest()[:12]
