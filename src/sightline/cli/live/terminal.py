"""Waiting at a terminal: for a time, for another size, or for the end."""

from __future__ import annotations

import os
import select
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import Any, Protocol

from sightline.cli.live.keys import Keyboard
from sightline.cli.output import let_go

ENDING = ("SIGTERM", "SIGHUP")
"""Signals that end the view as Ctrl-C does. A system may lack some."""


class Screen(Protocol):
    """The part of live.screen.Screen that signals need. Importing it would import rich."""

    drawing: bool

    def hold(self) -> None: ...

    def release(self) -> None: ...

    def press(self, key: str) -> None: ...


KEYS_S = 0.1
"""Seconds between two looks for keys, where the system cannot wait for them."""


class Waiting:
    """Waits without polling. Signals are handled at once, and keys are given to the screen."""

    def __init__(self, screen: Screen | None = None, keyboard: Keyboard | None = None) -> None:
        self._screen, self._keyboard = screen, keyboard
        self._reader = None if screen else _pipe()
        self._resized = False
        self._late: int | None = None
        self._here, self._there = socket.socketpair()

    def __call__(self, seconds: float, descriptor: int | None = None) -> bool:
        """Wait for some seconds, or until a descriptor is readable.

        Return whether the terminal was resized since the last wait. BrokenPipeError once nobody
        reads stdout any more.
        """
        if self._late is not None:
            self._stop(self._late, None)
        until = monotonic() + seconds
        while self._only_keys(max(until - monotonic(), 0), descriptor):
            pass
        if self._reader is not None and _is_closed(self._reader):
            raise BrokenPipeError
        resized, self._resized = self._resized, False
        return resized

    def _only_keys(self, seconds: float, descriptor: int | None) -> bool:
        """Wait, and return whether nothing but keys ended the wait."""
        keyboard, screen = self._keyboard, self._screen
        keys = keyboard.descriptor if keyboard is not None else None
        others = [each for each in (descriptor, self._reader, keys) if each is not None]
        readable: list[Any] = [self._here, *others]
        asking = keyboard is not None and keys is None and sys.platform == "win32"
        ready = select.select(readable, [], [], min(seconds, KEYS_S) if asking else seconds)[0]
        if keyboard is not None and screen is not None and (asking or keys in ready):
            for key in keyboard.pressed():
                screen.press(key)
        if self._here in ready:
            self._here.recv(4096)
        waits_on = asking and seconds > KEYS_S and not ready
        return waits_on or (bool(ready) and ready == [keys] and seconds > 0)

    @contextmanager
    def heeding(self) -> Iterator[None]:
        """Handle signals while the block runs; they end a wait."""
        heeded: dict[Any, Any] = {}
        self._there.setblocking(False)  # noqa: FBT003 - its only argument
        before = signal.set_wakeup_fd(self._there.fileno(), warn_on_full_buffer=False)
        try:
            for name, step in self._steps():
                number = getattr(signal, name, None)
                # A signal that our parent ignores (nohup) stays ignored.
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    heeded[number] = signal.signal(number, step)
            yield
        finally:
            for number, step in heeded.items():
                signal.signal(number, step)
            signal.set_wakeup_fd(before)
            self._here.close()
            self._there.close()

    def _steps(self) -> Iterator[tuple[str, Any]]:
        yield from ((name, _end) for name in ENDING)
        if self._screen is not None:
            yield "SIGWINCH", self._note
            yield "SIGTSTP", self._stop

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._resized = True

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Stop on Ctrl-Z with the terminal as it was, and draw everything again afterwards.

        A write that is under way is finished first: a stream cannot be written to from within.
        """
        assert self._screen is not None
        self._late = number if self._screen.drawing else None
        if self._late is not None:
            return
        if self._keyboard is not None:
            self._keyboard.release()
        self._screen.release()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(signal.Signals(number))
        signal.signal(number, self._stop)
        self._screen.hold()
        if self._keyboard is not None:
            self._keyboard.hold()
        self._resized = True


def _pipe() -> int | None:
    """Return stdout if it is a pipe, whose reader may close it."""
    try:
        descriptor = sys.stdout.fileno()
        if sys.platform == "win32":  # where only sockets can be waited for
            return None
        return descriptor if stat.S_ISFIFO(os.fstat(descriptor).st_mode) else None
    except (OSError, ValueError):
        return None


def _is_closed(pipe: int) -> bool:
    """Return whether nobody reads the other end of a pipe any more."""
    asked = select.poll()
    asked.register(pipe, 0)
    return any(event & select.POLLERR for _, event in asked.poll(0))


@contextmanager
def while_read() -> Iterator[None]:
    """End an endless output without an error once nobody reads it any more."""
    try:
        yield
    except BrokenPipeError:
        let_go(sys.stdout)


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


@contextmanager
def held(screen: Screen, keyboard: Keyboard | None) -> Iterator[None]:
    """Hide the cursor and typed keys while the view runs, and restore the terminal afterwards."""
    try:
        screen.hold()
        if keyboard is not None:
            keyboard.hold()
        yield
    finally:
        try:
            if keyboard is not None:
                keyboard.release()
        finally:
            screen.release()
