"""Answer the hooks of one workspace from a process that stays: `up`, or a hook's daemon.

    with serving(root, environ=os.environ, home=home) as server: ...

Both answer over a unix socket, which hooks of the command kind find by themselves; `up` answers
hooks of the http kind over HTTP, too. No hook depends on a server: a hook that finds none answers
itself, and the verdict is the same, because all use hooks.call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Condition, Lock, Thread
from time import gmtime, strftime

from sightline.agents.hook_events import Ended, Stopped
from sightline.checkpoints.gc import keep_to_room
from sightline.errors import SightlineError
from sightline.hooks.call import Call, host_process
from sightline.hooks.daemon_status import DaemonStatus
from sightline.hooks.http_endpoint import HttpEndpoint, port_and_token
from sightline.hooks.open_sessions import OpenWorkspace, read_settings
from sightline.hooks.protocol import own_settings, run_folder, stamp
from sightline.hooks.unix_endpoint import Request, UnixEndpoint

AGENT_OF_FAULTS = "answerer"
"""The agent that a line of the hooks' log names for a fault of the server itself."""

PATIENCE_S = 10.0
"""Seconds for which stopping waits for the calls under way."""


class HookServer:
    """Answers the hook calls of one workspace from its own threads, over one open store.

    root: as discovery gives it. environ, home: of the user who runs it. kind: "up", or "auto" for
    a hook's daemon, which has no HTTP endpoint. on_call: is called before each answer.
    """

    def __init__(
        self,
        root: str,
        *,
        environ: Mapping[str, str],
        home: str,
        kind: str = "up",
        on_call: Callable[[Call], None] | None = None,
    ) -> None:
        self.root = os.path.realpath(root)
        self.calls = 0
        self._environ, self._home = environ, home
        self._kind, self._on_call = kind, on_call
        self._own, self._stamp = own_settings(environ), stamp()
        self._since = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
        self._under_way = 0
        self._counting = Condition()
        self._tidying = Lock()
        self._workspace: OpenWorkspace | None = None
        self._unix: UnixEndpoint | None = None
        self._http: HttpEndpoint | None = None

    def start(self) -> None:
        """Open the store and the endpoints. SightlineError; then nothing is left open."""
        settings = read_settings(self.root, self._environ, self._home)
        self._workspace = OpenWorkspace(self.root, settings)
        try:
            if self._kind == "up":
                port, token = port_and_token(self._workspace.settings.state_home, self.root)
                self._http = HttpEndpoint(self, port, token)
            if hasattr(os, "getuid"):
                folder = run_folder(self._environ, self._home)
                self._unix = UnixEndpoint(self, folder, self._kind)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Close the endpoints, let the calls under way end, and close the store."""
        for endpoint in (self._unix, self._http):
            if endpoint is not None:
                endpoint.close()
        self._unix = self._http = None
        with self._counting:
            self._counting.wait_for(lambda: not self._under_way, PATIENCE_S)
            workspace, self._workspace = self._workspace, None
        if workspace is not None:
            workspace.close()

    @property
    def workspace(self) -> OpenWorkspace:
        """Return the open workspace, from start to stop."""
        assert self._workspace is not None
        return self._workspace

    @property
    def socket(self) -> str:
        """Return the path of the socket, from start to stop."""
        assert self._unix is not None
        return self._unix.path

    def status(self) -> DaemonStatus:
        """Return what `doctor` and other daemons learn of this server."""
        pid, calls = str(os.getpid()), str(self.calls)
        return DaemonStatus(self._kind, pid, self._since, calls, self.root, self._own, self._stamp)

    def new_call(self, agent: str, event: str | None, project: str, pid: int | None) -> Call:
        """Return a call. project: the folder that the host names, or "". pid: of the host's
        process, where known."""
        environ = {**self._environ, "CLAUDE_PROJECT_DIR": project}
        return Call(agent, environ, self._home, event, host_process(pid), self._workspace)

    def accept(self, request: Request, raw: bytes) -> Call | None:
        """Return a prepared call, or None for one that this server must not answer: of another
        workspace, made with other variables or by another installation (protocol.stamp)."""
        if (request.variables, request.installation) != (self._own, self._stamp):
            return None
        pid = int(request.parent)
        call = self.new_call(request.agent, request.event or None, request.project, pid)
        try:
            call.prepare(raw)
        except (SightlineError, ValueError):
            return None  # the hook that answers itself names the fault
        return call if call.project == self.root else None

    def answer(self, call: Call, raw: bytes | None = None) -> bytes:
        """Return the answer to a call. raw: the payload, where the call is not prepared."""
        self.enter()
        try:
            self.calls += 1
            answer = call.answered(raw)
            if self._on_call is not None:
                self._on_call(call)
            if any(isinstance(event, (Stopped, Ended)) for event in call.events):
                self._begin_tidying()
            return answer
        finally:
            self.leave()

    def enter(self) -> None:
        """Count a call that begins: stopping waits for its end."""
        with self._counting:
            self._under_way += 1

    def leave(self) -> None:
        """Count a call that ended."""
        with self._counting:
            self._under_way -= 1
            self._counting.notify_all()

    def _begin_tidying(self) -> None:
        """Let automatic checkpoints keep to their quota, in a thread of its own, one at a time."""
        if self._tidying.acquire(blocking=False):
            self.enter()
            Thread(target=self._tidy, name="sightline-tidying", daemon=True).start()

    def _tidy(self) -> None:
        try:
            keep_to_room(self.workspace.context(), self.workspace.settings)
        except SightlineError as error:
            Call(AGENT_OF_FAULTS, self._environ, self._home).note(error)
        finally:
            self._tidying.release()
            self.leave()


@contextmanager
def serving(root: str, *, environ: Mapping[str, str], home: str) -> Iterator[HookServer]:
    """Run a hook server as long as the block runs. StoreError, SettingsError, WorkspaceError when
    its port or socket cannot be had."""
    server = HookServer(root, environ=environ, home=home)
    server.start()
    try:
        yield server
    finally:
        server.stop()
