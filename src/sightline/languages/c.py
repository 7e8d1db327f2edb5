"""What a source of C, C++ or Objective-C includes, told from its text, in whichever branch.

`#include` stands at the beginning of a line, so an expression finds it at once; only what stands
before the last of them is looked at for comments and raw strings that hold lines which look alike.
"""

from __future__ import annotations

import re
from itertools import islice

from sightline.core.imports.reference import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (
    *(".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".c++", ".h++", ".inl", ".ipp"),
    *(".tcc", ".tpp", ".m", ".mm", ".cu", ".cuh", ".inc"),
)
"""The sources that are read here."""

LIMIT = 8_000_000
"""Bytes of a source that are looked at."""

MOST = 20_000
"""References of one source; none that people wrote has as many."""

_PLAIN = (".c", ".m")
"""Sources of languages without raw strings."""

_UNCLOSED_MOST = 16
"""Raw strings that nothing closes; after so many, what looks like one is none."""

_NOTE = rb"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+"
_GAP = rb"(?:[ \t\f\v]|\\\r?\n|/\*(?:[^*\n]|\*(?!/))*+\*/)*+"
_DIRECTIVE = re.compile(
    rb"""(?m)^[ \t\f\v]*+(\#|%%:)%b(include(?:_next)?|import)(?![\w$])%b(?:"([^"\n]++)"|<([^>\n]++)>)"""
    % (_GAP, _GAP)
)
_PASSED = (
    rb"//(?:[^\\\n]++|\\(?:\r\n|(?s:.))?+)*+|%b" % _NOTE
    + rb"""|"(?:[^"\\\n]++|\\(?:\r\n|(?s:.))?+)*+"?+"""
    + rb"""|(?<![0-9A-Fa-f])'(?:[^'\\\n]++|\\(?:\r\n|(?s:.))?+)*+'?+"""
)
_TOKEN = re.compile(_PASSED)
_TOKEN_OR_RAW = re.compile(
    rb"""(?<![\w$])(?:u8|[uUL])?+R"(?P<mark>[^()\\\s"]{0,16}+)\(|%b""" % _PASSED
)


def references(source: bytes, path: str) -> tuple[Reference, ...]:
    """What a source includes, in its order. `level` is 1 for a name in quotes, which is looked for
    beside the source first; `names` is the last part of the name."""
    text = source[:LIMIT].removeprefix(b"\xef\xbb\xbf")
    found = list(islice(_DIRECTIVE.finditer(text), MOST))
    if not found:
        return ()
    raw = not path.lower().endswith(_PLAIN) and b'R"' in text
    return tuple(_placed(text, _outside(text, found, raw=raw)))


def _placed(text: bytes, found: Iterator[re.Match[bytes]]) -> Iterator[Reference]:
    """The references with their lines, counted on from one to the next."""
    counted, line = 0, 1
    for each in found:
        line += text.count(b"\n", counted, each.start())
        counted = each.start()
        quoted = each[3] is not None
        name = (each[3] or each[4]).decode("utf-8", "replace").strip().replace("\\", "/")
        beside = quoted and each[2] != b"include_next"
        last = name[name.rfind("/") + 1 :]
        yield Reference(name, line, int(beside), names=(last,), kind="include")


def _outside(text: bytes, found: list[re.Match[bytes]], *, raw: bool) -> Iterator[re.Match[bytes]]:
    """Those that stand in no comment and no string."""
    passed = _passed(text, found[-1].start(1), raw=raw)
    start = end = 0
    for each in found:
        at = each.start(1)
        while end <= at and start < at:
            start, end = next(passed, (len(text), len(text)))
        if not start < at < end:
            yield each


def _passed(text: bytes, last: int, *, raw: bool) -> Iterator[tuple[int, int]]:
    """Where comments and strings begin and end, as far as they begin before a place."""
    token, at, unclosed = (_TOKEN_OR_RAW if raw else _TOKEN), 0, 0
    while (found := token.search(text, at)) is not None and found.start() < last:
        at = found.end()
        mark = found["mark"] if raw else None
        if mark is None:
            yield found.start(), at
        elif unclosed < _UNCLOSED_MOST:
            end = text.find(b')%b"' % mark, at)
            unclosed += end < 0
            if end >= 0:
                at = end + len(mark) + 2
                yield found.start(), at
