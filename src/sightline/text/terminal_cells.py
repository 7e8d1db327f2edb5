"""Text that fits into a number of columns of a terminal."""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

from sightline.text.printable import one_line

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""What switches colours, which takes no room."""

GAPS = re.compile(r"(\s+)")


def cells(text: str) -> int:
    """Return the columns of a text: two for a wide letter, none for a combining mark."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def wrapped(words: str, width: int, start: str = "", indent: str = "") -> str:
    """Return words as lines of at most `width` columns, broken between words: the first line begins with
    `start`, others with `indent`. A word that is longer than a line stays whole. Colours take no room."""
    lines: list[str] = []
    line, gap, is_empty = start, "", not start.strip()
    for part in GAPS.split(words):
        if part.isspace():
            gap = " " * len(part)
        elif part:
            if not is_empty and columns_of(f"{line}{gap}{part}") > width:
                lines.append(line)
                line, gap = indent, ""
            line, gap, is_empty = f"{line}{gap}{part}", "", False
    return "\n".join([*lines, line])


def columns_of(text: str) -> int:
    """Return the columns of a text with colours."""
    return cells(COLOUR.sub("", text))


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


def shortened(text: str, room: int) -> str:
    """Shorten a text to so many columns, behind a word where one ends in the last third; "…" stands for what
    is left out."""
    if cells(text) <= room:
        return text
    head = _head(text, max(room - 1, 0))
    word = head.rpartition(" ")[0]
    return f"{word if cells(word) * 3 >= room * 2 else head.rstrip()}…" if room > 0 else ""


def _head(text: str, room: int) -> str:
    used = 0
    for at, letter in enumerate(text):
        used += _cell(letter)
        if used > room:
            return text[:at]
    return text
