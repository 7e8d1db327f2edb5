"""The run of an attempt in a tree of its own, with a session of its own that nothing keeps."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.filesystem.disk import DiskWorkspace
from sightline.model.events import SessionStarted
from sightline.store.memory import MemoryStore
from sightline.store.workspace_files import StoreInUse, delete_stored, find_stored
from sightline.subtasks import words, worktree
from sightline.subtasks.git_state import GitState, changed_settings, differences, look_at
from sightline.subtasks.runners import Assignment, Outcome, Runner, run
from sightline.subtasks.scope import Scopes
from sightline.subtasks.subtask import TaskResult
from sightline.subtasks.worktree import Worktree


def run_in(tree: Worktree, given: Assignment, runner: Runner) -> Outcome:
    """Run an assignment in a tree, and return its changes, too, and what else it left."""
    outcome = run(given, runner)
    if outcome.failed:
        return outcome
    found = tree.look()
    left_out = [words.not_handed_over(tree.start.left_out)] if tree.start.left_out else []
    notes = (*outcome.result.notes, *left_out, *found.notes)
    kept = tree.top if found.is_kept else ""
    result = structs.replace(outcome.result, notes=notes, kept=kept)
    return structs.replace(outcome, result=result, prefix=tree.start.prefix, changes=found.changes)


def with_git(result: TaskResult, root: str, before: GitState | None) -> TaskResult:
    """Add git's changes during a run in the workspace itself to the result of the run. before: the
    state when the run began; None for no repository."""
    now = look_at(root) if before is not None else None
    if before is None or now is None:
        return result
    return structs.replace(
        result,
        outside=(*result.outside, *changed_settings(before, now)),
        notes=(*result.notes, *differences(before, now)),
    )


@contextmanager
def private_context(
    tree: Worktree, of: SessionContext, session: str, scopes: Scopes, locks: str
) -> Iterator[SessionContext]:
    """Open a context of a session in a tree, that nothing keeps. of: another context of the
    process; locks: the folder for its locks."""
    settings = of.settings
    workspace = DiskWorkspace(
        tree.root,
        locks,
        deadline_s=settings.deadline_s,
        agents_refuse=settings.ignore_files == "refuse",
    )
    own = SessionContext(session, MemoryStore(), workspace, settings, of.clock, of.owner)
    own.scopes = scopes
    own.append([SessionStarted("subtask")])
    try:
        yield own
    finally:
        own.store.close()


def remove(of: SessionContext, folder: str, *, is_kept: bool = False) -> None:
    """Remove the tree of a run, and the store that hooks of a child kept of the tree. of: any context of
    the process; is_kept: leave the tree itself. WorkspaceError, StoreError."""
    root = os.path.realpath(folder)
    stored = find_stored(of.settings.state_home, root) if os.path.isdir(root) else None
    if stored is not None:
        with suppress(StoreInUse):
            delete_stored(stored)
    if not is_kept:
        worktree.remove(folder)
