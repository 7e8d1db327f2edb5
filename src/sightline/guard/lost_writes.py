"""Find the text that a write removed without knowing of the text, and join both texts.

A host writes some time after the guard judged its attempt: the host asks the user, other hooks run,
other sessions write. The last writer has the file, and need not know the text that its write replaced.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sightline.model.diff import diff
from sightline.model.merge import merge
from sightline.model.spans import Hunk

Lines = Sequence[str]


class LostWrite(Struct, frozen=True):
    """A write beside a text that its writer did not know. base: the text that the writer knew; ours:
    what the writer made of it; theirs: the other text, which stood there just before, or stands there
    since."""

    base: Lines
    ours: Lines
    theirs: Lines

    def joined(self) -> list[str] | None:
        """Return the text with both changes; None where both changed the same lines."""
        merged = merge(self.base, self.ours, self.theirs)
        return list(merged.lines) if merged.clean else None

    def is_on(self, disk: Lines) -> bool:
        """Return whether the disk has the joined text."""
        return self.onto(disk) == list(disk)

    def onto(self, disk: Lines) -> list[str] | None:
        """Return the joined text with the changes on disk since one of the two texts stood there; None
        where the texts do not merge."""
        joined = self.joined()
        if joined is None or list(disk) in (list(self.ours), list(self.theirs)):
            return joined
        merged = merge(self.ours, joined, disk)
        return list(merged.lines) if merged.clean else None


def edited_changes(judged: Lines, found: Lines, left: Lines) -> list[Hunk]:
    """Return the hunks of others' changes since a replacement was judged whose lines it changed. judged,
    found, left: the texts that was judged, that the tool found, and that it left."""
    ours = [(a0, a1) for a0, a1, _, _ in diff(found, left)]
    return [
        hunk
        for hunk in diff(judged, found)
        if any(a0 < hunk[3] and hunk[2] < a1 for a0, a1 in ours)
    ]


def is_in_file(found: Lines, left: Lines, disk: Lines) -> bool | None:
    """Return whether what a write changed is in the file: True for all of it, False where all of it was
    undone, None for anything else. found, left: the texts before and after the write."""
    if _includes(found, left, disk):
        return True
    return False if _includes(left, found, disk) else None


def _includes(before: Lines, after: Lines, disk: Lines) -> bool:
    """Return whether a text has the change from one text to another."""
    merged = merge(before, after, disk)
    return merged.clean and list(merged.lines) == list(disk)
