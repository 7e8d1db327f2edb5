"""Who answers hooks on this machine, by their own word."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from socket import AF_UNIX, SOCK_STREAM, socket

from sightline.hooks.client import ACCEPT_S, PIECE
from sightline.hooks.protocol import key_of, own_settings, private, run_folder
from sightline.model.value import Value

TELL = "sightline-tell-2"
"""Asks an answerer for what it says of itself, in place of protocol.PROTOCOL."""


class Running(Value):
    """An answerer. kind: "up" or "auto"; since: UTC, ISO 8601; calls: how many it was asked;
    variables, installation: see protocol.own_settings and stamp."""

    kind: str
    pid: str
    since: str
    calls: str
    root: str
    variables: str
    installation: str

    def sent(self) -> bytes:
        """As it goes over a socket."""
        return os.fsencode("\0".join(getattr(self, field) for field in Running._fields))


def answerers(
    root: str, environ: Mapping[str, str], home: str, kind: str = ""
) -> Iterator[Running]:
    """Those by whom hooks of this workspace, started with these variables, are answered, or would
    be if they were of the same installation. kind: of no other."""
    own = own_settings(environ)
    for path in sockets(root, environ, home, kind):
        told = tell(path)
        if told is not None and (told.root, told.variables) == (root, own):
            yield told


def sockets(root: str, environ: Mapping[str, str], home: str, kind: str = "") -> list[str]:
    """Of everybody who answers, or did, for a workspace. kind: of no other."""
    folder = run_folder(environ, home)
    try:
        names = os.listdir(folder) if private(folder) else []
    except OSError:
        return []
    start = f"{key_of(root)}-{kind}"
    ours = [name for name in names if name.startswith(start) and name.endswith(".sock")]
    return [os.path.join(folder, name) for name in sorted(ours)]


def tell(path: str) -> Running | None:
    """What the answerer at a socket says of itself; None where nobody does."""
    unsaid = ("", "", "0", "0", "", "", "")
    header, said = "\0".join((TELL, *unsaid)), b""
    try:
        with socket(AF_UNIX, SOCK_STREAM) as answerer:
            answerer.settimeout(4 * ACCEPT_S)
            answerer.connect(path)
            answerer.sendall(header.encode() + b"\n")
            while piece := answerer.recv(PIECE):
                said += piece
    except OSError:  # gone, silent, or of another program
        return None
    fields = os.fsdecode(said).split("\0")
    return Running(*fields) if len(fields) == len(Running._fields) else None


def silent(root: str, environ: Mapping[str, str], home: str) -> list[int]:
    """The processes that have a socket for this workspace and say nothing, where the system tells
    who they are."""
    waiting = [path for path in sockets(root, environ, home) if tell(path) is None]
    return [pid for path in waiting if (pid := _listener(path))]


def _listener(path: str) -> int:
    """The process that listens at a socket; 0 where none does or it cannot be told."""
    import socket

    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(ACCEPT_S)
            peer.connect(path)
            return int.from_bytes(
                peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder
            )
    except OSError:
        return 0
