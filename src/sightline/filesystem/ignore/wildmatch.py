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
    """The expression that matches all of a name, or all of a path when `on_path`.

    What stands between two stars is matched once, at its first place, and never again (atomic
    groups): the star after it can take up whatever lies between. So no pattern of a repository
    makes matching slow, which backtracking over many stars would.
    """
    blocks = _blocks(os.fsencode(pattern), on_path=on_path)
    *between, last = [_body(block, on_path=on_path) for block in blocks]
    if not between:
        return last
    head = between[0] + b"".join(b"(?>" + _FOLDERS + block + b")" for block in between[1:])
    return head + _FOLDERS + last


_FOLDERS = b"(?:[^/]*/)*?"
_STAR = b"*"
_REST = b".*"


def _blocks(raw: bytes, *, on_path: bool) -> list[list[bytes]]:
    """The pattern in pieces that match one character each, stars and a last "rest" among them,
    cut at each "**/"."""
    # git cuts the literal beginning off first, so a "**" right after it counts as leading.
    start = next((at for at, char in enumerate(raw) if char in b"*?[\\"), len(raw))
    blocks: list[list[bytes]] = [[]]
    at = 0
    while at < len(raw):
        char = raw[at : at + 1]
        if char == b"*":
            end = len(raw) - len(raw[at:].lstrip(b"*"))
            alone = on_path and end - at > 1 and (at == start or raw[at - 1 : at] == b"/")
            if alone and raw[end : end + 1] == b"/":
                if len(blocks) == 1 or blocks[-1]:  # "**/**/" says no more than "**/"
                    blocks.append([])
                at = end + 1
                continue
            piece, at = (_REST if alone and end == len(raw) else _STAR), end
        elif char == b"?":
            piece, at = (b"[^/]" if on_path else b"."), at + 1
        elif char == b"[":
            piece, at = _bracket(raw, at + 1, on_path=on_path)
        else:
            at += char == b"\\"
            piece, at = (_literal(raw[at]) if at < len(raw) else _NEVER), at + 1
        blocks[-1].append(piece)
    return blocks


def _body(pieces: list[bytes], *, on_path: bool) -> bytes:
    """One block as an expression. A star is followed by a chunk that ends at the next star, at
    a slash, or with the block."""
    any_ = b"[^/]*" if on_path else b".*"
    out: list[bytes] = []
    at = 0
    while at < len(pieces):
        if pieces[at] != _STAR:
            out.append(pieces[at])
            at += 1
            continue
        end = at + 1
        while end < len(pieces) and pieces[end] not in (_STAR, _SLASH):
            end += 1
        chunk = b"".join(pieces[at + 1 : end])
        if end == len(pieces):
            out.append(any_ + chunk)
        elif pieces[end] == _STAR:
            out.append(b"(?>" + any_ + b"?" + chunk + b")")
        else:
            out.append(b"(?>" + any_ + chunk + _SLASH + b")")
            end += 1
        at = end
    return b"".join(out)


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


_SLASH = _literal(ord("/"))
