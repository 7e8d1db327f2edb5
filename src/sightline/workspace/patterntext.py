"""One gitignore pattern as text: what is plain in it, and what all that it matches has."""

from __future__ import annotations

from itertools import product

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SPELLED_MAX = 8
"""Texts that one pattern is spelled out as."""

ANY_DEPTH = -1

_NOT_PLAIN = frozenset("[\\-/*?!^:")
"""Signs that mean more in brackets than themselves, or may."""


def trimmed(line: str) -> str:
    """A line without its trailing spaces, but one that a backslash escapes."""
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and len(bare) < len(line) else bare


def anywhere(text: str) -> str:
    """The name that a path means in any folder, "**/name"; "" for any other."""
    while text.startswith("**/"):
        text = text[3:]
        if "/" not in text:
            return text
    return ""


def depth(text: str) -> int:
    """The folders above all that a pattern matches, where they are always so many. A slash in
    brackets is none."""
    return ANY_DEPTH if "**" in text or "[" in text else text.count("/")


def needle(text: str) -> str:
    """Characters that stand in all that a pattern matches; none where escapes hide them, nor of
    bytes that are no Unicode, which may be a part of a character elsewhere. "**/" can stand for
    nothing, so a slash beside a star need not be there."""
    if "\\" in text:
        return ""
    text = _without_brackets(text).replace("?", "*")
    literal = [part.strip("/") for part in text.split("*")]
    needle = max(literal, key=len)
    return "" if any("\ud800" <= sign <= "\udfff" for sign in needle) else needle


def _without_brackets(text: str) -> str:
    """A star for each bracket. A pattern with one that is never closed matches nothing."""
    done = ""
    while "[" in text:
        before, _, rest = text.partition("[")
        members, _, text = rest.partition("]")
        done += f"{before}*"
        if members in ("", "!", "^") or "[" in members:  # where it ends is not plain to see
            text = text.rpartition("]")[2]
    return done + text


def unescaped(text: str) -> str:
    """Without backslashes before what means itself anyway; in brackets they may be needed, and
    what "**" says depends on what begins with one."""
    if "\\" not in text or any(kept in text for kept in ("\\\\", "[", "**")):
        return text
    plain, *rest = text.split("\\")
    for each in rest:
        bare = each and each[0] not in "*?/"
        plain += each if bare else f"\\{each}"
    return plain


def spelled_out(text: str) -> list[str]:
    """All texts that a pattern with brackets and no other wildcard stands for; [] where they are
    many, or the brackets hold more than plain letters."""
    pieces: list[Sequence[str]] = []
    many = 1
    while "[" in text:
        before, _, rest = text.partition("[")
        members, closed, text = rest.partition("]")
        plain = members.isascii() and _NOT_PLAIN.isdisjoint(members)
        many *= len(members)
        if not (members and closed and plain and many <= SPELLED_MAX):
            return []
        pieces += ([before], members)
    return ["".join(each) for each in product(*pieces, [text])]
