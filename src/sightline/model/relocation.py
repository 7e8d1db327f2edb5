"""Find lines that have another place now: blocks that were moved, and lines that shifted because
others changed lines above. Equal lines elsewhere are not these lines: a twin, or what became one."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import islice, zip_longest

from sightline.model.diff import diff, settled
from sightline.model.spans import Hunk, Span, Spans, collide, unchanged_runs
from sightline.model.text import ManyLines

Pair = tuple[Hunk, Hunk]
Place = tuple[Span, Span]


def moved_blocks(old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> list[Pair]:
    """Return pairs of hunks of diff(old, new): one that only removes lines, and one that only adds
    the same lines elsewhere. The empty lines may be before or behind the others."""
    added: dict[tuple[str, ...], list[Hunk]] = {}
    for hunk in hunks:
        if hunk[0] == hunk[1]:
            added.setdefault(_block(new[hunk[2] : hunk[3]]), []).append(hunk)
    pairs: list[Pair] = []
    for hunk in hunks:
        block = _block(old[hunk[0] : hunk[1]]) if hunk[2] == hunk[3] else ()
        if block and added.get(block):
            pairs.append((hunk, added[block].pop(0)))
    return pairs


def _block(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines without the empty lines around them, and the number of all lines; () for empty
    lines alone, which nobody moves."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return (*lines[start:end], str(len(lines))) if end > start else ()


def places_of(pairs: Sequence[Pair]) -> list[Place]:
    """Return the old and the new lines of each pair."""
    return [((a[0] + 1, a[1]), (b[2] + 1, b[3])) for a, b in pairs]


def shifted(shown: Spans, hunks: Sequence[Hunk]) -> list[Place]:
    """Return the old and the new lines of each shown run that no hunk touches and that shifted."""
    places: list[Place] = []
    for old_first, old_last, shift in unchanged_runs(hunks):
        for first, last in shown if shift else ():
            low, high = max(first, old_first), int(min(last, old_last))
            if low <= high:
                places.append(((low, high), (low + shift, high + shift)))
    return places


# --- one place --------------------------------------------------------------------------------------

SECTION = re.compile(r"\[+[\w\"' .:/*-]+\]+\s*([#;].*)?$")
"""The head of a section in a settings file, at the start of a line."""

COMMENTS = ("#", "//", "/*", "*", "--", ";", "<!--")
CLOSING = (")", "]", "}")
TELLING = re.compile(r"\w")

ALIKE = 0.6
"""Share of equal characters of a line and the line that others made of it."""


class Places:
    """The places of an old text's lines in a new text. hunks: of diff(old, new).

    Lines stand at their own place where no hunk touches them, the same heads (the function, the
    section) enclose them, and more lines around them stayed than were written beside them: a few
    equal lines between rewritten ones may be another's copy. Lines stand elsewhere where their block
    was moved: the old place only removes it, the new one only adds it.
    """

    def __init__(self, old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> None:
        readings = [hunks]
        if not isinstance(old, ManyLines) and not isinstance(new, ManyLines):
            lowest = settled(old, new, hunks)
            if lowest != hunks:  # repeated lines leave a hunk several places; the diff chose one
                readings.append(lowest)
        self._readings = [_Reading(old, new, each) for each in readings]

    def find(self, start: int, end: int) -> int | None:
        """Return where old[start:end] begins in the new text; None where these lines were changed,
        or where nothing shows which of several are these. start == end: the gap before a line."""
        places = {reading.find(start, end) for reading in self._readings} - {None}
        return places.pop() if len(places) == 1 else None


class _Reading:
    """One way to turn the old text into the new one."""

    def __init__(self, old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> None:
        self._old, self._new, self._hunks = old, new, hunks
        self._heads: tuple[_Heads, _Heads] | None = None

    def find(self, start: int, end: int) -> int | None:
        """Return the place of lines in this reading; None where it is not sure."""
        if not self._hunks:
            return start
        near = bisect_left(self._hunks, start, key=lambda hunk: hunk[1])
        if any(collide(hunk, (start, end, 0, 0)) for hunk in self._hunks[near : near + 2]):
            return self._moved(start, end)
        above = bisect_right(self._hunks, start, key=lambda hunk: hunk[1]) - 1
        hunk = self._hunks[above] if above >= 0 else (0, 0, 0, 0)
        place = start + hunk[3] - hunk[1]
        first, last = start, end
        if start == end:  # it stands by the line above it or below it, whichever is in no hunk
            is_below = above >= 0 and hunk[1] == start
            first, last = (start, start + 1) if is_below else (start - 1, start)
        return place if self._is_certain(first, last, above) else None

    def _is_certain(self, start: int, end: int, above: int) -> bool:
        """Return whether untouched lines are surely those at their place. above: the index of the
        last hunk above them."""
        if above < 0 or start >= len(self._old):
            return True
        before = self._hunks[above]
        if above + 1 < len(self._hunks) and self._is_island(
            before, self._hunks[above + 1], start, end
        ):
            return False
        return self._have_same_heads(start, start + before[3] - before[1])

    def _is_island(self, above: Hunk, below: Hunk, start: int, end: int) -> bool:
        """Return whether the unchanged lines between two hunks may be the copy of others: no more,
        equal ones counted once, than were written beside them. A line that was plainly rewritten in its place is no
        sign."""
        written = max(
            _telling(self._new[one[2] : one[3]]) if other[0] < other[1] else 0
            for one, other in ((above, below), (below, above))
        )
        kept: set[str] = set()
        for n in range(above[1], below[0]):
            kept.update([self._old[n].strip()] if TELLING.search(self._old[n]) else [])
            if len(kept) > written:
                return False
        own = self._old[start:end]
        return not (
            self._is_rewritten(above, above[1] - 1, above[3] - 1, own)
            and self._is_rewritten(below, below[0], below[2], own)
        )

    def _is_rewritten(self, hunk: Hunk, old: int, new: int, own: Sequence[str]) -> bool:
        """Return whether a hunk replaces as many lines, and one old line is more like the new line
        in its place than like the lines `own` beside it."""
        if hunk[1] - hunk[0] != hunk[3] - hunk[2]:
            return False
        was = self._old[old].strip()
        alike = _likeness(was, self._new[new].strip())
        return alike >= ALIKE and all(_likeness(was, line.strip()) < alike for line in own[:8])

    def _have_same_heads(self, old: int, new: int) -> bool:
        """Return whether the lines that enclose two equal lines are the same, too."""
        if isinstance(self._old, ManyLines) or isinstance(self._new, ManyLines):
            return True
        pair = zip(self._both_heads(), (old, new), strict=True)
        chains = (heads.above(at) for heads, at in pair)
        return all(
            one is not None and other is not None and self._is_same_head(one, other)
            for one, other in zip_longest(*chains)
        )

    def _is_same_head(self, old: int, new: int) -> bool:
        at = bisect_right(self._hunks, old, key=lambda hunk: hunk[0]) - 1
        hunk = self._hunks[at] if at >= 0 else (0, 0, 0, 0)
        if old >= hunk[1]:
            return old + hunk[3] - hunk[1] == new
        # Renamed: the hunk has one head of this depth on either side, and neither stands elsewhere.
        one, other = self._both_heads()
        depth = one.depths[old]
        assert depth is not None
        return (
            hunk[2] <= new < hunk[3]
            and one.heads_in(hunk[0], hunk[1], depth) == [old]
            and other.heads_in(hunk[2], hunk[3], depth) == [new]
            and self._new[new] not in self._old
            and self._old[old] not in self._new
        )

    def _moved(self, start: int, end: int) -> int | None:
        """Return the new place of lines whose block was moved, once; or whose function or section was,
        with what others changed in it."""
        for gone, there in moved_blocks(self._old, self._new, self._hunks) if start < end else ():
            if not (gone[0] <= start and end <= gone[1]):
                continue
            block = self._old[gone[0] : gone[1]]
            lead = _leading(self._new[there[2] : there[3]]) - _leading(block)
            place = there[2] + start - gone[0] + lead
            if list(self._new[place : place + end - start]) != list(self._old[start:end]):
                return None
            if _is_again(block, self._old, gone[0]) or _is_again(block, self._new, there[2] + lead):
                return None
            return place if _is_unit(block) or self._have_same_heads(start, place) else None
        return self._in_moved_unit(start, end) if start < end else None

    def _in_moved_unit(self, start: int, end: int) -> int | None:
        """Return the new place of lines in a unit that the old place only removes and the new one only
        adds. A unit is a head that stands once in either text, and what it encloses."""
        if isinstance(self._old, ManyLines) or isinstance(self._new, ManyLines):
            return None
        old, new = self._both_heads()
        for hunk in self._hunks:
            if not (hunk[0] <= start and end <= hunk[1] and hunk[2] == hunk[3]):
                continue
            inside = [at for at in (start, *old.above(start)) if at >= hunk[0]]
            head = self._old[inside[-1]]
            places = [
                n
                for added in self._hunks
                for n in range(added[2], added[3])
                if added[0] == added[1] and self._new[n] == head
            ]
            if len(places) != 1 or self._old.count(head) != 1 or self._new.count(head) != 1:
                return None
            unit = self._old[inside[-1] : old.end(inside[-1])]
            there = self._new[places[0] : new.end(places[0])]
            first = start - inside[-1]
            if end - start > len(unit) - first or not _is_unit(unit):
                return None
            place = Places(unit, there, diff(unit, there)).find(first, end - inside[-1])
            return None if place is None else places[0] + place
        return None

    def _both_heads(self) -> tuple[_Heads, _Heads]:
        if self._heads is None:
            self._heads = _Heads(self._old), _Heads(self._new)
        return self._heads


class _Heads:
    """The lines that enclose each line of a text: of less indentation, or the head of its section.
    depths: of each line that may enclose others; None for blank lines, comments and closing
    brackets."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.depths: list[int | None] = []
        self._above: list[int | None] = []
        stack: list[tuple[int, int]] = []
        for n, line in enumerate(lines):
            depth, is_head = _depth(line)
            if is_head:
                while stack and stack[-1][0] >= depth:
                    stack.pop()
            self._above.append(next((at for had, at in reversed(stack) if had < depth), None))
            self.depths.append(depth if is_head else None)
            if is_head:
                stack.append((depth, n))

    def above(self, line: int) -> list[int]:
        """Return the lines that enclose a line, the innermost first."""
        chain: list[int] = []
        at = self._above[line]
        while at is not None:
            chain.append(at)
            at = self._above[at]
        return chain

    def end(self, head: int) -> int:
        """Return the index behind the lines that a head encloses."""
        depth = self.depths[head]
        if depth is None:
            return head + 1
        behind = enumerate(islice(self.depths, head + 1, None), head + 1)
        return next((n for n, had in behind if had is not None and had <= depth), len(self.depths))

    def heads_in(self, start: int, end: int, depth: int) -> list[int]:
        """Return the lines of a range that may enclose others, down to a depth."""
        depths = enumerate(islice(self.depths, start, end), start)
        return [n for n, had in depths if had is not None and had <= depth]


def _depth(line: str) -> tuple[int, bool]:
    """Return the indentation of a line, -1 for the head of a section, and whether the line may
    enclose others."""
    bare = line.strip()
    if not bare:
        return len(line), False
    if SECTION.match(line):
        return -1, True
    wide = line.expandtabs()
    is_head = not bare.startswith((*COMMENTS, *CLOSING)) and TELLING.search(bare) is not None
    return len(wide) - len(wide.lstrip()), is_head


def _is_unit(block: Sequence[str]) -> bool:
    """Return whether a block begins with a head and holds nothing beside what it encloses: it is
    the same wherever it stands."""
    lines = [(depth, is_head) for depth, is_head in map(_depth, block) if is_head]
    return len(lines) > 1 and lines[0][0] < lines[1][0] and lines[0][0] <= min(lines)[0]


def _is_again(block: Sequence[str], lines: Sequence[str], start: int) -> bool:
    """Return whether a block stands a second time in a text, the blank lines around it aside."""
    core = list(block[_leading(block) : len(block) - _leading(block[::-1])])
    at = start + _leading(block)
    first, size = core[0], len(core)
    return any(
        line == first and n != at and list(lines[n : n + size]) == core
        for n, line in enumerate(lines)
    )


def _leading(lines: Sequence[str]) -> int:
    """Count the blank lines before the first other one."""
    return next((n for n, line in enumerate(lines) if line.strip()), len(lines))


def _telling(lines: Sequence[str]) -> int:
    """Count the lines that have words."""
    return sum(TELLING.search(line) is not None for line in lines)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one[:200], other[:200], autojunk=False).ratio()
