"""The HTTP endpoint of `sightline up`, on this machine only: hooks of the http kind ask here.

An agent's settings hold the port and the token, so both are kept beside the workspace's store and
stay the same whenever `up` runs.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from sightline.agents.products import PRODUCTS
from sightline.errors import StoreError, WorkspaceError
from sightline.filesystem.private_files import Locked, make_folder, write_file
from sightline.hooks.protocol import PAYLOAD_MAX
from sightline.store.identity import store_file

HOST = "127.0.0.1"
PORTS = (20_000, 32_000)
"""The range below the ports that systems give to outgoing connections."""

WAIT_S = 30.0
"""Seconds for which a connection may be silent that sent the token."""

TOKEN_WAIT_S = 5.0
"""Seconds for which a connection may be silent before it sent the token."""

STRANGERS_MAX = 64
"""Connections that have not sent the token. One more ends the oldest of them, so idle connections
take neither all threads nor all descriptors, and hooks go on to be answered."""

DRAINED = 1 << 16
"""Bytes up to which a refused request is read: a client that is cut off while sending may not
read the reason."""


def http_settings(state_home: str, root: str, agent: str) -> tuple[str, str]:
    """Return the URL for an agent's hooks of the http kind, and the token of their header
    "Authorization: Bearer TOKEN". StoreError."""
    port, token = port_and_token(state_home, root)
    return f"http://{HOST}:{port}/hook/{agent}", token


def port_and_token(state_home: str, root: str) -> tuple[int, str]:
    """Return a workspace's port and token; choose them on the first call. StoreError."""
    file = os.path.join(os.path.dirname(store_file(state_home, root)), "http")
    try:
        if (known := _read_address(file)) is not None:
            return known
        make_folder(os.path.dirname(file))
        with Locked(f"{file}.lock"):
            if (known := _read_address(file)) is not None:
                return known  # another process was first
            port = PORTS[0] + secrets.randbelow(PORTS[1] - PORTS[0])
            token = secrets.token_urlsafe(32)
            write_file(file, f"{port} {token}".encode())
            return port, token
    except OSError as error:
        raise StoreError(
            f"{error.filename or file} cannot be used ({error.strerror or error}).",
            "Check its permissions and the free space.",
        ) from error


def _read_address(file: str) -> tuple[int, str] | None:
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


Answer = Callable[[str, str | None, bytes], bytes]
"""Return the answer to an agent's call. Parameters: the agent; the event's name, where the payload
does not hold it; the payload."""


class HttpEndpoint:
    """A server on one port of 127.0.0.1. WorkspaceError when the port is taken."""

    def __init__(self, answer: Answer, port: int, token: str) -> None:
        try:
            self._listener = _Listener((HOST, port), _Handler)
        except OSError as error:
            raise WorkspaceError(
                f"Port {port} of {HOST} is taken ({error.strerror}): this workspace's hooks of the "
                "http kind are answered there.",
                "Is another `sightline up` running here? End that one, or the program that has "
                "the port.",
            ) from error
        self._listener.answer, self._listener.token = answer, token
        self._thread = Thread(target=self._listener.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Accept no further connection."""
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    answer: Answer
    token: str

    def __init__(self, *arguments: Any) -> None:
        self._strangers: dict[Any, None] = {}
        self._lock = Lock()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread. End the oldest connection without the token where there are too many."""
        with self._lock:
            self._strangers[request] = None
            oldest = next(iter(self._strangers))
            if len(self._strangers) > STRANGERS_MAX:
                del self._strangers[oldest]
                with suppress(OSError):  # the client ended the connection
                    oldest.shutdown(SHUT_RDWR)
        super().process_request(request, client_address)

    def trust(self, connection: Any) -> None:
        """Let a connection stay that sent the token."""
        with self._lock:
            self._strangers.pop(connection, None)
        connection.settimeout(WAIT_S)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._strangers.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that goes away."""


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    protocol_version = "HTTP/1.1"
    timeout = TOKEN_WAIT_S
    disable_nagle_algorithm = True  # else the headers' packet waits 40 ms for its acknowledgement
    wbufsize = -1  # headers and body leave in one packet

    def do_POST(self) -> None:
        """POST /hook/AGENT[/EVENT]."""
        _, folder, agent, *event = [*urlsplit(self.path).path.split("/"), "", ""][:4]
        refusal = self._refusal(folder, agent)
        if refusal is None:
            self.server.trust(self.connection)
        size = self.headers.get("Content-Length", "")
        if refusal is None and not (size.isdecimal() and int(size) <= PAYLOAD_MAX):
            refusal = (413, "A payload of at most 64 MiB, with its Content-Length")
        if refusal is not None:
            if size.isdecimal() and int(size) <= DRAINED:
                self.rfile.read(int(size))
            self._say(*refusal, ends=True)
            return
        raw = self.rfile.read(int(size))
        answer = self.server.answer(agent, next(filter(None, event), None), raw)
        self._say(200, answer.decode() or "{}", "application/json")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: `up` has the screen, and faults are in the hooks' log."""

    def _refusal(self, folder: str, agent: str) -> tuple[int, str] | None:
        """Return why this request is refused. A page in a browser can send a request, but can neither
        use another name of this machine nor know the token."""
        port = self.server.server_port
        if self.headers.get_all("Host") not in ([f"{HOST}:{port}"], [f"localhost:{port}"]):
            return 403, "Ask 127.0.0.1"
        given = self.headers.get("Authorization", "").encode()
        if not compare_digest(given, f"Bearer {self.server.token}".encode()):
            return 401, "The token of `sightline init` is missing or another"
        if folder != "hook" or agent not in PRODUCTS:
            return 404, "POST /hook/AGENT"
        return None

    def _say(self, status: int, text: str, kind: str = "text/plain", *, ends: bool = False) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if ends:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
