"""Carry out the steps of a rewind: read again under the lock, journal, replace, record.

Groups of effects that are not connected go side by side in batches: one append for the intents of
a batch, and one for the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from stat import S_IMODE

from msgspec import structs

from sightline.changes.attribution import detect_changes
from sightline.changes.command_folders import Folders
from sightline.changes.session_context import TRIES, SessionContext
from sightline.checkpoints.rewind.effects import Target, load_effects, load_folders
from sightline.checkpoints.rewind.planning import GroupPlan, plan_group
from sightline.checkpoints.rewind.undo_plan import (
    Rename,
    Restore,
    SetMode,
    Skipped,
    Step,
    UndoPlan,
    group_effects,
)
from sightline.errors import Unverifiable
from sightline.filesystem.file_state import FileState, Link
from sightline.filesystem.tree_index import DEV, INO, MTIME
from sightline.guard.unfinished import locked
from sightline.guard.write_journal import Write, telling, write_all
from sightline.model.events import Changed
from sightline.model.revision import MISSING, link_of

Outcome = bool | Unverifiable
"""Whether a step was done; the error where the disk refused it."""

BATCH_FILES, BATCH_BYTES = 100, 8 << 20
"""The files of one batch, and their bytes: a replacement holds three open files for each."""


class UndoJob:
    """One group of effects while it is being undone. remaining: the steps to do; done: the steps
    that were done; result: None until nothing remains to be done; was_tried: it was started
    before; session: as in GroupPlan."""

    def __init__(self, plan: GroupPlan) -> None:
        self.plan = plan
        self.paths = sorted(plan.found)
        self.session = plan.session
        self.remaining: list[Step] = []
        self.done: list[Step] = []
        self.result: UndoPlan | None = None
        self.was_tried = False

    def start(self) -> None:
        """Begin with the steps of the plan."""
        self.was_tried = True
        self.remaining = list(self.plan.undo.steps)
        if not self.remaining:
            self._finish()

    def ready(self) -> list[Step]:
        """Return the next steps that may go side by side: files that go, or files that get content."""
        first, paths = self.remaining[0], set[str]()
        if not isinstance(first, Restore):
            return [first]
        for step in self.remaining[:BATCH_FILES]:
            is_same = isinstance(step, Restore) and (
                (step.after == MISSING) == (first.after == MISSING)
            )
            if not is_same or step.path in paths:
                break
            paths.add(step.path)
        return self.remaining[: len(paths)]

    def end_steps(self, outcomes: Sequence[Outcome]) -> None:
        """Take in the outcomes of the first remaining steps. Where a file had changed in between,
        nothing remains and there is no result yet: the group has to be planned again."""
        ended, self.remaining = self.remaining[: len(outcomes)], self.remaining[len(outcomes) :]
        refused = [
            Skipped(step.path, "refused", other=outcome.message)
            for step, outcome in zip(ended, outcomes, strict=True)
            if isinstance(outcome, Unverifiable)
        ]
        self.done += [
            step for step, outcome in zip(ended, outcomes, strict=True) if outcome is True
        ]
        if refused or not all(outcomes):
            self.remaining = []
        if refused or (all(outcomes) and not self.remaining):
            self._finish(*refused)

    def give_up(self) -> None:
        """End a group whose files other programs keep changing."""
        self.result = UndoPlan(skipped=tuple(Skipped(path, "busy") for path in self.paths))

    def _finish(self, *refused: Skipped) -> None:
        last = {step.path: step for step in self.done if isinstance(step, Restore)}
        steps = [s for s in self.done if not isinstance(s, Restore) or last[s.path] is s]
        skipped = (*self.plan.undo.skipped, *refused)
        self.result = structs.replace(self.plan.undo, steps=tuple(steps), skipped=skipped)


class OtherNames:
    """The other names (hard links) of files that a rewind creates again, found by inode. A file that
    has the same inode and time as the lost one had is that file."""

    def __init__(self, context: SessionContext) -> None:
        self._context = context
        self._paths: dict[tuple[object, ...], str] | None = None

    def in_order(self, writes: Sequence[Write]) -> Iterator[list[Write]]:
        """Yield the writes in groups to carry out one after the other: those that write content, then
        those that give such a file, or one that stands, a second name (Write.same_as)."""
        created = [each.path for each in writes if each.before == MISSING]
        stamps = self._context.store.stamps(created) if created else {}
        if stamps and self._paths is None:
            rows = self._context.workspace.remembered().files()
            self._paths = {(row[DEV], row[INO], row[MTIME]): path for path, row in rows}
        first: list[Write] = []
        then: list[Write] = []
        for write in writes:
            stamp, paths = stamps.get(write.path), self._paths
            if paths is None or stamp is None or stamp.revision != write.after:
                first.append(write)
                continue
            then_had = stamp.signature
            other = paths.setdefault((then_had.dev, then_had.ino, then_had.mtime_ns), write.path)
            if other == write.path:
                first.append(write)
            else:
                then.append(structs.replace(write, same_as=other))
        yield from filter(None, (first, then))


def apply_undo(
    context: SessionContext, target: Target, plans: Iterable[GroupPlan]
) -> Iterator[UndoPlan]:
    """Undo groups of effects, and yield what was done for each, in order. A group whose files
    change in between is planned again, with the steps done so far among its effects. In a rewind of all
    sessions, what is done to a group is recorded of the session whose effects they are."""
    names = OtherNames(context)
    of = cache(context.for_session) if target.everyone else lambda _: context
    for batch in _batches(plans):
        jobs = [UndoJob(plan) for plan in batch]
        for _ in range(TRIES):
            open_jobs = [job for job in jobs if job.result is None]
            if not open_jobs:
                break
            _attempt(context, target, open_jobs, names, of)
        for job in jobs:
            if job.result is None:
                job.give_up()
            if job.result is not None:
                yield job.result


def undo_folders(context: SessionContext, target: Target) -> Folders:
    """Remove the folders that came after the target and are empty, and make those again that went. Return
    the folders that it made and removed. Call it when all groups of effects are undone."""
    folders = load_folders(context, target)
    removed = context.workspace.remove_folders(folders.made)
    return Folders(context.workspace.make_folders(folders.removed), removed)


def _batches(plans: Iterable[GroupPlan]) -> Iterator[list[GroupPlan]]:
    batch: list[GroupPlan] = []
    files = size = 0
    for plan in plans:
        files, size = files + len(plan.found), size + plan.size
        if batch and (files > BATCH_FILES or size > BATCH_BYTES):
            yield batch
            batch, files, size = [], len(plan.found), plan.size
        batch.append(plan)
    if batch:
        yield batch


def _attempt(
    context: SessionContext,
    target: Target,
    jobs: Sequence[UndoJob],
    names: OtherNames,
    of: Callable[[str], SessionContext],
) -> None:
    """Do the steps of all jobs under one lock, until each is done or one of its files changed. The
    first attempt follows the plan: each write compares the bytes with it. A later one, and one
    that had to settle writes of a dead process, plans again."""
    paths = [path for job in jobs for path in job.paths]
    with locked(context, *paths) as settled:
        if settled or any(job.was_tried for job in jobs):
            groups = group_effects(load_effects(context, target))
            effects = [effect for group in groups for effect in group]
            for job in jobs:
                its = [each for each in effects if set(each.paths) <= set(job.paths)]
                job.plan = plan_group(context, its, job.paths, job.plan.forced)
        for job in jobs:
            job.start()
        while active := [job for job in jobs if job.remaining]:
            for session in sorted({job.session for job in active}):
                own = [job for job in active if job.session == session]
                _next_steps(of(session), target, own, names)


def _next_steps(
    context: SessionContext, target: Target, jobs: Sequence[UndoJob], names: OtherNames
) -> None:
    """Do the next steps of each job."""
    steps = [(job, job.ready()) for job in jobs]
    writes = [
        (step, job.plan.found[step.path])
        for job, some in steps
        for step in some
        if isinstance(step, Restore)
    ]
    outcomes = iter(_restore_each(context, target, writes, names))
    for job, some in steps:
        first = some[0]
        if isinstance(first, Rename):
            job.end_steps([_rename(context, target, first, job.plan.found[first.src])])
        elif isinstance(first, SetMode):
            job.end_steps([_set_mode(context, target, first)])
        else:
            job.end_steps([next(outcomes) for _ in some])


def _restore_each(
    context: SessionContext,
    target: Target,
    steps: Sequence[tuple[Restore, FileState]],
    names: OtherNames,
) -> list[Outcome]:
    """Write to different paths whose locks the caller holds. Each step comes with the file as it
    was read for the plan; a path that a step before moved a file to is read again."""
    writes = [
        Write(
            step.path,
            step.before,
            step.after,
            _as_before(context, step, found),
            step.data if (target_path := link_of(step.after)) is None else Link(target_path),
            gives_way=step.gives_way,
        )
        for step, found in steps
    ]
    outcomes: dict[str, Outcome] = {}
    for group in names.in_order(writes):
        done = _write_all(context, target, group)
        outcomes |= zip([write.path for write in group], done, strict=True)
    return [outcomes[write.path] for write in writes]


def _as_before(context: SessionContext, step: Restore, found: FileState) -> FileState:
    if step.gives_way:
        return FileState(step.path, "missing")
    return found if found.content == step.before else context.look(step.path)


def _rename(context: SessionContext, target: Target, step: Rename, found: FileState) -> Outcome:
    write = Write(step.path, MISSING, step.revision, found, src=step.src, gives_way=step.gives_way)
    return _write_all(context, target, [write])[0]


def _write_all(context: SessionContext, target: Target, writes: Sequence[Write]) -> list[Outcome]:
    by = target.cause(context.session).detail
    unrecorded = detect_changes(context, *[write.on_disk for write in writes])
    return write_all(context, writes, by=by, unrecorded=unrecorded)


def _set_mode(context: SessionContext, target: Target, step: SetMode) -> Outcome:
    """Set the permission bits of a file. The system does this in one call, so no intent is
    recorded before."""
    found = context.look(step.path)
    mode = S_IMODE(found.signature.mode) if found.signature is not None else None
    if mode == step.after:
        return True
    if mode is None or step.before not in (None, mode):
        return False
    try:
        after = context.workspace.set_mode(step.path, mode, step.after)
    except Unverifiable as error:
        return error
    bits = after.signature.mode if after.signature is not None else None
    if bits is not None and S_IMODE(bits) == step.after:
        cause = target.cause(context.session)
        fact = Changed(step.path, found.revision, after.revision, "mode", cause, bits)
        with telling(context, [step.path]):
            context.append([fact], found=[after], durable=True)
    return True
