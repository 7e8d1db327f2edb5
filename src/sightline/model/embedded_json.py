"""Find the JSON object that a model wrote into a text, and its whole items where the text ends early.

A model writes its answer bare, between fences, or with words around it. An answer that a limit cut off
ends in the middle; then the last item is not whole, and does not count. Trailing commas and comments
have one meaning: they are read as if they were not there, and named. Any other slip is refused with
its place, and so are NaN and infinite numbers; an object inside of broken JSON is never taken for the answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from json import JSONDecoder
from math import isfinite
from typing import Any

from msgspec import Struct

TRIES = 8
"""Places in a text where an object may begin that are tried: words of a model may look like one."""

TEXT_MAX = 4 * 2**20
"""Characters of a text. No model writes as many in one answer."""

COMMENT = r"//[^\n]*+|/\*.*?\*/|\#[^\n]*+"

START = re.compile(
    r"""\{(?:\s|//[^\n]{0,500}+\n|/\*.{0,500}?\*/|\#[^\n]{0,500}+\n)*+"""
    r"""(?:(?P<json>["}])|['‘’“”„`]|[A-Za-z_]\w{0,80}+\s*:)""",
    re.DOTALL,
)
"""The beginning of an object, as models write it: its first name may stand in any quotes, or in none."""

NAMES = re.compile(r"""["'‘’“”„`]?([A-Za-z_]\w*+)["'‘’“”„`]?\s*:""")
"""The names in an object, as models write them."""

BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]', re.DOTALL)

CLOSES = re.compile(r"\s*+[}\]]")
GOES_ON = re.compile(r"""[\s}\]]*+,\s*+["'‘“]\w++["'’”]\s*+:""")
"""What stands behind an object that was closed too early."""

LIST = re.compile(r"\s*\[\s*[\[{]")
"""The beginning of a list of objects, and of no words in brackets."""

TOKEN = re.compile(
    r'\s*(?:(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")|(?P<mark>[{}\[\],:])|[^\s"{}\[\],:]++)',
    re.DOTALL,
)

FIELDS = (["}"], ["]"], ["}", "]"])
"""The open brackets, by their closers, between which whole items stand."""

PIECE = re.compile(
    r"""(?P<space>\s++)|(?P<value>"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\w.+-]++)|(?P<mark>[{}\[\],:])"""
    rf"|(?P<comment>{COMMENT})",
    re.DOTALL,
)

CLOSERS = ("}", "]")
ENDS = ("value", *CLOSERS)
"""Pieces that end a value."""

PARTIAL = {
    "Expecting value": re.compile(r"\s*+(?:[a-z]{1,4}|-?)"),
    "Expecting ',' delimiter": re.compile(r"[\d.eE+-]*+"),
    "Invalid \\uXXXX escape": re.compile(r"\\?u?[0-9a-fA-F]{0,3}"),
}
"""What a decoder misses -> what a text that ends early may still hold there: a part of a word, number
or escape."""

NOTHING = re.compile(r"[\s,`]*+")

NUMBER = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|([^\s"{}\[\],:]++)', re.DOTALL)
"""A string, or the letters of a number or a word."""

QUOTE = re.compile(r"[‘’“”„'`]")
UNEVEN = re.compile(r'"\w+[“”„]\s*+:|[“”„](?:\s*+,\s*+["“”„]\w++["“”„]\s*+:|\s*+[}\]])')
"""A text that a straight quote opens and a typographic one closes."""

SLIPS_MAX = 5
"""Slips that are named one by one. Further ones are counted."""

EXCERPT = 30
"""Characters of a text that are repeated where its JSON breaks."""


class Object(dict[str, Any]):
    """An object. repeated: the keys that its text has more than once; the last value counts."""

    repeated: tuple[str, ...] = ()


class Embedded(Struct, frozen=True):
    """JSON in a text. is_cut: the text ends early, and `value` holds its whole items. slips: what the
    JSON has beside what JSON may have, with the places, read as if it were not there."""

    value: Any
    is_cut: bool = False
    slips: tuple[str, ...] = ()


class NoJson(ValueError):
    """The text holds no JSON that can be read. The message says why."""


def find_json(text: str, fields: Collection[str]) -> Embedded:
    """Return the object of a text that has one of these fields, else its first object; or the list
    that the whole text is. NoJson where there is none, where two objects have these fields, where an
    object with these fields is broken, and for a text of more than TEXT_MAX characters."""
    if len(text) > TEXT_MAX:
        raise NoJson(f"The text has {len(text):,} characters; {TEXT_MAX:,} is the most.")
    if text.lstrip().startswith("["):
        try:
            return _read(text, text.index("["))[0]
        except NoJson:
            if LIST.match(text):
                raise
    wanted = {*fields}
    found: list[Embedded] = []
    others: list[Embedded] = []
    problems: list[str] = []  # of broken objects; "" for code, or words in braces
    at = tries = 0
    while tries < TRIES and (start := START.search(text, at)) is not None:
        try:
            read, end = _object_at(text, start, wanted)
        except _Passed as passed:
            problems.append(str(passed))
            tries += start["json"] is not None or passed.end is None
            at = start.start() + 1 if passed.end is None else passed.end
            continue
        if GOES_ON.match(text, end) or (problems and CLOSES.match(text, end)):
            place = _place(text, end)
            raise NoJson(f"The JSON object ends too early: more of it follows ({place}).")
        (found if read.value.keys() & wanted else others).append(read)
        tries += 1
        at = end
    if len(found) > 1:
        raise NoJson("The text holds two answers. Give one.")
    problem = next(filter(None, problems), "")
    if not found and (problem or not others):
        raise NoJson(problem or "The text holds no JSON object.")
    return (found or others)[0]


class _Passed(Exception):
    """An object that is broken and not the answer. end: of it; None where its brackets do not close."""

    def __init__(self, why: str, end: int | None) -> None:
        super().__init__(why)
        self.end = end


def _object_at(text: str, start: re.Match[str], wanted: set[str]) -> tuple[Embedded, int]:
    """Return the object at a place of a text, and where it ends. _Passed; NoJson for a broken one with
    a wanted field."""
    begin, why = start.start(), ""
    if start["json"] is not None:
        try:
            return _read(text, begin)
        except NoJson as error:
            why = str(error)
    end, names = _extent(text, begin)
    if names & wanted or (names and end is None):
        return _read(text, begin)  # says where it breaks
    raise _Passed(why, end)


def _extent(text: str, start: int) -> tuple[int | None, set[str]]:
    """Return where a broken object ends, None where its brackets do not close, and its own names."""
    depth, own, at, end = 0, [], start, None
    for match in BRACKET.finditer(text, start):
        if match[0] in ("{", "["):
            own += [text[at : match.start()]] if depth == 1 else []
            depth += 1
        elif match[0] in ("}", "]"):
            own += [text[at : match.start()]] if depth == 1 else []
            depth -= 1
        else:
            continue
        at = match.end()
        if depth == 0:
            end = at
            break
    if end is None and depth == 1:
        own.append(text[at:])
    return end, {name for part in own for name in NAMES.findall(part)}


def _read(text: str, start: int) -> tuple[Embedded, int]:
    """Return the JSON at a place of a text, and where it ends. NoJson."""
    slips: tuple[str, ...] = ()
    plain = text
    while True:
        try:
            value, end = DECODER.raw_decode(plain, start)
        except RecursionError:
            raise NoJson("The JSON is nested too deep.") from None
        except _NoNumber as error:
            numbers = (each for each in NUMBER.finditer(plain, start) if each[1] == str(error))
            place = _place(text, next(numbers).start())
            raise NoJson(f"The JSON cannot be read: {error} is no number ({place}).") from None
        except ValueError as error:
            if plain is text and not _is_cut(text, error):
                plain, slips = _without_slips(text, start)
                if slips:
                    continue
            return Embedded(_whole_value(plain, start, error), is_cut=True, slips=slips), len(text)
        return Embedded(value, slips=slips), end


def _whole_value(text: str, start: int, error: ValueError) -> Any:
    """Return the value of the whole items in a text that ends early. NoJson for broken JSON, and for a
    text without a whole item. error: of the decoder."""
    whole = _whole_items(text, start) if _is_cut(text, error) else None
    if whole is None:
        raise NoJson(_words(text, error))
    try:
        value = DECODER.decode(whole)
    except (ValueError, RecursionError):
        raise NoJson(_words(text, error)) from None
    if not any(value.values() if isinstance(value, dict) else value):
        raise NoJson("The text ends before an item of its JSON is whole.")
    return value


def _is_cut(text: str, error: ValueError) -> bool:
    """Return whether JSON cannot be decoded because its text ends, and for no other reason."""
    at = getattr(error, "pos", None)
    if at is None:
        return False
    if str(error).startswith("Unterminated string"):
        return UNEVEN.search(text, at) is None
    partial = PARTIAL.get(getattr(error, "msg", ""), NOTHING)
    return any(pattern.fullmatch(text, at) for pattern in (NOTHING, partial))


def _without_slips(text: str, start: int) -> tuple[str, tuple[str, ...]]:
    """Return a text of the same length whose JSON from a place on has spaces in place of trailing
    commas and comments, and name these. The JSON behind any other slip stays as it is, and so does a
    comment with no line end behind it: it may hide what is no comment."""
    slips: list[tuple[int, int, str]] = []
    at, depth, comma, last = start, 0, -1, ""
    while piece := PIECE.match(text, at):
        before, at, kind = at, piece.end(), piece["mark"] or piece.lastgroup or ""
        if kind == "space":
            continue
        if kind == "comment":
            if at == len(text):
                break
            slips.append((before, at, "a comment"))
            continue
        if kind in CLOSERS:
            slips += [(comma, comma + 1, "a trailing comma")] if comma >= 0 else []
            depth -= 1
        elif kind not in (",", ":"):
            if last in ENDS:
                break
            depth += kind != "value"
        comma = before if kind == "," and last in ENDS else -1
        last = kind
        if depth == 0:
            break
    return _blanked(text, sorted(slips))


def _blanked(text: str, slips: list[tuple[int, int, str]]) -> tuple[str, tuple[str, ...]]:
    """Return a text with spaces in place of slips, and their names. slips: (begin, end, what)."""
    pieces: list[str] = []
    done = 0
    for begin, end, _ in slips:
        pieces += [text[done:begin], re.sub(r"[^\n]", " ", text[begin:end])]
        done = end
    listed = [f"{what} ({_place(text, begin)})" for begin, _, what in slips[:SLIPS_MAX]]
    listed += [f"{len(slips) - SLIPS_MAX:,} more"] if len(slips) > SLIPS_MAX else []
    return "".join([*pieces, text[done:]]), tuple(listed)


def _words(text: str, error: ValueError) -> str:
    message, at = getattr(error, "msg", "a number is too long"), getattr(error, "pos", None)
    if at is None:
        return f"The JSON cannot be read: {message}."
    excerpt = " ".join(text[at : at + EXCERPT].split())
    told = f"The JSON cannot be read: {message} ({_place(text, at)})"
    told += f", before `{excerpt}`." if excerpt else "."
    uneven = UNEVEN.search(text, max(0, text.rfind('"', 0, at) - EXCERPT), at + EXCERPT)
    mark = QUOTE.match(text, at) or QUOTE.search(text, uneven.start() if uneven else len(text))
    if mark is not None:
        told += f' Names and texts stand in " and not in {mark[0]} ({_place(text, mark.start())}).'
    return told


def _place(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    return f"line {line}, column {at - text.rfind(chr(10), 0, at)}"


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


class _NoNumber(ValueError):
    """JSON has no such number: NaN, an infinite one, or one that is too large for a double."""


def _refuse(name: str) -> Any:
    raise _NoNumber(name)


DECODER = JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_refuse,
    parse_float=lambda each: float(each) if isfinite(float(each)) else _refuse(each),
    strict=False,
)
"""Reads line ends inside of a string, too, which models forget to escape."""
