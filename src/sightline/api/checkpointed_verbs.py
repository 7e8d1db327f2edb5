"""Verbs that change files, with the automatic checkpoints before and after them.

The settings say when Sightline takes a checkpoint by itself: before the first change of a turn,
or after a number of edits. The steps of a verb know nothing of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import after_change, before_change
from sightline.guard import batch, host_writes
from sightline.guard.batch import Change
from sightline.guard.edit import apply_edit
from sightline.guard.host_writes import Run
from sightline.guard.move import move as move_file
from sightline.model.attempts import Attempt
from sightline.model.results import BatchResult, CommandRun, EditResult
from sightline.notices.pending import changes_of


def edit(ground: SessionContext, path: str, attempt: Attempt) -> EditResult:
    """Carry out one attempt on one file. EditRefused, PathRefused."""
    before_change(ground, path)
    result = apply_edit(ground, path, attempt)
    after_change(ground, result.path)
    return result


def move(ground: SessionContext, src: str, dst: str) -> EditResult:
    """Rename a file. EditRefused, PathRefused."""
    before_change(ground, src)
    result = move_file(ground, src, dst)
    after_change(ground, result.path)
    return result


def apply(ground: SessionContext, changes: Sequence[Change]) -> BatchResult:
    """Carry out all changes of a batch, or none. EditRefused, ValueError."""
    for change in changes:
        change.attempt()  # ValueError where it says nothing or too much
    before_change(ground, *(change.path for change in changes))
    done = batch.apply(ground, changes)
    after_change(ground, *(result.path for result in done.results))
    return done


def patch(ground: SessionContext, unified_diff: str) -> EditResult:
    """Apply a unified diff, all of its files or none. EditRefused."""
    before_change(ground, *batch.paths_of(unified_diff))
    first = batch.patch(ground, unified_diff)
    after_change(ground, first.path, *(each.path for each in first.others))
    return first


@contextmanager
def writing(ground: SessionContext, path: str, content: str | bytes) -> Iterator[None]:
    """Journal a host's own write of `content` to a file, for as long as the block runs."""
    located = ground.workspace.locate(path)
    before_change(ground, path)
    try:
        with host_writes.writing(ground, path, content):
            yield
    finally:
        after_change(ground, located.path)


@contextmanager
def ran(ground: SessionContext, command: str) -> Iterator[Run]:
    """Record what a command changes, for as long as the block runs."""
    before_change(ground, command=command)
    run = host_writes.Run(ground, command)
    try:
        yield run
    finally:  # what the command changed before it failed, it changed
        run.end()
        told = tuple(changes_of(ground, run.paths))
        run.result = CommandRun(run.command, run.exit_code, told, run.removed)
        after_change(ground, *sorted({*run.paths, *run.removed}))
