"""Marks of lines: what a store keeps of a text that it may not keep.

A mark is a keyed hash of a line's characters. It stands in the place of these characters, between the
line's own white space, so that the marked text is a text with as many lines: it is compared, merged and
carried along as all texts are. The characters of a line come back from a text that has the same line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from sightline.model.relocation import CLOSING, COMMENTS, SECTION, TELLING
from sightline.model.text import MANY, Text, decode

DIGITS = "'\":*"
"""The digits of a hash. They may stand in the head of a section, and an agent hardly looks for them."""

HASH_BYTES = 12
MARK = re.compile(rf"(\[_?|#_|_|)([{DIGITS}]{{{4 * HASH_BYTES}}})\]?")
"""A mark is the head of a section, a comment, a line with words or one without words, as its line is:
these decide what encloses other lines (model.relocation)."""

_BYTES = ["".join(DIGITS[n >> shift & 3] for shift in (6, 4, 2, 0)) for n in range(256)]


def marked(text: Text, key: bytes) -> bytes | None:
    """Return a text with a mark in the place of each line's characters; None for more than MANY lines.
    A line that is a mark stays as it is. key: of the store that keeps the marks."""
    if text.plain.count("\n") > MANY:
        return None
    return text.hold("".join([_marked(line, key) for line in text.lines]))


def unmarked_lines(data: bytes, key: bytes, texts: Iterable[Sequence[str]]) -> bytes:
    """Return a marked text with the characters of each line that one of the texts has. The other marks
    stay."""
    text = decode(data)
    if text is None or not has_marks(text.lines):
        return data
    cores = {line.strip() for lines in texts for line in lines}
    known = {_hash(core, key): core for core in cores if core}
    return text.hold("".join([_unmarked(line, known) for line in text.lines]))


def is_mark(line: str) -> bool:
    """Return whether a mark stands in the place of a line's characters."""
    return MARK.fullmatch(line.strip()) is not None


def has_marks(lines: Iterable[str]) -> bool:
    """Return whether a mark stands in the place of any line's characters."""
    return any(map(is_mark, lines))


def _marked(line: str, key: bytes) -> str:
    core = line.strip()
    if not core or MARK.fullmatch(core):
        return line
    digits = _hash(core, key)
    word = "_" if TELLING.search(core) else ""
    if SECTION.match(line):
        mark = f"[{word}{digits}]"
    else:
        is_inside = word and core.startswith((*COMMENTS, *CLOSING))
        mark = f"{'#' if is_inside else ''}{word}{digits}"
    return _around(line, core, mark)


def _unmarked(line: str, known: dict[str, str]) -> str:
    found = MARK.fullmatch(line.strip())
    core = known.get(found[2]) if found else None
    return line if found is None or core is None else _around(line, found[0], core)


def _around(line: str, core: str, other: str) -> str:
    """Put other characters between the white space of a line."""
    start = line.index(core)
    return line[:start] + other + line[start + len(core) :]


def _hash(core: str, key: bytes) -> str:
    data = core.encode("utf-8", "surrogatepass")
    return "".join([_BYTES[n] for n in blake2b(data, key=key, digest_size=HASH_BYTES).digest()])
