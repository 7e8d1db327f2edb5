"""The process of one hook call: ask the daemon, or answer here and leave a daemon behind.

    python -I -S hook_entry.py AGENT [EVENT] [NAME=VALUE]...

EVENT is the event's name, where the payload does not hold it. A word NAME=VALUE hands over what the agent told its
hook in a variable: project (the folder that the agent was started for), session, or a variable under its own name.

An agent starts this process on every tool call, so the module imports only what asking needs. A
daemon is a running `sightline up`, or the process that an earlier hook started (hooks.spawn).

    NAME.ask   the client's file: the fields of server.Request joined by NUL, a newline, the payload
    NAME.say   the client's pipe: a daemon writes NOT_MINE, or MINE, the answer, and GO
    KEY-KIND-PROCESS-RANDOM.fifo   a daemon's pipe: a client writes NAME and a newline

KEY is key_of(workspace), KIND is "up" or "auto". All pipes are named pipes in the run folder, which
is closed to other users. A pipe that no process reads belongs to a dead daemon.

Each event is handled once: whoever removes NAME.ask handles it. A daemon removes the file before it
says MINE. A client that waited too long marks the daemon's pipe, removes the file, and handles the
event itself. No client asks there while the mark exists. The daemon removes the mark when it comes
to a request.
"""

from __future__ import annotations

import gc
import os
import stat
import sys
from select import select
from time import time

from sightline.hooks.event_lock import event_of, lock_event, note_answer
from sightline.hooks.protocol import (
    ACCEPT_S,
    ASK,
    GO,
    LATE,
    MINE,
    NOT_MINE,
    OFF_S,
    PAYLOAD_MAX,
    PIECE,
    PIPE,
    PROTOCOL,
    SAY,
    TOLD,
    is_private,
    key_of,
    outage_fields,
    outage_folders,
    outage_name,
    own_settings,
    run_folder,
    stamp,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.hooks.call import Call

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
    agent, event, given = _read_args(args)
    if not agent or agent.startswith("-") or os.isatty(0):
        _add_site_packages()
        from sightline.hooks.call import usage

        _write(2, usage().encode())
        return
    raw = _read_stdin()
    asked = event_of([agent, event] if event else [agent], raw)
    lock = lock_event(run_folder(os.environ, os.path.expanduser("~")), asked)
    if lock is None:  # another installation's hook answered
        return
    parent, is_silent = os.getppid(), False
    try:
        is_readable = len(raw) <= PAYLOAD_MAX
        answer = _ask_daemons(agent, event, given, raw, parent) if is_readable else None
    except TimeoutError:  # a daemon took the event, so this process must not handle it
        answer, is_silent = None, True
    except OSError:  # no daemon has made the folder, or the disk is full
        answer = None
    if answer is None and not is_silent and _is_off(given.get("project", ""), raw):
        return
    if answer is not None:
        _write(1, answer)
        note_answer(lock, asked)
        return
    try:
        call = _call(agent, event, given, parent)
        _write(1, call.unanswered(raw) if is_silent else call.answered(raw))
    except ImportError as error:
        _write(1, _tell_once(error, agent, given.get("session", ""), raw))
        raise
    note_answer(lock, asked)
    _leave_daemon(call)


def _read_args(args: list[str]) -> tuple[str, str, dict[str, str]]:
    """Return the agent, the event and what the agent handed over; no agent for other arguments."""
    words = [word for word in args if "=" not in word]
    pairs = [word.partition("=") for word in args if "=" in word]
    given = {name: value for name, _, value in pairs}
    return (words[0], "".join(words[1:]), given) if len(words) in (1, 2) else ("", "", given)


def _call(agent: str, event: str, given: dict[str, str], parent: int) -> Call:
    """Return the call for the daemon's own handler, which answers here."""
    _add_site_packages()
    from sightline.hooks.call import Call, host_process

    home, owner = os.path.expanduser("~"), host_process(parent)
    return Call(agent, os.environ, home, event or None, owner, given=given, ending=True)


def _leave_daemon(call: Call) -> None:
    """Start a daemon for the hooks to come."""
    if not call.wants_daemon:
        return
    try:
        from sightline.hooks.spawn import start_daemon

        start_daemon(call)
    except BaseException as error:  # noqa: BLE001 - the call was answered; that is enough
        _write(2, f"sightline: {type(error).__name__}: no daemon was started.\n".encode())


def _tell_once(error: BaseException, agent: str, session: str, raw: bytes) -> bytes:
    """Return the answer that tells the user, once a session, that no hook can answer here: a package
    that Sightline needs is gone, or was made for another Python. b"" from then on, and for an agent that
    has no such answer."""
    from importlib import import_module

    why = f"Sightline's guard is off. It cannot run here: {error}. "
    how = "Until it is installed again every edit passes unjudged: sightline doctor"
    try:
        module = import_module(f"sightline.agents.{agent.replace('-', '_')}.bare_answer")
    except ImportError:
        return b""
    answer: bytes = module.tell(why + how, raw)
    session = session or str(os.getppid())
    for folder in outage_folders(os.environ, os.path.expanduser("~")) if answer else ():
        path = os.path.join(folder, f"broken-{session.replace(os.sep, '-')}{TOLD}")
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if not is_private(folder):
                continue
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return b""
        except OSError:
            continue
        return answer
    return b""


def _is_off(project: str, raw: bytes) -> bool:
    """Return whether an earlier hook just found the guard off and told the user of this conversation,
    and nothing was changed since that could end it. Then there is nothing to say and to wait for."""
    for folder in outage_folders(os.environ, os.path.expanduser("~")) if project else ():
        try:
            with open(os.path.join(folder, outage_name(project)), "rb") as file:
                age_s = time() - os.fstat(file.fileno()).st_mtime
                fields = os.fsdecode(file.read()).split("\0")
            is_recent = 0 <= age_s < OFF_S and is_private(folder) and len(fields) >= 4
        except OSError:
            continue
        if not is_recent:
            continue
        if fields == outage_fields("open", fields[1], project, os.environ, fields[4::2]):
            return os.fsencode(f'"{fields[1]}"') in raw
    return False


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


def _ask_daemons(
    agent: str, event: str, given: dict[str, str], raw: bytes, parent: int
) -> bytes | None:
    """Return a daemon's answer; None when no daemon took the event. TimeoutError when a daemon
    took the event and does not answer. OSError."""
    folder = run_folder(os.environ, os.path.expanduser("~"))
    names = _in_order(os.listdir(folder), given.get("project", ""))
    is_private_folder = bool(names) and is_private(folder)
    header = _header(agent, event, given, raw, parent) if is_private_folder else None
    return None if header is None else ask(folder, names, header + raw)


def _in_order(names: list[str], project: str) -> list[str]:
    """Return the pipes to ask: those of the project and of the folders around it first, and
    "up" before "auto". The others come last, because a link may lead to the project."""
    keys, folder, inner = [], project, ""
    while folder not in ("", inner):
        keys.append(key_of(folder))
        folder, inner = os.path.dirname(folder), folder
    pipes = [name for name in names if name.endswith(PIPE) and name + LATE not in names]
    pipes.sort(reverse=True)
    pipes.sort(key=lambda name: keys.index(name[:6]) if name[:6] in keys else len(keys))
    return pipes[:DAEMONS_MAX]


def _header(agent: str, event: str, given: dict[str, str], raw: bytes, parent: int) -> bytes | None:
    """Return the request's fields, or None where one holds a separator."""
    words = "\x01".join([f"{name}={value}" for name, value in given.items()])
    fields = (
        *(PROTOCOL, agent, event, str(len(raw)), str(parent)),
        *(words, own_settings(os.environ), stamp()),
    )
    header = os.fsencode("\0".join(fields))
    return None if b"\n" in header or header.count(b"\0") != len(fields) - 1 else header + b"\n"


def ask(folder: str, names: list[str], request: bytes, wait_s: float = ACCEPT_S) -> bytes | None:
    """Return the answer of the first daemon that takes a request; None when none takes it within
    wait_s seconds, or when the one that took it died. TimeoutError when that one does not answer.
    OSError when the request cannot be written. names: pipes in the run folder, in this order.
    request: the header and the payload."""
    path, ends = os.path.join(folder, os.urandom(8).hex()), list[int]()
    try:
        with open(os.open(path + ASK, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(request)
        os.mkfifo(path + SAY, 0o600)
        ends.append(os.open(path + SAY, os.O_RDONLY | os.O_NONBLOCK))
        ends.append(os.open(path + SAY, os.O_WRONLY))  # until a daemon says MINE, there is no end
        for name in names:
            begun = _ask(os.path.join(folder, name), path, ends[0], wait_s)
            if begun != NOT_MINE:
                os.close(ends.pop())  # from here on, the end says that the daemon closed the pipe
                return None if begun is None else _receive(ends[0], begun)
        return None
    finally:
        for end in ends:
            os.close(end)
        remove(path + ASK)
        remove(path + SAY)


def _ask(pipe: str, request: str, reader: int, wait_s: float) -> bytes | None:
    """Ask one daemon. Return NOT_MINE, or the first bytes from the daemon that took the request;
    None when the daemon was late, and the request was taken back."""
    try:
        daemon = open_pipe(pipe)
        try:
            os.write(daemon, os.fsencode(os.path.basename(request)) + b"\n")
        finally:
            os.close(daemon)
    except OSError:  # the daemon is gone, or has more requests before it than the pipe holds
        return NOT_MINE
    if select([reader], [], [], wait_s)[0]:
        return os.read(reader, PIECE)
    _mark_late(pipe)  # before the file goes: the daemon removes the mark when it misses the file
    is_taken_back = remove(request + ASK)
    if not is_taken_back or select([reader], [], [], 0)[0]:
        remove(pipe + LATE)  # the daemon has come to the request just now
    return None if is_taken_back else b""


def open_pipe(path: str) -> int:
    """Open a named pipe for writing without blocking. OSError, ENXIO when no process reads it."""
    pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    if stat.S_ISFIFO(os.fstat(pipe).st_mode):
        return pipe
    os.close(pipe)
    raise OSError(f"{path} is not a named pipe.")


def _mark_late(pipe: str) -> None:
    """Mark the pipe of a late daemon, so that later hooks do not wait for the daemon."""
    try:
        os.close(os.open(pipe + LATE, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError:  # the disk is full or read-only: the next hook waits, too
        return


def remove(path: str) -> bool:
    """Remove a file. Return whether this process removed it."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _receive(reader: int, begun: bytes) -> bytes | None:
    """Return the answer; None when the daemon closed the pipe before the end of it. TimeoutError
    when the daemon may still be at work."""
    pieces = [begun]
    while select([reader], [], [], ANSWER_S)[0]:
        if not (piece := os.read(reader, PIECE)):
            answer = b"".join(pieces)
            return answer[len(MINE) : -len(GO)] if answer.endswith(GO) else None
        pieces.append(piece)
    raise TimeoutError


def _write(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:  # the host does not read any more
        return
