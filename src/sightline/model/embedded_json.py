"""Find the JSON object that a model wrote into a text, and its whole items where the text ends early.

A model writes its answer bare, between fences, or with words around it. An answer that a limit cut off
ends in the middle; then the last item is not whole, and does not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from json import JSONDecoder
from typing import Any

from msgspec import Struct

TRIES = 8
"""Places in a text where an object may begin that are tried: words of a model may look like one."""

TEXT_MAX = 4 * 2**20
"""Characters of a text. No model writes as many in one answer."""

START = re.compile(r'\{\s*["}]')
"""The beginning of an object."""

TOKEN = re.compile(
    r'\s*(?:(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")|(?P<mark>[{}\[\],:])|[^\s"{}\[\],:]++)',
    re.DOTALL,
)

FIELDS = (["}"], ["]"], ["}", "]"])
"""The open brackets, by their closers, between which whole items stand."""


class Object(dict[str, Any]):
    """An object. repeated: the keys that its text has more than once; the last value counts."""

    repeated: tuple[str, ...] = ()


class Embedded(Struct, frozen=True):
    """JSON in a text. is_cut: the text ends early, and `value` holds its whole items."""

    value: Any
    is_cut: bool = False


class NoJson(ValueError):
    """The text holds no JSON that can be read. The message says why."""


def find_json(text: str, fields: Collection[str]) -> Embedded:
    """Return the object of a text that has one of these fields, else its first object; or the list
    that the whole text is. NoJson where there is none, where two objects have these fields, and for a
    text of more than TEXT_MAX characters."""
    if len(text) > TEXT_MAX:
        raise NoJson(f"The text has {len(text):,} characters; {TEXT_MAX:,} is the most.")
    if text.lstrip().startswith("["):
        try:
            return _read(text, text.index("["))[0]
        except NoJson:
            pass  # words in brackets
    found: list[Embedded] = []
    others: list[Embedded] = []
    problem = "The text holds no JSON object."
    at = 0
    for number in range(TRIES):
        start = START.search(text, at)
        if start is None:
            break
        try:
            read, at = _read(text, start.start())
        except NoJson as error:
            problem = str(error) if number == 0 else problem
            at = start.start() + 1
            continue
        (found if any(name in read.value for name in fields) else others).append(read)
    if len(found) > 1:
        raise NoJson("The text holds two answers. Give one.")
    if not found and not others:
        raise NoJson(problem)
    return (found or others)[0]


def _read(text: str, start: int) -> tuple[Embedded, int]:
    """Return the JSON at a place of a text, and where it ends. NoJson."""
    try:
        value, end = DECODER.raw_decode(text, start)
    except RecursionError:
        raise NoJson("The JSON is nested too deep.") from None
    except ValueError as error:
        whole = _whole_items(text, start)
        if whole is None:
            raise NoJson(_words(text, error)) from None
        try:
            return Embedded(DECODER.decode(whole), is_cut=True), len(text)
        except (ValueError, RecursionError):
            raise NoJson(_words(text, error)) from None
    return Embedded(value), end


def _words(text: str, error: ValueError) -> str:
    message, at = getattr(error, "msg", "a number is too long"), getattr(error, "pos", None)
    if at is None:
        return f"The JSON cannot be read: {message}."
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return f"The JSON cannot be read: {message} (line {line}, column {column})."


def _whole_items(text: str, start: int) -> str | None:
    """Return the JSON of the whole items in a text that ends early: of the fields of its object, and of
    the members of a field's list. None where the text goes on behind the JSON, so that the JSON is
    broken."""
    closers: list[str] = []
    at = whole = start
    left_open = ""
    is_value = False  # the next string is a value and no name
    is_field = False  # the next value is a field of the object, or a member of a field's list
    while token := TOKEN.match(text, at):
        before, at = at, token.end()
        kind = token.lastgroup
        if kind is None:
            continue
        mark = token["mark"] if kind == "mark" else ""
        if mark in ("{", "["):
            closers.append("}" if mark == "{" else "]")
            is_value = mark == "["
            is_field = len(closers) < 3 and closers in FIELDS
            continue
        if mark in ("}", "]"):
            if mark != closers.pop() or not closers:
                return None
            is_field = len(closers) < 3 and closers in FIELDS
        if mark == ",":
            is_value = closers[-1] == "]"
            if is_field:
                whole, left_open = before, "".join(reversed(closers))
        elif mark == ":":
            is_value = True
        elif is_field and (mark or is_value):
            whole, left_open = at, "".join(reversed(closers))
    if not left_open:
        return text[start] + closers[0]
    return text[start:whole] + left_open


def _object(pairs: list[tuple[str, Any]]) -> Object:
    value = Object(pairs)
    if len(value) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        value.repeated = tuple(name for name, count in counts.items() if count > 1)
    return value


DECODER = JSONDecoder(object_pairs_hook=_object, strict=False)
"""Reads line ends inside of a string, too, which models forget to escape."""
