"""Where the rule of twins cannot tell the place of lines, so that an edit of them may be refused.

That is the price of never editing a twin; bench/merging.py --places prints it. A test that owes an edit
owes it only where this module finds a place.
"""

from __future__ import annotations

from collections.abc import Iterable

from sightline.model.diff import diff
from sightline.model.locate import find_text, line_edits
from sightline.model.relocation import Places
from sightline.model.text import split


def have_places(base: str, ranges: Iterable[tuple[int, int]], other: str) -> bool:
    """Return whether ranges of the lines of a text have certain places in another one."""
    lines = split(base), split(other)
    places = Places(*lines, diff(*lines))
    return all(places.find(start, end) is not None for start, end in ranges)


def are_placed(base: str, ours: str, theirs: str) -> bool:
    """Return whether the lines that each of two changes of a text replaces have certain places in the
    other changed text."""
    return all(
        have_places(
            base, [hunk[:2] for hunk in diff(split(base), split(one)) if hunk[0] < hunk[1]], other
        )
        for one, other in ((ours, theirs), (theirs, ours))
    )


def is_found(base: str, old: str, new: str, disk: str) -> bool:
    """Return whether every place of a text has certain lines on disk, white space at their ends aside."""
    edits = line_edits(base, old, new, find_text(base, old).offsets)
    bare = ["".join(f"{line.rstrip()}\n" for line in split(text)) for text in (base, disk)]
    return all(
        have_places(base, [edit[:2]], disk) or have_places(bare[0], [edit[:2]], bare[1])
        for edit in edits
    )
