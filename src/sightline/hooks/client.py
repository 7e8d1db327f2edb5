"""A hook's process: it asks an answerer that runs, and does the work itself where none answers.

An answerer is a running `up`, or the process that an earlier hook started (hooks.spawn).
A process starts on every tool call of an agent, so this imports next to nothing until it has to.
An event is attended to once: an answerer begins only when it is told to go on, after it has said
that the event is its own; who did not get that word in time does the work itself and never says it.

To it:    the fields of Asked, joined by NUL, and a newline; the payload; end of file is not sent
          (its length is a field). From it: MINE or NOT_MINE. To it: GO. From it: the answer.

A socket is named KEY-KIND-RANDOM.sock: the key of its workspace (key_of), "up" or "auto". An
answerer that let somebody wait gets a mark beside its socket, and is not asked as long as that is
there: it takes the mark away itself when it comes to whoever has gone meanwhile.
"""

from __future__ import annotations

import gc
import os
import sys

from sightline.hooks.protocol import (
    GO,
    LATE,
    MINE,
    PAYLOAD_MAX,
    PROTOCOL,
    key_of,
    own_settings,
    private,
    run_folder,
    stamp,
    uid_of_peer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from typing import NoReturn

    from sightline.hooks.call import Call

ACCEPT_S = 0.25
"""How long an answerer may take to say whether an event is its own."""

ANSWER_S = 9.0
"""How long it may take to answer: it keeps a deadline of its own, and hosts wait 10 s."""

SERVERS_MAX = 16

PIECE = 1 << 16


def main(args: list[str]) -> NoReturn:
    """Answer the hook call on stdin and end this process, with exit code 0 whatever happens."""
    own = None
    try:
        gc.disable()  # nothing lives long enough here to be worth looking for
        said, own = _answer(args)
        _write(1, said)
    except BaseException as error:  # noqa: BLE001 - the agent must not be blocked by any of them
        _write(2, f"sightline: {type(error).__name__}: nothing was checked.\n".encode())
    if own is not None and own.may_go_on:
        _leave_behind(own)
    # Nothing is left to tidy up, and a thread that waits for a dead disk is not waited for.
    os._exit(0)


def _leave_behind(call: Call) -> None:
    try:
        from sightline.hooks.spawn import start

        start(call)
    except BaseException as error:  # noqa: BLE001 - the call was answered, and that is what counts
        _write(2, f"sightline: {type(error).__name__}: no answerer was started.\n".encode())


def _answer(args: list[str]) -> tuple[bytes, Call | None]:
    """The answer, and the call if it was attended to here."""
    if not args or args[0].startswith("-") or len(args) > 2 or os.isatty(0):
        return _usage(), None
    raw = _stdin()
    parent = os.getppid()
    try:
        asked = _ask(args, raw, parent) if len(raw) <= PAYLOAD_MAX else None
    except TimeoutError:
        return _unanswered(args[0], raw), None
    return _own(args, raw, parent) if asked is None else (asked, None)


def package_folders() -> list[str]:
    """List the folders of installed packages, for an interpreter that was started without them
    (-S). They stand behind the folder of sightline itself, which holds them in most installations."""
    import site

    home = os.path.dirname(os.path.dirname(sys.executable))
    return site.getsitepackages([home, sys.prefix])


def _own(args: list[str], raw: bytes, parent: int) -> tuple[bytes, Call]:
    sys.path.extend(package_folders())
    from sightline.filesystem.process import behind_shell, owner_of
    from sightline.hooks.call import Call

    call = Call(
        args[0],
        os.environ,
        os.path.expanduser("~"),
        event=args[1] if len(args) > 1 else None,
        owner=owner_of(behind_shell(parent)),
        ending=True,
    )
    return call.answered(raw), call


def _unanswered(agent: str, raw: bytes) -> bytes:
    sys.path.extend(package_folders())
    from sightline.hooks.call import unanswered

    return unanswered(agent, raw, environ=os.environ, home=os.path.expanduser("~"))


def _usage() -> bytes:
    from sightline.agents.dialect import AGENTS
    from sightline.hooks.words import USAGE

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
    """What an answerer says; None when none has taken the event. TimeoutError when one has, and
    does not answer."""
    folder = run_folder(os.environ, os.path.expanduser("~"))
    try:
        names = os.listdir(folder)
        if not names or not private(folder):
            return None
        header = _header(args, raw, parent)
    except OSError:
        return None
    if header is None:
        return None
    for name in _likely(names):
        answer = _asked(os.path.join(folder, name), header, raw)
        if answer is not None:
            return answer
    return None


def _likely(names: list[str]) -> list[str]:
    """The sockets to ask, those of the project and of the folders it lies in first: `up` before
    what gives way to it. Others come last, because a link may lead to the project."""
    keys, folder, above = [], os.environ.get("CLAUDE_PROJECT_DIR", ""), ""
    while folder not in ("", above):
        keys.append(key_of(folder))
        folder, above = os.path.dirname(folder), folder
    asked = [name for name in names if name.endswith(".sock") and name + LATE not in names]
    asked.sort(reverse=True)
    asked.sort(key=lambda name: keys.index(name[:6]) if name[:6] in keys else len(keys))
    return asked[:SERVERS_MAX]


def _header(args: list[str], raw: bytes, parent: int) -> bytes | None:
    fields = (
        *(PROTOCOL, args[0], args[1] if len(args) > 1 else "", str(len(raw)), str(parent)),
        *(os.environ.get("CLAUDE_PROJECT_DIR", ""), own_settings(os.environ), stamp()),
    )
    header = os.fsencode("\0".join(fields))
    return None if b"\n" in header or header.count(b"\0") != len(fields) - 1 else header + b"\n"


def _asked(path: str, header: bytes, raw: bytes) -> bytes | None:
    import _socket

    answerer = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    begun = False
    try:
        answerer.settimeout(ACCEPT_S)
        answerer.connect(path)
        begun = _taken(answerer, header, raw)
        return _received(answerer) if begun else None
    except OSError as error:  # gone, slow or no socket
        if isinstance(error, TimeoutError):
            _mark(path)
        if begun:
            raise
        return None
    finally:
        answerer.close()  # after the mark, which goes when this is seen


def _taken(answerer: socket, header: bytes, raw: bytes) -> bool:
    """Whether it says that the event is its own, and was told to begin."""
    if uid_of_peer(answerer) not in (None, os.getuid()):
        return False
    answerer.sendall(header)
    answerer.sendall(raw)
    if answerer.recv(1) != MINE:
        return False
    answerer.sendall(GO)
    return True


def _mark(path: str) -> None:
    """Note that somebody waited for nothing, so that the next ones need not."""
    try:
        os.close(os.open(path + LATE, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError:  # the disk is full or read-only: the next one waits, too
        return


def _received(answerer: socket) -> bytes | None:
    """The answer. None when the server died over it: what it did then is what any crash leaves.
    One that only does not answer may be at work still: TimeoutError."""
    answerer.settimeout(ANSWER_S)
    pieces = []
    try:
        while piece := answerer.recv(PIECE):
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
