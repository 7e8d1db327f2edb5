"""The tree of names in a `use` of Rust, told from the text, as the paths of its leaves."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    Path = tuple[str, ...]

    Leaf = tuple[int, Path, str]
    """Where a name stands, its path, and what it is called here."""

NAME = rb"(?:r\#)?[A-Za-z_\x80-\xff][\w\x80-\xff]*+"

DEEPEST = 64
"""Brackets inside of one another, and names in one path; nobody writes as many."""

MOST = 20_000
"""Names of one tree."""

_PIECE = re.compile(
    rb"(?:\s|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z))*+(?:(?P<name>%b)|(?P<sign>::|[{},*;]))" % NAME
)


def leaves(text: bytes, at: int) -> tuple[list[Leaf], int]:
    """The names that a tree brings in, and where it ends.

    `*` is a name as others are; a path that begins with `::` begins with "". What is no tree ends it.
    """
    tree = _Tree()
    while (piece := _PIECE.match(text, at)) is not None and len(tree.found) < MOST:
        at = piece.end()
        sign = piece["sign"] or b"name"
        if sign == b";" or len(tree.path) > DEEPEST or len(tree.above) > DEEPEST:
            break
        if sign in (b",", b"}"):
            tree.end()
        tree.take(sign, piece)
        if sign == b"}" and not tree.above:
            break
    tree.end()
    return tree.found, at


class _Tree:
    """Where a walk along a tree is. above: for each open bracket the path before it."""

    def __init__(self) -> None:
        self.above: list[Path] = []
        self.path: Path = ()
        self.where = -1
        self.called: str | None = None
        self.found: list[Leaf] = []

    def take(self, sign: bytes, piece: re.Match[bytes]) -> None:
        if sign == b"name":
            self._name(plain(piece["name"]), piece.start("name"))
        elif sign == b"*":
            self._name("*", piece.start("sign"))
        elif sign == b"::":
            self.path = self.path or ("",)
        elif sign == b"{":
            self.above.append(self.path)
            self.where = -1
        else:
            if sign == b"}" and self.above:
                self.above.pop()
            self.path = self.above[-1] if self.above else ()

    def _name(self, name: str, at: int) -> None:
        if name == "as" and self.called is None:
            self.called = ""
        elif self.called == "":
            self.called = name
        else:
            self.path, self.where = (*self.path, name), at

    def end(self) -> None:
        """Keep the leaf that the walk has come to the end of, if there is one."""
        path, where, called = self.path, self.where, self.called
        self.where, self.called = -1, None
        if where >= 0:
            if path[-1] == "self" and len(path) > 1:
                path = path[:-1]
            self.found.append((where, path, called or path[-1]))


def plain(name: bytes) -> str:
    """A name without the sign that makes it no keyword."""
    return name.removeprefix(b"r#").decode("utf-8", "replace")
