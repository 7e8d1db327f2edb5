"""The process that a conversation's first hook leaves behind: it answers the later ones, and ends
with the host they came from.

It is never needed, so it ends whenever in doubt: see Stay.over. A hook that finds nobody does the
work itself and starts another.
"""

from __future__ import annotations

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
from sightline.hooks.daemon_lock import give_back
from sightline.hooks.daemon_status import answerers
from sightline.hooks.server import HookServer
from sightline.store.identity import store_file

Identity = tuple[int, int] | None

LOOK_S = 5.0
"""How often it looks whether it is still wanted, whether or not anybody asks."""

LOOK, END = b"l", b"e"
"""What wakes it before: a last conversation is over; a signal came."""


def main(args: list[str]) -> NoReturn:
    """Answer until nobody is left to be answered, and end this process. args: what
    hooks.spawn gives."""
    held, place, root, session, host = int(args[0]), *args[1:]
    _let_go(held)
    home = os.path.expanduser("~")
    try:
        stay = Stay(root, home, session, host)
        try:
            stay.begin()
            stay.until_over()
        except Exception:
            if identity(root) is not None:
                raise  # else the folder is gone, whatever failed for that: nobody is left to ask
        finally:
            stay.end()
        give_back(place, held)
    except Exception as error:  # noqa: BLE001 - nobody else would hear of it
        # The place is left as it is: the next start has to wait (hooks.daemon_lock).
        Call("answerer", os.environ, home).note(error)
    os._exit(0)  # a thread that waits for a dead disk is not waited for


class Stay:
    """An answerer, and what it lives for."""

    def __init__(self, root: str, home: str, session: str, host: str) -> None:
        self._hosts = Hosts(host, session)
        self._home = home
        self._called = monotonic()
        self._waking, self._wake = os.pipe()
        for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(each, self._told_to_end)
        self._code: dict[str, int] = {}
        another_code(self._code)
        self._places = {root: identity(root)}  # before anybody can ask, and see it answer
        self._answerer = HookServer(
            root, environ=dict(os.environ), home=home, kind="auto", heard=self._heard
        )

    def begin(self) -> None:
        """Answer from here on."""
        self._answerer.start()
        self._places |= {path: identity(path) for path in self._stands_on()}

    def until_over(self) -> None:
        """Wait. Nothing is done meanwhile, but a look now and then."""
        while not self.over():
            woken, _, _ = select.select([self._waking], [], [], min(LOOK_S, self._left_s()))
            if woken and os.read(self._waking, 1) == END:
                return

    def end(self) -> None:
        """Let nobody in any more, and let the calls under way end."""
        self._answerer.stop()

    def over(self) -> bool:
        """Whether it is not wanted any more: all hosts are gone, nobody asked for long, the user
        switched it off, its socket, store, workspace or own code is another than it was, or `up`
        answers."""
        return (
            not self._hosts.any_left()
            or not self._left_s()
            or self._answerer.room.settings.answerer == "off"
            or any(known is None or identity(path) != known for path, known in self._places.items())
            or another_code(self._code)
            or self._up_answers()
        )

    def _stands_on(self) -> list[str]:
        settings, root = self._answerer.room.settings, self._answerer.root
        embedded = [store_file(settings.state_home, root)] if settings.store is None else []
        return [self._answerer.socket, *embedded]

    def _up_answers(self) -> bool:
        ups = answerers(self._answerer.root, os.environ, self._home, "up")
        return any(up.installation == self._answerer.told().installation for up in ups)

    def _left_s(self) -> float:
        """How long nobody may ask yet."""
        idle_s = self._answerer.room.settings.answerer_idle_s
        return max(0.0, idle_s - (monotonic() - self._called))

    def _heard(self, call: Call) -> None:
        self._called = monotonic()
        if self._hosts.heard(call):
            os.write(self._wake, LOOK)

    def _told_to_end(self, *_: object) -> None:
        os.write(self._wake, END)


def identity(path: str) -> Identity:
    """What stands at a path, told from anything that takes its place; None where nothing does."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def another_code(known: dict[str, int]) -> bool:
    """Whether a module of ours that is loaded stands in its file otherwise than before: after an
    upgrade, or an edit of a checkout. A process keeps the code that it was started with, and must
    not go on judging by it. known: file -> when it was written, kept from call to call."""
    loaded = [module for name, module in list(sys.modules.items()) if name.startswith("sightline")]
    files = {module.__file__ or "" for module in loaded}
    try:
        now = {file: os.stat(file).st_mtime_ns for file in files}
    except OSError:  # it is being replaced just now
        return True
    before = dict(known)
    known.update(now)
    return any(before.get(file, written) != written for file, written in now.items())


def _let_go(held: int) -> None:
    """Keep nothing of the hook that started this: no pipe of its host, and no folder, which could
    not be unmounted."""
    os.chdir("/")
    os.set_inheritable(held, False)  # noqa: FBT003 - the argument has no name
    for name in os.listdir("/dev/fd"):  # one of them was this list's own
        with suppress(OSError):
            if int(name) not in (*range(3), held):
                os.close(int(name))


GOES_ON = ("clear", "resume")
"""Why a conversation ends after which its host begins another at once."""


class Hosts:
    """Processes, as filesystem.process names them, each with those of its conversations that asked.
    Threads may share it."""

    def __init__(self, host: str, session: str) -> None:
        self._lock = Lock()
        self._known: dict[str, set[str]] = {host: {session}}

    def heard(self, call: Call) -> bool:
        """Keep account of a call. Whether nobody is left with it: a host whose last conversation
        is over counts as gone, and a sub-agent's conversation is that of its parent."""
        if call.owner is None or call.caller is None:
            return False
        session = call.caller.session.partition("/")[0]
        with self._lock:
            known = self._known.setdefault(call.owner, set())
            known.add(session)
            if call.ended:
                known.discard(session)
            if not known and call.ended not in GOES_ON:
                del self._known[call.owner]
            return not self._known

    def any_left(self) -> bool:
        """Whether one of them still runs."""
        with self._lock:
            self._known = {host: known for host, known in self._known.items() if alive(host)}
            return bool(self._known)
