"""git's wildmatch as regular expressions: the one compiler of globs.

git compares bytes, so "?" is one byte of a name: gitignore gives patterns and paths with one
character for each byte. Any other text is compared by characters.
"""

from __future__ import annotations

import re

SPECIAL = frozenset("*?[\\")
_OPENING = re.compile(r"(\\.)|\[", re.DOTALL)
NEVER = "(?!)"
_CLASSES = {
    "alnum": r"0-9A-Za-z",
    "alpha": r"A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": r"0-9",
    "graph": r"\x21-\x7e",
    "lower": r"a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\x09-\x0d\x20",
    "upper": r"A-Z",
    "xdigit": r"0-9A-Fa-f",
}


def translate(pattern: str, *, on_path: bool) -> str:
    """Return the expression that matches a whole name, or a whole path when `on_path`.

    Text between two stars is matched once, at its first place, and never again (atomic groups): the
    star after it can take up anything in between. So no pattern of a repository makes matching
    slow, as backtracking over many stars would.
    """
    blocks = _blocks(pattern, on_path=on_path)
    *between, last = [_body(block, on_path=on_path) for block in blocks]
    if not between:
        return last
    head = between[0] + "".join("(?>" + _FOLDERS + block + ")" for block in between[1:])
    return head + _FOLDERS + last


def with_literal_brackets(pattern: str) -> tuple[str, ...]:
    """Return a pattern that a person wrote, and the same with its brackets as plain letters, where it has any:
    "app/[id]/*.tsx" is also of the folder of that very name. An ignore file is read as git reads it."""
    literal = _OPENING.sub(lambda found: found[1] or "\\[", pattern)
    return (pattern,) if literal == pattern else (pattern, literal)


_FOLDERS = "(?:[^/]*/)*?"
_STAR = "*"
_SLASH = "/"
_REST = ".*"


def _blocks(raw: str, *, on_path: bool) -> list[list[str]]:
    """Split a pattern into blocks at each "**/", and a block into pieces: one for each character,
    a star, or a final "rest"."""
    # git cuts the literal beginning off first, so a "**" right after it counts as leading.
    start = next((at for at, char in enumerate(raw) if char in SPECIAL), len(raw))
    blocks: list[list[str]] = [[]]
    at = 0
    while at < len(raw):
        char = raw[at : at + 1]
        if char == "*":
            end = len(raw) - len(raw[at:].lstrip("*"))
            alone = on_path and end - at > 1 and (at == start or raw[at - 1 : at] == "/")
            if alone and raw[end : end + 1] == "/":
                if len(blocks) == 1 or blocks[-1]:  # "**/**/" says no more than "**/"
                    blocks.append([])
                at = end + 1
                continue
            piece, at = (_REST if alone and end == len(raw) else _STAR), end
        elif char == "?":
            piece, at = ("[^/]" if on_path else "."), at + 1
        elif char == "[":
            piece, at = _bracket(raw, at + 1, on_path=on_path)
        else:
            at += char == "\\"
            piece, at = (re.escape(raw[at]) if at < len(raw) else NEVER), at + 1
        blocks[-1].append(piece)
    return blocks


def _body(pieces: list[str], *, on_path: bool) -> str:
    """Return the expression of one block. After a star comes a chunk that ends at the next star, at
    a slash, or with the block."""
    any_ = "[^/]*" if on_path else ".*"
    out: list[str] = []
    at = 0
    while at < len(pieces):
        if pieces[at] != _STAR:
            out.append(pieces[at])
            at += 1
            continue
        end = at + 1
        while end < len(pieces) and pieces[end] not in (_STAR, _SLASH):
            end += 1
        chunk = "".join(pieces[at + 1 : end])
        if end == len(pieces):
            out.append(any_ + chunk)
        elif pieces[end] == _STAR:
            out.append("(?>" + any_ + "?" + chunk + ")")
        else:
            out.append("(?>" + any_ + chunk + _SLASH + ")")
            end += 1
        at = end
    return "".join(out)


def _bracket(raw: str, at: int, *, on_path: bool) -> tuple[str, int]:
    """Return the expression of the bracket whose members begin at `at`, and its end; without an end
    nothing matches."""
    negated = raw[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    first, previous = at, ""
    while at < len(raw) and (raw[at] != "]" or at == first):
        named, end = _named(raw, at)
        if end:
            members.append(named)
            at, previous = end, ""
            continue
        ranged = raw[at] == "-" and bool(previous) and raw[at + 1 : at + 2] not in ("", "]")
        at += ranged
        at += raw[at] == "\\"
        if at >= len(raw):
            break
        if ranged:
            is_range = previous <= raw[at]
            members.append(f"{re.escape(previous)}-{re.escape(raw[at])}" if is_range else "")
            previous = ""
        else:
            members.append(re.escape(raw[at]))
            previous = raw[at]
        at += 1
    if at >= len(raw) or NEVER in members:
        return NEVER, len(raw)
    slash, sign, inside = "(?!/)" * on_path, "^" * negated, "".join(members)
    if not inside:
        return (f"{slash}." if negated else NEVER), at + 1
    return f"{slash}[{sign}{inside}]", at + 1


def _named(raw: str, at: int) -> tuple[str, int]:
    """Return the "[:class:]" at this place and its end; 0 when there is none."""
    end = raw.find("]", at + 2)
    if raw[at : at + 2] != "[:" or end <= at + 2 or raw[end - 1 : end] != ":":
        return "", 0
    return _CLASSES.get(raw[at + 2 : end - 1], NEVER), end + 1


def needle(text: str) -> str:
    """Return a text that every match of a pattern contains; "" where escapes hide it, and for bytes
    that are no Unicode, which may be a part of a character elsewhere. "**/" can stand for nothing, so
    a slash beside a star need not be there."""
    if "\\" in text:
        return ""
    text = _without_brackets(text).replace("?", "*")
    literal = [part.strip("/") for part in text.split("*")]
    needle = max(literal, key=len)
    return "" if any("\ud800" <= sign <= "\udfff" for sign in needle) else needle


def _without_brackets(text: str) -> str:
    """Return a pattern with a star for each bracket. A bracket without an end matches nothing."""
    done = ""
    while "[" in text:
        before, _, rest = text.partition("[")
        members, _, text = rest.partition("]")
        done += f"{before}*"
        if members in ("", "!", "^") or "[" in members:  # where it ends is not plain to see
            text = text.rpartition("]")[2]
    return done + text
