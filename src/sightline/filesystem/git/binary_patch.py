"""Patches in git's format: text as hunks, other content as binary literals.

Object names are whole, so `git apply` can check the files it finds, and apply binary patches. git itself
does not write them: the content of a checkpoint need not be on disk, nor git on the machine.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b85encode
from collections.abc import Iterator
from zlib import compress

from msgspec import Struct

from sightline.model.diff import diff, unified
from sightline.model.manifest import Entry
from sightline.model.text import split

FILE, EXECUTABLE, SYMLINK = 0o100644, 0o100755, 0o120000
"""The modes that git keeps."""

UNSEEN = dict.fromkeys(
    [0xFEFF, *range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070)]
)
"""Letters that a disk may leave out of a name."""

LINE_BYTES = 52
"""The number of packed bytes in a line of a binary literal."""

LENGTHS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""The first letter of a line of 1, 2, … bytes."""


class Side(Struct, frozen=True):
    """The content of a path as git keeps it. The data of a symlink is its target."""

    mode: int
    data: bytes


def takes(path: str) -> bool:
    """Return whether git accepts a path of this name: on some disk a name may lead into a `.git`,
    or out of the tree."""
    return all(_harmless(name) for name in path.split("/"))


def _harmless(name: str) -> bool:
    short = name.translate(UNSEEN).lower().partition(":")[0].rstrip(" .")
    return short not in ("", ".git", "git~1") and "\\.git" not in name.lower()


def mode_of(entry: Entry) -> int:
    """Return git's mode for an entry."""
    if entry.kind == "symlink":
        return SYMLINK
    return EXECUTABLE if entry.mode & 0o100 else FILE


def link_bytes(target: str) -> bytes:
    """Return the target of a symlink as git keeps it."""
    return target.encode("utf-8", "surrogateescape")


def blob_id(data: bytes, algorithm: str) -> str:
    """Return the object id of bytes. algorithm: sha1 or sha256."""
    return hashlib.new(
        algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False
    ).hexdigest()


def no_id(algorithm: str) -> str:
    """Return the object id that stands for no object."""
    return "0" * (64 if algorithm == "sha256" else 40)


def patch(path: str, old: Side | None, new: Side | None, algorithm: str) -> bytes:
    """Return the patch from one side to the other; None: no file. Empty where git would see no
    difference."""
    if old == new:
        return b""
    if old and new and SYMLINK in (old.mode, new.mode) and old.mode != new.mode:
        return patch(path, old, None, algorithm) + patch(path, None, new, algorithm)
    return b"".join(_parts(path, old, new, algorithm))


def _parts(path: str, old: Side | None, new: Side | None, algorithm: str) -> Iterator[bytes]:
    before, after = old.data if old else b"", new.data if new else b""
    yield b"diff --git %s %s\n" % (_named("a", path), _named("b", path))
    yield _modes(old, new)
    if old and new and before == after:
        return
    names = [blob_id(side.data, algorithm) if side else no_id(algorithm) for side in (old, new)]
    mode = f" {new.mode:o}" if old and new and old.mode == new.mode else ""
    yield f"index {names[0]}..{names[1]}{mode}\n".encode()
    if b"\0" in before or b"\0" in after:
        yield b"GIT binary patch\n" + _literal(after) + b"\n" + _literal(before) + b"\n"
    elif before != after:
        yield _text(path, old, new)


def _modes(old: Side | None, new: Side | None) -> bytes:
    if old is None or new is None:
        word, side = ("new", new) if new else ("deleted", old)
        assert side is not None
        return b"%s file mode %o\n" % (word.encode(), side.mode)
    if old.mode == new.mode:
        return b""
    return b"old mode %o\nnew mode %o\n" % (old.mode, new.mode)


def _text(path: str, old: Side | None, new: Side | None) -> bytes:
    a, b = [
        split(side.data.decode("utf-8", "surrogateescape")) if side else [] for side in (old, new)
    ]
    tab = b"\t" if " " in path else b""  # a name ends where a tab stands, or at its first blank
    from_ = _named("a", path) + tab if old else b"/dev/null"
    to = _named("b", path) + tab if new else b"/dev/null"
    hunks = unified(a, b, diff(a, b), exact=True).encode("utf-8", "surrogateescape")
    return b"--- %s\n+++ %s\n%s" % (from_, to, hunks)


def _literal(data: bytes) -> bytes:
    packed = compress(data)
    lines = [packed[at : at + LINE_BYTES] for at in range(0, len(packed), LINE_BYTES)]
    rows = [LENGTHS[len(line) - 1 :][:1] + b85encode(line, pad=True) + b"\n" for line in lines]
    return b"literal %d\n" % len(data) + b"".join(rows)


def _named(side: str, path: str) -> bytes:
    """Return a name as git writes it: quoted where it would be misread."""
    name = f"{side}/{path}".encode("utf-8", "surrogateescape")
    plain = all(letter >= 0x20 and letter not in b'"\\\x7f' for letter in name)
    return name if plain else quoted(name)


def quoted(name: bytes) -> bytes:
    """Return a name in quotes, escaped as in C."""
    plain = b"".join(b"\\%c" % c if c in b'"\\' else b"%c" % c for c in name)
    return b'"' + re.sub(rb"[\x00-\x1f\x7f]", lambda sign: b"\\%03o" % sign[0][0], plain) + b'"'
