"""Answerer: the open workspace and the doors to it.

Answering hooks from one process that stays: what `up` runs beside its screen.

    with serving(root, environ=os.environ, home=home) as answerer: ...

Over a unix socket, which the command kind of hook finds by itself, and over HTTP on this machine
only, for the http kind. While `up` does not run, a conversation's first hook leaves a process behind
that has the socket only (hooks.daemon). Nothing depends on either: a hook process that finds
nobody does the work itself, and the verdict is the same, because all do it with hooks.call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Condition, Lock, Thread
from time import gmtime, strftime

from sightline.agents import dialect
from sightline.agents.hook_events import Ended, Stopped
from sightline.checkpoints.gc import keep_to_room
from sightline.errors import SightlineError
from sightline.filesystem.process import behind_shell, owner_of
from sightline.hooks.call import Call, payload_of
from sightline.hooks.daemon_status import Running
from sightline.hooks.http_address import kept
from sightline.hooks.http_endpoint import HttpEndpoint
from sightline.hooks.open_sessions import Room, Rooms, project_of
from sightline.hooks.protocol import own_settings, run_folder, stamp
from sightline.hooks.unix_endpoint import UnixEndpoint

PATIENCE_S = 10.0
"""How long stopping waits for the calls under way."""


class HookServer:
    """Answers the hook calls of one workspace from its own threads, over one open store.

    root: as discovery gives it. environ, home: of the user who runs it. kind: "up", or "auto" for
    one that a hook started, which has no HTTP door. heard: told of each call, before its answer.
    """

    def __init__(
        self,
        root: str,
        *,
        environ: Mapping[str, str],
        home: str,
        kind: str = "up",
        heard: Callable[[Call], None] | None = None,
    ) -> None:
        self.root = os.path.realpath(root)
        self.calls = 0
        self._environ, self._home = environ, home
        self._kind, self._heard = kind, heard
        self._own, self._stamp = own_settings(environ), stamp()
        self._since = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
        self._under_way = 0
        self._counting = Condition()
        self._tidying = Tidying(self)
        self._room: Room | None = None
        self._local: UnixEndpoint | None = None
        self._web: HttpEndpoint | None = None

    def start(self) -> None:
        """Open the store and the doors. SightlineError; then nothing is left open."""
        rooms = Rooms(self._environ, self._home)
        self._room = rooms.room(self.root)
        try:
            if self._kind == "up":
                self._open_web(self._room.settings.state_home)
            if hasattr(os, "getuid"):
                folder = run_folder(self._environ, self._home)
                self._local = UnixEndpoint(self, folder, self._kind)
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

    @property
    def room(self) -> Room:
        """The open workspace, from start to stop."""
        assert self._room is not None
        return self._room

    @property
    def socket(self) -> str:
        """The path of its socket, from start to stop."""
        assert self._local is not None
        return self._local.path

    def told(self) -> Running:
        """What it says of itself."""
        pid, calls = str(os.getpid()), str(self.calls)
        return Running(self._kind, pid, self._since, calls, self.root, self._own, self._stamp)

    def serves(
        self, project: str, variables: str, installation: str, agent: str, raw: bytes
    ) -> bool:
        """Whether a call is this workspace's, made with the same variables by the same
        installation (hook_client.stamp). project: the folder its host names, "" when it names
        none."""
        if (variables, installation) != (self._own, self._stamp) or agent not in dialect.AGENTS:
            return False
        try:
            caller = dialect.dialect(agent).caller(payload_of(raw))
            return project_of(caller, {"CLAUDE_PROJECT_DIR": project}, self._home) == self.root
        except (SightlineError, ValueError):
            return False  # whoever does the work itself says what is wrong with it

    def answer(
        self, agent: str, event: str | None, raw: bytes, project: str, pid: int | None
    ) -> bytes:
        """The answer to a call. pid: of the host's process, where it is known."""
        environ = {**self._environ, "CLAUDE_PROJECT_DIR": project or self.root}
        owner = owner_of(behind_shell(pid)) if pid is not None else None
        self.enter()
        try:
            self.calls += 1
            call = Call(agent, environ, self._home, event, owner, self._room)
            said = call.answered(raw)
            if self._heard is not None:
                self._heard(call)
            if any(isinstance(event, (Stopped, Ended)) for event in call.events):
                self._tidying.begin()
            return said
        finally:
            self.leave()

    def enter(self) -> None:
        """Somebody is let in: stopping waits until it has left."""
        with self._counting:
            self._under_way += 1

    def leave(self) -> None:
        """Somebody who was let in has gone."""
        with self._counting:
            self._under_way -= 1
            self._counting.notify_all()

    def note(self, error: Exception) -> None:
        """Leave a line in the log of what went wrong behind an answer."""
        Call("answerer", self._environ, self._home).note(error)

    def tidy(self) -> None:
        """Let the checkpoints that were taken by themselves keep to their room. StoreError."""
        keep_to_room(self.room.ground(), self.room.settings)

    def _open_web(self, state_home: str) -> None:
        port, token = kept(state_home, self.root)
        self._web = HttpEndpoint(self, port, token)


__all__ = ["HookServer", "serving"]


@contextmanager
def serving(root: str, *, environ: Mapping[str, str], home: str) -> Iterator[HookServer]:
    """An answerer for a workspace, as long as the block runs. StoreError, SettingsError,
    WorkspaceError when its place is taken."""
    answerer = HookServer(root, environ=environ, home=home)
    answerer.start()
    try:
        yield answerer
    finally:
        answerer.stop()


class Tidying:
    """At most one tidying up at a time, in a thread of its own."""

    def __init__(self, answerer: HookServer) -> None:
        self._answerer = answerer
        self._at_work = Lock()

    def begin(self) -> None:
        """Begin, unless one is under way."""
        if not self._at_work.acquire(blocking=False):
            return
        self._answerer.enter()
        Thread(target=self._tidy, name="sightline-tidying", daemon=True).start()

    def _tidy(self) -> None:
        try:
            self._answerer.tidy()
        except SightlineError as error:
            self._answerer.note(error)
        finally:
            self._at_work.release()
            self._answerer.leave()
