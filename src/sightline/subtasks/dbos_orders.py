"""Hand orders to workers in other clones through DBOS, and wait for their outcomes.

An order is a workflow without steps. Nobody takes up the order of a dead worker: the process that waits
for it makes the attempt again. What an order holds is removed from the database when its wait ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from threading import Event, Lock
from time import monotonic, sleep
from typing import TypeVar

import psycopg
from dbos import DBOSClient, EnqueueOptions, WorkflowHandle
from msgspec import structs
from sqlalchemy.exc import SQLAlchemyError

from sightline.changes.session_context import SessionContext
from sightline.errors import SubtaskError, WorkspaceError
from sightline.subtasks import orders, words
from sightline.subtasks.carry_out import Watcher
from sightline.subtasks.orders import Order
from sightline.subtasks.runners import Assignment, Outcome, Runner, RunnerSpec
from sightline.subtasks.transitions import State
from sightline.subtasks.worker_presence import Presence

T = TypeVar("T")

WORKFLOW = "sightline_run_order"
APPLICATION = "sightline"

LOOK_S = 0.5
"""Seconds between two looks at an order."""

ANSWER_S = 60.0
"""Seconds that the database may not answer."""

NO_WORKER_S = 60.0
"""Seconds that an order waits while no worker of the repository lives."""

GONE_S = 10.0
"""Seconds without a sign of the worker that took an order, after which the worker counts as dead. A
connection that was lost is made again before."""


class RemoteOrders:
    """The orders of one repository. database: a URL of PostgreSQL; queue: of the orders; home: the name
    of the workspace among those that share the database; version: of the workflows."""

    def __init__(self, database: str, queue: str, home: str, version: str) -> None:
        self.queue = queue
        self._home = home
        self.database = database
        self._version = version
        self._presence = Presence(database)
        self._lock = Lock()
        self._client: DBOSClient | None = None

    def runner(self, spec: RunnerSpec, timeout_s: float | None) -> Runner:
        """Return a runner that hands its assignment to a worker. timeout_s: from the moment on when a
        worker takes it."""

        def run(given: Assignment) -> Outcome:
            return self._carry_out(orders.order_of(given, spec), timeout_s, given.must_stop)

        return run

    def withdraw(self, session: str) -> None:
        """End the order of an attempt, and remove its bytes from the database."""
        client, name = self._connected(), self._name(session)
        _patiently(lambda: client.cancel_workflow(name))
        _patiently(lambda: client.delete_workflow(name))

    def is_withdrawn(self, name: str) -> bool:
        """Return whether an order that runs was withdrawn. name: of its workflow."""
        return self._status(name)[0] != "PENDING"

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.destroy()
                self._client = None
        self._presence.close()

    def _connected(self) -> DBOSClient:
        with self._lock:
            if self._client is None:
                self._client = _patiently(
                    lambda: DBOSClient(
                        system_database_url=self.database, application_name=APPLICATION
                    )
                )
            return self._client

    def _carry_out(
        self, order: Order, timeout_s: float | None, must_stop: Callable[[], str]
    ) -> Outcome:
        client, data = self._connected(), orders.encoded(order)
        options: EnqueueOptions = {
            "workflow_name": WORKFLOW,
            "queue_name": self.queue,
            "workflow_id": self._name(order.session),
            "app_version": self._version,
        }
        _patiently(lambda: client.enqueue(options, data))
        try:
            return self._wait(order, timeout_s, must_stop)
        finally:
            self.withdraw(order.session)

    def _wait(self, order: Order, timeout_s: float | None, must_stop: Callable[[], str]) -> Outcome:
        name = self._name(order.session)
        seen = monotonic()  # when somebody last lived who carries it out, or may take it
        taken: float | None = None
        while True:
            if why := must_stop():
                return Outcome(failed=why)
            status, worker = self._status(name)
            now = monotonic()
            if status == "SUCCESS":
                result: WorkflowHandle[bytes] = self._connected().retrieve_workflow(name)
                return orders.decoded_outcome(_patiently(result.get_result))
            if status == "PENDING":
                taken = taken or now
                if timeout_s is not None and now - taken > timeout_s:
                    return Outcome(failed=words.too_long(timeout_s))
                seen = now if self._lives(worker) else seen
                if now - seen > GONE_S:
                    return Outcome(failed=words.worker_died(worker), is_lost=True)
            elif status in ("ENQUEUED", "DELAYED"):
                seen = now if self._lives(self.queue) else seen
                if now - seen > NO_WORKER_S:
                    return Outcome(failed=words.no_worker(NO_WORKER_S))
            else:
                return Outcome(failed=f"the order of the worker was {status.lower()}", is_lost=True)
            sleep(LOOK_S)

    def _status(self, name: str) -> tuple[str, str]:
        """Return the state of an order as DBOS names it, "REMOVED" where there is none; and its worker."""
        client = self._connected()
        found = _patiently(
            lambda: client.list_workflows(workflow_ids=[name], load_input=False, load_output=False)
        )
        return (found[0].status, found[0].executor_id or "") if found else ("REMOVED", "")

    def _lives(self, name: str) -> bool:
        """Return whether there is a sign of a worker; a database that does not answer gives none."""
        try:
            return self._presence.is_held(name)
        except psycopg.Error:
            return False

    def _name(self, session: str) -> str:
        """Return the name of the workflow of an attempt. session: of the attempt."""
        text = f"{self._home}\0{session}"
        return f"order:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _patiently(ask: Callable[[], T]) -> T:
    """Ask the database, again while it does not answer: it may be starting anew."""
    until = monotonic() + ANSWER_S
    while True:
        try:
            return ask()
        except (psycopg.Error, SQLAlchemyError):
            if monotonic() > until:
                raise
            sleep(LOOK_S)


class OrderTaker:
    """Carries out the orders of all clones in this one, while it holds the names of a worker. working:
    a block that keeps the process from leaving. watcher: as a Workbench calls it; the state at the end is
    the run's, whose changes its home has yet to judge."""

    def __init__(
        self,
        orders: RemoteOrders,
        clone: SessionContext,
        folder: str,
        runner_of: Callable[[RunnerSpec], Runner],
        stopping: Event,
        working: Callable[[], AbstractContextManager[None]],
        watcher: Watcher,
    ) -> None:
        self.queue = orders.queue
        self._orders = orders
        self._clone = clone
        self._folder = folder
        self._runner_of = runner_of
        self._stopping = stopping
        self._working = working
        self._watcher = watcher
        self._presence = Presence(orders.database, [clone.owner], [orders.queue])
        self._presence.renew()

    def keep(self) -> None:
        """Hold the names again where the connection was lost, and remove what killed workers left."""
        with suppress(psycopg.Error):  # again at the next look
            self._presence.renew()
        with suppress(WorkspaceError):  # again at the next look
            orders.sweep(self._clone, self._folder)

    def close(self) -> None:
        """Give up the names."""
        self._presence.close()

    def carry_out(self, name: str, data: bytes) -> bytes:
        """Carry out an order, and return its outcome. name: of its workflow."""
        order = orders.decoded_order(data)
        folder = os.path.join(self._folder, name.replace(":", "-"))
        began = monotonic()
        self._watcher(order.task, None)
        with self._working():
            try:
                runner = self._runner_of(order.runner)
            except SubtaskError as error:
                outcome = Outcome(failed=error.message)
            else:
                stop = _Stop(self._orders, name, self._stopping)
                outcome = orders.carry_out(order, runner, self._clone, folder, stop)
        if self._stopping.is_set() and outcome.failed:
            outcome = structs.replace(outcome, is_lost=True)
        state: State = "failed" if outcome.failed else "completed"
        ended = structs.replace(
            order.task,
            state="ready" if outcome.is_lost else state,
            result=outcome.result.summary,
            reason=outcome.failed,
        )
        self._watcher(ended, monotonic() - began)
        return orders.encoded(outcome)


class _Stop:
    """Says why the run of an order must stop: it was withdrawn, or the worker is about to end."""

    def __init__(self, orders: RemoteOrders, name: str, stopping: Event) -> None:
        self._orders = orders
        self._name = name
        self._stopping = stopping
        self._looked = monotonic()
        self._why = ""

    def __call__(self) -> str:
        now = monotonic()
        if self._stopping.is_set():
            return words.WORKER_STOPPED
        if not self._why and now - self._looked >= LOOK_S:
            self._looked = now
            self._why = words.WITHDRAWN if self._orders.is_withdrawn(self._name) else ""
        return self._why
