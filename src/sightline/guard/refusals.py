"""Build the errors for reads and attempts that are refused, with the diff the agent needs."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.errors import (
    EditRefused,
    FileMissing,
    Hint,
    NextCall,
    PathReason,
    PathRefused,
    SightlineError,
    Unverifiable,
)
from sightline.filesystem.file_state import FileState
from sightline.guard import notebooks, words
from sightline.guard.comparison import odd_characters
from sightline.guard.edit_case import EditCase, Ruling
from sightline.model.attempts import CellEdit
from sightline.model.diff import CONTEXT, grouped, unified
from sightline.model.path import quoted
from sightline.model.spans import Hunk, new_sides
from sightline.text import phrases

DIFF_LINES = 400
"""Lines of a diff in one answer. Hunks beyond are counted in words, and do not count as shown."""

LONG_LINE = 1_000
"""Characters of a line that is too long to show, where there is no room for it."""

HEADING = 48
"""Characters at most of a hunk's heading, and of its mention where it is left out."""

NOT_TEXT: dict[str, tuple[PathReason, str]] = {
    "directory": ("directory", "is a directory"),
    "symlink": ("outside", "is a symlink that leads nowhere or out of the workspace"),
    "special": ("special", "is not a regular file (a FIFO, socket or device)"),
}
"""Kind of a path -> the reason of PathRefused, and the words for it."""


def unreadable(on_disk: FileState, path: str) -> SightlineError:
    """Return the error for a path whose text cannot be shown."""
    if on_disk.kind == "missing":
        return FileMissing(path, f"{quoted(path)} does not exist.", words.MISSING)
    if on_disk.kind == "unreadable":
        return Unverifiable(
            path,
            f"{quoted(path)} cannot be read: {on_disk.why}.",
            "Nothing was recorded; try again later.",
        )
    reason, what = NOT_TEXT.get(on_disk.kind, ("binary", "is not text"))
    if on_disk.why == "too_large":
        size = phrases.size(on_disk.signature.size) if on_disk.signature else "its content"
        reason, what = "too_large", f"is too large to show ({size})"
    hint = Hint(
        "Look at it with another tool, and record what that tool showed",
        (": ", NextCall("session.saw", (path,))),
    )
    if reason == "directory":
        hint = Hint(
            "List the folder, and read a file in it",
            (": ", NextCall("session.list_directory", (path,))),
        )
    return PathRefused(path, reason, f"{quoted(path)} {what}.", hint)


def bounded(
    case: EditCase, hunks: Sequence[Hunk], room: int | None = None
) -> tuple[str, tuple[Hunk, ...]]:
    """Return a unified diff, base to disk, of as many of these hunks as fit, and the hunks that it
    shows. A hunk so near that it stands in another's context is shown, too. The hunks left out are
    named behind the diff. No diff shows marks. room: characters at most; without it the first hunk is always shown. Where the
    first hunk alone needs more room, the diff holds its beginning, which does not count as shown."""
    if case.base is None or case.disk is None or case.sight.has_marks or not hunks:
        return "", ()
    every = sorted(set(hunks))
    fitting: list[Hunk] = []
    lines = characters = 0
    for hunk in every:
        a0, a1, b0, b1 = hunk
        lines += 2 * CONTEXT + a1 - a0 + b1 - b0
        around = [*case.base.lines[max(a0 - CONTEXT, 0) : a1 + CONTEXT], *case.disk.lines[b0:b1]]
        characters += HEADING + sum(len(line) + 1 for line in around)
        if (fitting and lines > DIFF_LINES) or (room is not None and characters > room):
            break
        fitting.append(hunk)
    if not fitting:
        return _beginning(case.base.lines, case.disk.lines, every, room or 0), ()
    groups = [group for group in grouped(case.theirs) if not set(fitting).isdisjoint(group)]
    shown = [hunk for group in groups for hunk in group]
    diff = unified(case.base.lines, case.disk.lines, shown)
    omitted = [hunk for hunk in every if hunk not in fitting]
    return diff + phrases.left_out(len(omitted), new_sides(omitted)), tuple(shown)


def _beginning(base: Sequence[str], disk: Sequence[str], hunks: Sequence[Hunk], room: int) -> str:
    """Return the first lines of the diff of the first of these hunks, and the number of changed lines that
    it leaves out. "" where not one changed line has room; of a line that is long by itself, its
    number."""
    rows = unified(base, disk, hunks[:1]).split("\n")[:-1]
    changed = sum(max(a1 - a0, 0) + b1 - b0 for a0, a1, b0, b1 in hunks)
    room -= HEADING
    kept: list[str] = []
    for row in rows:
        room -= len(row) + 1
        if room < 0:
            break
        kept.append(row)
    shown = sum(row.startswith(("+", "-")) for row in kept)
    if shown:
        return "\n".join([*kept, phrases.lines_left_out(changed - shown)])
    first = next((row for row in rows if row.startswith(("+", "-"))), "")
    return phrases.too_long(new_sides(hunks[:1])) if len(first) > LONG_LINE else ""


def refused(
    ruling: Ruling, path: str, who: str, case: EditCase, *, is_whole: bool
) -> tuple[EditRefused, tuple[Hunk, ...]]:
    """Return the refusal of an attempt, and the hunks that its diff shows. who: changed the
    file; is_whole: the attempt deletes or moves it."""
    hint: str | Hint
    message, hint = words.refusal(ruling, path, who)
    if is_whole and ruling.reason == "stale":
        message, hint = words.changed_file(path, who)
    diff = ""
    shown: tuple[Hunk, ...] = ()
    if ruling.reason in ("stale", "conflict", "unseen", "ambiguous"):
        hunks = tuple(theirs for _, theirs in ruling.conflicts) or ruling.changes
        diff, shown = bounded(case, hunks)
        if shown and case.base is not None:
            odd = odd_characters(case.base.lines, case.disk_text.lines, shown)
            hint = Hint(hint, " ", odd) if odd else hint
    reason = ruling.reason or "stale"
    if reason in ("stale", "conflict") and not diff:
        hint = f"Read {quoted(path)} again. The text that you were shown is not kept any more, so there is no diff."
    kind = case.sight.kind
    if ruling.state == "unseen" and kind == "missing" and reason != "scope":
        message = f"{quoted(path)} does not exist."
        hint = words.MISSING if is_whole else words.MISSING_TEXT
    elif ruling.state == "unseen" and kind in NOT_TEXT:
        message, hint = (
            f"{quoted(path)} {NOT_TEXT[kind][1]}.",
            "Choose a regular file, or another name.",
        )
    return EditRefused(reason, path, message, diff=diff, hint=hint, lines=ruling.lines), shown


def refused_cell(
    case: EditCase, ruling: Ruling, path: str, who: str, edit: CellEdit
) -> EditRefused:
    """Return the refusal of an edit of a notebook's cell. who: changed the file."""
    reason = ruling.reason or "stale"
    if case.sight.kind == "file":
        message, hint = notebooks.refusal(path, edit.cell, reason, who)
    else:
        message, hint = notebooks.no_file(path, reason)
    return EditRefused(reason, path, message, diff=ruling.cell_diff, hint=hint)
