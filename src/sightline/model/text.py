"""A file's bytes as text that can be edited and written back without touching other bytes.

Decoding must round-trip or it is not text. For finding and comparing, every CRLF counts as
one newline (`plain`); writing back gives each untouched line its own ending again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from sightline.model.diff import diff, unified
from sightline.model.spans import Hunk

BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


class Text:
    """Decoded bytes. plain: without BOM, every line end one newline; lines: plain cut after each."""

    def __init__(self, body: str, encoding: str, errors: str, bom: bytes) -> None:
        self.encoding = encoding
        self.errors = errors
        self.bom = bom
        self.plain = normal(body)
        self.crlf: tuple[bool, ...] | bool = _crlf(body, len(self.plain))

    @cached_property
    def lines(self) -> list[str]:
        """The lines of `plain`, each with its newline."""
        return split(self.plain)

    @property
    def label(self) -> str:
        """The encoding's name as Python knows it, with "-sig" for UTF-8 with a BOM."""
        return "utf-8-sig" if self.bom and self.encoding == "utf-8" else self.encoding

    def encode(self, plain: str, hunks: Sequence[Hunk] | None = None) -> bytes:
        """This file's bytes with its text become `plain`: same encoding, BOM, and line ends of
        lines that stay. hunks: which line ends were replaced, counted like lines, where that is
        known; a diff would have to guess among equal lines. UnicodeEncodeError when the encoding
        has no such character."""
        body = plain if self.crlf is False else self._ended(plain, hunks)
        return self.bom + body.encode(self.encoding, self.errors)

    def fit(self, plain: str, hunks: Sequence[Hunk] | None = None) -> bytes | None:
        """Return the bytes of encode(); None where they could not be read back as that text."""
        try:
            return None if "\0" in plain else self.encode(plain, hunks)
        except UnicodeEncodeError:
            return None

    def hold(self, plain: str) -> bytes:
        """Bytes that decode() reads as this very text: as this file's where that can be, else
        UTF-8 with a BOM. For a text that is believed, and may not fit what the file is now."""
        try:
            data = self.encode(plain)
            there = decode(data)
            if there is not None and there.plain == plain:
                return data
        except UnicodeEncodeError:
            pass
        return BOMS[0][0] + plain.encode("utf-8", "surrogateescape")

    def is_encoded(self, plain: str, data: bytes) -> bool:
        """Whether these are this file's bytes with its text become `plain`."""
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
        """Which of the new line ends are CRLF: kept ones as before, others as their place."""
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


def decode(data: bytes) -> Text | None:
    """Bytes as text; None when they are not (a NUL byte, or no lossless decoding)."""
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return _decoded(data, bom, encoding)
    if b"\0" in data:
        return None
    try:
        return Text(data.decode("utf-8"), "utf-8", "strict", b"")
    except UnicodeDecodeError:
        return _undecodable(data)


def diff_of_texts(old: Text | None, new: Text | None, name: str) -> str:
    """Return the unified diff between two texts of one path, either of which may be missing."""
    old_lines, new_lines = old.lines if old else [], new.lines if new else []
    hunks = diff(old_lines, new_lines)
    return unified(old_lines, new_lines, hunks, old=f"a/{name}", new=f"b/{name}")


def split(plain: str) -> list[str]:
    """Lines, each with its newline; only the last may lack one. No line for no text."""
    lines = plain.splitlines(keepends=True)
    ends = plain.count("\n")
    if len(lines) == ends + (plain[-1:] not in ("", "\n")):
        return lines
    # Other characters end lines, too, for Python; for files only the newline does.
    *ended, last = plain.split("\n")
    lines = [line + "\n" for line in ended]
    return [*lines, last] if last else lines


def normal(text: str) -> str:
    """Text from outside, in the form of `plain`, which is its own normal form: what was read can
    be written again without a byte moving."""
    if "\r" not in text:
        return text
    return _ODD.join(part.replace("\r\n", "\n") for part in text.split(_ODD))


def unmarked(text: str) -> str:
    """The same of a whole text from outside, which may begin with a BOM."""
    return normal(text).removeprefix("\ufeff")


_ODD = "\r\r\n"
"""A line end that was converted once too often. Taken for a CRLF it would leave one behind."""


def lines_at(plain: str, offsets: Iterable[int]) -> list[int]:
    """The 1-based lines that offsets of `plain` stand in. They come in order: it is read once,
    however many there are."""
    found: list[int] = []
    line, at = 1, 0
    for offset in offsets:
        line += plain.count("\n", at, offset)
        at = offset
        found.append(line)
    return found


def _decoded(data: bytes, bom: bytes, encoding: str) -> Text | None:
    body = data[len(bom) :]
    errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
    try:
        text = body.decode(encoding, errors)
        exact = text.encode(encoding, errors) == body
    except UnicodeError:
        return None
    return Text(text, encoding, errors, bom) if exact and "\0" not in text else None


def _undecodable(data: bytes) -> Text:
    """Not UTF-8. With some valid multi-byte characters it is UTF-8 with broken bytes, which are
    carried through as they are; with none it is taken as Latin-1, where every byte is one."""
    if not data.decode("utf-8", "ignore").isascii():
        return Text(data.decode("utf-8", "surrogateescape"), "utf-8", "surrogateescape", b"")
    return Text(data.decode("latin-1"), "latin-1", "strict", b"")


def _crlf(body: str, plain_length: int) -> tuple[bool, ...] | bool:
    """Whether all lines end in CRLF (True), none does (False), or which of their ends are."""
    pairs = len(body) - plain_length
    if pairs in (0, body.count("\n")):
        return pairs > 0
    lines = body.split("\n")[:-1]
    return tuple(line.endswith("\r") and not line.endswith("\r\r") for line in lines)


def _stretched(flags: Sequence[bool], length: int) -> list[bool]:
    """Line ends for replaced lines: one for one, then as the last of them."""
    last = flags[-1] if flags else False
    return [*flags[:length], *[last] * (length - len(flags))]
