"""Decode a file's bytes to a text that can be edited and written back without other changes.

A text is UTF-8 where all of it is, or all but a few broken bytes; else it has another encoding where
that is certain; else its bytes beyond ASCII are opaque: they stay as they are, and no such character
can be added. Bytes that do not round-trip are no text. In `plain`, which is searched and compared, every CRLF is
one newline; encode() gives each untouched line its own line end again.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain
from operator import eq
from typing import overload

from sightline.model.diff import diff, unified
from sightline.model.marks import REPLACEMENT, has_lone, sendable
from sightline.model.path import quoted
from sightline.model.spans import Hunk

OPAQUE = "ascii"
UNKNOWN_ENCODING = "unknown-8bit"
"""The codec of a text whose encoding is not certain, and the name of that encoding (RFC 1428)."""

SHIFT = b"\x1b$"
"""The bytes that begin a stretch of other characters in an encoding of seven bits."""

BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


class Text:
    """Decoded bytes. plain: without BOM, with one newline for every line end; bytes that are no text
    are lone surrogates. others: encodings that the bytes may as well have. crlf: whether all lines end
    in CRLF, or whether each does."""

    def __init__(
        self, body: str, encoding: str, errors: str, bom: bytes, others: Sequence[str] = ()
    ) -> None:
        self.encoding = encoding
        self.errors = errors
        self.bom = bom
        self.others = others
        self.plain = normal(body)
        self.crlf: tuple[bool, ...] | bool = _crlf(body, len(self.plain))

    @cached_property
    def lines(self) -> Sequence[str]:
        """Return the lines of `plain`, each with its newline."""
        return lines_in(self.plain)

    @property
    def has_lone(self) -> bool:
        """Return whether the text has bytes that are no text."""
        return self.errors != "strict" and has_lone(self.plain)

    @property
    def label(self) -> str:
        """Return Python's name of the encoding, with "-sig" for UTF-8 with a BOM; "unknown-8bit" where
        it is not certain."""
        if self.encoding == OPAQUE:
            return UNKNOWN_ENCODING
        return "utf-8-sig" if self.bom and self.encoding == "utf-8" else self.encoding

    def encode(self, plain: str, hunks: Sequence[Hunk] | None = None) -> bytes:
        """Return the bytes of this file with `plain` as its text: same encoding and BOM, and the
        line ends of lines that stay. hunks: the replaced line ends, counted like lines, where they
        are known; a diff has to guess among equal lines. UnicodeEncodeError where the encoding has
        no such character, or where the file may have an encoding with other bytes for it."""
        body = plain if self.crlf is False else self._ended(plain, hunks)
        data = body.encode(self.encoding, self.errors)
        for other in self.others:
            if body.encode(other) != data:
                raise UnicodeEncodeError(other, body, 0, len(body), "not certain")
        return self.bom + data

    def fit(self, plain: str, hunks: Sequence[Hunk] | None = None) -> bytes | None:
        """Return the bytes of encode(); None where they could not be read back as that text."""
        try:
            return None if "\0" in plain else self.encode(plain, hunks)
        except UnicodeEncodeError:
            return None

    def hold(self, plain: str) -> bytes:
        """Return bytes that decode() reads as this very text: encoded as this file where possible,
        else UTF-8 with a BOM. A believed text may not fit the encoding that the file has now."""
        try:
            data = self.encode(plain)
            decoded = decode(data)
            if decoded is not None and decoded.plain == plain:
                return data
        except UnicodeEncodeError:
            pass
        return BOMS[0][0] + plain.encode("utf-8", "surrogateescape")

    def own(self, text: str) -> str:
        """Return a whole text from outside in the form of `plain`, without this file's BOM. A file may
        begin with several: all but the first are text, with which an agent may begin, too."""
        plain = normal(text)
        marks = len(plain) - len(plain.lstrip("\ufeff"))
        held = len(self.plain) - len(self.plain.lstrip("\ufeff"))
        return plain[1:] if marks > held else plain

    def is_encoded(self, plain: str, data: bytes) -> bool:
        """Return whether these are the bytes of this file with `plain` as its text."""
        try:
            return self.encode(plain) == data
        except UnicodeEncodeError:
            return False

    def _ended(self, plain: str, hunks: Sequence[Hunk] | None) -> str:
        if self.crlf is True:
            return _ODD.join(part.replace("\n", "\r\n") for part in plain.split(_ODD))
        *ended, last = plain.split("\n")
        flags = self._flags_for(
            diff(self.lines, split(plain)) if hunks is None else hunks, len(ended)
        )
        lines = zip(ended, flags, strict=True)
        return (
            "".join(
                f"{line}\r\n" if crlf and not line.endswith("\r\r") else f"{line}\n"
                for line, crlf in lines
            )
            + last
        )

    def _flags_for(self, hunks: Sequence[Hunk], ends: int) -> list[bool]:
        """Return for each new line end whether it is CRLF: unchanged ones as before, others like
        their neighbours."""
        assert isinstance(self.crlf, tuple)
        old = self.crlf
        flags: list[bool] = []
        at = 0
        for a0, a1, b0, b1 in hunks:
            flags += old[at:a0]
            replaced = old[a0:a1] or old[max(a0 - 1, 0) : a0 + 1]
            # A last line without an end counts as a line in a hunk, and has no flag.
            flags += _stretched(replaced, min(b1, ends) - min(b0, ends))
            at = a1
        return [*flags, *old[at:]]


def decode(data: bytes | None) -> Text | None:
    """Return bytes as a text; None for no bytes, where they have a NUL byte, and where no decoding
    is lossless."""
    if data is None:
        return None
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return _decoded(data, bom, encoding)
    if b"\0" in data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _undecodable(data)
    shifted = _shifted(data) if SHIFT in data else None
    if shifted is not None:
        return Text(data.decode(shifted), shifted, "strict", b"")
    return Text(text, "utf-8", "strict", b"")


def restored(text: str, plain: str) -> str:
    """Return a text that was made from `plain` as it was sent, with the lone surrogates of `plain` in
    their places again: in equal lines, and in changed ones that have as many marks as before.
    ValueError where a mark has no place of its own."""
    if REPLACEMENT not in text or not has_lone(plain):
        return text
    old, new = split(plain), split(text)
    lines: list[str] = []
    at = 0
    for a0, a1, b0, b1 in diff([sendable(line) for line in old], new):
        lines += old[at:a0]
        lines += _restored_lines(old[a0:a1], new[b0:b1])
        at = a1
    return "".join([*lines, *old[at:]])


def _restored_lines(old: Sequence[str], new: Sequence[str]) -> list[str]:
    before, after = "".join(old), "".join(new)
    marks = [sign for sign in before if sign == REPLACEMENT or has_lone(sign)]
    if REPLACEMENT not in after or all(mark == REPLACEMENT for mark in marks):
        return [*new]
    if after.count(REPLACEMENT) != len(marks):
        raise ValueError("a mark of a byte that is no text has no place of its own")
    given = iter(marks)
    return ["".join(next(given) if sign == REPLACEMENT else sign for sign in line) for line in new]


def lines_of(data: bytes | None) -> Sequence[str] | None:
    """Return the lines of the text that bytes are; None where decode() returns None."""
    text = decode(data)
    return text.lines if text else None


def plain_of(data: bytes | None) -> str | None:
    """Return the text that bytes are, as `plain` has it; None where decode() returns None."""
    text = decode(data)
    return text.plain if text else None


def diff_of_texts(old: Text | None, new: Text | None, name: str) -> str:
    """Return the unified diff between two texts of one path; either text may be missing."""
    old_lines, new_lines = old.lines if old else (), new.lines if new else ()
    hunks = diff(old_lines, new_lines)
    return unified(old_lines, new_lines, hunks, old=quoted(f"a/{name}"), new=quoted(f"b/{name}"))


def indentation(line: str) -> int:
    """Return how many columns of white space a line begins with."""
    wide = line.expandtabs()
    return len(wide) - len(wide.lstrip())


def split(plain: str) -> list[str]:
    """Return lines, each with its newline; only the last may lack one. No line for no text."""
    lines = plain.splitlines(keepends=True)
    ends = plain.count("\n")
    if len(lines) == ends + (plain[-1:] not in ("", "\n")):
        return lines
    # Other characters end lines, too, for Python; for files only the newline does.
    *ended, last = plain.split("\n")
    lines = [line + "\n" for line in ended]
    return [*lines, last] if last else lines


MANY = 250_000
"""Lines of a text above which a list of them is not made: it takes up to 60 times the text's room.
model.diff searches no gap of so many lines, so it looks up single lines in lists alone."""

PART = 1 << 14
"""Characters of a text that are split at once."""

PARTS_KEPT = 4


def lines_in(plain: str) -> Sequence[str]:
    """Return lines as split() does, in little room however many there are."""
    return ManyLines(plain) if plain.count("\n") > MANY else split(plain)


def joined(lines: Sequence[str]) -> str:
    """Return the text of these lines."""
    return lines.plain if isinstance(lines, ManyLines) else "".join(lines)


class ManyLines(Sequence[str]):
    """The lines of a large text, split a part at a time."""

    def __init__(self, plain: str) -> None:
        self.plain = plain
        self._starts: list[int] = []  # of each part, in characters
        self._firsts: list[int] = []  # lines before each part
        self._split: dict[int, tuple[list[str], array[int]]] = {}
        at = count = 0
        while at < len(plain):
            self._starts.append(at)
            self._firsts.append(count)
            end = plain.find("\n", at + PART) + 1 or len(plain)
            count += plain.count("\n", at, end)
            at = end
        self._starts.append(at)
        self._length = count + (plain[-1:] not in ("", "\n"))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(map(self._lines, range(len(self._firsts))))

    def __reversed__(self) -> Iterator[str]:
        parts = map(self._lines, reversed(range(len(self._firsts))))
        return chain.from_iterable(map(reversed, parts))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ManyLines):
            return self.plain == other.plain
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return split(self.plain)[index]
            return lines_in(self.plain[self._offset(start) : self._offset(max(start, stop))])
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        part = bisect_right(self._firsts, at) - 1
        return self._part(part)[0][at - self._firsts[part]]

    def _offset(self, line: int) -> int:
        if line == len(self):
            return len(self.plain)
        part = bisect_right(self._firsts, line) - 1
        return self._part(part)[1][line - self._firsts[part]]

    def _part(self, part: int) -> tuple[list[str], array[int]]:
        """Return the lines of a part and the offset of each."""
        found = self._split.get(part)
        if found is None:
            lines = self._lines(part)
            starts = accumulate(map(len, lines), initial=self._starts[part])
            found = lines, array("Q", starts)
            if len(self._split) >= PARTS_KEPT:
                self._split.clear()
            self._split[part] = found
        return found

    def _lines(self, part: int) -> list[str]:
        return split(self.plain[self._starts[part] : self._starts[part + 1]])


def normal(text: str) -> str:
    """Return a text from outside in the form of `plain`. A text in that form stays as it is."""
    if "\r" not in text:
        return text
    return _ODD.join(part.replace("\r\n", "\n") for part in text.split(_ODD))


def unmarked(text: str) -> str:
    """Return a whole text from outside in the form of `plain`, without a BOM."""
    return normal(text).removeprefix("\ufeff")


_BEYOND_ASCII = bytes(range(128, 256))

_ODD = "\r\r\n"
"""A line end that was converted once too often. To replace its CRLF would leave a CR behind."""


def lines_at(plain: str, offsets: Iterable[int]) -> list[int]:
    """Return the 1-based lines of offsets of `plain`, which are in order, in one pass."""
    lines: list[int] = []
    line, at = 1, 0
    for offset in offsets:
        line += plain.count("\n", at, offset)
        at = offset
        lines.append(line)
    return lines


def _decoded(data: bytes, bom: bytes, encoding: str) -> Text | None:
    body = data[len(bom) :]
    errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
    try:
        text = body.decode(encoding, errors)
        exact = text.encode(encoding, errors) == body
    except UnicodeError:
        return None
    return Text(text, encoding, errors, bom) if exact and "\0" not in text else None


def _shifted(data: bytes) -> str | None:
    """Return the encoding of seven bits that a text with escape sequences is in; None for none."""
    from sightline.model.charset import shifted_encoding  # as below

    return shifted_encoding(data)


def _undecodable(data: bytes) -> Text:
    """Return bytes that are not UTF-8 as a text."""
    whole, broken = (data.decode("utf-8", how) for how in ("ignore", "surrogateescape"))
    beyond = len(whole) - len(data.translate(None, _BEYOND_ASCII))
    if beyond >= len(broken) - len(whole):  # more characters than broken bytes
        return Text(broken, "utf-8", "surrogateescape", b"")
    from sightline.model.charset import certain_encodings  # most texts are UTF-8, and it is large

    encoding, *others = certain_encodings(data) or (OPAQUE,)
    errors = "surrogateescape" if encoding == OPAQUE else "strict"
    return Text(data.decode(encoding, errors), encoding, errors, b"", others)


def _crlf(body: str, plain_length: int) -> tuple[bool, ...] | bool:
    """Return True where all lines end in CRLF, False where none does, else the answer for each."""
    pairs = len(body) - plain_length
    if pairs in (0, body.count("\n")):
        return pairs > 0
    lines = body.split("\n")[:-1]
    return tuple(line.endswith("\r") and not line.endswith("\r\r") for line in lines)


def _stretched(flags: Sequence[bool], length: int) -> list[bool]:
    """Return the flags of replaced line ends, one for one, and then repeat the last."""
    last = flags[-1] if flags else False
    return [*flags[:length], *[last] * (length - len(flags))]
