"""Answer the hooks of one workspace from a process that stays: `up`, or a hook's daemon.

Both answer over named pipes, which hooks of the command kind find by themselves; `up` answers
hooks of the http kind over HTTP, too. No hook depends on a server: a hook that finds none answers
itself, and the verdict is the same, because all use hooks.call.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from select import select
from threading import Condition, Lock, Thread, active_count
from time import gmtime, strftime, time

from msgspec import Struct

from sightline.checkpoints.gc import keep_to_room
from sightline.errors import SightlineError, WorkspaceError
from sightline.filesystem.git.repository import program
from sightline.filesystem.private_files import make_folder
from sightline.hooks import protocol
from sightline.hooks.call import Call, host_process
from sightline.hooks.client import open_pipe, remove
from sightline.hooks.daemon_status import STATUS, DaemonStatus, is_read
from sightline.hooks.event_lock import event_of
from sightline.hooks.http_endpoint import HttpEndpoint, port_and_token
from sightline.hooks.http_events import HttpEvents
from sightline.hooks.open_sessions import OpenWorkspace, attempt_of, read_settings
from sightline.model.hook_events import Ended, Stopped

AGENT_OF_FAULTS = "answerer"
"""The agent that a line of the hooks' log names for a fault of the server itself."""

PATIENCE_S = 10.0
"""Seconds for which stopping waits for the calls under way."""

CLIENT_S = 5.0
"""Seconds for which a client may read no further byte of its answer."""

HEADER_MAX, THREADS_MAX = 1 << 16, 128
"""Most bytes of a request before its payload, and most threads of a process that answers."""

LEFT_S = 600.0
"""Seconds after which a request is left over: no client waits as long."""

NOTE_S = 7 * 86_400.0
"""Seconds after which a note of an outage is left over: its conversation is over."""

KINDS = {".sock": stat.S_IFSOCK}
KINDS |= dict.fromkeys((protocol.PIPE, protocol.SAY), stat.S_IFIFO)
NOTES = (protocol.TOLD, protocol.OFF)
KINDS |= dict.fromkeys((protocol.ASK, protocol.LATE, *NOTES), stat.S_IFREG)
"""The files of the run folder that may be left over: ending -> kind. Version 0.1.0 made sockets."""


class Request(Struct, frozen=True):
    """The fields that a client writes before its payload."""

    protocol: str
    agent: str
    event: str
    size: str
    parent: str
    given: str
    variables: str
    installation: str


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
        self._own, self._stamp = protocol.own_settings(environ), protocol.stamp()
        self._since = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
        self._under_way = 0
        self._counting = Condition()
        self._tidying = Lock()
        self._workspace: OpenWorkspace | None = None
        self._pipe: PipeEndpoint | None = None
        self._http: HttpEndpoint | None = None
        self._events = HttpEvents(protocol.run_folder(environ, home))

    def start(self) -> None:
        """Open the store and the endpoints. SightlineError; then nothing is left open."""
        settings = read_settings(self.root, self._environ, self._home)
        self._workspace = OpenWorkspace(self.root, settings, attempt_of(self._environ))
        try:
            if self._kind == "up":
                port, token = port_and_token(self._workspace.settings.state_home, self.root)
                self._http = HttpEndpoint(self._answer_http, port, token)
            if hasattr(os, "getuid"):
                folder = protocol.run_folder(self._environ, self._home)
                self._pipe = PipeEndpoint(self, folder, self._kind)
            self._workspace.listen(self._wait_for_calls)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Close the endpoints, let the calls under way end, and close the store."""
        for endpoint in (self._pipe, self._http):
            if endpoint is not None:
                endpoint.close()
        self._pipe = self._http = None
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
    def pipe(self) -> str:
        """Return the path of the daemon's pipe, from start to stop."""
        assert self._pipe is not None
        return self._pipe.path

    def status(self) -> DaemonStatus:
        """Return what `doctor` and other daemons learn of this server."""
        pid, calls, git = str(os.getpid()), str(self.calls), program() or ""
        return DaemonStatus(
            self._kind, pid, self._since, calls, self.root, self._own, self._stamp, git
        )

    def new_call(
        self, agent: str, event: str | None, given: Mapping[str, str], pid: int | None
    ) -> Call:
        """Return a call. given: as in Call. pid: of the host's process, where known."""
        owner = host_process(pid)
        return Call(
            agent, self._environ, self._home, event, owner, self._workspace, given=given
        )  # fmt: skip

    def accept(self, request: Request, raw: bytes) -> Call | None:
        """Return a prepared call, or None for one that this server must not answer: of another
        workspace, made with other variables or by another installation (protocol.stamp)."""
        if (request.variables, request.installation) != (self._own, self._stamp):
            return None
        pid = int(request.parent)
        words = [word.partition("=") for word in request.given.split("\x01")]
        given = {name: value for name, _, value in words if name}
        call = self.new_call(request.agent, request.event or None, given, pid)
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
            is_over = any(isinstance(event, (Stopped, Ended)) for event in call.events)
            if is_over and self._tidying.acquire(blocking=False):  # one at a time
                self.enter()
                Thread(target=self._tidy, name="sightline-tidying", daemon=True).start()
            return answer
        finally:
            self.leave()

    def _wait_for_calls(self) -> None:
        """Return when no call is under way."""
        with self._counting:
            self._counting.wait_for(lambda: not self._under_way)

    def _answer_http(self, agent: str, event: str | None, raw: bytes) -> bytes:
        call = self.new_call(agent, event, {"project": self.root}, None)
        self.enter()
        try:
            name = event_of([agent, event] if event else [agent], raw)
            return self._events.answer_once(name, lambda: self.answer(call, raw))
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

    def _tidy(self) -> None:
        """Let automatic checkpoints keep to their quota."""
        try:
            keep_to_room(self.workspace.context(), self.workspace.settings)
        except SightlineError as error:
            Call(AGENT_OF_FAULTS, self._environ, self._home).note(error)
        finally:
            self._tidying.release()
            self.leave()


class PipeEndpoint:
    """A named pipe in the run folder, which clients write to. WorkspaceError, OSError."""

    def __init__(self, server: HookServer, folder: str, kind: str) -> None:
        self._server, self._folder = server, folder
        _prepare(folder)
        name = f"{protocol.key_of(server.root)}-{kind}-{os.getpid()}-{os.urandom(2).hex()}"
        self.path = os.path.join(folder, name + protocol.PIPE)
        aside = self.path + protocol.SAY  # a killed start leaves it over
        os.mkfifo(aside, 0o600)
        os.chmod(aside, 0o600)
        self._reader = os.open(aside, os.O_RDONLY | os.O_NONBLOCK)
        self._writer = os.open(aside, os.O_WRONLY)  # with it, the reader never meets an end
        os.set_blocking(self._reader, True)
        os.rename(aside, self.path)  # only now: a pipe that nobody reads counts as dead
        self._reading = Thread(target=self._read, name="sightline-hooks", daemon=True)
        self._reading.start()

    def close(self) -> None:
        """Accept no further request than those that are in the pipe."""
        remove(self.path)
        os.write(self._writer, b"\n")  # an empty line ends the reading thread
        self._reading.join()
        os.close(self._reader)
        os.close(self._writer)
        remove(self.path + protocol.LATE)

    def _read(self) -> None:
        lines, begun = list[bytes](), b""
        while b"" not in lines:
            *lines, begun = (begun + os.read(self._reader, protocol.PIECE)).split(b"\n")
            for line in lines:
                if line.isalnum():
                    self._begin(line.decode())

    def _begin(self, name: str) -> None:
        """Answer a client in a thread of its own. Where no thread is left, turn the client away."""
        self._server.enter()
        with suppress(RuntimeError):  # the system has no thread left
            if active_count() < THREADS_MAX:
                Thread(target=self._serve, args=(name, self._converse), daemon=True).start()
                return
        self._serve(name, lambda client, _: _send(client, protocol.NOT_MINE))

    def _serve(self, name: str, converse: Callable[[int, str], None]) -> None:
        """Answer one client. converse: takes the client's pipe and the path of the request."""
        path = os.path.join(self._folder, name)
        try:
            client = open_pipe(path + protocol.SAY)
            try:
                converse(client, path + protocol.ASK)
            finally:
                os.close(client)
        except OSError:  # the client has gone: it answered itself, or was killed
            remove(path + protocol.ASK)
            remove(path + protocol.SAY)
        finally:
            remove(self.path + protocol.LATE)  # whoever comes to a request is not late any more
            self._server.leave()

    def _converse(self, client: int, ask: str) -> None:
        answer = None
        try:
            answer = self._prepared(*_read_request(ask))
        finally:
            if answer is None:
                _send(client, protocol.NOT_MINE)
        if answer is not None and remove(ask):  # the event is this daemon's: see hooks.client
            _send(client, protocol.MINE)
            _send(client, answer() + protocol.GO)

    def _prepared(self, request: Request | None, raw: bytes) -> Callable[[], bytes] | None:
        """Return what makes the answer; None for a request that this daemon must not answer."""
        if request is None:
            return None
        if request.protocol == STATUS:
            return self._server.status().encoded
        call = self._server.accept(request, raw)
        return None if call is None else partial(self._server.answer, call)


def _prepare(folder: str) -> None:
    """Make the folder private, and remove what dead processes left there."""
    make_folder(folder)
    if os.stat(folder).st_uid != os.getuid():
        raise WorkspaceError(
            f"{folder} belongs to somebody else.", "Remove it, or choose another SIGHTLINE_HOME."
        )
    os.chmod(folder, 0o700)
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with suppress(OSError):  # another process removed it
            if _is_left(path):
                os.unlink(path)


def _is_left(path: str) -> bool:
    """Return whether a file is ours, and left over. OSError."""
    ending, status = os.path.splitext(path)[1], os.lstat(path)
    if stat.S_IFMT(status.st_mode) != KINDS.get(ending):
        return False  # a file of another program
    if ending == protocol.PIPE:
        return not is_read(path)
    return time() - status.st_mtime > (NOTE_S if ending in NOTES else LEFT_S)


def _read_request(path: str) -> tuple[Request | None, bytes]:
    """Return a request and its payload; None for an unknown form. OSError."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
        if not is_ours or status.st_size > protocol.PAYLOAD_MAX + HEADER_MAX:
            return None, b""
        header, _, raw = file.read().partition(b"\n")
    fields = os.fsdecode(header).split("\0")
    request = Request(*fields) if len(fields) == len(Request.__struct_fields__) else None
    if request is None or request.protocol not in (protocol.PROTOCOL, STATUS):
        return None, b""
    valid = request.size == str(len(raw)) and request.parent.isdecimal()
    return (request if valid else None), raw


def _send(client: int, data: bytes) -> None:
    """Write to a client's pipe. OSError when the client has gone or does not read."""
    while data:
        if not select([], [client], [], CLIENT_S)[1]:
            raise TimeoutError
        data = data[os.write(client, data) :]
