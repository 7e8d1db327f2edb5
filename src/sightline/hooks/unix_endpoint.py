"""The unix socket: how the command kind of hook asks, and how it is told once (hook_client)."""

from __future__ import annotations

import os
import stat
from socket import AF_UNIX, SHUT_RDWR, SOCK_STREAM, socket
from threading import Thread
from typing import Protocol

from sightline.errors import WorkspaceError
from sightline.filesystem.private_files import make_folder
from sightline.hooks.client import PIECE
from sightline.hooks.daemon_status import TELL, Running
from sightline.hooks.protocol import (
    GO,
    LATE,
    MINE,
    NOT_MINE,
    PAYLOAD_MAX,
    PROTOCOL,
    key_of,
    uid_of_peer,
)
from sightline.hooks.spawn import PATH_MAX
from sightline.model.value import Value


class Answerer(Protocol):
    """The part of a hook server that an endpoint asks."""

    root: str

    def told(self) -> Running: ...
    def enter(self) -> None: ...
    def leave(self) -> None: ...
    def serves(
        self, project: str, variables: str, installation: str, agent: str, raw: bytes
    ) -> bool: ...
    def answer(
        self, agent: str, event: str | None, raw: bytes, project: str, pid: int | None
    ) -> bytes: ...


WAIT_S = 5.0
"""How long a client may take to send what it announced."""

HEADER_MAX = 1 << 16
BACKLOG = 128


class Asked(Value):
    """What a client says before its payload."""

    protocol: str
    agent: str
    event: str
    size: str
    parent: str
    project: str
    variables: str
    installation: str


class UnixEndpoint:
    """A socket in the folder of all that run, named as hook_client says. WorkspaceError."""

    def __init__(self, answerer: Answerer, folder: str, kind: str) -> None:
        self._answerer = answerer
        _prepare(folder)
        name = f"{key_of(answerer.root)}-{kind}-{os.urandom(2).hex()}.sock"
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
        """Take nobody in any more."""
        _unlink(self.path)
        self._socket.shutdown(SHUT_RDWR)  # wakes the thread that waits
        self._accepting.join()
        self._socket.close()
        _unlink(self.path + LATE)  # those who wait in line find it closed, and do their own work

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            self._answerer.enter()
            try:
                Thread(target=self._serve, args=(peer,), daemon=True).start()
            except RuntimeError:  # no further thread is to be had: the hook does its own work
                peer.close()
                self._answerer.leave()

    def _serve(self, peer: socket) -> None:
        try:
            peer.settimeout(WAIT_S)
            if not self._converse(peer):
                _unlink(self.path + LATE)
        except OSError:
            _unlink(self.path + LATE)
        finally:
            peer.close()
            self._answerer.leave()

    def _converse(self, peer: socket) -> bool:
        """False when it has gone meanwhile, as OSError says, too: what it asked for it does
        itself, and if it had waited too long, that is over now."""
        if uid_of_peer(peer) not in (None, os.getuid()):
            return True
        asked, begun = _asked(peer)
        if asked is None or asked.protocol == TELL:
            peer.sendall(NOT_MINE if asked is None else self._answerer.told().sent())
            return True
        raw = _exactly(peer, int(asked.size), begun)
        mine = self._answerer.serves(
            asked.project, asked.variables, asked.installation, asked.agent, raw
        )
        peer.sendall(MINE if mine else NOT_MINE)
        if not mine or peer.recv(1) != GO:
            return not mine
        event, pid = asked.event or None, int(asked.parent)
        peer.sendall(self._answerer.answer(asked.agent, event, raw, asked.project, pid) + GO)
        return True


def _prepare(folder: str) -> None:
    """A folder that only its owner may enter, without the sockets of processes that are gone."""
    make_folder(folder)
    found = os.stat(folder)
    if found.st_uid != os.getuid():
        raise WorkspaceError(
            f"{folder} belongs to somebody else.", "Remove it, or choose another SIGHTLINE_HOME."
        )
    os.chmod(folder, 0o700)
    for name in os.listdir(folder):
        _remove_if_dead(os.path.join(folder, name))


def _remove_if_dead(path: str) -> None:
    """Remove a socket that nobody listens on. One of another program, or a file, is left alone."""
    try:
        if not path.endswith(".sock") or not stat.S_ISSOCK(os.lstat(path).st_mode):
            return
        with_it = socket(AF_UNIX, SOCK_STREAM)
        try:
            with_it.settimeout(WAIT_S)
            with_it.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            _unlink(path + LATE)
        finally:
            with_it.close()
    except OSError:
        return  # another process removed it, or it is too busy to answer: it lives


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:  # somebody tidied up
        return


def _asked(peer: socket) -> tuple[Asked | None, bytes]:
    """The header, and what came of the payload with it; None for one that is not understood."""
    data = b""
    while b"\n" not in data:
        piece = peer.recv(PIECE)
        if not piece or len(data) > HEADER_MAX:
            return None, b""
        data += piece
    header, _, begun = data.partition(b"\n")
    fields = os.fsdecode(header).split("\0")
    if fields[0] not in (PROTOCOL, TELL) or len(fields) != len(Asked._fields):
        return None, b""
    asked = Asked(*fields)
    sound = asked.size.isdecimal() and asked.parent.isdecimal()
    return (asked if sound and int(asked.size) <= PAYLOAD_MAX else None), begun


def _exactly(peer: socket, size: int, begun: bytes) -> bytes:
    pieces, have = [begun], len(begun)
    while have < size:
        piece = peer.recv(PIECE)
        if not piece:
            raise ConnectionError
        pieces.append(piece)
        have += len(piece)
    return b"".join(pieces)
