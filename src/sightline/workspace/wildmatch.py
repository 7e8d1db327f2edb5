"""git's wildmatch as regular expressions over bytes."""

from __future__ import annotations

import os

SPECIAL = frozenset("*?[\\")
_NEVER = b"(?!)"
_CLASSES = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"\x21-\x7e",
    b"lower": rb"a-z",
    b"print": rb"\x20-\x7e",
    b"punct": rb"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    b"space": rb"\x09-\x0d\x20",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


def translate(pattern: str, *, on_path: bool) -> bytes:
    """The expression that matches all of a name, or all of a path when `on_path`."""
    raw = os.fsencode(pattern)
    # git cuts the literal beginning off first, so a "**" right after it counts as leading.
    start = next((at for at, char in enumerate(raw) if char in b"*?[\\"), len(raw))
    out: list[bytes] = []
    at = 0
    while at < len(raw):
        char = raw[at : at + 1]
        if char == b"*":
            piece, at = _stars(raw, at, leading=at == start, on_path=on_path)
        elif char == b"?":
            piece, at = (b"[^/]" if on_path else b"."), at + 1
        elif char == b"[":
            piece, at = _bracket(raw, at + 1, on_path=on_path)
        else:
            at += char == b"\\"
            piece, at = (_literal(raw[at]) if at < len(raw) else _NEVER), at + 1
        out.append(piece)
    return b"".join(out)


def _stars(raw: bytes, at: int, *, leading: bool, on_path: bool) -> tuple[bytes, int]:
    end = len(raw) - len(raw[at:].lstrip(b"*"))
    if not on_path:
        return b".*", end
    after = raw[end : end + 1]
    alone = leading or raw[at - 1 : at] == b"/"
    if end - at > 1 and alone and after in (b"", b"/"):
        return (b"(?:.*/)?", end + 1) if after else (b".*", end)
    return b"[^/]*", end


def _bracket(raw: bytes, at: int, *, on_path: bool) -> tuple[bytes, int]:
    """The members that begin at `at`, and where they end; without an end nothing matches."""
    negated = raw[at : at + 1] in (b"!", b"^")
    at += negated
    members: list[bytes] = []
    first, previous = at, -1
    while at < len(raw) and (raw[at] != ord("]") or at == first):
        named, end = _named(raw, at)
        if end:
            members.append(named)
            at, previous = end, -1
            continue
        ranged = raw[at] == ord("-") and previous >= 0 and raw[at + 1 : at + 2] not in (b"", b"]")
        at += ranged
        at += raw[at] == ord("\\")
        if at >= len(raw):
            break
        if ranged:
            members.append(_range(previous, raw[at]))
            previous = -1
        else:
            members.append(_literal(raw[at]))
            previous = raw[at]
        at += 1
    if at >= len(raw) or _NEVER in members:
        return _NEVER, len(raw)
    return _set(b"".join(members), negated=negated, on_path=on_path), at + 1


def _named(raw: bytes, at: int) -> tuple[bytes, int]:
    """A "[:class:]" at this place and where it ends; 0 when there is none."""
    end = raw.find(b"]", at + 2)
    if raw[at : at + 2] != b"[:" or end <= at + 2 or raw[end - 1 : end] != b":":
        return b"", 0
    return _CLASSES.get(raw[at + 2 : end - 1], _NEVER), end + 1


def _range(first: int, last: int) -> bytes:
    return _literal(first) + b"-" + _literal(last) if first <= last else b""


def _set(members: bytes, *, negated: bool, on_path: bool) -> bytes:
    slash = b"(?!/)" if on_path else b""
    if not members:
        return slash + b"." if negated else _NEVER
    return slash + b"[" + (b"^" if negated else b"") + members + b"]"


def _literal(code: int) -> bytes:
    return b"\\x%02x" % code
