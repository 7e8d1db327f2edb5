"""Update the text that an agent knows by the lines that it was shown, and by its own edits."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sightline.model.diff import diff, equal
from sightline.model.locate import applied
from sightline.model.spans import (
    Hunk,
    Spans,
    carry,
    covers,
    intersect,
    new_sides,
    touched,
    union,
    whole,
)
from sightline.model.text import lines_in


class Held(Struct, frozen=True):
    """The text that an agent knows, as lines. shown: lines that were ever shown; held: those that
    are still in the context window. Nobody changes the lines in place: other values share them."""

    lines: Sequence[str]
    shown: Spans
    held: Spans

    @property
    def complete(self) -> bool:
        """Return whether every line was shown."""
        return covers(self.shown, whole(len(self.lines)))


def first_look(lines: Sequence[str], seen: Spans) -> Held:
    """Return the knowledge of a text after its first look, which showed the lines `seen`."""
    return Held(lines, seen, seen)


def edited(before: Held, plain: str) -> Held:
    """Return what the agent knows after its own edit made `plain` of the text it knew. Only the
    lines that the edit changed become seen."""
    lines = lines_in(plain)
    return edited_lines(before, lines, diff(before.lines, lines))


def edited_lines(before: Held, lines: Sequence[str], mine: Sequence[Hunk]) -> Held:
    """Return the knowledge after an own edit, given as the new lines and the hunks."""
    written = new_sides(mine)
    shown = union(carry(before.shown, mine), written)
    return Held(lines, shown, union(carry(before.held, mine), written))


def look(before: Held, lines: Sequence[str], seen: Spans, told: Sequence[Hunk] = ()) -> Held:
    """Return the knowledge after the lines `seen` of the present text were shown.

    Others' changes to lines that had been shown stay unseen, and the old lines stay, unless the new
    lines are among `seen`, or `told` has the hunk of diff(before, lines). Lines that were never
    shown follow the present text.
    """
    if equal(before.lines, lines):
        return Held(before.lines, union(before.shown, seen), union(before.held, seen))
    if lines and covers(seen, whole(len(lines))):  # of no lines, none seen says nothing
        return first_look(lines, seen)
    hunks = diff(before.lines, lines)
    unseen = [
        hunk
        for hunk in touched(before.shown, hunks, len(before.lines))
        if hunk not in told and not _is_seen(seen, hunk, len(lines))
    ]
    back: list[Hunk] = []  # present text -> held text
    shift = 0
    for a0, a1, b0, b1 in unseen:
        back.append((b0, b1, b0 + shift, b0 + shift + a1 - a0))
        shift += (a1 - a0) - (b1 - b0)
    old = [(b0, b1, list(before.lines[a0:a1])) for a0, a1, b0, b1 in unseen]
    out = applied(lines, old)  # the present text without the unseen changes
    forth: list[Hunk] = []  # old held text -> new held text
    shift = 0
    for hunk in hunks:
        a0, a1, b0, b1 = hunk
        if hunk in unseen:
            shift += (a1 - a0) - (b1 - b0)
        else:
            forth.append((a0, a1, b0 + shift, b1 + shift))
    fresh = carry(union(seen, new_sides(told)), back)
    return Held(
        out,
        union(carry(before.shown, forth), fresh),
        union(carry(before.held, forth), fresh),
    )


def _is_seen(seen: Spans, hunk: Hunk, lines: int) -> bool:
    """Return whether any new line of a change was seen; of a deletion, both neighbours."""
    start, end = hunk[2], hunk[3]
    if end > start:
        return bool(intersect(seen, ((start + 1, end),)))
    above = start == 0 or covers(seen, ((start, start),))
    below = start == lines or covers(seen, ((start + 1, start + 1),))
    return above and below and bool(seen)
