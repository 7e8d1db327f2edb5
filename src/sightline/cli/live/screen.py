"""A block of lines on a terminal, drawn again in its place.

The block is lower than the terminal, so the cursor can always go back to its first line. The last
block stays in the scrollback when the view ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from textwrap import wrap
from typing import TextIO

from rich.console import Console

from sightline.cli.live.view import Chosen, Head, draw, files_of, page
from sightline.cli.output import Unprintable, let_go, local
from sightline.model.live_sessions import Overview

SMALLEST = (20, 4)
"""Columns and lines that are used even where a terminal says that it has fewer."""

PAGE_HEAD = 3
"""Lines above the text of a page while the guard works."""

HIDE, SHOW, HOME, DOWN, REST = "\x1b[?25l", "\x1b[?25h", "\x1b[H\x1b[J", "\x1b[J", "\x1b[K"


def wall_time(at: int) -> str:
    """Return UTC microseconds as the time on the reader's clock."""
    return f"{local(at):%H:%M:%S}"


class Quit(Exception):
    """The person pressed q."""


HELP = (
    "up, down, k, j  choose a file",
    "Enter           why its state is as it is, fact by fact",
    "Esc             back to all files",
    "?               these keys",
    "q, Ctrl-C       end this view",
)


def folded(line: str, width: int) -> list[str]:
    """Return a line in as many as it needs: a command that is cut cannot be copied."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]


class Screen:
    """The view on a terminal.

    head: returns its first lines. clock: a time as it is shown. colour: whether the reader wants
    any. why: a session and a file -> the lines that explain its state. drawing: whether a write is
    under way.
    """

    def __init__(
        self,
        stream: TextIO,
        head: Callable[[], Head],
        clock: Callable[[int], str],
        *,
        colour: bool,
        why: Callable[[str, str, int], list[str]] = lambda *_: [],
    ) -> None:
        self._stream = stream
        self._head = head
        self._clock = clock
        self._colour = colour
        self._why = why
        self._drawn: list[str] = []
        self._shown_head: Head | None = None
        self._view: Overview | None = None
        self._chosen: Chosen | None = None
        self._page = ""
        self._first = 0
        self.drawing = False

    def show(self, view: Overview) -> None:
        """Draw the view, unless it looks as the last one."""
        self._view = view
        self.draw()

    def tick(self) -> None:
        """Draw the view again if its first lines are others now."""
        if self._head() != self._shown_head:
            self.draw()

    def press(self, key: str) -> None:
        """Do what a key is for. Quit for q."""
        if key == "q":
            self._page = ""  # all files stay in the scrollback
            self.draw()
            raise Quit
        if key == "escape":
            self._page, self._chosen = "", self._chosen if self._page else None
        elif key == "?":
            self._page = "" if self._page == "help" else "help"
        elif key == "enter" and not self._page:
            self._page = "why" if self._chosen is not None else ""
        elif key in ("up", "down"):
            self._move(1 if key == "down" else -1)
        self._first = 0 if key not in ("up", "down") else self._first
        self.draw()

    def _move(self, step: int) -> None:
        """Choose the next or the previous file, or scroll a page by a line."""
        if self._page:
            self._first = max(self._first + step, 0)
            return
        files = files_of(self._view) if self._view is not None else []
        if self._chosen in files:
            at = files.index(self._chosen) + step
            self._chosen = files[min(max(at, 0), len(files) - 1)]
        elif files:
            self._chosen = files[0 if step > 0 else -1]

    def draw(self) -> None:
        """Draw the view or the page that a key led to, unless it looks as the last drawing."""
        if self._view is None:
            return
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
        if self._page:
            text = self._text(console.width)
            head = self._head()
            room = max(height - len(head.alarm.splitlines()) - PAGE_HEAD, 1)
            self._first = min(self._first, max(len(text) - room, 0))
            lines = page(head, text, self._first, console, height)
        else:
            head = self._head()
            lines = draw(self._view, head, self._clock, console, height, self._chosen)
        self._shown_head = head
        if lines != self._drawn:
            up = f"\x1b[{len(self._drawn)}A\r" if self._drawn else ""
            self._write("".join([up, *(f"{line}{REST}\n" for line in lines), DOWN]))
            self._drawn = lines

    def _text(self, width: int) -> list[str]:
        if self._page == "help" or self._chosen is None:
            return list(HELP)
        lines = ["Esc leads back.", "", *self._why(*self._chosen, width)]
        return [part for line in lines for part in folded(line, width)]

    def resized(self) -> None:
        """Draw the view on an empty screen: a terminal may have wrapped the old lines."""
        if self._view is not None:
            self._drawn = []
            self._write(HOME)
            self.draw()

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
