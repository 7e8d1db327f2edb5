"""Ask the daemons of this machine who they are."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from time import monotonic, sleep

from msgspec import Struct, structs

from sightline.filesystem.process import alive, owner_of
from sightline.hooks.client import ask, open_pipe
from sightline.hooks.protocol import ACCEPT_S, PIPE, is_private, key_of, own_settings, run_folder

END_S = 10.0
"""Seconds that a daemon may take to end: it lets the calls under way end."""

LOOK_S = 0.02
"""Seconds between two looks at whether a daemon ended."""

STATUS = "sightline-tell-4"
"""Asks for a daemon's status, in place of protocol.PROTOCOL."""


class DaemonStatus(Struct, frozen=True):
    """A daemon. kind: "up" or "auto"; since: UTC, ISO 8601; calls: how many it answered;
    variables, installation: see protocol.own_settings and stamp; git: the program that it asks, ""
    where it finds none."""

    kind: str
    pid: str
    since: str
    calls: str
    root: str
    variables: str
    installation: str
    git: str

    def encoded(self) -> bytes:
        """Return the form that a daemon answers with."""
        return os.fsencode("\0".join(structs.astuple(self)))


def list_daemons(
    root: str, environ: Mapping[str, str], home: str, kind: str = ""
) -> Iterator[DaemonStatus]:
    """Yield the daemons of a workspace that hooks with these variables ask, of any installation.
    kind: yield no other kind."""
    own = own_settings(environ)
    for path in list_pipes(root, environ, home, kind):
        status = ask_status(path)
        if status is not None and (status.root, status.variables) == (root, own):
            yield status


def end_daemons(root: str, environ: Mapping[str, str], home: str) -> list[int]:
    """End the daemons that hooks left behind for a workspace, whatever variables these hooks had, and
    remove what dead ones left. Return the processes that still run after END_S seconds."""
    daemons = {}
    for path in list_pipes(root, environ, home, "auto"):
        pid = int(os.path.basename(path).split("-")[2])
        status = ask_status(path)
        if status is not None and status.root == root:
            daemons[owner_of(pid)] = pid
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(pid, signal.SIGTERM)
        elif status is None and not is_read(path):
            with suppress(FileNotFoundError):
                os.unlink(path)
    until = monotonic() + END_S
    while any(map(alive, daemons)) and monotonic() < until:
        sleep(LOOK_S)
    return [pid for name, pid in daemons.items() if alive(name)]


def list_pipes(root: str, environ: Mapping[str, str], home: str, kind: str = "") -> list[str]:
    """Return a workspace's pipes, including those of dead daemons. kind: of no other kind."""
    folder = run_folder(environ, home)
    try:
        names = os.listdir(folder) if is_private(folder) else []
    except OSError:
        return []
    start = f"{key_of(root)}-{kind}"
    ours = [name for name in names if name.startswith(start) and name.endswith(PIPE)]
    return [os.path.join(folder, name) for name in sorted(ours)]


def ask_status(path: str) -> DaemonStatus | None:
    """Return the status of the daemon at a pipe; None where no daemon answers."""
    empty = ("", "", "0", "0", "", "", "\n")
    folder, name = os.path.split(path)
    try:
        answer = ask(folder, [name], "\0".join((STATUS, *empty)).encode(), 4 * ACCEPT_S)
    except OSError:  # the daemon is silent, or the disk is full
        return None
    fields = os.fsdecode(answer or b"").split("\0")
    return DaemonStatus(*fields) if len(fields) == len(DaemonStatus.__struct_fields__) else None


def silent_daemons(root: str, environ: Mapping[str, str], home: str) -> list[int]:
    """Return the processes that read a pipe for this workspace and do not answer."""
    silent = [path for path in list_pipes(root, environ, home) if ask_status(path) is None]
    return [int(os.path.basename(path).split("-")[2]) for path in silent if is_read(path)]


def is_read(path: str) -> bool:
    """Return whether a process reads a pipe."""
    try:
        os.close(open_pipe(path))
    except OSError as error:
        return error.errno not in (errno.ENXIO, errno.ENOENT)
    return True
