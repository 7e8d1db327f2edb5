"""Ctrl-Z while the view is being drawn: a stream cannot be written to from within."""

from __future__ import annotations

import io
import signal
from typing import Any

from sightline.cli.live.screen import HIDE, SHOW, Screen
from sightline.cli.live.terminal import Waiting
from sightline.cli.live.view import Head


class Stream(io.TextIOWrapper):
    """A terminal's stream, to which somebody types while it is written to."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="utf-8")
        self.typed: list[Any] = []

    def write(self, text: str) -> int:
        while self.typed:
            self.typed.pop()(signal.SIGTSTP, None)
        return super().write(text)

    def written(self) -> str:
        return self.bytes.getvalue().decode()


def test_a_stop_while_something_is_drawn_waits_for_its_end(monkeypatch):
    stopped: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", stopped.append)
    stream = Stream()
    screen = Screen(stream, lambda: Head("~/work", ""), str, colour=False)
    waiting = Waiting(screen)
    with waiting.heeding():
        stream.typed.append(signal.getsignal(signal.SIGTSTP))
        screen.hold()
        assert stopped == []
        assert stream.written() == HIDE
        assert waiting(0) is True  # all is to be drawn again
        assert stopped == [signal.SIGTSTP]
        assert stream.written() == HIDE + SHOW + HIDE
        assert waiting(0) is False
        assert stopped == [signal.SIGTSTP]


def test_else_it_stops_at_once(monkeypatch):
    stopped: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", stopped.append)
    stream = Stream()
    waiting = Waiting(Screen(stream, lambda: Head("~/work", ""), str, colour=False))
    with waiting.heeding():
        handler: Any = signal.getsignal(signal.SIGTSTP)
        handler(signal.SIGTSTP, None)
        assert stopped == [signal.SIGTSTP]
        assert stream.written() == SHOW + HIDE
