"""Compute the whole text that an Edit left, from Claude Code's result.

The result holds the text before, the replacement, and a patch. The replacement alone is not the
written text: straight quotes become the file's typographic ones, and a newline may go with the line
before it. Nor is the patch: it shows tabs at the start of its lines as blanks. So the two have to
agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from sightline.model.text import split

Hunk = Mapping[str, Any]


class EditResult(Struct, rename="camel"):
    """The result of an Edit or a Write. structured_patch: a list of hunks."""

    file_path: str | None = None
    original_file: str | None = None
    user_modified: bool | None = None
    type: Any = None
    content: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    replace_all: bool | None = None
    structured_patch: Any = None


def after(before: str, edit: EditResult) -> str | None:
    """Return the text that an edit left; None where the result contradicts itself."""
    patch = edit.structured_patch
    hunks = [hunk for hunk in patch if _whole(hunk)] if isinstance(patch, list) else []
    if not hunks:
        return None
    old, new = edit.old_string, edit.new_string
    if old and new is not None and old in before:
        replaced = before.replace(old, new, -1 if edit.replace_all else 1)
        if _agrees(replaced, hunks):
            return replaced
    if "\t" in before or "\t" in (new or ""):
        return None  # blanks of the patch may be tabs
    return _patched(before, hunks)


def _whole(hunk: Any) -> bool:
    return (
        isinstance(hunk, dict)
        and all(type(hunk.get(field)) is int for field in ("oldStart", "oldLines", "newStart"))
        and isinstance(hunk.get("lines"), list)
        and all(isinstance(line, str) for line in hunk["lines"])
    )


def _agrees(text: str, hunks: Sequence[Hunk]) -> bool:
    """Return whether the text has the new side of each hunk in its place, apart from tabs."""
    lines = split(text)
    for hunk in hunks:
        new, start = _side(hunk["lines"], "+"), max(hunk["newStart"] - 1, 0)
        if list(map(_untabbed, lines[start : start + len(new)])) != list(map(_untabbed, new)):
            return False
    return True


def _patched(before: str, hunks: Sequence[Hunk]) -> str | None:
    """Return the text with the patch applied; None where the text differs from its old side."""
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
    """Return the lines of one side, each with its newline."""
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
