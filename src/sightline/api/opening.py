"""Opening a session: one rule for the workspace, its settings, its store."""

from __future__ import annotations

import os
from collections.abc import Callable

from sightline.api.folders import open_folder
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext, now_us
from sightline.config.settings import Settings
from sightline.errors import Hint, NextCall, SessionError
from sightline.filesystem import process
from sightline.filesystem.open_files import enough_files
from sightline.filesystem.port import Workspace
from sightline.guard.unfinished import recover_all
from sightline.model.events import Fact, SessionStarted
from sightline.sessions.lifecycle import UNNAMED, id_for
from sightline.sessions.presence import environment
from sightline.store.port import Store
from sightline.subtasks.scope import scopes_of


@enough_files()
def open_session(
    workspace: str | os.PathLike[str] = ".",
    *,
    id: str | None = None,
    agent: str = UNNAMED,
    store: str | None = None,
    parent: str | None = None,
    settings: Settings | None = None,
    clock: Callable[[], int] | None = None,
    approve: Callable[[str, str], bool] | None = None,
) -> Session:
    """Open a session of an agent in a workspace; a known `id` resumes its session.

    workspace: a folder, taken as it is; "." stands for the nearest parent with sightline.toml or
    .git, else the current folder. store: a URL; without it the settings decide, by default an
    embedded store in the user's state folder. settings: without them the user's and the
    workspace's files are read; what is wrong in the workspace's files is left out, with a warning. clock: gives UTC microseconds. approve: asked (path, diff) before
    a write that the policy "ask" covers; without it such a write is refused.

    WorkspaceError, SettingsError, StoreError, SessionError.
    """
    kept, tree, chosen = open_folder(workspace, store, settings)
    try:
        session = start(
            kept,
            tree,
            chosen,
            id=id,
            agent=agent,
            parent=parent,
            clock=clock,
            approve=approve,
            holder=process.owner(),
        )
        session.finish_interrupted()
    except BaseException:
        kept.close()
        raise
    return session


def start(
    store: Store,
    workspace: Workspace,
    settings: Settings,
    *,
    id: str | None = None,
    agent: str = UNNAMED,
    parent: str | None = None,
    clock: Callable[[], int] | None = None,
    approve: Callable[[str, str], bool] | None = None,
    owner: str | None = None,
    holder: str | None = None,
    attempt: str | None = None,
) -> Session:
    """Open a session over open ports. Writes of dead processes are settled first.

    attempt: the session of the attempt at a sub-task that the agent works for: the new session is its
    child, and has its scope. owner: the process that carries out what is journalled (filesystem.process); this one unless
    given. holder: the process that holds the session from here on, by which others tell whether
    it is there; None leaves that as it is.
    """
    session = id_for(id)
    works_for = store.session(attempt) if attempt is not None else None
    if works_for is not None:
        parent = parent or works_for.id
    writer = owner or process.owner()
    ground = SessionContext(session, store, workspace, settings, clock or now_us, writer, approve)
    recover_all(ground)
    state = store.session(session)
    above = state.parent if state is not None else parent
    scoped = (session, above) if works_for is None else (works_for.id, works_for.parent)
    ground.scopes = scopes_of(store, *scoped)
    if state is None:
        with workspace.lock(f"session {session}"):  # two hooks of it may come at once
            state = store.session(session)
            if state is None:
                _begin(ground, agent, parent, holder)
                return Session(ground, agent)
    if agent not in (UNNAMED, state.agent):
        raise SessionError(
            f"Session {session!r} belongs to the agent {state.agent!r}, not {agent!r}.",
            "Choose another id: two agents with one id cannot be told apart.",
        )
    if holder is not None and (state.owner != holder or state.ended is not None):
        ground.append([environment(holder)])
    return Session(ground, state.agent)


def _begin(ground: SessionContext, agent: str, parent: str | None, holder: str | None) -> None:
    above = ground.store.session(parent) if parent is not None else None
    if parent is not None and above is None:
        raise SessionError(
            f"There is no session {parent!r}.",
            Hint("Give the id of a known session. List them: ", NextCall("workspace.sessions")),
        )
    facts: list[Fact] = [SessionStarted(agent, parent, above.position if above else None)]
    if holder is not None:
        facts.append(environment(holder))
    ground.append(facts)
