"""Whether an `up` runs for a workspace: it is asked if it would take an event, and given none."""

from __future__ import annotations

import json
import os

from sightline.interfaces.hook_client import ACCEPT_S, MINE, PROTOCOL, own_settings, run_folder

AGENT = "claude-code"


def up_runs(root: str) -> bool:
    """Whether hooks of this workspace would be answered over a socket."""
    folder = run_folder(os.environ, os.path.expanduser("~"))
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    sockets = [os.path.join(folder, name) for name in names if name.endswith(".sock")]
    return any(_would_take(path, root) for path in sockets)


def _would_take(path: str, root: str) -> bool:
    from socket import AF_UNIX, SOCK_STREAM, socket

    payload = json.dumps({"session_id": "doctor", "cwd": root}).encode()
    fields = (PROTOCOL, AGENT, "", str(len(payload)), str(os.getpid()), root)
    header = os.fsencode("\0".join((*fields, own_settings(os.environ)))) + b"\n"
    try:
        with socket(AF_UNIX, SOCK_STREAM) as up:
            up.settimeout(4 * ACCEPT_S)
            up.connect(path)
            up.sendall(header + payload)
            return up.recv(1) == MINE
    except OSError:  # gone, or of another program
        return False
