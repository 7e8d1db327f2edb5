"""Text that fits into a number of columns of a terminal."""

from __future__ import annotations

from unicodedata import category, east_asian_width

from sightline.text.printable import one_line


def cells(text: str) -> int:
    """Return the columns of a text: two for a wide letter, none for a combining mark."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def _cell(letter: str) -> int:
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in "WF" else 1


def steady(text: str) -> str:
    """Return one line of printable letters, which cannot steer a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in one_line(text))


def middle(path: str, room: int) -> str:
    """Shorten a path in its middle; people know a file by its name."""
    if cells(path) <= room:
        return path
    folder, _, name = path.rpartition("/")
    if folder and cells(name) + 3 <= room:
        return f"{_head(folder, room - cells(name) - 2)}…/{name}"
    back = (room - 1) // 2
    return f"{_head(name, room - 1 - back)}…{_head(name[::-1], back)[::-1]}" if room > 0 else ""


def _head(text: str, room: int) -> str:
    used = 0
    for at, letter in enumerate(text):
        used += _cell(letter)
        if used > room:
            return text[:at]
    return text
