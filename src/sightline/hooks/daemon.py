"""The process that a conversation's first hook leaves behind: it answers the later hooks.

No hook needs the daemon: where no daemon answers, the hook answers itself and starts another one.
So the daemon ends whenever in doubt (Daemon.is_over).
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import NoReturn

from sightline.filesystem.process import alive
from sightline.hooks.call import Call
from sightline.hooks.daemon_status import list_daemons
from sightline.hooks.server import AGENT_OF_FAULTS, HookServer
from sightline.hooks.spawn import release_lock
from sightline.store.identity import store_file

Identity = tuple[int, int] | None

LOOK_S = 5.0
"""Seconds between two looks at whether anybody still needs the daemon."""

SWITCH_S = 0.001
"""Seconds after which a thread that computes lets another one run. With Python's 5 ms each step of an
answer waits that long for the thread that stores texts ahead."""

GARBAGE = 50_000
"""Objects after which Python looks for garbage. With its 700, the first checkpoint of 50,000 files took a fifth
more of the processor: it makes as many objects, which all stay."""

LOOK, END = b"l", b"e"
"""The bytes that wake the daemon earlier: the last conversation is over; a signal came."""


def main(args: list[str]) -> NoReturn:
    """Answer hooks until nobody needs the daemon, and end this process. args: of spawn."""
    lock, path, root, session, host = int(args[0]), *args[1:]
    _detach(lock)
    sys.setswitchinterval(SWITCH_S)
    gc.set_threshold(GARBAGE)
    home = os.path.expanduser("~")
    try:
        daemon = Daemon(root, home, session, host)
        try:
            daemon.start()
            daemon.wait()
        except Exception:
            if identity(root) is not None:
                raise  # else the workspace is gone, and no hook is left to answer
        finally:
            daemon.stop()
        release_lock(path, lock)
    except Exception as error:  # noqa: BLE001 - nobody else would learn of it
        Call(AGENT_OF_FAULTS, os.environ, home).note(error)  # the lock file stays: see spawn
    os._exit(0)  # do not wait for a thread that a dead disk holds


class Daemon:
    """A hook server, the hosts that it serves, and the files that it depends on."""

    def __init__(self, root: str, home: str, session: str, host: str) -> None:
        self._hosts = Hosts(host, session)
        self._home = home
        self._last_call = monotonic()
        self._woken, self._waker = os.pipe()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, lambda *_: os.write(self._waker, END))
        self._code: dict[str, int] = {}
        code_changed(self._code)
        self._files = {root: identity(root)}  # before a hook may see the daemon answer
        self._server = HookServer(
            root, environ=dict(os.environ), home=home, kind="auto", on_call=self._on_call
        )

    def start(self) -> None:
        """Answer hooks from now on."""
        self._server.start()
        settings, root = self._server.workspace.settings, self._server.root
        files = [self._server.pipe]
        if settings.store is None:
            files.append(store_file(settings.state_home, root))
        self._files |= {path: identity(path) for path in files}

    def wait(self) -> None:
        """Return when the daemon is over or a signal came."""
        while not self.is_over():
            woken, _, _ = select.select([self._woken], [], [], min(LOOK_S, self._idle_left_s()))
            if woken and os.read(self._woken, 1) == END:
                return

    def stop(self) -> None:
        """Accept no further call, and let the calls under way end."""
        self._server.stop()

    def is_over(self) -> bool:
        """Return whether the daemon must end: every host is gone, no hook came for long, the user
        switched daemons off, `up` answers, or the pipe, the store, the workspace or the
        daemon's own code was replaced."""
        return (
            not self._hosts.any_left()
            or not self._idle_left_s()
            or self._server.workspace.settings.answerer == "off"
            or any(known is None or identity(path) != known for path, known in self._files.items())
            or code_changed(self._code)
            or self._up_answers()
        )

    def _up_answers(self) -> bool:
        ups = list_daemons(self._server.root, os.environ, self._home, "up")
        return any(up.installation == self._server.status().installation for up in ups)

    def _idle_left_s(self) -> float:
        """Return how long the daemon goes on waiting for a call."""
        idle_s = self._server.workspace.settings.answerer_idle_s
        return max(0.0, idle_s - (monotonic() - self._last_call))

    def _on_call(self, call: Call) -> None:
        self._last_call = monotonic()
        if self._hosts.note_call(call):
            os.write(self._waker, LOOK)


def identity(path: str) -> Identity:
    """Return the device and inode at a path; None where nothing is."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def code_changed(known: dict[str, int]) -> bool:
    """Return whether the file of a loaded module of ours changed since the last call: after an
    upgrade, or an edit of a checkout. A process keeps the code that it loaded, and must not judge
    by old code. known: file -> its time; this function keeps it up to date."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("sightline")]
    try:
        now = {file: os.stat(file).st_mtime_ns for file in {m.__file__ or "" for m in modules}}
    except OSError:  # a file is being replaced just now
        return True
    changed = any(known.get(file, written) != written for file, written in now.items())
    known.update(now)
    return changed


def _detach(lock: int) -> None:
    """Close what the hook's process passed on: the pipes of its host, and its folder, which could
    not be unmounted."""
    os.chdir("/")
    os.set_inheritable(lock, False)  # noqa: FBT003 - the argument has no name
    for name in os.listdir("/dev/fd"):  # one of the names is that of this listing
        with suppress(OSError):
            if int(name) not in (*range(3), lock):
                os.close(int(name))


GOES_ON = ("clear", "resume")
"""Reasons to end a conversation after which its host begins another at once."""


class Hosts:
    """The processes that call hooks (see filesystem.process), each with its open conversations.
    Threads may share this."""

    def __init__(self, host: str, session: str) -> None:
        self._lock = Lock()
        self._sessions: dict[str, set[str]] = {host: {session}}

    def note_call(self, call: Call) -> bool:
        """Note a call. Return whether no host is left after it: a host whose last conversation
        ended counts as gone, and a sub-agent's conversation is its parent's."""
        if call.owner is None or call.caller is None:
            return False
        session = call.caller.session.partition("/")[0]
        with self._lock:
            sessions = self._sessions.setdefault(call.owner, set())
            sessions.add(session)
            if call.end_reason:
                sessions.discard(session)
            if not sessions and call.end_reason not in GOES_ON:
                del self._sessions[call.owner]
            return not self._sessions

    def any_left(self) -> bool:
        """Return whether a host still runs."""
        with self._lock:
            self._sessions = {host: ids for host, ids in self._sessions.items() if alive(host)}
            return bool(self._sessions)
