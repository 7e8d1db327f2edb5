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

from sightline.agents import dialect
from sightline.agents.hook_events import Ended, Stopped
from sightline.checkpoints.gc import keep_to_room
from sightline.errors import SightlineError
from sightline.hooks.call import Call, host_process, payload_of
from sightline.hooks.daemon_status import DaemonStatus
from sightline.hooks.http_endpoint import HttpEndpoint, port_and_token
from sightline.hooks.open_sessions import OpenWorkspace, OpenWorkspaces, find_project
from sightline.hooks.protocol import own_settings, run_folder, stamp
from sightline.hooks.unix_endpoint import UnixEndpoint

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
        self._workspace = OpenWorkspaces(self._environ, self._home).workspace(self.root)
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

    def serves(
        self, project: str, variables: str, installation: str, agent: str, raw: bytes
    ) -> bool:
        """Return whether a call is this workspace's, made with the same variables by the same
        installation (protocol.stamp). project: the folder that the host names, or ""."""
        if (variables, installation) != (self._own, self._stamp) or agent not in dialect.AGENTS:
            return False
        try:
            caller = dialect.dialect(agent).caller(payload_of(raw))
            return find_project(caller, {"CLAUDE_PROJECT_DIR": project}, self._home) == self.root
        except (SightlineError, ValueError):
            return False  # the hook that answers itself names the fault

    def answer(
        self, agent: str, event: str | None, raw: bytes, project: str, pid: int | None
    ) -> bytes:
        """Return the answer to a call. pid: of the host's process, where it is known."""
        environ = {**self._environ, "CLAUDE_PROJECT_DIR": project or self.root}
        owner = host_process(pid)
        self.enter()
        try:
            self.calls += 1
            call = Call(agent, environ, self._home, event, owner, self._workspace)
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
            keep_to_room(self.workspace.ground(), self.workspace.settings)
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
