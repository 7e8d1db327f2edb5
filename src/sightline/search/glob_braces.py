"""Braces: "{a,b}" in a pattern, written out as the patterns that it stands for."""

from __future__ import annotations

from itertools import pairwise

Group = tuple[int, list[int], int]
"""Where a group opens, its commas, where it closes."""

ALTERNATIVES_MAX = 64
"""Patterns that the braces of one may stand for."""


def expand(text: str) -> tuple[str, ...]:
    """The patterns without braces that one stands for, in order, each once. As in a shell, braces
    without a comma, or that nothing closes, stand for themselves. ValueError: too many."""
    done: dict[str, None] = {}
    waiting = [text]
    while waiting:
        each = waiting.pop()
        group = _group(each)
        if group is None:
            done[each] = None
        else:
            waiting += reversed(_written_out(each, group))
        if len(done) + len(waiting) > ALTERNATIVES_MAX:
            raise ValueError(
                f"The braces of {text[:80]!r} stand for more than {ALTERNATIVES_MAX} patterns. "
                "Use fewer, or a * in their place."
            )
    return tuple(done)


def closing(text: str, at: int) -> int:
    """Where the "[" at this place closes; 0 where it stands for itself."""
    end = at + 1
    if text[end : end + 1] in ("!", "^"):
        end += 1
    first = end
    while end < len(text) and (text[end] != "]" or end == first):
        if text[end] == "/":
            return 0
        named = text.find(":]", end + 2) if text[end : end + 2] == "[:" else -1
        end = (
            named + 2
            if named > 0 and text[end + 2 : named].isalpha()
            else end + 1 + (text[end] == "\\")
        )
    return end if end < len(text) else 0


def _group(text: str) -> Group | None:
    """The first group with a comma that is in no other such group."""
    opened: list[tuple[int, list[int]]] = []
    found: list[Group] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = closing(text, at) or at
        elif char == "{":
            opened.append((at, []))
        elif char == "," and opened:
            opened[-1][1].append(at)
        elif char == "}" and opened:
            start, commas = opened.pop()
            if commas:
                found.append((start, commas, at))
        at += 1
    return min(found, default=None)


def _written_out(text: str, group: Group) -> list[str]:
    start, commas, end = group
    cuts = [start, *commas, end]
    inner = [text[a + 1 : b] for a, b in pairwise(cuts)]
    return [text[:start] + each + text[end + 1 :] for each in inner]
