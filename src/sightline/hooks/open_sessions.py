"""The workspaces and sessions that hook calls are about, opened when the first event needs them."""

from __future__ import annotations

import os
import sys
from _thread import RLock
from collections.abc import Mapping

from sightline.agents.dialect import Caller
from sightline.agents.hook_events import Began, Event
from sightline.api.opening import now_us, ports, start
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext
from sightline.config.settings import Settings, load_settings
from sightline.errors import WorkspaceError
from sightline.filesystem.discovery import MARKERS, discover
from sightline.history.session_history import survey

SESSIONS_MAX = 64
"""Kept at once; the one that was begun first goes first, and comes back when it is asked for."""


class Room:
    """One workspace, its store open, and the sessions in it. Threads may share it."""

    def __init__(self, root: str, settings: Settings) -> None:
        self.root = root
        self.settings = settings
        self._store, self._tree = ports(root, settings, None)
        self._sessions: dict[tuple[str, str | None], Session] = {}
        self._lock = RLock()

    def session(self, caller: Caller, agent: str, owner: str | None) -> tuple[Session, bool]:
        """The caller's session, and whether it had to be begun. One that started it and is not
        known yet is begun before."""
        with self._lock:
            state = self._store.session(caller.session)
            begun = state is None
            if begun and caller.parent and self._store.session(caller.parent) is None:
                self._start(caller.parent, None, agent, owner)
            kept = self._sessions.get((caller.session, owner))
            if kept is None or (state is not None and state.ended is not None):
                kept = self._start(caller.session, caller.parent, agent, owner)
                self._keep((caller.session, owner), kept)
            return kept, begun

    def ground(self) -> SessionContext:
        """Its ports without a session."""
        return survey(self._store, self._tree, self.settings, now_us)

    def follow(self, settings: Settings) -> bool:
        """Go on with newer settings; False when those name another store, which is not open."""
        with self._lock:
            same = (settings.store, settings.state_home)
            if (self.settings.store, self.settings.state_home) != same:
                return False
            if self.settings != settings:
                self.settings = settings
                self._sessions.clear()
            return True

    def close(self, *, ending: bool = False) -> None:
        """Give the store back. ending: this process ends at once."""
        if ending:
            self._store.leave()
        else:
            self._store.close()

    def _start(self, id: str, parent: str | None, agent: str, owner: str | None) -> Session:
        return start(
            self._store,
            self._tree,
            self.settings,
            id=id,
            agent=agent,
            parent=parent,
            owner=owner,
            holder=owner,
        )

    def _keep(self, key: tuple[str, str | None], session: Session) -> None:
        while len(self._sessions) >= SESSIONS_MAX:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[key] = session


class Rooms:
    """The rooms of one hook call. kept: one that is open already, and stays so; ending: the
    process ends with this call."""

    def __init__(
        self,
        environ: Mapping[str, str],
        home: str,
        kept: Room | None = None,
        *,
        ending: bool = False,
    ) -> None:
        self._ending = ending
        self._environ = environ
        self._home = home
        self._kept = kept
        self._opened: dict[str, Room] = {}

    def settings(self, root: str) -> Settings:
        """What holds in a workspace now. SettingsError."""
        return load_settings(root, environ=self._environ, home=self._home, platform=sys.platform)

    def room(self, root: str, settings: Settings | None = None) -> Room:
        """An open workspace. StoreError, SettingsError."""
        found = self._opened.get(root)
        if found is None:
            now = settings or self.settings(root)
            if self._kept is not None and self._kept.root == root and self._kept.follow(now):
                return self._kept
            found = self._opened[root] = Room(root, now)
        return found

    def close(self) -> None:
        """Give back what was opened here."""
        for room in self._opened.values():
            room.close(ending=self._ending)


def project_of(caller: Caller, environ: Mapping[str, str], home: str) -> str:
    """The workspace an agent works in: of the folder its host names, else of its own.
    WorkspaceError when that cannot be one."""
    return discover(None, start=environ.get("CLAUDE_PROJECT_DIR") or caller.cwd, home=home)


def root_of(event: Event, project: str | None, home: str) -> str | None:
    """The workspace an event belongs to: the project, unless it is about a file outside it, also
    by a link; None for a file that is in no folder with a marker."""
    path = getattr(event, "path", None)
    if not isinstance(path, str) or not os.path.isabs(path):
        return project
    folder = os.path.dirname(os.path.realpath(path))
    if project is not None and _inside(folder, project):
        return project
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    try:
        found = discover(None, start=folder, home=home)
    except WorkspaceError:
        return None
    marked = any(os.path.lexists(os.path.join(found, marker)) for marker in MARKERS)
    return found if marked else None


def anew(event: Event) -> bool:
    """Whether a session that is not known begins with this event from nothing. Else it went on
    for a while with nobody watching, and only its transcript knows."""
    return isinstance(event, Began) and event.source in ("startup", "clear")


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
