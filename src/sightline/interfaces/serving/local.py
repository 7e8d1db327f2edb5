"""The unix socket: how the command kind of hook asks, and how it is told once (hook_client)."""

from __future__ import annotations

import os
import stat
from socket import AF_UNIX, SHUT_RDWR, SOCK_STREAM, socket
from threading import Thread

from sightline.core.value import Value
from sightline.errors import WorkspaceError
from sightline.interfaces.hook_client import (
    GO,
    MINE,
    NOT_MINE,
    PAYLOAD_MAX,
    PIECE,
    PROTOCOL,
    uid_of_peer,
)
from sightline.store.private import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.interfaces.serving.answerer import Answerer


WAIT_S = 5.0
"""How long a client may take to send what it announced."""

HEADER_MAX = 1 << 16
PATH_MAX = 100
"""Bytes of a socket's path: systems take 104 to 108."""

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


class LocalDoor:
    """A socket in the folder of all that run, named after this process. WorkspaceError."""

    def __init__(self, answerer: Answerer, folder: str) -> None:
        self._answerer = answerer
        _prepare(folder)
        self.path = os.path.join(folder, f"{os.getpid()}-{os.urandom(3).hex()}.sock")
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
        os.unlink(self.path)
        self._socket.shutdown(SHUT_RDWR)  # wakes the thread that waits
        self._accepting.join()
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer: socket) -> None:
        try:
            peer.settimeout(WAIT_S)
            self._converse(peer)
        except OSError:
            return  # it went away; what it asked for it does itself
        finally:
            peer.close()

    def _converse(self, peer: socket) -> None:
        if uid_of_peer(peer) not in (None, os.getuid()):
            return
        asked, begun = _asked(peer)
        if asked is None:
            peer.sendall(NOT_MINE)
            return
        raw = _exactly(peer, int(asked.size), begun)
        mine = self._answerer.serves(asked.project, asked.variables, asked.agent, raw)
        peer.sendall(MINE if mine else NOT_MINE)
        if not mine or peer.recv(1) != GO:
            return  # it took too long, and does the work itself
        event, pid = asked.event or None, int(asked.parent)
        peer.sendall(self._answerer.answer(asked.agent, event, raw, asked.project, pid) + GO)


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
        finally:
            with_it.close()
    except OSError:
        return  # another process removed it, or it is too busy to answer: it lives


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
    if fields[0] != PROTOCOL or len(fields) != len(Asked._fields):
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
