"""Where hooks of the http kind find their workspace's `up`, and what lets them in.

The port and the token are written into an agent's settings once, so they are kept beside the
workspace's store and stay the same whenever `up` runs.
"""

from __future__ import annotations

import os
import secrets

from sightline.errors import StoreError
from sightline.filesystem.private_files import Locked, make_folder, write_file
from sightline.store.identity import store_file

HOST = "127.0.0.1"
PORTS = (20_000, 32_000)
"""Below those that systems give to outgoing connections, which would take ours now and then."""


def http_settings(state_home: str, root: str, agent: str = "claude-code") -> tuple[str, str]:
    """The URL for an agent's hooks of the http kind, and the token of their header
    "Authorization: Bearer TOKEN". StoreError."""
    port, token = kept(state_home, root)
    return f"http://{HOST}:{port}/hook/{agent}", token


def kept(state_home: str, root: str) -> tuple[int, str]:
    """A workspace's port and token, chosen when they are first asked for. StoreError."""
    file = os.path.join(os.path.dirname(store_file(state_home, root)), "http")
    try:
        if (found := _read(file)) is not None:
            return found
        make_folder(os.path.dirname(file))
        with Locked(f"{file}.lock"):
            if (found := _read(file)) is not None:
                return found  # another process was first
            port = PORTS[0] + secrets.randbelow(PORTS[1] - PORTS[0])
            token = secrets.token_urlsafe(32)
            write_file(file, f"{port} {token}".encode())
            return port, token
    except OSError as error:
        raise StoreError(
            f"{error.filename or file} cannot be used ({error.strerror or error}).",
            "Check its permissions and the free space.",
        ) from error


def _read(file: str) -> tuple[int, str] | None:
    try:
        with open(file, encoding="ascii") as opened:
            words = opened.read().split()
    except FileNotFoundError:
        return None
    try:
        port, token = words
        return int(port), token
    except ValueError:
        raise StoreError(
            f"{file} does not hold a port and a token.",
            "Remove it, and run `sightline init` again.",
        ) from None
