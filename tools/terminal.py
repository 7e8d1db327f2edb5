"""A small terminal: what a person would see of bytes that a program wrote to one.

It knows what `sightline up` uses and raises on everything else, so that nothing is drawn unseen.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from sightline.text.terminal_cells import cells

CONTROL = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|([\r\n])")
PLAIN = frozenset({0})


class Cell(NamedTuple):
    """One column: its letter ("" behind a wide one) and the codes of its style."""

    letter: str = " "
    style: frozenset[int] = frozenset()


class Terminal:
    """A screen of some columns and rows. `scrolled`: the lines that left it at its top."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.columns, self.rows = columns, rows
        self.scrolled: list[list[Cell]] = []
        self.cursor_shown = True
        self._screen = self._blank()
        self._row = self._column = 0
        self._style: frozenset[int] = frozenset()
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def feed(self, data: bytes) -> None:
        """Take bytes as a terminal does. ValueError for a control it does not know."""
        text = self._decoder.decode(data)
        at = 0
        for found in CONTROL.finditer(text):
            self._print(text[at : found.start()])
            self._control(found)
            at = found.end()
        self._print(text[at:])

    def lines(self) -> list[str]:
        """The text on the screen, down to the last line that has any."""
        shown = ["".join(cell.letter for cell in row).rstrip() for row in self._screen]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    def styled(self) -> list[list[Cell]]:
        """The cells of the same lines."""
        return self._screen[: len(self.lines())]

    def _blank(self) -> list[list[Cell]]:
        return [[Cell()] * self.columns for _ in range(self.rows)]

    def _print(self, text: str) -> None:
        for letter in text:
            if not letter.isprintable():
                raise ValueError(f"a control that nobody expects: {letter!r} in {text!r}")
            width = cells(letter)
            if self._column + width > self.columns:
                self._column = 0
                self._down()
            row = self._screen[self._row]
            row[self._column : self._column + width] = [
                Cell(letter, self._style),
                *[Cell("", self._style)] * (width - 1),
            ][:width]
            self._column += width

    def _down(self) -> None:
        if self._row + 1 < self.rows:
            self._row += 1
            return
        self.scrolled.append(self._screen.pop(0))
        self._screen.append([Cell()] * self.columns)

    def _control(self, found: re.Match[str]) -> None:
        private, numbers, final, move = found.groups()
        if move == "\r":
            self._column = 0
        elif move == "\n":
            self._down()
        elif private and numbers == "25" and final in "hl":
            self.cursor_shown = final == "h"
        elif final == "A":
            self._row = max(self._row - int(numbers or 1), 0)
        elif final == "H" and not numbers:
            self._row = self._column = 0
        elif final == "K" and not numbers:
            self._clear_line()
        elif final == "J" and not numbers:
            self._clear_line()
            below = self._screen[self._row + 1 :]
            self._screen[self._row + 1 :] = [[Cell()] * self.columns for _ in below]
        elif final == "m":
            codes = {int(code or 0) for code in numbers.split(";")}
            self._style = frozenset() if codes == PLAIN else self._style | codes
        else:
            raise ValueError(f"a control that nobody expects: {found.group()!r}")

    def _clear_line(self) -> None:
        self._screen[self._row][self._column :] = [Cell()] * (self.columns - self._column)
