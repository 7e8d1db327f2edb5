"""Ask the daemons of this machine who they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from socket import AF_UNIX, SOCK_STREAM, socket

from msgspec import Struct, structs

from sightline.hooks.client import peer_ids
from sightline.hooks.protocol import ACCEPT_S, PIECE, is_private, key_of, own_settings, run_folder

STATUS = "sightline-tell-2"
"""Asks for a daemon's status, in place of protocol.PROTOCOL."""


class DaemonStatus(Struct, frozen=True):
    """A daemon. kind: "up" or "auto"; since: UTC, ISO 8601; calls: how many it answered;
    variables, installation: see protocol.own_settings and stamp."""

    kind: str
    pid: str
    since: str
    calls: str
    root: str
    variables: str
    installation: str

    def encoded(self) -> bytes:
        """Return the form that goes over a socket."""
        return os.fsencode("\0".join(structs.astuple(self)))


def list_daemons(
    root: str, environ: Mapping[str, str], home: str, kind: str = ""
) -> Iterator[DaemonStatus]:
    """Yield the daemons of a workspace that hooks with these variables ask, of any installation.
    kind: yield no other kind."""
    own = own_settings(environ)
    for path in list_sockets(root, environ, home, kind):
        status = ask_status(path)
        if status is not None and (status.root, status.variables) == (root, own):
            yield status


def list_sockets(root: str, environ: Mapping[str, str], home: str, kind: str = "") -> list[str]:
    """Return a workspace's sockets, including those of dead daemons. kind: of no other kind."""
    folder = run_folder(environ, home)
    try:
        names = os.listdir(folder) if is_private(folder) else []
    except OSError:
        return []
    start = f"{key_of(root)}-{kind}"
    ours = [name for name in names if name.startswith(start) and name.endswith(".sock")]
    return [os.path.join(folder, name) for name in sorted(ours)]


def ask_status(path: str) -> DaemonStatus | None:
    """Return the status of the daemon at a socket; None where no daemon answers."""
    empty = ("", "", "0", "0", "", "", "")
    header, answer = "\0".join((STATUS, *empty)), b""
    try:
        with socket(AF_UNIX, SOCK_STREAM) as daemon:
            daemon.settimeout(4 * ACCEPT_S)
            daemon.connect(path)
            daemon.sendall(header.encode() + b"\n")
            while piece := daemon.recv(PIECE):
                answer += piece
    except OSError:  # gone, silent, or of another program
        return None
    fields = os.fsdecode(answer).split("\0")
    return DaemonStatus(*fields) if len(fields) == len(DaemonStatus.__struct_fields__) else None


def silent_daemons(root: str, environ: Mapping[str, str], home: str) -> list[int]:
    """Return the processes that have a socket for this workspace and do not answer, where the
    system tells their numbers."""
    silent = [path for path in list_sockets(root, environ, home) if ask_status(path) is None]
    return [pid for path in silent if (pid := _listener(path))]


def _listener(path: str) -> int:
    """Return the process that listens at a socket; 0 where none does or the system does not say."""
    try:
        with socket(AF_UNIX, SOCK_STREAM) as peer:
            peer.settimeout(ACCEPT_S)
            peer.connect(path)
            ids = peer_ids(peer)
    except OSError:
        return 0
    return ids[0] if ids else 0
