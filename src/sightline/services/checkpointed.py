"""Verbs that change files, with the automatic checkpoints before and after them.

The settings say when Sightline takes a checkpoint by itself: before the first change of a turn,
or after a number of edits. The steps of a verb know nothing of that.
"""

from __future__ import annotations

from contextlib import contextmanager

from sightline import services
from sightline.services.automatic import after_change, before_change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline.core.attempts import Attempt
    from sightline.services.batches import Change
    from sightline.services.ground import Ground
    from sightline.services.hosts import Run
    from sightline.services.results import BatchResult, EditResult


def edit(ground: Ground, path: str, attempt: Attempt) -> EditResult:
    """Carry out one attempt on one file. EditRefused, PathRefused."""
    before_change(ground, path)
    result = services.edits.carry_out(ground, path, attempt)
    after_change(ground, result.path)
    return result


def move(ground: Ground, src: str, dst: str) -> EditResult:
    """Rename a file. EditRefused, PathRefused."""
    before_change(ground, src)
    result = services.moves.move(ground, src, dst)
    after_change(ground, result.path)
    return result


def apply(ground: Ground, changes: Sequence[Change]) -> BatchResult:
    """Carry out all changes of a batch, or none. EditRefused, ValueError."""
    for change in changes:
        change.attempt()  # ValueError where it says nothing or too much
    before_change(ground, *(change.path for change in changes))
    done = services.batches.apply(ground, changes)
    after_change(ground, *(result.path for result in done.results))
    return done


def patch(ground: Ground, unified_diff: str) -> EditResult:
    """Apply a unified diff, all of its files or none. EditRefused."""
    before_change(ground, *services.batches.paths_of(unified_diff))
    first = services.batches.patch(ground, unified_diff)
    after_change(ground, first.path, *(each.path for each in first.others))
    return first


@contextmanager
def writing(ground: Ground, path: str, content: str | bytes) -> Iterator[None]:
    """Journal a host's own write of `content` to a file, for as long as the block runs."""
    located = ground.workspace.locate(path)
    before_change(ground, path)
    try:
        with services.hosts.writing(ground, path, content):
            yield
    finally:
        after_change(ground, located.path)


@contextmanager
def ran(ground: Ground, command: str) -> Iterator[Run]:
    """Record what a command changes, for as long as the block runs."""
    from sightline.services.news import changes_of
    from sightline.services.results import CommandRun

    before_change(ground, command=command)
    run = services.hosts.Run(ground, command)
    try:
        yield run
    finally:  # what the command changed before it failed, it changed
        run.end()
        told = tuple(changes_of(ground, run.paths))
        run.result = CommandRun(run.command, run.exit_code, told, run.removed)
        after_change(ground, *sorted({*run.paths, *run.removed}))
