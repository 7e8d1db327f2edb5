"""The process of one hook call: ask the daemon, or answer here and leave a daemon behind.

An agent starts this process on every tool call, so the module imports only what asking needs. A
daemon is a running `sightline up`, or the process that an earlier hook started (hooks.spawn).

    client -> daemon: the fields of server.Request joined by NUL, a newline, the payload
    daemon -> client: MINE or NOT_MINE
    client -> daemon: GO
    daemon -> client: the answer, then GO

Each event is handled once. The daemon handles it only after GO, and a client that got no MINE in
time never sends GO: it handles the event itself. Such a client leaves a mark beside the socket,
and no client asks there while the mark exists. The daemon removes the mark when it comes to the
connection that the client closed.

A socket is named KEY-KIND-RANDOM.sock: key_of(workspace), then "up" or "auto".
"""

from __future__ import annotations

import _socket
import gc
import os
import sys

from sightline.hooks.protocol import (
    ACCEPT_S,
    GO,
    LATE,
    MINE,
    PAYLOAD_MAX,
    PIECE,
    PROTOCOL,
    is_private,
    key_of,
    own_settings,
    run_folder,
    stamp,
)

ANSWER_S = 9.0
"""Seconds to wait for the answer. The daemon has a deadline of its own; hosts wait 10 s."""

DAEMONS_MAX = 16


def main(args: list[str]) -> None:
    """Print the answer to the hook call on stdin, and end this process with exit code 0."""
    try:
        gc.disable()  # the process ends before garbage matters
        _answer(args)
    except BaseException as error:  # noqa: BLE001 - no error may block the agent
        _write(2, f"sightline: {type(error).__name__}: nothing was checked.\n".encode())
    os._exit(0)  # do not wait for a thread that a dead disk holds


def _answer(args: list[str]) -> None:
    if not args or args[0].startswith("-") or len(args) > 2 or os.isatty(0):
        _add_site_packages()
        from sightline.hooks.call import usage

        _write(2, usage().encode())
        return
    raw = _read_stdin()
    parent, is_silent = os.getppid(), False
    try:
        answer = _ask_daemons(args, raw, parent) if len(raw) <= PAYLOAD_MAX else None
    except TimeoutError:  # a daemon took the event, so this process must not handle it
        answer, is_silent = None, True
    if answer is None:
        _answer_here(args, raw, parent, is_silent=is_silent)
    else:
        _write(1, answer)


def _answer_here(args: list[str], raw: bytes, parent: int, *, is_silent: bool) -> None:
    """Answer with the daemon's own handler, and leave a daemon behind."""
    _add_site_packages()
    from sightline.hooks.call import Call, host_process

    home, event = os.path.expanduser("~"), args[1] if len(args) > 1 else None
    call = Call(args[0], os.environ, home, event, host_process(parent), ending=True)
    _write(1, call.unanswered(raw) if is_silent else call.answered(raw))
    if not call.wants_daemon:
        return
    try:
        from sightline.hooks.spawn import start_daemon

        start_daemon(call)
    except BaseException as error:  # noqa: BLE001 - the call was answered; that is enough
        _write(2, f"sightline: {type(error).__name__}: no daemon was started.\n".encode())


def _add_site_packages() -> None:
    """Put third-party packages on the path, where `python -S` has left them off."""
    if sys.flags.no_site:
        import site

        site.main()


def _read_stdin() -> bytes:
    """Read the payload, up to one byte more than PAYLOAD_MAX."""
    pieces, size = [], 0
    while size <= PAYLOAD_MAX and (piece := os.read(0, PIECE)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _ask_daemons(args: list[str], raw: bytes, parent: int) -> bytes | None:
    """Return a daemon's answer; None when no daemon took the event. TimeoutError when a daemon
    took the event and does not answer."""
    folder = run_folder(os.environ, os.path.expanduser("~"))
    try:
        names = os.listdir(folder)
        if not names or not is_private(folder):
            return None
        header = _header(args, raw, parent)
    except OSError:
        return None
    if header is None:
        return None
    for name in _in_order(names):
        answer = _ask(os.path.join(folder, name), header, raw)
        if answer is not None:
            return answer
    return None


def _in_order(names: list[str]) -> list[str]:
    """Return the sockets to ask: those of the project and of the folders around it first, and
    "up" before "auto". The others come last, because a link may lead to the project."""
    keys, folder, inner = [], os.environ.get("CLAUDE_PROJECT_DIR", ""), ""
    while folder not in ("", inner):
        keys.append(key_of(folder))
        folder, inner = os.path.dirname(folder), folder
    sockets = [name for name in names if name.endswith(".sock") and name + LATE not in names]
    sockets.sort(reverse=True)
    sockets.sort(key=lambda name: keys.index(name[:6]) if name[:6] in keys else len(keys))
    return sockets[:DAEMONS_MAX]


def _header(args: list[str], raw: bytes, parent: int) -> bytes | None:
    """Return the request's fields, or None where one holds a separator."""
    fields = (
        *(PROTOCOL, args[0], args[1] if len(args) > 1 else "", str(len(raw)), str(parent)),
        *(os.environ.get("CLAUDE_PROJECT_DIR", ""), own_settings(os.environ), stamp()),
    )
    header = os.fsencode("\0".join(fields))
    return None if b"\n" in header or header.count(b"\0") != len(fields) - 1 else header + b"\n"


def _ask(path: str, header: bytes, raw: bytes) -> bytes | None:
    daemon = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    accepted = False
    try:
        daemon.settimeout(ACCEPT_S)
        daemon.connect(path)
        accepted = _send(daemon, header, raw)
        return _receive(daemon) if accepted else None
    except OSError as error:  # gone, slow, or not a socket
        if isinstance(error, TimeoutError):
            _mark_late(path)
        if accepted:
            raise
        return None
    finally:
        daemon.close()  # after the mark: the daemon removes the mark when it sees this


def _send(daemon: _socket.socket, header: bytes, raw: bytes) -> bool:
    """Send the event. Return whether the daemon accepted the event and was sent GO."""
    ids = peer_ids(daemon)
    if ids is not None and ids[1] != os.getuid():
        return False
    daemon.sendall(header)
    daemon.sendall(raw)
    if daemon.recv(1) != MINE:
        return False
    daemon.sendall(GO)
    return True


def peer_ids(peer: _socket.socket) -> tuple[int, int] | None:
    """Return the process and the user at the other end; None where the system does not say."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return None
    ucred = peer.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(ucred[:4], sys.byteorder), int.from_bytes(ucred[4:8], sys.byteorder)


def _mark_late(path: str) -> None:
    """Mark the socket of a late daemon, so that later hooks do not wait for the daemon."""
    try:
        os.close(os.open(path + LATE, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError:  # the disk is full or read-only: the next hook waits, too
        return


def _receive(daemon: _socket.socket) -> bytes | None:
    """Return the answer; None when the daemon died before the end of it. TimeoutError when the
    daemon may still be at work."""
    daemon.settimeout(ANSWER_S)
    pieces = []
    try:
        while piece := daemon.recv(PIECE):
            pieces.append(piece)
    except ConnectionError:
        return None
    answer = b"".join(pieces)
    return answer[:-1] if answer.endswith(GO) else None


def _write(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:  # the host does not read any more
        return
