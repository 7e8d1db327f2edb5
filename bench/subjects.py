"""Sightline itself, as an agent's file tools: through the library."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from signal import SIGKILL
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from bench.baselines import Answer
from bench.trial import Guard
from bench.world import NotAnswering, program

import sightline
from sightline.config.settings import load_settings
from sightline.model.events import RewindEnded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bench.world import World

    from sightline.config.settings import Settings

DEADLINE_S = 0.2
"""How long the library waits for a disk; one that answers, answers in a fraction of that."""

UNCHANGED = "(unchanged)"
"""What a host that trusts the flag of that name shows instead of the text."""

ASKING = ("open", "stat", "lstat", "readlink", "access")
"""Calls that name a file and wait for its disk."""


@contextmanager
def _share(world: World, session: sightline.Session) -> Iterator[None]:
    """Around one verb: the part of the disk that stopped answering does not answer.

    The thread that carries the agent must never ask that part, and is told so at once; any other
    waits for ever, as it would. No option of the library asks for such a disk, so the calls are
    put in by hand: those of the workspace, and those of `os` behind os.path.
    """
    if not world.silent:
        yield
        return
    calls: object = vars(session._context.workspace)["_calls"]  # noqa: SLF001
    with ExitStack() as stack:
        for place in (os, calls):
            for name in ASKING:
                if hasattr(place, name):
                    stack.enter_context(patch.object(place, name, _dead(world, place, name)))
        yield


def _dead(world: World, place: object, name: str) -> Callable[..., Any]:
    call = getattr(place, name)

    def asked(path: Any, *arguments: Any, **named: Any) -> Any:
        if not isinstance(path, int) and os.fspath(path).rpartition("/")[2] in world.silent:
            if threading.current_thread() is threading.main_thread():
                raise NotAnswering(path)
            threading.Event().wait()
        return call(path, *arguments, **named)

    return asked


def settings_in(workspace: Path, state: Path, **flags: object) -> Settings:
    """A workspace's own settings on the built-in ones: nothing of the person who runs this."""
    kept = {"state_home": str(state), "deadline_s": DEADLINE_S} | flags
    environ = {"XDG_CONFIG_HOME": str(state)}
    return load_settings(
        str(workspace), environ=environ, home=str(state), platform=sys.platform, flags=kept
    )


def killed_batch(world: World, state: Path, store: str, paths: tuple[str, ...]) -> None:
    """A process of the session "bench" is killed in the middle of a batch."""
    started = program("batch", world.root, state, store, *paths)
    started.communicate()
    assert started.returncode == -SIGKILL, started.returncode


class LibraryAgent:
    """A session of the library, with its store outside the workspace."""

    def __init__(self, world: World, state: Path) -> None:
        self.world = world
        self.state = state
        self.session = sightline.open_session(
            str(world.root),
            id="bench",
            agent="bench",
            store=f"sqlite:///{state}/store.db",
            settings=settings_in(world.root, state),
            approve=self._approve,
        )
        self._began = self.session._context.store.position()  # noqa: SLF001
        world.colleague = self._colleague
        world.command = self._command
        world.running = self._running
        world.batch = self._cut_off
        world.verbs = self._verbs
        world.rival = self._rival

    def read(self, path: str, lines: tuple[int, int] | None = None) -> str:
        view = self.session.read(path, lines=lines)
        return UNCHANGED if view.unchanged else view.text

    def edit(self, path: str, old: str, new: str) -> Answer:
        return self._answer(lambda: self.session.edit(path, old=old, new=new))

    def edit_lines(self, path: str, start: int, end: int, new: str) -> Answer:
        return self._answer(lambda: self.session.edit_lines(path, start, end, new))

    def write(self, path: str, content: str) -> Answer:
        return self._answer(lambda: self.session.write(path, content))

    def news(self) -> str | None:
        """Return the news that the session is told; the same however often it does."""
        with _share(self.world, self.session):
            told = self.session.notice()
            assert self.session.notice() == told
        return str(told or "")

    def informed(self, *, by_prompt: bool) -> str:
        raise NotImplementedError  # who calls it asks for its news

    def together(self) -> None:
        """Nothing of an answer counts before it is acknowledged, which is never here."""

    def forked(self) -> LibraryAgent:
        """The agent goes on in a fork of its session."""
        self.session = self.session.fork("fork")
        return self

    def warned(self, path: str) -> bool:
        """Nothing is pushed at an agent that did not ask."""
        return False

    def forget(self, path: str) -> None:
        self.session.dropped(path)

    def rewind(self, path: str) -> None:
        """Refuse: this subject has no verb for a rewind; the fact it will record is known."""
        self.session._context.append([RewindEnded(self._began)])  # noqa: SLF001

    def mark(self) -> None:
        self._mark = self.session.checkpoint().id

    def take_back(self, path: str) -> Answer:
        return taken_back(self.session.rewind(self._mark), path)

    def resumed(self) -> LibraryAgent:
        return LibraryAgent(self.world, self.state)

    def close(self) -> None:
        self.session.close()

    def _colleague(self, name: str, path: str, data: bytes) -> None:
        """Another agent of the same user, or one that this one started, writes."""
        if name == "parent":  # of a fork: the session it was begun from
            name = "bench"
        settings = settings_in(self.world.root, self.state)
        where, store = str(self.world.root), f"sqlite:///{self.state}/store.db"
        with sightline.open_session(where, id=name, store=store, settings=settings) as session:
            session.read(path)
            session.write(path, data.decode())

    def _rival(self, name: str, path: str, data: bytes) -> Callable[[], bool]:
        """Another agent, which knows the file, writes at once with this one, in a thread of its own."""
        settings = settings_in(self.world.root, self.state)
        where, store = str(self.world.root), f"sqlite:///{self.state}/store.db"
        both = threading.Barrier(2)

        def write() -> bool:
            with sightline.open_session(where, id=name, store=store, settings=settings) as session:
                session.read(path)
                both.wait()
                try:
                    session.write(path, data.decode())
                except sightline.EditRefused:
                    return False
            return True

        threads = ThreadPoolExecutor(1)
        made = threads.submit(write)
        threads.shutdown(wait=False)
        both.wait()
        return made.result

    def _verbs(self, gone: str, path: str, data: bytes) -> None:
        self.session.delete(gone)
        self.session.create(path, data.decode())

    def _cut_off(self, paths: tuple[str, ...]) -> None:
        killed_batch(self.world, self.state, f"sqlite:///{self.state}/store.db", paths)

    def _command(self, command: str, path: str, data: bytes) -> None:
        """A command of its own writes."""
        with self.session.ran(command):
            self.world.put(path, data)

    def _running(self, command: str, deed: Callable[[], None]) -> None:
        """Somebody does something while a command of its own runs."""
        with self.session.ran(command):
            deed()

    def _approve(self, path: str, diff: str) -> bool:
        self.world.approve()
        return True

    def _answer(self, attempt: Callable[[], sightline.EditResult]) -> Answer:
        try:
            with _share(self.world, self.session):
                result = attempt()
        except sightline.EditRefused as refused:
            return Answer(
                accepted=False,
                reason=refused.reason,
                carries=bool(refused.diff or refused.text),
                text=str(refused),
                lines=refused.lines,
            )
        except sightline.Unverifiable as refused:
            return Answer(accepted=False, reason="unverifiable", text=str(refused))
        return Answer(accepted=True, told=str(result.notice or ""), merged=result.merged)


def taken_back(report: sightline.RewindReport, path: str) -> Answer:
    """Return what a rewind says of one file."""
    alone = [each.reason for each in report.left_alone if each.path == path]
    if path not in (*report.restored, *report.merged):
        return Answer(accepted=False, reason="left alone", text="".join(alone))
    return Answer(accepted=True, told="".join(alone), merged=path in report.merged)


SIGHTLINE = Guard(
    "sightline", "content, by region, at the moment of writing", LibraryAgent, rewinds=True
)
