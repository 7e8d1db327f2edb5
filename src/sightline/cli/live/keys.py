"""Keys of a terminal, read one by one as they are pressed."""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress
from typing import Any, Protocol

if sys.platform == "win32":
    import msvcrt
else:
    import termios

ESCAPE_S = 0.05
"""Seconds to wait for the rest of a sequence: Escape alone sends its first byte, too."""

SEQUENCES = {
    "\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down", "\x1b": "escape",
    "\r": "enter", "\n": "enter", "k": "up", "j": "down", "q": "q", "?": "?",
}  # fmt: skip
"""What a terminal sends -> the name of the key."""

WINDOWS = {"H": "up", "P": "down"}
"""The second code of a special key of a Windows console -> its name."""


class Keyboard(Protocol):
    """The keys of a terminal."""

    descriptor: int | None
    """Readable once a key was pressed; None where the system cannot wait for keys."""

    def hold(self) -> None:
        """Take each key as it is pressed, and do not show it."""

    def release(self) -> None:
        """Give the terminal back as it was. Keys that nobody read are dropped: a shell would run them."""

    def pressed(self) -> list[str]:
        """Return the names of the keys that were pressed since the last call. Other keys are left out."""


class PosixKeyboard:
    """The keys of the terminal of a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor: int | None = descriptor
        self._terminal = descriptor
        self._before: list[Any] | None = None

    def hold(self) -> None:
        self._before = termios.tcgetattr(self._terminal)
        silent = termios.tcgetattr(self._terminal)
        silent[3] &= ~(termios.ECHO | termios.ICANON)  # Ctrl-C and Ctrl-Z go on being signals
        silent[6][termios.VMIN], silent[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._terminal, termios.TCSADRAIN, silent)

    def release(self) -> None:
        if self._before is None:
            return
        with suppress(termios.error):  # the terminal was closed: there is nothing to give back
            termios.tcsetattr(self._terminal, termios.TCSAFLUSH, self._before)

    def pressed(self) -> list[str]:
        try:
            typed = os.read(self._terminal, 1024).decode(errors="replace")
            if typed.endswith(("\x1b", "\x1b[", "\x1bO")) and self._has_more():
                typed += os.read(self._terminal, 1024).decode(errors="replace")
        except OSError:
            typed = ""
        if not typed:  # the terminal was closed
            self.descriptor = None
        return names_of(typed)

    def _has_more(self) -> bool:
        return bool(select.select([self._terminal], [], [], ESCAPE_S)[0])


def names_of(typed: str) -> list[str]:
    """Return the names of the keys in a terminal's input. Unknown sequences are left out."""
    names: list[str] = []
    while typed:
        length = 1
        if typed[:2] in ("\x1b[", "\x1bO") and len(typed) > 2:
            ends = (at for at, sign in enumerate(typed) if at > 1 and "@" <= sign <= "~")
            length = next(ends, len(typed) - 1) + 1
        name = SEQUENCES.get(typed[:length])
        names += [name] if name else []
        typed = typed[length:]
    return names


class WindowsKeyboard:
    """The keys of a Windows console. console: the module msvcrt."""

    descriptor: int | None = None

    def __init__(self, console: Any) -> None:
        self._console = console

    def hold(self) -> None:
        """Do nothing: getwch shows no key."""

    def release(self) -> None:
        """Drop the keys that nobody read."""
        self.pressed()

    def pressed(self) -> list[str]:
        names: list[str] = []
        while self._console.kbhit():
            key = self._console.getwch()
            special = key in ("\x00", "\xe0")
            name = WINDOWS.get(self._console.getwch()) if special else SEQUENCES.get(key)
            names += [name] if name else []
        return names


def keyboard() -> Keyboard | None:
    """Return the keys of the terminal at stdin; None where stdin is no terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    if sys.platform == "win32":
        return WindowsKeyboard(msvcrt)
    return PosixKeyboard(sys.stdin.fileno())
