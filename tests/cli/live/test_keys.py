"""Keys of a terminal: what their bytes mean, and how the terminal is given back."""

from __future__ import annotations

import os
import pty
import select
import termios
from contextlib import suppress

import pytest

from sightline.cli.live.keys import PosixKeyboard, WindowsKeyboard, names_of
from sightline.cli.live.screen import Screen
from sightline.cli.live.terminal import held
from sightline.cli.live.view import Head


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("j\x1b[Ak\x1bOB", ["down", "up", "up", "down"]),
        ("\x1b", ["escape"]),
        ("\x1b\x1b[B", ["escape", "down"]),
        ("\r\n?q", ["enter", "enter", "?", "q"]),
        ("\x1b[1;5A\x1b[15~xyz", []),
        ("\x1b[200~", []),
    ],
)
def test_keys_have_names(typed, names):
    assert names_of(typed) == names


@pytest.fixture
def terminal():
    keys, side = pty.openpty()
    yield keys, side
    os.close(keys)
    os.close(side)


def test_keys_come_one_by_one_unseen_and_the_terminal_is_given_back(terminal):
    keys, side = terminal
    before = termios.tcgetattr(side)
    keyboard = PosixKeyboard(side)
    keyboard.hold()
    os.write(keys, b"j")
    assert select.select([side], [], [])[0] == [side]
    assert keyboard.pressed() == ["down"]
    os.write(keys, b"\x1b")
    select.select([side], [], [])
    assert keyboard.pressed() == ["escape"]
    keyboard.release()
    assert termios.tcgetattr(side) == before
    assert select.select([keys], [], [], 0)[0] == []  # nothing was echoed


def test_a_sequence_that_comes_in_two_parts_is_one_key(terminal, monkeypatch):
    keys, side = terminal
    keyboard = PosixKeyboard(side)
    keyboard.hold()
    os.write(keys, b"\x1b")

    def rest():
        os.write(keys, b"[A")
        return bool(select.select([side], [], [])[0])

    monkeypatch.setattr(keyboard, "_has_more", rest)
    assert keyboard.pressed() == ["up"]
    keyboard.release()


def test_an_error_gives_the_terminal_back(terminal):
    _, side = terminal
    before = termios.tcgetattr(side)
    with os.fdopen(os.dup(side), "w") as stream:
        screen = Screen(stream, lambda: Head("", ""), str, colour=False)
        with suppress(ZeroDivisionError), held(screen, PosixKeyboard(side)):
            assert termios.tcgetattr(side) != before
            raise ZeroDivisionError
    assert termios.tcgetattr(side) == before


class Console:
    """The module msvcrt, with some keys typed."""

    def __init__(self, typed):
        self.typed = list(typed)

    def kbhit(self):
        return bool(self.typed)

    def getwch(self):
        return self.typed.pop(0)


def test_keys_of_a_windows_console():
    keyboard = WindowsKeyboard(Console("q\xe0H\x00Pz\r\x1b\xe0K"))
    assert keyboard.descriptor is None
    assert keyboard.pressed() == ["q", "up", "down", "enter", "escape"]
    keyboard.release()
