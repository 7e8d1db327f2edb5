"""Change the settings of other programs in place: JSON text in, JSON text out.

Only Sightline's own entries are written or cut out. Everything else keeps its bytes: order,
indentation, line ends, a byte order mark, unknown keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import JSONDecodeError, JSONDecoder, dumps
from typing import Any

from msgspec import Struct

BLANK = " \t\r\n"


class BadSettings(Exception):
    """The text is no JSON, or not of the expected shape; line and column are 1-based."""

    def __init__(self, why: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {why}")


class Item(Struct, frozen=True):
    """A member of an object or an element of an array: the text from start to end; its value begins
    at `at`. key: None for an element."""

    key: str | None
    start: int
    at: int
    end: int


class Settings:
    """A JSON object as text. Offsets in it hold until the text changes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._newline = "\r\n" if "\r\n" in text else "\n"
        _check(text)
        self.top = _over(text, 1 if text.startswith("\ufeff") else 0)
        if text[self.top] != "{":
            raise self.wrong(self.top, "an object has to stand here")

    def value(self, at: int) -> Any:
        """Return the value at an offset."""
        return _DECODER.raw_decode(self.text, at)[0]

    def items(self, at: int) -> list[Item]:
        """Return the members of the object or the elements of the array at an offset, in order."""
        items: list[Item] = []
        text, is_object = self.text, self.text[at] == "{"
        place = _over(text, at + 1)
        while text[place] not in "}]":
            start, key = place, None
            if is_object:
                key, place = _DECODER.raw_decode(text, place)
                place = _over(text, _over(text, place) + 1)
            _, end = _DECODER.raw_decode(text, place)
            items.append(Item(key, start, place, end))
            place = _over(text, end)
            if text[place] == ",":
                place = _over(text, place + 1)
        return items

    def find(self, at: int, key: str) -> Item | None:
        """Return a member of the object at an offset; of several with one name the last, as JSON
        has it."""
        return next((item for item in reversed(self.items(at)) if item.key == key), None)

    def wrong(self, at: int, why: str) -> BadSettings:
        """Return an error about the value at an offset."""
        return BadSettings(why, *_place(self.text, at))

    def add(self, at: int, value: object, key: str | None = None) -> None:
        """Append an item to the object (with a key) or array at an offset."""
        items = self.items(at)
        indent = self._indent(at, items)
        new = ("" if key is None else f"{dumps(key)}: ") + dumps(value, ensure_ascii=False)
        before = "" if indent is None else self._newline + indent
        if items:
            end = items[-1].end
            self._put(end, end, "," + (before or " ") + new)
            return
        after = "" if indent is None else self._newline + self._margin(at)
        self._put(at + 1, _over(self.text, at + 1), before + new + after)

    def replace(self, item: Item, value: object) -> None:
        """Replace an item's value."""
        self._put(item.at, item.end, dumps(value, ensure_ascii=False))

    def cut(self, at: int, item: Item) -> None:
        """Remove an item from the object or array at an offset, with its comma. Undoes `add`."""
        items = self.items(at)
        place = items.index(item)
        if place:
            self._put(items[place - 1].end, item.end, "")
        elif len(items) > 1:
            self._put(item.start, items[1].start, "")
        else:
            self._put(at + 1, _over(self.text, item.end), "")

    def _indent(self, at: int, items: Sequence[Item]) -> str | None:
        """Return the white space that begins a line of this container; None where all is one
        line."""
        if not items:
            one_line = at != self.top and self._unit() is None
            return None if one_line else self._margin(at) + (self._unit() or "  ")
        line = self.text.rfind("\n", 0, items[0].start) + 1
        margin = self.text[line : items[0].start]
        return margin if line > at and not margin.strip(BLANK) else None

    def _margin(self, at: int) -> str:
        """Return the white space that begins the line of an offset."""
        line = self.text.rfind("\n", 0, at) + 1
        rest = self.text[line:].removeprefix("\ufeff")
        return rest[: len(rest) - len(rest.lstrip(" \t"))]

    def _unit(self) -> str | None:
        """Return one step of indentation, as the first member of the whole object has it."""
        items = self.items(self.top)
        return self._indent(self.top, items) if items else "  "

    def _put(self, start: int, end: int, words: str) -> None:
        self.text = self.text[:start] + words + self.text[end:]


_DECODER = JSONDecoder()


def _check(text: str) -> None:
    start = text.startswith("\ufeff")
    constants: list[str] = []  # NaN or Infinity, which Python would let pass
    try:
        JSONDecoder(parse_constant=constants.append).decode(text[start:])
    except JSONDecodeError as error:
        why = error.msg[:1].lower() + error.msg[1:]
        raise BadSettings(why, *_place(text, error.pos + start)) from None
    except RecursionError:
        raise BadSettings("nested too deeply", 1, 1) from None
    for name in constants:
        raise BadSettings(f"{name} is no JSON", *_place(text, text.find(name)))


def _place(text: str, at: int) -> tuple[int, int]:
    """Return line and column, as editors count them."""
    line = text.rfind("\n", 0, at) + 1
    return text.count("\n", 0, at) + 1, at - line + 1 - text.startswith("\ufeff", line)


def _over(text: str, at: int) -> int:
    """Return the offset of the next sign that is not blank."""
    while at < len(text) and text[at] in BLANK:
        at += 1
    return at
