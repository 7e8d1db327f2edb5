"""A block of lines on a terminal, drawn again in its place.

The block is lower than the terminal, so the cursor can always go back to its first line. The last
block stays in the scrollback when the view ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import TextIO

from rich.console import Console

from sightline.cli.live.view import draw
from sightline.cli.output import Unprintable, let_go, local
from sightline.history.overview import Overview

SMALLEST = (20, 4)
"""Columns and lines that are used even where a terminal says that it has fewer."""

HIDE, SHOW, HOME, DOWN, REST = "\x1b[?25l", "\x1b[?25h", "\x1b[H\x1b[J", "\x1b[J", "\x1b[K"


def wall_time(at: int) -> str:
    """Return UTC microseconds as the time on the reader's clock."""
    return f"{local(at):%H:%M:%S}"


class Screen:
    """The view on a terminal.

    place: the workspace, as its reader names it. status: who is connected. clock: a time as it is
    shown. colour: whether the reader wants any. drawing: whether a write is under way.
    """

    def __init__(
        self, stream: TextIO, place: str, status: str, clock: Callable[[int], str], *, colour: bool
    ) -> None:
        self._stream = stream
        self._place = place
        self._status = status
        self._clock = clock
        self._colour = colour
        self._drawn: list[str] = []
        self._view: Overview | None = None
        self.drawing = False

    def show(self, view: Overview) -> None:
        """Draw the view, unless it looks as the last one."""
        self._view = view
        columns, rows = os.get_terminal_size(self._stream.fileno())
        console = Console(
            file=StringIO(),
            width=max(columns, SMALLEST[0]),
            color_system="standard" if self._colour else None,
            force_terminal=self._colour,
            legacy_windows=False,
            _environ={},
        )
        height = max(rows - 1, SMALLEST[1])
        lines = draw(view, self._place, self._status, self._clock, console, height)
        if lines != self._drawn:
            up = f"\x1b[{len(self._drawn)}A\r" if self._drawn else ""
            self._write("".join([up, *(f"{line}{REST}\n" for line in lines), DOWN]))
            self._drawn = lines

    def resized(self) -> None:
        """Draw the view on an empty screen: a terminal may have wrapped the old lines."""
        if self._view is not None:
            self._drawn = []
            self._write(HOME)
            self.show(self._view)

    def hold(self) -> None:
        """Hide the cursor."""
        self._write(HIDE)

    def release(self) -> None:
        """Show the cursor again, if the terminal is still there."""
        with suppress(Unprintable):
            self._write(SHOW)

    def _write(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        self.drawing = True
        try:
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except OSError as error:
            let_go(self._stream)
            raise Unprintable(error.strerror or str(error)) from error
        finally:
            self.drawing = False
