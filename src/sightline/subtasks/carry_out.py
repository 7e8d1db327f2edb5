"""Carry out one sub-task: begin an attempt, run it, apply its changes once, record its end.

Every step may be repeated after its process was killed. An attempt is known by its number: facts of
an older one are refused, and changes are applied only where the session of the attempt has none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from json import loads
from time import monotonic
from typing import Literal

from msgspec import Struct, convert, structs, to_builtins

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import before_batch
from sightline.errors import ClaimRefused, SightlineError, StoreError, SubtaskError
from sightline.filesystem.private_files import make_folder, write_file
from sightline.filesystem.process import alive
from sightline.guard.unfinished import recover_all
from sightline.guard.write_journal import telling
from sightline.model.events import (
    Fact,
    SessionEnded,
    SessionStarted,
    SubtaskEnded,
    SubtaskReported,
    SubtaskReturned,
    SubtaskStarted,
)
from sightline.model.json_text import compact_json
from sightline.model.revision import revision_of
from sightline.sessions.claims import claim
from sightline.sessions.lifecycle import ID_LENGTH_MAX
from sightline.sessions.presence import environment
from sightline.subtasks import attempt_effects as effects
from sightline.subtasks import git_state, handing_over, words, worktree
from sightline.subtasks.git_state import GitState
from sightline.subtasks.runners import (
    Assignment,
    Outcome,
    Runner,
    RunnerSpec,
    end_left,
    run,
    token_of,
)
from sightline.subtasks.scope import narrowed
from sightline.subtasks.subtask import Graph, Isolation, SubTask, TaskResult, is_before
from sightline.subtasks.subtask_fold import TaskFold
from sightline.subtasks.task_registry import TaskRegistry
from sightline.subtasks.worktree_run import private_context, remove, run_in, with_git

Done = Literal["ended", "again", "elsewhere"]
"""What is left to do for a sub-task. again: another attempt; elsewhere: another process carries it out,
or has to end first."""

Watcher = Callable[[SubTask, float | None], object]
"""Called with a sub-task: None when an attempt begins, the seconds that it took when it ends."""

LOST_MAX = 10
"""Deaths of the process that carries a sub-task out, after which the sub-task fails: it may be what
kills the process."""

LOOK_S = 1.0
"""Seconds between two looks at whether a running sub-task was cancelled."""

CLAIM_S = 3_600.0

TIMEOUT_S = 3_600.0
"""Seconds of one attempt, unless somebody says otherwise: an agent that hangs would hold up all that wait."""

_ACTIVE: set[tuple[str, str, str, int]] = set()
"""The attempts under way in this process: workspace, parent, sub-task, number."""


class Options(Struct, frozen=True):
    """Options of attempts. isolation: None for a worktree where git has a commit, else
    shared; attempts: that may fail until the sub-task fails; timeout_s: of one attempt, None for no limit."""

    isolation: Isolation | None = None
    attempts: int = 1
    timeout_s: float | None = TIMEOUT_S


class Job(Struct, frozen=True):
    """A run of a graph. session: the parent; subtasks: the ids to run, () for all."""

    session: str
    runner: RunnerSpec
    options: Options = Options()
    subtasks: tuple[str, ...] = ()


class Attempt(Struct, frozen=True):
    """An attempt that this process makes."""

    task: SubTask
    context: SessionContext
    isolation: Isolation
    folder: str


class Workbench:
    """Carries out the sub-tasks of one session. folder: for trees of attempts, private to the user.
    is_stopping: returns whether this process is about to end; attempts end then, too, and are made
    again by another process. withdraw: takes the order of a session back from workers elsewhere.
    watcher: called as attempts begin and end."""

    def __init__(
        self,
        registry: TaskRegistry,
        folder: str,
        is_stopping: Callable[[], bool] = lambda: False,
        withdraw: Callable[[str], None] | None = None,
        watcher: Watcher = lambda *_: None,
    ) -> None:
        self.registry = registry
        self._context = registry.context
        self._folder = folder
        self._is_stopping = is_stopping
        self._withdraw = withdraw
        self._watcher = watcher

    def carry_out(self, subtask: str, round: int, runner: Runner, options: Options) -> Done:
        """Make the next attempt at a sub-task, or end what a killed process left of one. round: of
        its retries; another round is not ours to carry out. StoreError."""
        while not self._is_stopping():
            task = self.registry.find(subtask)
            if task is None or task.round != round or task.state not in ("ready", "running"):
                return "ended"
            if task.state == "running":
                if alive(task.owner) and not self._is_left(task):
                    return "elsewhere"
                began = monotonic()
                self._take_over(task)
                now = self.registry.task(subtask)
                if now.is_ended:
                    self._watcher(now, monotonic() - began)
                continue
            attempt = self._begin(task, options)
            if attempt is None:
                return "elsewhere"
            key = self._key(attempt.task)
            _ACTIVE.add(key)
            began = monotonic()
            self._watcher(attempt.task, None)
            try:
                done = self._run(attempt, runner, options)
            finally:
                _ACTIVE.discard(key)
            self._watcher(self.registry.task(subtask), monotonic() - began)
            return done
        return "elsewhere"

    def _key(self, task: SubTask) -> tuple[str, str, str, int]:
        return (self._context.workspace.root, self._context.session, task.id, task.attempt)

    def _is_left(self, task: SubTask) -> bool:
        """Return whether an attempt of this very process is not under way any more."""
        return task.owner == self._context.owner and self._key(task) not in _ACTIVE

    def _begin(self, task: SubTask, options: Options) -> Attempt | None:
        """Record the beginning of an attempt. None where it has to wait: another process was first, or
        a sibling works in the shared tree on the same files."""
        isolation: Isolation = options.isolation or (
            "worktree" if worktree.can_have(self._context.workspace.root) else "shared"
        )
        number = task.attempt + 1
        session = f"{self._context.session}/{task.id}.{number}"
        if len(session) > ID_LENGTH_MAX:
            digest = sha256(self._context.session.encode()).hexdigest()[:12]
            session = f"{digest}/{task.id}.{number}"

        def decision(fold: TaskFold) -> Sequence[Fact]:
            now = fold.tasks[task.id]
            if (now.state, now.attempt, now.round) != ("ready", task.attempt, task.round):
                return []
            if isolation == "shared" and _is_shared(now, fold):
                return []
            return [SubtaskStarted(task.id, session, number, self._context.owner, isolation)]

        if not self.registry.decide(decision):
            return None
        return self._attempt(self.registry.task(task.id))

    def _attempt(self, task: SubTask) -> Attempt:
        context = self._context.for_session(task.session or "")
        context.scopes = narrowed(self._context.scopes, task.scope)
        folder = self._folder_of(task, task.attempt)
        return Attempt(task, context, convert(task.isolation, Isolation), folder)

    def _folder_of(self, task: SubTask, number: int) -> str:
        """Return the folder for the tree of an attempt."""
        name = sha256(f"{self._context.session}\0{task.id}".encode()).hexdigest()[:16]
        return os.path.join(self._folder, f"{name}-{number}")

    def _run(self, attempt: Attempt, runner: Runner, options: Options) -> Done:
        """Run an attempt that began, to its end or its return."""
        context, parent = attempt.context, self._context
        context.append(
            [
                SessionStarted("subtask", parent.session, parent.store.position()),
                environment(parent.owner),
            ]
        )
        make_folder(self._folder)
        for number in range(1, attempt.task.attempt):
            self._clear(self._folder_of(attempt.task, number))
        try:
            left: tuple[str, ...] = ()
            if attempt.task.attempt > 1:
                left = effects.take_back_earlier(parent, attempt.task)
            note = self._claim(attempt)
            stop = Stop(self, attempt.task, options.timeout_s)
            if attempt.isolation == "worktree":
                outcome = self._in_worktree(attempt, runner, note, stop)
            elif attempt.isolation == "shared":
                outcome = self._in_shared_tree(attempt, runner, note, stop)
            else:
                outcome = run(self._given(attempt, parent.workspace.root, note, stop), runner)
            result = structs.replace(outcome.result, outside=(*left, *outcome.result.outside))
            failed = stop.why or outcome.failed
            if failed:
                is_lost = outcome.is_lost and not stop.why
                return self._failed(attempt, failed, result, options, is_lost=is_lost)
            if attempt.isolation == "shared":
                return self._finish(attempt, result, (), options)
            result, texts = effects.collect(context, structs.replace(outcome, result=result))
            return self._finish(attempt, result, texts, options)
        except SightlineError as error:
            try:
                return self._failed(attempt, error.message, TaskResult(), options)
            except StoreError:  # no room for that, either: the first error says what stands
                raise error from None
        except Exception as error:  # noqa: BLE001 - whatever goes wrong fails its attempt alone
            reason = f"{type(error).__name__}: {error}"
            return self._failed(attempt, reason, TaskResult(), options)

    def _in_shared_tree(self, attempt: Attempt, runner: Runner, note: str, stop: Stop) -> Outcome:
        """Run an attempt in the workspace itself, behind a checkpoint of its own; also of one that
        failed, the outcome has the files that the attempt changed."""
        context = attempt.context
        before_batch(context, words.before_attempt(attempt.task.id, attempt.task.attempt))
        given = self._given(attempt, context.workspace.root, note, stop)
        root = context.workspace.root
        before = git_state.look_at(root)
        _keep_state(attempt.folder, before)
        outcome = run(given, runner)
        result = effects.recorded(context, with_git(outcome.result, root, before))
        return structs.replace(outcome, result=result)

    def _in_worktree(self, attempt: Attempt, runner: Runner, note: str, stop: Stop) -> Outcome:
        """Run an attempt in a tree of its own."""
        root, limit = self._context.workspace.root, self._context.settings.max_file_bytes
        tree = worktree.make(root, worktree.start_of(root, limit), attempt.folder, limit)
        if tree.start.left_out:
            note += f"\n{words.not_handed_over(tree.start.left_out)}.\n"
        given = self._given(attempt, tree.root, note, stop)
        context = attempt.context
        with private_context(tree, context, context.session, context.scopes, self._folder) as own:
            return run_in(tree, structs.replace(given, context=own), runner)

    def _given(self, attempt: Attempt, root: str, note: str, stop: Stop) -> Assignment:
        """Return the assignment of an attempt. root: the folder with the files that it hands over."""
        prompt, handed = handing_over.compose(
            self._context, self.registry.graph(), attempt.task, root
        )
        context = attempt.context
        return Assignment(
            attempt.task, prompt + note, root, context.session, attempt.isolation, context,
            handed, stop, token_of(attempt.folder),
        )  # fmt: skip

    def _claim(self, attempt: Attempt) -> str:
        """Claim the files that siblings share, and return words on the claims of others for the child.
        In a tree of its own nobody is kept out: the claim says that changes are coming."""
        shared = shared_files(self.registry.graph(), attempt.task)
        if not shared:
            return ""
        try:
            claim(attempt.context, shared, CLAIM_S, exclusive=attempt.isolation == "shared")
        except ClaimRefused as error:
            return f"\n{error.message}\n"
        return ""

    def _finish(
        self, attempt: Attempt, result: TaskResult, texts: Sequence[bytes], options: Options
    ) -> Done:
        """Apply the changes of an attempt that ended well, and record its end."""
        task = attempt.task
        if result.files and attempt.isolation != "shared":
            encoded = result.encoded()
            fact = SubtaskReported(task.id, task.attempt, revision_of(encoded), result.texts)
            decided = self.registry.decide(
                _of_attempt(task, lambda _: [fact]), blobs=[encoded, *texts], durable=True
            )
            if not decided:
                return self._left(attempt)
            if not result.conflicts:
                result = self._applied(attempt, result)
        if result.conflicts:
            return self._failed(
                attempt, words.conflict_reason(result.conflicts), result, options, keep=True
            )
        return self._complete(attempt, result)

    def _applied(self, attempt: Attempt, result: TaskResult) -> TaskResult:
        root = effects.tree_root(attempt.context, attempt.folder)
        return effects.apply(attempt.context, self.registry.graph(), attempt.task, result, root)

    def _complete(self, attempt: Attempt, result: TaskResult) -> Done:
        if attempt.isolation != "shared":
            result = effects.with_writes_at_home(attempt.context, result)
        facts, blobs = effects.completion(self._context, attempt.task, result)
        with telling(attempt.context, [file.path for file in result.files if file.applied]):
            self.registry.decide(_of_attempt(attempt.task, lambda _: facts), blobs=blobs)
            return self._left(attempt)

    def _failed(
        self,
        attempt: Attempt,
        reason: str,
        result: TaskResult,
        options: Options,
        *,
        keep: bool = False,
        is_lost: bool = False,
    ) -> Done:
        """Record that an attempt failed: the sub-task is returned while attempts are left, else it
        failed. keep: keep the texts of changes that were not applied; is_lost: through no fault of its
        own, so it does not count."""
        is_needed = keep and (result.kept or any(file.large for file in result.files))
        result = structs.replace(result, kept=(result.kept or attempt.folder) if is_needed else "")
        task, encoded = attempt.task, result.encoded()
        is_stopped = self._is_stopping()

        def facts(now: SubTask) -> Sequence[Fact]:
            if is_lost and not is_stopped:
                return _lost(now, reason)
            if is_stopped or now.failures + 1 < options.attempts:
                why = words.with_outside(reason, result.outside, result.notes)
                return [SubtaskReturned(task.id, task.attempt, why, is_lost=is_stopped)]
            return [
                SubtaskEnded(
                    task.id,
                    "failed",
                    result.summary or None,
                    task.attempt,
                    reason,
                    revision_of(encoded),
                    result.texts if keep else (),
                )
            ]

        self.registry.decide(_of_attempt(task, facts), blobs=[encoded])
        now = self.registry.task(task.id)
        if now.state == "ready":
            effects.take_back(attempt.context)
        return self._left(attempt)

    def _left(self, attempt: Attempt) -> Done:
        """End the session of an attempt, remove its tree unless the result needs that, and say what is left
        to do for the sub-task."""
        now = self.registry.task(attempt.task.id)
        result = (
            effects.result_of(self._context, now) if now.attempt == attempt.task.attempt else None
        )
        if result is None or now.state not in ("completed", "failed") or not result.kept:
            self._clear(attempt.folder)
        attempt.context.append([SessionEnded(now.state)])
        is_again = now.state == "ready" and now.round == attempt.task.round
        return "again" if is_again else "ended"

    def _take_over(self, task: SubTask) -> None:
        """End what a process left of an attempt: apply the changes of one that ended well, give up
        any other."""
        attempt = self._attempt(task)
        end_left(attempt.folder)
        recover_all(attempt.context, own=True)
        if task.is_reported:
            result = effects.stored(attempt.context, task)
            if not result.conflicts:
                result = self._applied(attempt, result)
            if result.conflicts:
                reason = words.conflict_reason(result.conflicts)
                self._failed(attempt, reason, result, Options(), keep=True)
            else:
                self._complete(attempt, result)
        else:
            left = effects.take_back(attempt.context)
            found = with_git(
                TaskResult(), attempt.context.workspace.root, _kept_state(attempt.folder)
            )
            reason = words.lost_attempt(task.attempt, left)
            reason = words.with_outside(reason, found.outside, found.notes)
            self.registry.decide(_of_attempt(task, lambda now: _lost(now, reason)))
            if attempt.context.store.session(attempt.context.session) is not None:
                attempt.context.append([SessionEnded("lost")])
            self._clear(attempt.folder)
        if attempt.isolation == "remote" and self._withdraw is not None:
            self._withdraw(attempt.context.session)

    def _clear(self, folder: str) -> None:
        """Remove what an attempt has in the folder of trees."""
        with suppress(SightlineError):  # again before the next attempt
            remove(self._context, folder)
        with suppress(FileNotFoundError):
            os.unlink(f"{folder}{BEFORE}")


class Stop:
    """Says why an attempt must stop: it timed out, was cancelled, or its process is about to end.
    why: the reason, once there was one."""

    def __init__(self, bench: Workbench, task: SubTask, timeout_s: float | None) -> None:
        self._bench = bench
        self._task = task
        self._timeout_s = timeout_s
        self._began = self._looked = monotonic()
        self.why = ""

    def __call__(self) -> str:
        """Return the reason; "" to go on. Cheap enough to be asked ten times a second."""
        now = monotonic()
        if self.why:
            return self.why
        if self._bench._is_stopping():  # noqa: SLF001 - a part of it
            self.why = "the process that carried it out was stopped"
        elif self._timeout_s is not None and now - self._began > self._timeout_s:
            self.why = words.too_long(self._timeout_s)
        elif now - self._looked >= LOOK_S:
            self._looked = now
            task = self._bench.registry.find(self._task.id)
            if task is None or (task.state, task.attempt) != ("running", self._task.attempt):
                self.why = "it was ended by somebody else"
        return self.why


def merge_result(registry: TaskRegistry, subtask: str, keep: Sequence[str] = ()) -> SubTask:
    """Apply the changes of a sub-task that failed because they could not be applied then, and
    complete it. keep: files that stay as they are in the workspace. SubtaskError where there are no changes, and
    where they still cannot be applied: it shows both sides of each conflict."""
    task = registry.task(subtask)
    context = registry.context.for_session(task.session or "")
    context.scopes = narrowed(registry.context.scopes, task.scope)
    result = effects.stored(context, task) if task.record is not None else TaskResult()
    if task.state != "failed" or not any(not file.applied for file in result.files):
        raise SubtaskError("move", subtask, f"Sub-task {subtask!r} has no changes to apply.", "")
    kept = tuple(file for file in result.files if file.path in keep)
    unknown_paths = sorted(set(keep).difference(file.path for file in kept))
    if unknown_paths:
        raise SubtaskError("move", subtask, *words.not_changed(subtask, unknown_paths))
    recover_all(context)
    root = effects.tree_root(context, result.kept)
    rest = tuple(file for file in result.files if file.path not in keep)
    result = structs.replace(result, files=rest, conflicts=())
    result = effects.apply(context, registry.graph(), task, result, root)
    if result.conflicts:
        sides = "".join(words.both_sides(subtask, each) for each in result.conflicts)
        text = words.still_conflicts(subtask, result.conflicts)
        raise SubtaskError("move", subtask, *text, diff=sides)
    result = structs.replace(result, files=(*result.files, *kept))
    facts, blobs = effects.completion(registry.context, task, result)

    def decision(fold: TaskFold) -> Sequence[Fact]:
        now = fold.tasks[subtask]
        is_same = (now.state, now.attempt) == ("failed", task.attempt)
        return facts if is_same else []

    registry.decide(decision, blobs=blobs)
    return registry.task(subtask)


BEFORE = ".git-state"
"""End of the name of the file with the state of git before an attempt in the shared tree."""


def _keep_state(folder: str, state: GitState | None) -> None:
    """Keep the state of git before an attempt for a process that may have to end the attempt."""
    if state is not None:
        text = compact_json(to_builtins(state))
        write_file(f"{folder}{BEFORE}", text.encode("utf-8", "surrogatepass"))


def _kept_state(folder: str) -> GitState | None:
    """Return the state of git before an attempt in the shared tree; None where there is none."""
    try:
        with open(f"{folder}{BEFORE}", "rb") as file:
            return convert(loads(file.read().decode("utf-8", "surrogatepass")), GitState)
    except FileNotFoundError:
        return None


def shared_files(graph: Graph, task: SubTask) -> list[str]:
    """Return the files that a sub-task shares with a sibling which has not ended, where neither of both
    waits for the other."""
    own = set(task.files)
    if not own:
        return []
    shared: set[str] = set()
    for other in graph:
        both = own.intersection(other.files)
        if both and other.id != task.id and not other.is_ended:
            ordered = is_before(graph, task.id, other.id) or is_before(graph, other.id, task.id)
            shared |= set() if ordered else both
    return sorted(shared)


def _is_shared(task: SubTask, fold: TaskFold) -> bool:
    """Return whether a sibling works in the shared tree on a file of a sub-task."""
    own = set(task.files)
    return bool(own) and any(
        other.state == "running" and other.isolation == "shared" and not own.isdisjoint(other.files)
        for other in fold.tasks.values()
    )


def _lost(task: SubTask, reason: str) -> Sequence[Fact]:
    """Return the facts of an attempt that was lost. The sub-task fails with the last that it may lose."""
    returned = SubtaskReturned(task.id, task.attempt, reason, is_lost=True)
    if task.lost + 1 < LOST_MAX:
        return [returned]
    why = words.lost_too_often(LOST_MAX)
    return [returned, SubtaskEnded(task.id, "failed", None, task.attempt, why)]


def _of_attempt(
    task: SubTask, facts: Callable[[SubTask], Sequence[Fact]]
) -> Callable[[TaskFold], Sequence[Fact]]:
    """Return a decision that records facts of an attempt, and nothing once the attempt was replaced
    or the sub-task was ended by somebody else."""

    def decision(fold: TaskFold) -> Sequence[Fact]:
        now = fold.tasks[task.id]
        is_current = (now.state, now.attempt) == ("running", task.attempt)
        return facts(now) if is_current else []

    return decision
