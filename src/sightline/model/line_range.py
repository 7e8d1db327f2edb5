"""Find a range of lines in a text too large for memory, piece by piece."""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Sequence

from sightline.model.spans import Span
from sightline.model.text import Text, decode, normal, split

_BEYOND_ASCII = bytes(range(128, 256))


class LineRange:
    """The lines of a range, collected from the pieces of a text in order. The first piece decides
    the encoding; bytes that are no text of it become lone surrogates.

    lines: those of the asked ones that exist, from the first on; the one that goes past `room` characters
    is cut there, and is the last. length: characters of the first of them, with its end. total: lines of
    the whole text. encoding: as Text.label. is_text: False for bytes that decode() takes for no text."""

    def __init__(self, asked: Span, room: int) -> None:
        self.asked = asked
        self.room = room
        self.begin()

    def begin(self) -> None:
        """Forget the pieces: the text begins again."""
        self.is_text = True
        self.encoding = ""
        self.length = 0
        self._decoder: IncrementalDecoder | None = None
        self._ends = 0  # newlines so far
        self._is_ended = True
        self._returns = ""  # at the end of the last piece: a CRLF may be cut in two
        self._parts: list[str] = []
        self._left = self.room

    def take(self, piece: bytes) -> None:
        """Take the next bytes of the text; none at its end."""
        if not self.is_text:
            return
        if self._decoder is None:
            head = _head_of(piece)
            text = decode(head)
            if text is None:
                self.is_text = False
                return
            self.encoding = text.label
            self._decoder = _decoder_of(text)
            piece = piece.removeprefix(text.bom)
        body = self._returns + self._decoder.decode(piece, final=not piece)
        rest = body.rstrip("\r") if piece else body
        self._returns = body[len(rest) :]
        self._take_text(normal(rest))

    @property
    def lines(self) -> Sequence[str]:
        """Return the asked lines that exist, as far as the room holds them."""
        return split("".join(self._parts))

    @property
    def total(self) -> int:
        """Return the number of lines so far."""
        return self._ends + (not self._is_ended)

    def _take_text(self, text: str) -> None:
        if "\0" in text:
            self.is_text = False
        if not text:
            return
        begin, ends = self._ends + 1, text.count("\n")
        first, last = self.asked
        if begin <= last and begin + ends >= first:
            lines = split(text)
            if begin <= first and first - begin < len(lines):
                self.length += len(lines[first - begin])
            wanted = "".join(lines[max(first - begin, 0) : last - begin + 1])[: self._left]
            self._parts.append(wanted)
            self._left -= len(wanted)
        self._ends += ends
        self._is_ended = text.endswith("\n")


def _head_of(piece: bytes) -> bytes:
    """Return the beginning of a text up to a place where no character is cut in two."""
    if piece.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
        return piece[: len(piece) & ~1]
    end = piece.rfind(b"\n") + 1
    return piece[:end] if end else piece.rstrip(_BEYOND_ASCII) or piece


def _decoder_of(text: Text) -> IncrementalDecoder:
    errors = text.errors
    if errors == "strict":  # only the head is known to be
        errors = "surrogateescape" if text.encoding in ("utf-8", "ascii") else "replace"
    return getincrementaldecoder(text.encoding)(errors)
