"""A hook's process: it asks a running `up`, and does the work itself where none answers.

A process starts on every tool call of an agent, so this imports next to nothing until it has to.
An event is attended to once: `up` begins only when it is told to go on, after it has said that
the event is its own; who did not get that word in time does the work itself and never says it.

To `up`:  the fields of Asked, joined by NUL, and a newline; the payload; end of file is not sent
          (its length is a field). From `up`: MINE or NOT_MINE. To `up`: GO. From `up`: the answer.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping
    from typing import NoReturn

PROTOCOL = "sightline-hook-1"
MINE, NOT_MINE, GO = b"m", b"n", b"g"

PAYLOAD_MAX = 64 << 20
"""Bytes of one payload; a larger one is not read whole."""

ACCEPT_S = 0.25
"""How long a running `up` may take to say whether an event is its own."""

ANSWER_S = 9.0
"""How long it may take to answer: it keeps a deadline of its own, and hosts wait 10 s."""

SERVERS_MAX = 16
PIECE = 1 << 16


def main(args: list[str]) -> NoReturn:
    """Answer the hook call on stdin and end this process, with exit code 0 whatever happens."""
    try:
        gc.disable()  # nothing lives long enough here to be worth looking for
        _write(1, _answer(args))
    except BaseException as error:  # noqa: BLE001 - the agent must not be blocked by any of them
        _write(2, f"sightline: {type(error).__name__}: nothing was checked.\n".encode())
    # Nothing is left to tidy up, and a thread that waits for a dead disk is not waited for.
    os._exit(0)


def run_folder(environ: Mapping[str, str], home: str) -> str:
    """Where every running `up` of this user has a socket."""
    return os.path.join(state_base(environ, home), "run")


def state_base(environ: Mapping[str, str], home: str, platform: str = sys.platform) -> str:
    """The state folder as far as it can be told without reading settings: the same as theirs,
    unless the user's settings file moves it."""
    asked = environ.get("SIGHTLINE_HOME", "")
    if asked:
        return os.path.join(home, asked[2:]) if asked.startswith("~/") else asked
    if platform == "darwin":
        return os.path.join(home, "Library/Application Support/sightline")
    windows = platform == "win32"
    named = environ.get("LOCALAPPDATA" if windows else "XDG_STATE_HOME", "")
    fallback = "AppData/Local" if windows else ".local/state"
    folder = named if os.path.isabs(named) else os.path.join(home, fallback)
    return os.path.join(folder, "sightline")


def own_settings(environ: Mapping[str, str]) -> str:
    """The variables that change what is judged. A server with others is not asked."""
    return "\x01".join(
        f"{key}={environ[key]}" for key in sorted(environ) if key.startswith("SIGHTLINE_")
    )


def uid_of_peer(peer: socket) -> int | None:
    """The user at the other end; None where the system does not say (the folder is private)."""
    import _socket

    if not hasattr(_socket, "SO_PEERCRED"):
        return None
    found = peer.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(found[4:8], sys.byteorder)  # struct ucred: pid, uid, gid


def _answer(args: list[str]) -> bytes:
    if not args or args[0].startswith("-") or len(args) > 2 or os.isatty(0):
        return _usage()
    raw = _stdin()
    parent = os.getppid()
    try:
        asked = _ask(args, raw, parent) if len(raw) <= PAYLOAD_MAX else None
    except TimeoutError:
        return _unanswered(args[0], raw)
    return _own(args, raw, parent) if asked is None else asked


def _own(args: list[str], raw: bytes, parent: int) -> bytes:
    from sightline.interfaces.hooks import answered
    from sightline.workspace.process import behind_shell, owner_of

    return answered(
        args[0],
        raw,
        environ=os.environ,
        home=os.path.expanduser("~"),
        event=args[1] if len(args) > 1 else None,
        owner=owner_of(behind_shell(parent)),
        ending=True,
    )


def _unanswered(agent: str, raw: bytes) -> bytes:
    from sightline.interfaces.hooks import unanswered

    return unanswered(agent, raw, environ=os.environ, home=os.path.expanduser("~"))


def _usage() -> bytes:
    from sightline.agents import AGENTS
    from sightline.render.unjudged import USAGE

    _write(2, USAGE.format(known=", ".join(AGENTS)).encode())
    return b""


def _stdin() -> bytes:
    """What the host gives, up to one byte more than is taken."""
    pieces, size = [], 0
    while size <= PAYLOAD_MAX and (piece := os.read(0, PIECE)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _ask(args: list[str], raw: bytes, parent: int) -> bytes | None:
    """What a running `up` answers; None when none has taken the event. TimeoutError when one
    has, and does not answer."""
    folder = run_folder(os.environ, os.path.expanduser("~"))
    try:
        names = os.listdir(folder)
        if not names or not _private(folder):
            return None
    except OSError:
        return None
    header = _header(args, raw, parent)
    for name in sorted(names)[:SERVERS_MAX]:
        if name.endswith(".sock") and header is not None:
            answer = _asked(os.path.join(folder, name), header, raw)
            if answer is not None:
                return answer
    return None


def _private(folder: str) -> bool:
    found = os.stat(folder)
    return found.st_uid == os.getuid() and not found.st_mode & 0o077


def _header(args: list[str], raw: bytes, parent: int) -> bytes | None:
    fields = (
        *(PROTOCOL, args[0], args[1] if len(args) > 1 else "", str(len(raw)), str(parent)),
        *(os.environ.get("CLAUDE_PROJECT_DIR", ""), own_settings(os.environ)),
    )
    header = os.fsencode("\0".join(fields))
    return None if b"\n" in header or header.count(b"\0") != len(fields) - 1 else header + b"\n"


def _asked(path: str, header: bytes, raw: bytes) -> bytes | None:
    import _socket

    with_up = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        with_up.settimeout(ACCEPT_S)
        with_up.connect(path)
        if uid_of_peer(with_up) not in (None, os.getuid()):
            return None
        with_up.sendall(header)
        with_up.sendall(raw)
        if with_up.recv(1) != MINE:
            return None
        with_up.sendall(GO)
    except OSError:  # gone, slow or no socket: it has not begun
        with_up.close()
        return None
    try:
        return _received(with_up)
    finally:
        with_up.close()


def _received(with_up: socket) -> bytes | None:
    """The answer. None when the server died over it: what it did then is what any crash leaves.
    One that only does not answer may be at work still: TimeoutError."""
    with_up.settimeout(ANSWER_S)
    pieces = []
    try:
        while piece := with_up.recv(PIECE):
            pieces.append(piece)
    except ConnectionError:
        return None
    answer = b"".join(pieces)
    return answer[:-1] if answer.endswith(GO) else None


def _write(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:  # whoever started us does not listen any more
        return
