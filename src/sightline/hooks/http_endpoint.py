"""HTTP on this machine only: how the http kind of hook asks."""

from __future__ import annotations

from email.message import Message
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from sightline.agents.dialect import AGENTS
from sightline.errors import WorkspaceError
from sightline.hooks.http_address import HOST
from sightline.hooks.protocol import PAYLOAD_MAX
from sightline.hooks.unix_endpoint import Answerer

WAIT_S = 30.0
"""How long a connection may say nothing."""


DRAINED = 1 << 16
"""A refused request of up to so many bytes is taken all the same: who is cut off while sending
may not read why."""


class HttpEndpoint:
    """A server on one port of 127.0.0.1. WorkspaceError when the port is taken."""

    def __init__(self, answerer: Answerer, port: int, token: str) -> None:
        try:
            self._server = _Server((HOST, port), _Handler)
        except OSError as error:
            raise WorkspaceError(
                f"Port {port} of {HOST} is taken ({error.strerror}): this workspace's hooks of the "
                "http kind are answered there.",
                "Is another `sightline up` running here? End that one, or the program that has "
                "the port.",
            ) from error
        self._server.answerer, self._server.token = answerer, token
        self.port = port
        self._thread = Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take nobody in any more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    answerer: Answerer
    token: str

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = WAIT_S
    disable_nagle_algorithm = True  # or the headers' packet waits 40 ms for its acknowledgement
    wbufsize = -1  # and headers and body leave in one packet

    def do_POST(self) -> None:
        """POST /hook/AGENT[/EVENT]."""
        _, room, agent, *event = [*urlsplit(self.path).path.split("/"), "", ""][:4]
        refusal = self._refusal(room, agent)
        size = self.headers.get("Content-Length", "")
        if refusal is None and not (size.isdecimal() and int(size) <= PAYLOAD_MAX):
            refusal = (413, "A payload of at most 64 MiB, with its Content-Length")
        if refusal is not None:
            if size.isdecimal() and int(size) <= DRAINED:
                self.rfile.read(int(size))
            self._say(*refusal, ends=True)
            return
        raw = self.rfile.read(int(size))
        named = event[0] if event and event[0] else None
        answer = self.server.answerer.answer(agent, named, raw, "", None)
        self._say(200, answer.decode() or "{}", "application/json")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: `up` has the screen, and faults are in the hooks' log."""

    def _refusal(self, room: str, agent: str) -> tuple[int, str] | None:
        """Why this request is not let in. A page in a browser can send one, but neither name this
        machine otherwise nor know the token."""
        if not _here(self.headers, self.server.server_port):
            return 403, "Ask 127.0.0.1"
        given = self.headers.get("Authorization", "").encode()
        if not compare_digest(given, f"Bearer {self.server.token}".encode()):
            return 401, "The token of `sightline init` is missing or another"
        if room != "hook" or agent not in AGENTS:
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


def _here(headers: Message, port: int) -> bool:
    hosts = headers.get_all("Host") or []
    return hosts in ([f"{HOST}:{port}"], [f"localhost:{port}"])
