"""A block of lines on a terminal, drawn again in its place.

The block never is as high as the terminal, so that its first line can always be reached again, and
the last one drawn stays in the scrollback when the view ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TextIO

import click

from sightline.cli.live import view as live_view
from sightline.cli.output import Unprintable, let_go
from sightline.history.views import Overview
from sightline.text.terminal_cells import Line, plain

SMALLEST = (20, 4)
"""Columns and lines that are used even where a terminal says that it has fewer."""

HIDE, SHOW, HOME, DOWN, REST = "\x1b[?25l", "\x1b[?25h", "\x1b[H\x1b[J", "\x1b[J", "\x1b[K"

STYLES: dict[str, dict[str, bool | str]] = {
    "head": {"bold": True},
    "dim": {"dim": True},
    "good": {"fg": "green"},
    "look": {"fg": "yellow"},
    "bad": {"fg": "red", "bold": True},
}


def wall_time(at: int) -> str:
    """UTC microseconds as the time on the reader's wall."""
    return f"{datetime.fromtimestamp(at / 1_000_000, UTC).astimezone():%H:%M:%S}"


class Screen:
    """The view on a terminal. place: the workspace, as its reader names it; status: who is
    connected; clock: a time as it is shown; colour: whether the reader wants any. drawing: whether
    something is being written to it just now."""

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
        """Draw it, if it looks any different from what stands there."""
        self._view = view
        lines = [self._styled(line) for line in self._lines(view)]
        if lines != self._drawn:
            up = f"\x1b[{len(self._drawn)}A\r" if self._drawn else ""
            self._write("".join([up, *(f"{line}{REST}\n" for line in lines), DOWN]))
            self._drawn = lines

    def resized(self) -> None:
        """Draw it afresh on an empty screen: nobody knows how a terminal broke the old lines."""
        if self._view is not None:
            self._drawn = []
            self._write(HOME)
            self.show(self._view)

    def hold(self) -> None:
        """Take the cursor away, which would jump about."""
        self._write(HIDE)

    def release(self) -> None:
        """Give the terminal back as it was, if it is still there."""
        with suppress(Unprintable):
            self._write(SHOW)

    def _lines(self, view: Overview) -> list[Line]:
        columns, rows = os.get_terminal_size(self._stream.fileno())
        width, height = max(columns, SMALLEST[0]), max(rows - 1, SMALLEST[1])
        return live_view.screen(view, self._place, self._status, width, height, self._clock)

    def _styled(self, line: Line) -> str:
        if not self._colour:
            return plain(line)
        return "".join(
            click.style(text, **STYLES[style]) if style else text  # type: ignore[arg-type]
            for text, style in line
        )

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
