"""The whole text an Edit left, from what Claude Code says of it.

It tells the text before, what it replaced, and a patch. The replacement alone is not what was
written: straight quotes are turned into the file's curly ones, and a newline may go with the line
before it. The patch alone is not either: tabs at the start of its lines are shown as blanks. So
one has to agree with the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.agents.claude_code.json_fields import flag, optional
from sightline.model.text import split

Told = Mapping[str, Any]


def after(before: str, told: Told) -> str | None:
    """The text an edit left; None when what is told of it does not fit together."""
    patch = told.get("structuredPatch")
    hunks = [hunk for hunk in patch if _whole(hunk)] if isinstance(patch, list) else []
    if not hunks:
        return None
    old, new = optional(told, "oldString"), optional(told, "newString")
    if old and new is not None:
        replaced = before.replace(old, new, -1 if flag(told, "replaceAll") else 1)
        if _agrees(replaced, hunks):
            return replaced
    if "\t" in before or "\t" in (new or ""):
        return None  # whether blanks of the patch are tabs cannot be told
    return _patched(before, hunks)


def _whole(hunk: Any) -> bool:
    return (
        isinstance(hunk, dict)
        and all(type(hunk.get(field)) is int for field in ("oldStart", "oldLines", "newStart"))
        and isinstance(hunk.get("lines"), list)
        and all(isinstance(line, str) for line in hunk["lines"])
    )


def _agrees(text: str, hunks: Sequence[Told]) -> bool:
    """Whether the new side of each hunk stands where it says, but for tabs."""
    lines = split(text)
    for hunk in hunks:
        new = _side(hunk["lines"], "+")
        start = max(hunk["newStart"] - 1, 0)
        there = lines[start : start + len(new)]
        if [_untabbed(line) for line in there] != [_untabbed(line) for line in new]:
            return False
    return True


def _patched(before: str, hunks: Sequence[Told]) -> str | None:
    """The text with the patch applied; None where its old side does not stand, tab for tab."""
    lines = split(before)
    out: list[str] = []
    at = 0
    for hunk in hunks:
        old = _side(hunk["lines"], "-")
        start = hunk["oldStart"] - 1 if hunk["oldLines"] else hunk["oldStart"]
        if start < at or lines[start : start + len(old)] != old:
            return None
        out += [*lines[at:start], *_side(hunk["lines"], "+")]
        at = start + len(old)
    return "".join([*out, *lines[at:]])


def _side(lines: Sequence[str], mark: str) -> list[str]:
    """The lines of one side, each with its newline."""
    side: list[str] = []
    mine = False
    for line in lines:
        if line.startswith("\\"):
            if mine:
                side[-1] = side[-1].removesuffix("\n")
            continue
        mine = line[:1] in (" ", mark)
        if mine:
            side.append(line[1:] + "\n")
    return side


def _untabbed(line: str) -> str:
    rest = line.lstrip("\t")
    return "  " * (len(line) - len(rest)) + rest
