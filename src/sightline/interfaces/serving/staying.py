"""The process that a conversation's first hook leaves behind: it answers the later ones, and ends
with the host they came from.

It is never needed, so it ends whenever in doubt: see Stay.over. A hook that finds nobody does the
work itself and starts another.
"""

from __future__ import annotations

import os
import select
import signal
from time import monotonic

from sightline.interfaces.hooks import Call
from sightline.interfaces.place import give_back
from sightline.interfaces.running import answerers
from sightline.interfaces.serving.answerer import Answerer
from sightline.store.identity import store_file
from sightline.workspace.process import alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    Identity = tuple[int, int] | None
    Code = tuple[int, int]

LOOK_S = 5.0
"""How often it looks whether it is still wanted, while nobody asks."""

DESCRIPTORS_MAX = 1 << 20


def main(args: list[str]) -> NoReturn:
    """Answer until nobody is left to be answered, and end this process. args: what
    interfaces.starting gives."""
    held, place, root, session, host = int(args[0]), *args[1:]
    _let_go(held)
    home = os.path.expanduser("~")
    try:
        stay = Stay(root, home, session, host)
        try:
            stay.until_over()
        finally:
            stay.end()
        give_back(place, held)
    except Exception as error:  # noqa: BLE001 - nobody else would hear of it
        # The place is left as it is: the next start has to wait (interfaces.place).
        Call("answerer", os.environ, home).note(error)
    os._exit(0)  # a thread that waits for a dead disk is not waited for


class Stay:
    """An answerer, and what it lives for: hosts, as workspace.process names them, each with those
    of its conversations that are known."""

    def __init__(self, root: str, home: str, session: str, host: str) -> None:
        self.hosts: dict[str, set[str]] = {host: {session}}
        self._home = home
        self._called = monotonic()
        self._waking, self._wake = os.pipe()
        for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(each, self._told_to_end)
        self._code = code()
        self._answerer = Answerer(
            root, environ=dict(os.environ), home=home, kind="auto", heard=self._heard
        )
        self._answerer.start()
        self._places = {path: identity(path) for path in self._stands_on(root)}

    def until_over(self) -> None:
        """Wait. Nothing is done meanwhile, but a look now and then."""
        while not self.over():
            woken, _, _ = select.select([self._waking], [], [], LOOK_S)
            if woken and os.read(self._waking, 1) == b"e":
                return

    def end(self) -> None:
        """Let nobody in any more, and let the calls under way end."""
        self._answerer.stop()

    def over(self) -> bool:
        """Whether it is not wanted any more: all hosts are gone, nobody asked for long, the user
        switched it off, its socket, store, workspace or own code is another than it was, or `up`
        answers."""
        settings = self._answerer.room.settings
        self.hosts = {host: kept for host, kept in list(self.hosts.items()) if alive(host)}
        return (
            not self.hosts
            or monotonic() - self._called >= settings.answerer_idle_s
            or settings.answerer == "off"
            or any(identity(path) != known for path, known in self._places.items())
            or code() != self._code
            or self._up_answers()
        )

    def _stands_on(self, root: str) -> list[str]:
        settings = self._answerer.room.settings
        embedded = [store_file(settings.state_home, root)] if settings.store is None else []
        return [root, self._answerer.socket, *embedded]

    def _up_answers(self) -> bool:
        ups = answerers(self._answerer.root, os.environ, self._home, "up")
        return any(up.installation == self._answerer.told().installation for up in ups)

    def _heard(self, call: Call) -> None:
        """Keep account of hosts and conversations; a host's last one ends the host, for us."""
        self._called = monotonic()
        if call.owner is None or call.caller is None:
            return
        session = call.caller.session.partition("/")[0]
        known = self.hosts.setdefault(call.owner, set())
        known.add(session)
        if call.ends:
            known.discard(session)
            if not known:
                del self.hosts[call.owner]
                os.write(self._wake, b"l")

    def _told_to_end(self, *_: object) -> None:
        os.write(self._wake, b"e")


def identity(path: str) -> Identity:
    """What stands at a path, told from anything that takes its place; None where nothing does."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def code() -> Code:
    """How many source files this package has, and when the newest was written: an upgrade, or an
    edit of a checkout, changes it. A process keeps the code that it was started with, and must
    not go on judging by it."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        stamps = [
            os.stat(os.path.join(folder, name)).st_mtime_ns
            for folder, _, names in os.walk(package)
            for name in names
            if name.endswith(".py")
        ]
    except OSError:  # it is being replaced just now
        return 0, 0
    return len(stamps), max(stamps, default=0)


def _let_go(held: int) -> None:
    """Keep nothing of the hook that started this: no pipe of its host, and no folder, which could
    not be unmounted."""
    os.chdir("/")
    os.set_inheritable(held, False)  # noqa: FBT003 - the argument has no name
    os.closerange(3, held)
    os.closerange(held + 1, DESCRIPTORS_MAX)
