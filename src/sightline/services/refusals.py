"""Errors made from what was found: the data from core, the words from render."""

from __future__ import annotations

from sightline import render
from sightline.core.diff import unified
from sightline.core.revision import MISSING
from sightline.errors import EditRefused, FileMissing, PathRefused, SightlineError, Unverifiable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.core.guard import Ruling
    from sightline.core.regions import Hunk
    from sightline.core.text import Text
    from sightline.workspace import Found

DIFF_LINES = 400
"""Lines of a diff in one answer; what does not fit is named by its count, and not counted as
shown."""


def unreadable(found: Found, path: str) -> SightlineError:
    """The error for a path that a reader cannot be shown."""
    if found.kind == "missing":
        return FileMissing(path, f"{path} does not exist.", "List its folder, or create it.")
    if found.kind == "unreadable":
        return Unverifiable(
            path, f"{path} cannot be read: {found.why}.", "Nothing was recorded; try again later."
        )
    reason, words = _REFUSED.get(found.kind, ("binary", "is not text"))
    if found.why == "too_large":
        held = render.size(found.signature.size) if found.signature else "its content"
        reason, words = "too_large", f"is too large to show ({held})"
    hint = "Use a tool made for it; record what it showed with `saw`."
    return PathRefused(path, reason, f"{path} {words}.", hint)


_REFUSED = {
    "directory": ("directory", "is a directory"),
    "symlink": ("outside", "is a symlink that leads nowhere or out of the workspace"),
    "special": ("special", "is not a regular file (a FIFO, socket or device)"),
}


def bounded(
    a: Sequence[str], b: Sequence[str], hunks: Sequence[Hunk]
) -> tuple[str, tuple[Hunk, ...]]:
    """A unified diff of as many hunks as fit, and those hunks."""
    told: list[Hunk] = []
    lines = 0
    for hunk in hunks:
        lines += 6 + hunk[1] - hunk[0] + hunk[3] - hunk[2]
        if told and lines > DIFF_LINES:
            break
        told.append(hunk)
    text = unified(a, b, told)
    left = len(hunks) - len(told)
    return (f"{text}… {left} more changes\n" if left else text), tuple(told)


def refused(
    ruling: Ruling, path: str, who: str, base: Text | None, disk: Text | None
) -> tuple[EditRefused, tuple[Hunk, ...]]:
    """The refusal of an attempt, and the hunks that its diff tells."""
    message, hint = render.refusal(ruling, path, who)
    diff = ""
    told: tuple[Hunk, ...] = ()
    hunks = tuple(theirs for _, theirs in ruling.conflicts) or ruling.changes
    if base and disk and hunks and ruling.reason in ("stale", "conflict", "unseen", "ambiguous"):
        diff, told = bounded(base.lines, disk.lines, sorted(set(hunks)))
    reason = ruling.reason or "stale"
    return EditRefused(reason, path, message, diff=diff, hint=hint, lines=ruling.lines), told


def revision_after(data: bytes | None, revision: str) -> str:
    """The revision of what stands at a path now."""
    return MISSING if data is None else revision
