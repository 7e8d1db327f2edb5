"""The columns that text takes on a terminal, and ways to make text fit."""

from __future__ import annotations

from unicodedata import category, east_asian_width

from sightline.text.phrases import one_line

Piece = tuple[str, str]
Line = tuple[Piece, ...]
"""(text, style) pieces. A style is a word; the code that prints knows its colour."""


def cells(text: str) -> int:
    """Return the columns that a text takes: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(map(_cell, text))


def _cell(letter: str) -> int:
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in "WF" else 1


def steady(text: str) -> str:
    """Return a text that a terminal shows letter by letter: nothing in it steers, turns or joins."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in one_line(text))


def cut(text: str, room: int) -> str:
    """Return the text, or the beginning that fits, with "…" for the rest."""
    if cells(text) <= room:
        return text
    return f"{_head(text, room - 1)}…" if room > 0 else ""


def middle(path: str, room: int) -> str:
    """Return a path shortened in the middle: people know a file by its name."""
    if cells(path) <= room:
        return path
    folder, _, name = path.rpartition("/")
    if folder and cells(name) + 3 <= room:
        return f"{_head(folder, room - cells(name) - 2)}…/{name}"
    back = (room - 1) // 2
    return f"{_head(name, room - 1 - back)}…{_head(name[::-1], back)[::-1]}" if room > 0 else ""


def padded(text: str, room: int) -> str:
    """Return the text in a column of `room` cells, shortened at its end if necessary."""
    fit = cut(text, room)
    return fit + " " * (room - cells(fit))


def _head(text: str, room: int) -> str:
    width = 0
    for at, letter in enumerate(text):
        width += _cell(letter)
        if width > room:
            return text[:at]
    return text


def line(*pieces: Piece) -> Line:
    """Return the pieces that have text, without blanks at the end of the line."""
    nonempty = [piece for piece in pieces if piece[0]]
    while nonempty and not nonempty[-1][0].rstrip():
        nonempty.pop()
    if nonempty:
        nonempty[-1] = (nonempty[-1][0].rstrip(), nonempty[-1][1])
    return tuple(nonempty)


def clipped(whole: Line, width: int) -> Line:
    """Return the part of a line that fits a very narrow terminal."""
    pieces: list[Piece] = []
    for text, style in whole:
        pieces.append((cut(text, width), style))
        width -= cells(pieces[-1][0])
    return line(*pieces)


def plain(whole: Line) -> str:
    """Return the text of a line without its styles."""
    return "".join(text for text, _ in whole)
