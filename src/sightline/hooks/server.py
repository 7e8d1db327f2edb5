"""Answer the hooks of one workspace from a process that stays: `up`, or a hook's daemon.

    with serving(root, environ=os.environ, home=home) as server: ...

Both answer over a unix socket, which hooks of the command kind find by themselves; `up` answers
hooks of the http kind over HTTP, too. No hook depends on a server: a hook that finds none answers
itself, and the verdict is the same, because all use hooks.call.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from socket import AF_UNIX, SHUT_RDWR, SOCK_STREAM, socket
from threading import Condition, Lock, Thread
from time import gmtime, strftime

from msgspec import Struct

from sightline.agents.hook_events import Ended, Stopped
from sightline.checkpoints.gc import keep_to_room
from sightline.errors import SightlineError, WorkspaceError
from sightline.filesystem.private_files import make_folder
from sightline.hooks import protocol
from sightline.hooks.call import Call, host_process
from sightline.hooks.client import peer_ids
from sightline.hooks.daemon_status import STATUS, DaemonStatus
from sightline.hooks.http_endpoint import HttpEndpoint, port_and_token
from sightline.hooks.open_sessions import OpenWorkspace, read_settings
from sightline.hooks.spawn import PATH_MAX

AGENT_OF_FAULTS = "answerer"
"""The agent that a line of the hooks' log names for a fault of the server itself."""

PATIENCE_S = 10.0
"""Seconds for which stopping waits for the calls under way."""

CLIENT_S = 5.0
"""Seconds within which a client must send what it announced."""

HEADER_MAX = 1 << 16
BACKLOG = 128


class Request(Struct, frozen=True):
    """The fields that a client sends before its payload."""

    protocol: str
    agent: str
    event: str
    size: str
    parent: str
    project: str
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
        self._unix: UnixEndpoint | None = None
        self._http: HttpEndpoint | None = None

    def start(self) -> None:
        """Open the store and the endpoints. SightlineError; then nothing is left open."""
        settings = read_settings(self.root, self._environ, self._home)
        self._workspace = OpenWorkspace(self.root, settings)
        try:
            if self._kind == "up":
                port, token = port_and_token(self._workspace.settings.state_home, self.root)
                self._http = HttpEndpoint(self._answer_http, port, token)
            if hasattr(os, "getuid"):
                folder = protocol.run_folder(self._environ, self._home)
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
            is_over = any(isinstance(event, (Stopped, Ended)) for event in call.events)
            if is_over and self._tidying.acquire(blocking=False):  # one at a time
                self.enter()
                Thread(target=self._tidy, name="sightline-tidying", daemon=True).start()
            return answer
        finally:
            self.leave()

    def _answer_http(self, agent: str, event: str | None, raw: bytes) -> bytes:
        return self.answer(self.new_call(agent, event, self.root, None), raw)

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


class UnixEndpoint:
    """A socket in the run folder. WorkspaceError."""

    def __init__(self, server: HookServer, folder: str, kind: str) -> None:
        self._server = server
        _prepare(folder)
        name = f"{protocol.key_of(server.root)}-{kind}-{os.urandom(2).hex()}.sock"
        self.path = os.path.join(folder, name)
        if len(os.fsencode(self.path)) > PATH_MAX:
            raise WorkspaceError(
                f"The socket {self.path} has too long a path.",
                "Choose a shorter folder with SIGHTLINE_HOME.",
            )
        self._socket = socket(AF_UNIX, SOCK_STREAM)
        self._socket.bind(self.path)
        os.chmod(self.path, 0o600)
        self._socket.listen(BACKLOG)
        self._accepting = Thread(target=self._accept, name="sightline-hooks", daemon=True)
        self._accepting.start()

    def close(self) -> None:
        """Accept no further connection."""
        _unlink(self.path)
        self._socket.shutdown(SHUT_RDWR)  # wakes the accepting thread
        self._accepting.join()
        self._socket.close()
        _unlink(
            self.path + protocol.LATE
        )  # waiting hooks find the socket closed, and answer themselves

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            self._server.enter()
            try:
                Thread(target=self._serve, args=(peer,), daemon=True).start()
            except RuntimeError:  # the system has no thread left: the hook answers itself
                peer.close()
                self._server.leave()

    def _serve(self, peer: socket) -> None:
        try:
            peer.settimeout(CLIENT_S)
            if not self._converse(peer):
                _unlink(self.path + protocol.LATE)
        except OSError:
            _unlink(self.path + protocol.LATE)
        finally:
            peer.close()
            self._server.leave()

    def _converse(self, peer: socket) -> bool:
        """Answer one client. Return False, or raise OSError, when the client has gone: it answered
        itself, and if it had waited too long, this daemon is not late any more."""
        ids = peer_ids(peer)
        if ids is not None and ids[1] != os.getuid():
            return True
        request, begun = _read_request(peer)
        if request is None or request.protocol == STATUS:
            peer.sendall(protocol.NOT_MINE if request is None else self._server.status().encoded())
            return True
        raw = begun + _read(peer, int(request.size) - len(begun))
        call = self._server.accept(request, raw)
        peer.sendall(protocol.NOT_MINE if call is None else protocol.MINE)
        if call is None:
            return True
        if peer.recv(1) != protocol.GO:
            return False
        peer.sendall(self._server.answer(call) + protocol.GO)
        return True


def _prepare(folder: str) -> None:
    """Make the folder private, and remove the sockets of dead processes."""
    make_folder(folder)
    if os.stat(folder).st_uid != os.getuid():
        raise WorkspaceError(
            f"{folder} belongs to somebody else.", "Remove it, or choose another SIGHTLINE_HOME."
        )
    os.chmod(folder, 0o700)
    for name in os.listdir(folder):
        _remove_if_dead(os.path.join(folder, name))


def _remove_if_dead(path: str) -> None:
    """Remove a socket that nobody listens on. Leave sockets of other programs, and files, alone."""
    try:
        if not path.endswith(".sock") or not stat.S_ISSOCK(os.lstat(path).st_mode):
            return
        peer = socket(AF_UNIX, SOCK_STREAM)
        try:
            peer.settimeout(CLIENT_S)
            peer.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            _unlink(path + protocol.LATE)
        finally:
            peer.close()
    except OSError:
        return  # another process removed it, or its daemon is busy and lives


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):  # somebody tidied up
        os.unlink(path)


def _read_request(peer: socket) -> tuple[Request | None, bytes]:
    """Return the request and the first bytes of the payload; None for an unknown form."""
    data = b""
    while b"\n" not in data:
        piece = peer.recv(protocol.PIECE)
        if not piece or len(data) > HEADER_MAX:
            return None, b""
        data += piece
    header, _, begun = data.partition(b"\n")
    fields = os.fsdecode(header).split("\0")
    if fields[0] not in (protocol.PROTOCOL, STATUS) or len(fields) != len(
        Request.__struct_fields__
    ):
        return None, b""
    request = Request(*fields)
    valid = request.size.isdecimal() and request.parent.isdecimal()
    return (request if valid and int(request.size) <= protocol.PAYLOAD_MAX else None), begun


def _read(peer: socket, size: int) -> bytes:
    pieces = []
    while size > 0:
        piece = peer.recv(protocol.PIECE)
        if not piece:
            raise ConnectionError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
