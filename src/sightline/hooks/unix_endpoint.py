"""The unix socket of a hook server: hook clients ask here (hooks.client has the protocol)."""

from __future__ import annotations

import os
import stat
from socket import AF_UNIX, SHUT_RDWR, SOCK_STREAM, socket
from threading import Thread
from typing import Protocol

from msgspec import Struct

from sightline.errors import WorkspaceError
from sightline.filesystem.private_files import make_folder
from sightline.hooks.call import Call
from sightline.hooks.client import peer_ids
from sightline.hooks.daemon_status import STATUS, DaemonStatus
from sightline.hooks.protocol import (
    GO,
    LATE,
    MINE,
    NOT_MINE,
    PAYLOAD_MAX,
    PIECE,
    PROTOCOL,
    key_of,
)
from sightline.hooks.spawn import PATH_MAX

WAIT_S = 5.0
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


class Server(Protocol):
    """The part of a hook server that its endpoints call."""

    root: str

    def status(self) -> DaemonStatus: ...
    def enter(self) -> None: ...
    def leave(self) -> None: ...
    def new_call(self, agent: str, event: str | None, project: str, pid: int | None) -> Call: ...
    def accept(self, request: Request, raw: bytes) -> Call | None: ...
    def answer(self, call: Call, raw: bytes | None = None) -> bytes: ...


class UnixEndpoint:
    """A socket in the run folder. WorkspaceError."""

    def __init__(self, server: Server, folder: str, kind: str) -> None:
        self._server = server
        _prepare(folder)
        name = f"{key_of(server.root)}-{kind}-{os.urandom(2).hex()}.sock"
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
        _unlink(self.path + LATE)  # waiting hooks find the socket closed, and answer themselves

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
            peer.settimeout(WAIT_S)
            if not self._converse(peer):
                _unlink(self.path + LATE)
        except OSError:
            _unlink(self.path + LATE)
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
            peer.sendall(NOT_MINE if request is None else self._server.status().encoded())
            return True
        raw = _read_payload(peer, int(request.size), begun)
        call = self._server.accept(request, raw)
        peer.sendall(NOT_MINE if call is None else MINE)
        if call is None:
            return True
        if peer.recv(1) != GO:
            return False
        peer.sendall(self._server.answer(call) + GO)
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
            peer.settimeout(WAIT_S)
            peer.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            _unlink(path + LATE)
        finally:
            peer.close()
    except OSError:
        return  # another process removed it, or its daemon is busy and lives


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:  # somebody tidied up
        return


def _read_request(peer: socket) -> tuple[Request | None, bytes]:
    """Return the request and the first bytes of the payload; None for an unknown form."""
    data = b""
    while b"\n" not in data:
        piece = peer.recv(PIECE)
        if not piece or len(data) > HEADER_MAX:
            return None, b""
        data += piece
    header, _, begun = data.partition(b"\n")
    fields = os.fsdecode(header).split("\0")
    if fields[0] not in (PROTOCOL, STATUS) or len(fields) != len(Request.__struct_fields__):
        return None, b""
    request = Request(*fields)
    valid = request.size.isdecimal() and request.parent.isdecimal()
    return (request if valid and int(request.size) <= PAYLOAD_MAX else None), begun


def _read_payload(peer: socket, size: int, begun: bytes) -> bytes:
    pieces, have = [begun], len(begun)
    while have < size:
        piece = peer.recv(PIECE)
        if not piece:
            raise ConnectionError
        pieces.append(piece)
        have += len(piece)
    return b"".join(pieces)
