"""Find lines that have another place now: blocks that were moved, and lines that shifted because
others changed lines above. Equal lines elsewhere are not these lines: a twin, or what became one."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from msgspec import Struct

from sightline.model.diff import diff, settled
from sightline.model.spans import Hunk, Span, Spans, collide, unchanged_runs
from sightline.model.text import ManyLines, indentation

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


# --- one place --------------------------------------------------------------------------------------

SECTION = re.compile(r"\[+[\w\"' .:/*-]+\]+\s*([#;].*)?$")
"""The head of a section in a settings file, at the start of a line."""

COMMENTS = ("#", "//", "/*", "*", "--", ";", "<!--")
CLOSING = (")", "]", "}")
TELLING = re.compile(r"\w")
WORD = re.compile(r"\w+")

DEFINED = re.compile(
    r"\s*(?:[\w()]+\s+)*(?:class|def|enum|fn|func|function|impl|interface|module|namespace|struct|trait)"
    r"\s+[\w(*]"
)
"""The head of a function or a type, which has a name of its own."""

ALIKE = 0.5
"""Share of equal characters of a line and the line that others made of it."""

MARGIN = 2
"""Changed lines that another reading must take more, for this one to count as the only one; one less for
each further unchanged line, which the other reading takes for written again by chance."""

BESIDE = 8
"""Unchanged lines beside changed ones that another reading may take for changed, too."""

CELLS = 4_000
"""Size of a search for another reading, about 5 ms: the product of two numbers of lines."""


class Places:
    """The places of an old text's lines in a new text. hunks: of diff(old, new).

    Lines stand in the function or section whose name stands once in either text, wherever that is
    now; in it, and where no name tells, they stand at their own place where no hunk touches them,
    the same heads enclose them, and no other reading of the changes around them is nearly as short: a few
    equal lines between rewritten ones may be another's copy. Lines stand elsewhere where their block
    was moved: the old place only removes it, the new one only adds it.
    """

    def __init__(self, old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> None:
        self._old, self._new, self._hunks = old, new, hunks
        self._are_short = not isinstance(old, ManyLines) and not isinstance(new, ManyLines)
        self._heads = _Heads(old), _Heads(new)
        self._units: dict[int, _Unit | None] = {}
        self._readings: list[_Reading] = []

    def find(self, start: int, end: int) -> int | None:
        """Return where old[start:end] begins in the new text; None where these lines were changed,
        or where nothing shows which of several are these. start == end: the gap before a line."""
        if not self._hunks:
            return start
        unit = self._unit(start, end) if self._are_short else None
        if unit is not None:
            place = unit.places.find(start - unit.old, end - unit.old)
            return None if place is None else unit.new + place
        if not self._readings:
            self._readings = list(self._read())
        places = {reading.find(start, end) for reading in self._readings} - {None}
        return places.pop() if len(places) == 1 else None

    def moved(self) -> list[Pair]:
        """Return the hunks of each block that was moved, where its lines have a certain place."""
        return [pair for pair in moved_blocks(self._old, self._new, self._hunks) if self._has(pair)]

    def _has(self, pair: Pair) -> bool:
        start, end = pair[0][:2]
        block = self._old[start:end]
        return self.find(start + _leading(block), end - _leading(block[::-1])) is not None

    def shifted(self, shown: Spans) -> list[Place]:
        """Return the old and the new lines of each shown run that no hunk touches, whose place is
        certain, and that has another number now."""
        found: list[Place] = []
        for old_first, old_last, shift in unchanged_runs(self._hunks):
            for first, last in shown if shift else ():
                low, high = max(first, old_first), int(min(last, old_last))
                place = self.find(low - 1, high) if low <= high else None
                if place is not None and place + 1 != low:
                    found.append(((low, high), (place + 1, place + 1 + high - low)))
        return found

    def _read(self) -> Iterator[_Reading]:
        yield _Reading(self._old, self._new, self._hunks, self._heads)
        if self._are_short:
            lowest = settled(self._old, self._new, self._hunks)
            if lowest != self._hunks:  # repeated lines leave a hunk several places
                yield _Reading(self._old, self._new, lowest, self._heads)

    def _unit(self, start: int, end: int) -> _Unit | None:
        """Return the outermost function or section that holds these lines, below its first line, and
        whose name stands once in either text."""
        if start >= len(self._old):
            return None
        for head in reversed(self._heads[0].above(start)):
            if head not in self._units:
                self._units[head] = self._found(head)
            unit = self._units[head]
            if unit is not None and end <= unit.end:
                return unit
        return None

    def _found(self, head: int) -> _Unit | None:
        line = self._old[head]
        is_named = SECTION.match(line) or DEFINED.match(line)
        if not is_named or self._old.count(line) != 1 or self._new.count(line) != 1:
            return None
        there, end = self._new.index(line), self._heads[0].end(head)
        old, new = self._old[head:end], self._new[there : self._heads[1].end(there)]
        if (len(old), len(new)) == (len(self._old), len(self._new)):
            return None
        return _Unit(head, end, there, Places(old, new, diff(old, new)))


class _Unit(Struct, frozen=True):
    """A function or a section. old, end: its lines in the old text; new: its first in the new one;
    places: of its lines."""

    old: int
    end: int
    new: int
    places: Places


class _Reading:
    """One way to turn the old text into the new one."""

    def __init__(
        self,
        old: Sequence[str],
        new: Sequence[str],
        hunks: Sequence[Hunk],
        heads: tuple[_Heads, _Heads],
    ) -> None:
        self._old, self._new, self._hunks = old, new, hunks
        self._heads = heads

    def find(self, start: int, end: int) -> int | None:
        """Return the place of lines in this reading; None where it is not sure."""
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
        place = start + before[3] - before[1]
        if above + 1 < len(self._hunks) and self._is_island(above, start, end, place):
            return False
        return self._have_same_heads(start, place)

    def _is_island(self, above: int, start: int, end: int, place: int) -> bool:
        """Return whether the unchanged lines between two hunks may be the copy of others: whether the
        changes around them have another reading that is hardly longer."""
        first, last = self._hunks[above : above + 2]
        size = max(hunk[3] - hunk[2] for hunk in (first, last))
        kept: set[str] = set()
        for n in range(first[1], last[0]):
            kept.update([self._old[n].strip()] if TELLING.search(self._old[n]) else [])
            if len(kept) > size:
                return False
        low, high, cost = self._around(above)
        if (high[0] - low[0]) * (high[1] - low[1]) > CELLS:
            return True
        old, new = self._old[low[0] : high[0]], self._new[low[1] : high[1]]
        lines = [line.strip() for line in old], [line.strip() for line in new]
        shift = place - start
        least = cost + MARGIN - max(len(kept) - 1, 0)
        return any(astray(*lines, n - low[0], n + shift - low[1]) < least for n in {start, end - 1})

    def _around(self, above: int) -> tuple[tuple[int, int], tuple[int, int], int]:
        """Return where the changes around an island begin and end in both texts, with some lines around,
        and how many lines they change."""
        hunks, first, last = self._hunks, above, above + 1
        while first and hunks[first][0] - hunks[first - 1][1] < BESIDE:
            first -= 1
        while last + 1 < len(hunks) and hunks[last + 1][0] - hunks[last][1] < BESIDE:
            last += 1
        up = min(BESIDE, hunks[first][0])
        down = min(BESIDE, len(self._old) - hunks[last][1])
        cost = sum(max(h[1] - h[0], h[3] - h[2]) for h in hunks[first : last + 1])
        low = hunks[first][0] - up, hunks[first][2] - up
        return low, (hunks[last][1] + down, hunks[last][3] + down), cost

    def _have_same_heads(self, old: int, new: int) -> bool:
        """Return whether the lines that enclose two equal lines are the same, too."""
        if isinstance(self._old, ManyLines) or isinstance(self._new, ManyLines):
            return True
        pair = zip(self._heads, (old, new), strict=True)
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
        one, other = self._heads
        depth = one.depth(old)
        assert depth is not None
        return (
            hunk[2] <= new < hunk[3]
            and one.heads_in(hunk[0], hunk[1], depth) == [old]
            and other.heads_in(hunk[2], hunk[3], depth) == [new]
            and self._new[new] not in self._old
            and self._old[old] not in self._new
            and (_name(self._old[old]) == _name(self._new[new]) or self._is_alone(old, new, depth))
        )

    def _is_alone(self, old: int, new: int, depth: int) -> bool:
        """Return whether no other new head is like an old one, which may be its new name as well."""
        return all(
            _likeness(self._old[old], self._new[n]) < ALIKE
            for hunk in self._hunks
            for n in self._heads[1].heads_in(hunk[2], hunk[3], depth)
            if n != new and self._new[n] not in self._old
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
        old, new = self._heads
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


class _Heads:
    """The lines that enclose each line of a text: of less indentation, or the head of its section.
    Blank lines, comments and closing brackets enclose nothing."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._above: dict[int, int | None] = {}
        self._has_sections: bool | None = None

    def depth(self, line: int) -> int | None:
        """Return the indentation of a line that may enclose others; None for any other line."""
        depth, is_head = _depth(self._lines[line])
        return depth if is_head else None

    def above(self, line: int) -> list[int]:
        """Return the lines that enclose a line, the innermost first."""
        chain: list[int] = []
        at = self._head(line)
        while at is not None:
            chain.append(at)
            at = self._head(at)
        return chain

    def _head(self, line: int) -> int | None:
        if line not in self._above:
            self._above[line] = self._look_up(line)
        return self._above[line]

    def _look_up(self, line: int) -> int | None:
        if self._has_sections is None:
            in_brackets = [each for each in self._lines if each[:1] == "["]
            self._has_sections = any(map(SECTION.match, in_brackets))
        own = _depth(self._lines[line])[0]
        if own <= (-1 if self._has_sections else 0):
            return None
        for n in range(line - 1, -1, -1):
            depth = self.depth(n)
            if depth is not None and depth < own:
                return n
            if depth == own and n in self._above:  # found before: a long list is walked once
                return self._above[n]
        return None

    def end(self, head: int) -> int:
        """Return the index behind the lines that a head encloses."""
        own = self.depth(head)
        if own is None:
            return head + 1
        for n in range(head + 1, len(self._lines)):
            depth = self.depth(n)
            if depth is not None and depth <= own:
                return n
        return len(self._lines)

    def heads_in(self, start: int, end: int, depth: int) -> list[int]:
        """Return the lines of a range that may enclose others, down to a depth."""
        depths = ((n, self.depth(n)) for n in range(start, end))
        return [n for n, had in depths if had is not None and had <= depth]


def _depth(line: str) -> tuple[int, bool]:
    """Return the indentation of a line, -1 for the head of a section, and whether the line may
    enclose others."""
    bare = line.strip()
    if not bare:
        return len(line), False
    if SECTION.match(line):
        return -1, True
    is_head = not bare.startswith((*COMMENTS, *CLOSING)) and TELLING.search(bare) is not None
    return indentation(line), is_head


def _name(head: str) -> str:
    """Return the part of a head that a changed signature leaves alone."""
    return head.partition("(")[0].strip()


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


def astray(old: Sequence[str], new: Sequence[str], x: int, y: int) -> int:
    """Return the number of changed lines on the shortest path from old to new that does not match old[x]
    with the equal new[y]. There, old[x] became another line, and new[y] came from a like line, or was
    inserted after one."""
    return min(_astray(old, new, x, y), _astray(old[::-1], new[::-1], ~x, ~y))


def _astray(old: Sequence[str], new: Sequence[str], x: int, y: int) -> int:
    """Return the same where the line that old[x] became stands above new[y]."""
    x, y = x % len(old), y % len(new)
    own, far = old[x], len(old) + len(new)
    before = _distances(old[:x], new[:y])
    behind = _distances(new[:y:-1], old[:x:-1])[::-1]  # of the old lines from x + 1 on, and so on
    close, apart = (
        [far] * (y + 1),
        [far] * (y + 1),
    )  # no line of the old text stands between; some do
    for j in range(y):
        close[j + 1] = min(before[j] + (own != new[j]), close[j] + 1)
    best = far
    for n, line in enumerate(old[x + 1 :]):
        best = min(best, apart[y] + 1 + behind[n])
        made = min(close[y], apart[y]) + (line != own) + behind[n + 1]
        if made < best and _may_become(line, own):
            best = made
        was_close, was_apart = close, apart
        close, apart = [each + 1 for each in close], [each + 1 for each in apart]
        for j in range(y):
            change = line != new[j]
            if new[j] and new[j] != own:
                stands = min(was_close[j], was_apart[j])
            else:
                close[j + 1] = min(close[j + 1], was_close[j] + change)
                stands = was_apart[j]
            close[j + 1] = min(close[j + 1], close[j] + 1)
            apart[j + 1] = min(apart[j + 1], stands + change, apart[j] + 1)
    return min(best, apart[y] + 1 + behind[-1])


def _distances(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """Return how many lines must be rewritten, put in or taken out to make each beginning of the new
    lines of all old ones."""
    row = list(range(len(new) + 1))
    for line in old:
        above, row = row, [row[0] + 1]
        for j, other in enumerate(new):
            row.append(min(above[j] + (line != other), above[j + 1] + 1, row[j] + 1))
    return row


def _may_become(line: str, own: str) -> bool:
    """Return whether others may have made one line of another with a small change, which leaves at least
    one of several words."""
    if not line or not own:
        return False
    if own in line or line in own:
        return True
    words = WORD.findall(line), WORD.findall(own)
    if min(map(len, words)) > 1 and not set(words[0]) & set(words[1]):
        return False
    return _likeness(line, own) >= ALIKE


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one[:200], other[:200], autojunk=False).ratio()
