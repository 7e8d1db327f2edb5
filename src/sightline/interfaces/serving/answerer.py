"""Answerer: the open workspace and the two doors to it."""

from __future__ import annotations

import os
from threading import Condition

from sightline.errors import SightlineError
from sightline.interfaces.hook_client import own_settings, run_folder
from sightline.interfaces.hooks import answered
from sightline.interfaces.rooms import Room, Rooms
from sightline.interfaces.serving.address import kept
from sightline.interfaces.serving.local import LocalDoor
from sightline.interfaces.serving.web import WebDoor
from sightline.workspace.process import behind_shell, owner_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


PATIENCE_S = 10.0
"""How long stopping waits for the calls under way."""


class Answerer:
    """Answers the hook calls of one workspace from its own threads, over one open store.

    root: as discovery gives it. environ, home: of the user who runs it.
    """

    def __init__(self, root: str, *, environ: Mapping[str, str], home: str) -> None:
        self.root = os.path.realpath(root)
        self.calls = 0
        self._environ, self._home = environ, home
        self._own = own_settings(environ)
        self._under_way = 0
        self._counting = Condition()
        self._room: Room | None = None
        self._local: LocalDoor | None = None
        self._web: WebDoor | None = None

    def start(self) -> None:
        """Open the store and both doors. SightlineError; then nothing is left open."""
        rooms = Rooms(self._environ, self._home)
        self._room = rooms.room(self.root)
        try:
            port, token = kept(self._room.settings.state_home, self.root)
            self._web = WebDoor(self, port, token)
            if hasattr(os, "getuid"):
                self._local = LocalDoor(self, run_folder(self._environ, self._home))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Close the doors, let the calls under way end, and give the store back."""
        for door in (self._local, self._web):
            if door is not None:
                door.close()
        self._local = self._web = None
        with self._counting:
            self._counting.wait_for(lambda: not self._under_way, PATIENCE_S)
            room, self._room = self._room, None
        if room is not None:
            room.close()

    def serves(self, project: str, variables: str, agent: str, raw: bytes) -> bool:
        """Whether a call is this workspace's, made with the same variables. project: the folder
        its host names, "" when it names none."""
        from sightline import agents
        from sightline.interfaces.hooks import payload_of
        from sightline.interfaces.rooms import project_of

        if variables != self._own or agent not in agents.AGENTS:
            return False
        try:
            caller = agents.dialect(agent).caller(payload_of(raw))
            return project_of(caller, {"CLAUDE_PROJECT_DIR": project}, self._home) == self.root
        except (SightlineError, ValueError):
            return False  # whoever does the work itself says what is wrong with it

    def answer(
        self, agent: str, event: str | None, raw: bytes, project: str, pid: int | None
    ) -> bytes:
        """The answer to a call. pid: of the host's process, where it is known."""
        environ = {**self._environ, "CLAUDE_PROJECT_DIR": project or self.root}
        owner = owner_of(behind_shell(pid)) if pid is not None else None
        with self._counting:
            self.calls += 1
            self._under_way += 1
            room = self._room
        try:
            home = self._home
            return answered(
                agent, raw, environ=environ, home=home, event=event, owner=owner, kept=room
            )
        finally:
            with self._counting:
                self._under_way -= 1
                self._counting.notify_all()
