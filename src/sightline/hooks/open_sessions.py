"""Open workspaces and sessions for hook calls, each when the first event needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from threading import RLock, Thread
from time import monotonic

from sightline.api.folders import ports
from sightline.api.opening import start
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext, now_us
from sightline.checkpoints.take import keep_ahead
from sightline.config.settings import Settings, load_settings
from sightline.errors import SightlineError, WorkspaceError
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.discovery import MARKERS, discover
from sightline.history.session_history import survey
from sightline.model.hook_events import Attempted, Began, Caller, Event

SESSIONS_MAX = 64
"""Sessions that stay open at once; the oldest is closed first, and opened again on demand."""

FIRST_LOOK_S = 10.0
"""The limit of the look at the tree that a daemon begins with."""


class OpenWorkspace:
    """One workspace with its open store and sessions. Threads may share this. attempt: the session of
    the attempt at a sub-task that started the agents, None for no attempt."""

    def __init__(self, root: str, settings: Settings, attempt: str | None = None) -> None:
        self.root = root
        self.settings = settings
        self._attempt = attempt
        self._store, self._tree = ports(root, settings, None)
        self._sessions: dict[tuple[str, str | None], Session] = {}
        self._lock = RLock()

    def session(self, caller: Caller, agent: str, owner: str | None) -> tuple[Session, bool]:
        """Return the caller's session, and whether this call began it. An unknown parent session
        is begun first."""
        with self._lock:
            state = self._store.session(caller.session)
            is_new = state is None
            if is_new and caller.parent and self._store.session(caller.parent) is None:
                self._start(caller.parent, None, agent, owner)
            session = self._sessions.get((caller.session, owner))
            if session is None or (state is not None and state.ended is not None):
                session = self._start(caller.session, caller.parent, agent, owner)
                while len(self._sessions) >= SESSIONS_MAX:
                    del self._sessions[next(iter(self._sessions))]
                self._sessions[caller.session, owner] = session
            return session, is_new

    def context(self) -> SessionContext:
        """Return the workspace's ports without a session."""
        return survey(self._store, self._tree, self.settings, now_us)

    def follow(self, settings: Settings) -> bool:
        """Use newer settings. Return False when they name another store, which is not open."""
        with self._lock:
            same = (settings.store, settings.state_home)
            if (self.settings.store, self.settings.state_home) != same:
                return False
            if self.settings != settings:
                self.settings = settings
                self._sessions.clear()
            return True

    def listen(self, pause: Callable[[], None]) -> None:
        """Look at the whole tree in a thread of its own, so that the first command waits for less, and
        have the system tell what changes from then on. Then store the texts that the first checkpoint
        needs. pause: returns when nobody waits for an answer."""

        def look() -> None:
            with suppress(SightlineError, DeadlinePassed, OSError):
                self._tree.listen()
                self._tree.remembered()
                self._tree.tree(until=monotonic() + FIRST_LOOK_S)
                pause()
                if self.settings.checkpoints != "off":
                    keep_ahead(self.context(), pause)

        Thread(target=look, daemon=True).start()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _start(self, id: str, parent: str | None, agent: str, owner: str | None) -> Session:
        """Open a session. One that an attempt at a sub-task started is its child, and has its scope."""
        return start(
            self._store,
            self._tree,
            self.settings,
            id=id,
            agent=agent,
            parent=parent,
            owner=owner,
            holder=owner,
            attempt=self._attempt,
        )


def attempt_of(environ: Mapping[str, str]) -> str | None:
    """Return the session of the attempt at a sub-task that a process works for; None for no attempt."""
    return environ.get("SIGHTLINE_SESSION") if "SIGHTLINE_ATTEMPT" in environ else None


def read_settings(root: str, environ: Mapping[str, str], home: str) -> Settings:
    """Return a workspace's settings. SettingsError."""
    return load_settings(root, environ=environ, home=home, platform=sys.platform)


def find_project(caller: Caller, folder: str, home: str) -> str:
    """Return the workspace an agent works in: that of the folder its host names ("" for none), else that of its
    own folder. WorkspaceError."""
    return discover(None, start=folder or caller.cwd, home=home)


def paths_of(event: Event) -> tuple[str, ...]:
    """Return the files that an event is about."""
    if isinstance(event, Attempted):
        return event.paths
    path = getattr(event, "path", None)
    return (path,) if isinstance(path, str) else ()


def find_root(path: str, project: str | None, home: str) -> str | None:
    """Return the workspace of a file: the project, or, for a file outside it (also by a link), the
    file's own; None for a file in no folder with a marker."""
    if not os.path.isabs(path):
        return project
    folder = os.path.dirname(os.path.realpath(path))
    if project is not None and f"{folder}{os.sep}".startswith(os.path.join(project, "")):
        return project
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    try:
        root = discover(None, start=folder, home=home)
    except WorkspaceError:
        return None
    marked = any(os.path.lexists(os.path.join(root, marker)) for marker in MARKERS)
    return root if marked else None


def find_added(path: str, folders: Iterable[str], home: str) -> str | None:
    """Return the nearest folder that the user added to the agent's project and that holds a file. None
    for a file in no such folder, or in a folder that cannot be a workspace."""
    real = os.path.realpath(path)
    roots = [os.path.realpath(folder) for folder in folders]
    inside = [root for root in roots if real.startswith(os.path.join(root, ""))]
    try:
        return discover(max(inside, key=len), home=home) if inside else None
    except WorkspaceError:
        return None


def leads_out(path: str, project: str | None) -> bool:
    """Return whether an absolute path names a project's file and leads out of the project by a link."""
    if project is None or os.path.realpath(path).startswith(os.path.join(project, "")):
        return False
    above = os.path.normpath(path)
    while above != (above := os.path.dirname(above)):
        if os.path.realpath(above) == project:
            return True
    return False


def begins_empty(event: Event) -> bool:
    """Return whether an unknown session begins with this event. Else the session began without
    hooks, and its transcript tells what came before."""
    return isinstance(event, Began) and event.source in ("startup", "clear")
