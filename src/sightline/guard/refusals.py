"""Errors made from what was found: the data from core, the words from render."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.errors import EditRefused, FileMissing, PathRefused, SightlineError, Unverifiable
from sightline.filesystem.file_state import FileState
from sightline.guard import words
from sightline.guard.edit_case import EditCase, Ruling
from sightline.model.diff import CONTEXT, grouped, unified
from sightline.model.spans import Hunk, new_sides
from sightline.text import phrases


def _no_file(path: str, kind: str) -> tuple[str, str]:
    """What is said of a path that an attempt needs a file at, and that never was one."""
    if kind == "missing":
        return f"{path} does not exist.", "List its folder, or create it."
    return f"{path} {_REFUSED[kind][1]}.", "Choose a regular file, or another name."


DIFF_LINES = 400
"""Lines of a diff in one answer; what does not fit is named by its count, and not counted as
shown."""


def unreadable(found: FileState, path: str) -> SightlineError:
    """The error for a path that a reader cannot be shown."""
    if found.kind == "missing":
        return FileMissing(path, f"{path} does not exist.", "List its folder, or create it.")
    if found.kind == "unreadable":
        return Unverifiable(
            path, f"{path} cannot be read: {found.why}.", "Nothing was recorded; try again later."
        )
    reason, words = _REFUSED.get(found.kind, ("binary", "is not text"))
    if found.why == "too_large":
        held = phrases.size(found.signature.size) if found.signature else "its content"
        reason, words = "too_large", f"is too large to show ({held})"
    hint = "Use a tool made for it; record what it showed with `saw`."
    return PathRefused(path, reason, f"{path} {words}.", hint)


_REFUSED = {
    "directory": ("directory", "is a directory"),
    "symlink": ("outside", "is a symlink that leads nowhere or out of the workspace"),
    "special": ("special", "is not a regular file (a FIFO, socket or device)"),
}


def bounded(
    case: EditCase, hunks: Sequence[Hunk], room: int | None = None
) -> tuple[str, tuple[Hunk, ...]]:
    """A unified diff, base to disk, of as many of these hunks as fit, and the hunks it shows:
    also those so near that they stand in the context of one of them. Where the others stand is
    said behind it. room: characters at most; without it one hunk is shown however long it is."""
    if case.base is None or case.disk is None or not hunks:
        return "", ()
    every = sorted(set(hunks))
    told: list[Hunk] = []
    lines = size = 0
    for hunk in every:
        lines += 2 * CONTEXT + hunk[1] - hunk[0] + hunk[3] - hunk[2]
        size += _characters(case, hunk)
        if (told and lines > DIFF_LINES) or (room is not None and size > room):
            break
        told.append(hunk)
    near = [group for group in grouped(case.theirs) if not set(told).isdisjoint(group)]
    shown = [hunk for group in near for hunk in group]
    text = unified(case.base.lines, case.disk.lines, shown)
    left = [hunk for hunk in every if hunk not in told]
    return text + phrases.left_out(len(left), new_sides(left), of=len(every)), tuple(shown)


def _characters(case: EditCase, hunk: Hunk) -> int:
    """Of a hunk's part of a diff, at most; neighbours share a part of theirs."""
    assert case.base is not None
    assert case.disk is not None
    a0, a1, b0, b1 = hunk
    shown = [*case.base.lines[max(a0 - CONTEXT, 0) : a1 + CONTEXT], *case.disk.lines[b0:b1]]
    return HEADING + sum(len(line) + 1 for line in shown)


HEADING = 48
"""Characters that a hunk's heading, and its being named where it is left out, take at most."""


def refused(
    ruling: Ruling, path: str, who: str, case: EditCase
) -> tuple[EditRefused, tuple[Hunk, ...]]:
    """The refusal of an attempt, and the hunks that its diff tells."""
    message, hint = words.refusal(ruling, path, who)
    diff = ""
    told: tuple[Hunk, ...] = ()
    if ruling.reason in ("stale", "conflict", "unseen", "ambiguous"):
        hunks = tuple(theirs for _, theirs in ruling.conflicts) or ruling.changes
        diff, told = bounded(case, hunks)
    reason = ruling.reason or "stale"
    if reason == "stale" and not diff:
        hint = f"Read {path} again: what it was when it was shown is not kept, so no diff can tell."
    if ruling.state == "unseen" and case.sight.kind not in ("file", "unreadable"):
        message, hint = _no_file(path, case.sight.kind)
    return EditRefused(reason, path, message, diff=diff, hint=hint, lines=ruling.lines), told
