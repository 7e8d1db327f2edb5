"""How much room text takes on a terminal, and how it is made to fit."""

from __future__ import annotations

from unicodedata import category, east_asian_width

from sightline.text.phrases import one_line

Piece = tuple[str, str]
Line = tuple[Piece, ...]
"""(text, style) pieces; a style is a word, and the terminal's side knows its colour."""


def cells(text: str) -> int:
    """The columns that a text takes: wide characters two, marks that join another none."""
    if text.isascii():
        return len(text)
    return sum(map(_cell, text))


def _cell(letter: str) -> int:
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in "WF" else 1


def steady(text: str) -> str:
    """Text that a terminal shows as it stands: nothing in it steers, turns or joins letters."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in one_line(text))


def cut(text: str, room: int) -> str:
    """The text, or as much of its beginning as fits, with "…" for the rest."""
    if cells(text) <= room:
        return text
    return f"{_head(text, room - 1)}…" if room > 0 else ""


def middle(path: str, room: int) -> str:
    """A path shortened in the middle: its name is what people know a file by."""
    if cells(path) <= room:
        return path
    folder, _, name = path.rpartition("/")
    if folder and cells(name) + 3 <= room:
        return f"{_head(folder, room - cells(name) - 2)}…/{name}"
    back = (room - 1) // 2
    return f"{_head(name, room - 1 - back)}…{_tail(name, back)}" if room > 0 else ""


def padded(text: str, room: int) -> str:
    """The text in a column of so many cells, shortened at its end if it has to be."""
    fit = cut(text, room)
    return fit + " " * (room - cells(fit))


def _head(text: str, room: int) -> str:
    kept = 0
    for at, letter in enumerate(text):
        kept += _cell(letter)
        if kept > room:
            return text[:at]
    return text


def _tail(text: str, room: int) -> str:
    kept = 0
    for at in range(len(text), 0, -1):
        kept += _cell(text[at - 1])
        if kept > room:
            return text[at:]
    return text


def line(*pieces: Piece) -> Line:
    """Pieces with text, and no blanks at the end."""
    kept = [piece for piece in pieces if piece[0]]
    while kept and not kept[-1][0].rstrip():
        kept.pop()
    if kept:
        kept[-1] = (kept[-1][0].rstrip(), kept[-1][1])
    return tuple(kept)


def clipped(whole: Line, width: int) -> Line:
    """As much of a line as a very narrow terminal can show."""
    kept: list[Piece] = []
    for text, style in whole:
        kept.append((cut(text, width), style))
        width -= cells(kept[-1][0])
    return line(*kept)


def plain(whole: Line) -> str:
    """A line without its styles."""
    return "".join(text for text, _ in whole)
