"""Attempts of an agent on one file, as values; and the parser of unified diffs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from sightline.model.text import normal, split


class Attempt(Struct, frozen=True):
    """Base of all attempts."""


class Replace(Attempt, frozen=True):
    """Put `new` where `old` stands. count: how often it must occur; None: all, at least once."""

    old: str
    new: str
    count: int | None = 1


class ReplaceLines(Attempt, frozen=True):
    """Put `new` in place of lines first..last of the text as last seen (last = first - 1 inserts
    before `first`)."""

    first: int
    last: int
    new: str


class PatchHunk(Struct, frozen=True):
    """`start`: the 1-based line of the old block; both blocks as lines with their newlines."""

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


class Patch(Attempt, frozen=True):
    """Put each hunk's new block where its old one stands."""

    hunks: tuple[PatchHunk, ...]


class WriteWhole(Attempt, frozen=True):
    """The file's whole new content. raw: these very characters, not the file's line ends."""

    content: str
    raw: bool = False


class Create(Attempt, frozen=True):
    """A new file at a free path."""

    content: str


class Delete(Attempt, frozen=True):
    """Delete the file."""


class Move(Attempt, frozen=True):
    """Move the file to the path `target`, which must be free."""

    target: str


class Several(Attempt, frozen=True):
    """Attempts on one file, each on the result of the one before; all of them or none."""

    parts: tuple[Attempt, ...]


class FilePatch(Struct, frozen=True):
    """One file of a unified diff. old is None for a new file, new for a deleted one."""

    old: str | None
    new: str | None
    hunks: tuple[PatchHunk, ...]


class PatchSyntax(ValueError):
    """A unified diff that cannot be parsed. The message names the line and the reason."""


def parse_patch(text: str) -> list[FilePatch]:
    """Return the files of a unified diff, as `diff -u` or `git diff` print it, without the prefixes
    a/ and b/ and a trailing date. Only git's own lines rename a file; else of two names (`diff -u
    file.orig file`) the second one counts. PatchSyntax."""
    lines = split(normal(text))
    files: list[FilePatch] = []
    at = 0
    renaming = False
    while at < len(lines):
        header = lines[at : at + 2]
        if len(header) == 2 and header[0].startswith("--- ") and header[1].startswith("+++ "):
            old, new = _name(header[0], "a/"), _name(header[1], "b/")
            hunks, at = _hunks(lines, at + 2)
            changed = old is not None and new is not None and not renaming
            files.append(FilePatch(new if changed else old, new, tuple(hunks)))
            renaming = False
        elif lines[at].startswith("@@ "):
            raise PatchSyntax(f"line {at + 1}: a hunk with no '--- ' and '+++ ' lines above it")
        elif lines[at].startswith("rename from ") and _renamed(lines, at):
            old, new = (_unquoted(lines[at][12:].strip()), _unquoted(lines[at + 1][10:].strip()))
            files.append(FilePatch(old, new, ()))
            at += 2
        else:
            renaming = renaming or lines[at].startswith("rename to ")
            at += 1
    if not files:
        raise PatchSyntax("no file in this patch: it has no '--- ' and '+++ ' lines")
    return files


def _renamed(lines: list[str], at: int) -> bool:
    """Return whether a pure rename begins at a line. A rename with hunks has its own header."""
    if not lines[at + 1 : at + 2] or not lines[at + 1].startswith("rename to "):
        return False
    for line in lines[at + 2 : at + 4]:
        if line.startswith("diff "):
            return True
        if line.startswith("--- "):
            return False
    return True


def _name(line: str, prefix: str) -> str | None:
    name = line[4:].rstrip("\n").split("\t")[0].strip()
    if name == "/dev/null":
        return None
    return _unquoted(name).removeprefix(prefix)


_ESCAPED = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_SIGNS = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


def _unquoted(name: str) -> str:
    """Return a name that may be in quotes as git quotes one: each byte may be escaped, or none.
    PatchSyntax."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name

    def plain(escaped: re.Match[bytes]) -> bytes:
        sign = escaped[1]
        code = int(sign, 8) if len(sign) == 3 else _SIGNS.get(sign[0], sign[0])
        return bytes([code])

    try:
        data = name[1:-1].encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise PatchSyntax("a name in quotes that is no Unicode") from None
    return _ESCAPED.sub(plain, data).decode("utf-8", "surrogateescape")


def _hunks(lines: list[str], at: int) -> tuple[list[PatchHunk], int]:
    hunks: list[PatchHunk] = []
    while at < len(lines) and lines[at].startswith("@@ "):
        start, old_left, new_left = _counts(lines[at], at)
        at += 1
        old: list[str] = []
        new: list[str] = []
        while len(old) < old_left or len(new) < new_left:
            if at == len(lines):
                raise PatchSyntax(f"line {at}: the patch ends inside a hunk")
            for side, line in _sides(lines[at], at):
                (old if side == "-" else new).append(line)
            at += 1
            if at < len(lines) and lines[at].startswith("\\"):
                _unended(lines[at - 1], old, new)
                at += 1
        hunks.append(PatchHunk(start, tuple(old), tuple(new)))
    return hunks, at


def _sides(line: str, at: int) -> Iterator[tuple[str, str]]:
    mark, rest = line[:1], line[1:]
    if mark in ("\n", ""):
        mark, rest = " ", "\n"  # editors strip the blank of an empty context line
    if mark not in " +-":
        raise PatchSyntax(f"line {at + 1}: a hunk line must begin with ' ', '+' or '-'")
    if not rest.endswith("\n"):
        rest += "\n"
    if mark != "+":
        yield "-", rest
    if mark != "-":
        yield "+", rest


def _unended(line: str, old: list[str], new: list[str]) -> None:
    """Remove the newline of the line just read, as a backslash line demands."""
    if not line.startswith("+") and old:
        old[-1] = old[-1].removesuffix("\n")
    if not line.startswith("-") and new:
        new[-1] = new[-1].removesuffix("\n")


def _counts(line: str, at: int) -> tuple[int, int, int]:
    try:
        old, new = line.split("@@")[1].split()
        start, _, old_count = old.removeprefix("-").partition(",")
        _, _, new_count = new.removeprefix("+").partition(",")
        return int(start), int(old_count or 1), int(new_count or 1)
    except ValueError as error:
        raise PatchSyntax(f"line {at + 1}: not a hunk header: {line.strip()!r}") from error
