"""The run of an attempt in a git worktree, with a session of its own that nothing keeps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.filesystem.disk import DiskWorkspace
from sightline.model.events import SessionStarted
from sightline.store.sqlite import MemoryStore
from sightline.store.workspace_files import StoreInUse, delete_stored, find_stored
from sightline.subtasks import worktree
from sightline.subtasks.runners import Assignment, Outcome, Runner, run
from sightline.subtasks.scope import Scopes
from sightline.subtasks.worktree import GitSettings, Worktree


def run_in(tree: Worktree, given: Assignment, runner: Runner) -> Outcome:
    """Run an assignment in a worktree, and return its changes, too. Git's settings that the run changed
    are outside of the tree."""
    outcome = with_settings(run(given, runner), tree.settings)
    if outcome.failed:
        return outcome
    return structs.replace(outcome, prefix=tree.start.prefix, changes=tuple(tree.changes()))


def with_settings(outcome: Outcome, settings: GitSettings | None) -> Outcome:
    """Return an outcome, also of a run that failed, with the files of git's settings that changed in the
    meantime. settings: when the run began; None for no repository."""
    changed = settings.changed() if settings is not None else ()
    result = structs.replace(outcome.result, outside=(*outcome.result.outside, *changed))
    return structs.replace(outcome, result=result)


@contextmanager
def private_context(
    tree: Worktree, of: SessionContext, session: str, scopes: Scopes, locks: str
) -> Iterator[SessionContext]:
    """Open a context of a session in a worktree, that nothing keeps. of: another context of the
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


def remove(of: SessionContext, folder: str) -> None:
    """Remove the worktree of a run, and the store that hooks of a child kept of the worktree. of: a context
    in another tree of the repository. WorkspaceError, StoreError."""
    root = os.path.realpath(folder)
    kept = find_stored(of.settings.state_home, root) if os.path.isdir(root) else None
    if kept is not None:
        with suppress(StoreInUse):
            delete_stored(kept)
    worktree.remove(of.workspace.root, folder, worktree_lock(of))


def worktree_lock(context: SessionContext) -> Callable[[], AbstractContextManager[None]]:
    """Return the lock under which the worktrees of a workspace's repository are made and removed."""
    return lambda: context.workspace.lock("git worktrees")
