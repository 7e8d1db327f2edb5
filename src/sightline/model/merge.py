"""Merge three texts by lines, finer than diff3: adjacent changes of both sides stay."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from msgspec import Struct

from sightline.model.diff import diff
from sightline.model.spans import Hunk

Meeting = tuple[list[Hunk], list[Hunk]]


class Merged(Struct, frozen=True):
    """lines: the merged text, empty where there are conflicts. conflicts: pairs of hunks base→ours
    and base→theirs that change the same lines."""

    lines: tuple[str, ...]
    conflicts: tuple[tuple[Hunk, Hunk], ...]

    @property
    def clean(self) -> bool:
        """Return whether there are no conflicts."""
        return not self.conflicts


def merge(
    base: Sequence[str],
    ours: Sequence[str],
    theirs: Sequence[str],
    *,
    mine: Sequence[Hunk] | None = None,
    other: Sequence[Hunk] | None = None,
) -> Merged:
    """Merge the changes of both sides to base. Changes to adjacent lines both stay, as long as a
    newline is between them. Changes to the same lines conflict, unless they are equal or one side
    includes all changes of the other there. mine, other: the hunks base→ours and base→theirs,
    where the caller has them."""
    mine = diff(base, ours) if mine is None else mine
    other = diff(base, theirs) if other is None else other
    changes = {(h[0], h[1]): list(ours[h[2] : h[3]]) for h in mine}
    changes.update({(t[0], t[1]): list(theirs[t[2] : t[3]]) for t in other})
    conflicts: list[tuple[Hunk, Hunk]] = []
    for meeting in _meetings(mine, ours, other, theirs):
        place, chosen = _resolved(base, ours, theirs, meeting)
        if chosen is None:
            conflicts += [(h, t) for h in meeting[0] for t in meeting[1]]
            continue
        for hunk in (*meeting[0], *meeting[1]):
            changes.pop((hunk[0], hunk[1]), None)
        changes[place] = chosen
    if conflicts:
        return Merged((), tuple(conflicts))
    out: list[str] = []
    at = 0
    for (start, end), lines in sorted(changes.items()):
        out += base[at:start]
        out += lines
        at = end
    return Merged((*out, *base[at:]), ())


def collide(one: Hunk, other: Hunk) -> bool:
    """Return whether two changes of one base share a line, or a gap between lines."""
    if one[0] == one[1] and other[0] == other[1]:
        return one[0] == other[0]
    return one[0] < other[1] and other[0] < one[1]


def _meetings(
    mine: Sequence[Hunk], ours: Sequence[str], other: Sequence[Hunk], theirs: Sequence[str]
) -> list[Meeting]:
    """Return groups of hunks of both sides that change the same lines."""
    meetings: list[Meeting] = []
    for h in mine:
        first = bisect_left(other, h[0], key=lambda hunk: hunk[1])
        end = bisect_right(other, h[1], key=lambda hunk: hunk[0])
        opposed = [
            t
            for t in other[first:end]
            if (collide(h, t) or _glued(h, ours, t) or _glued(t, theirs, h))
            and (h[:2] != t[:2] or ours[h[2] : h[3]] != theirs[t[2] : t[3]])
        ]
        if opposed and meetings and opposed[0] in meetings[-1][1]:
            meetings[-1][0].append(h)
            meetings[-1][1].extend(t for t in opposed if t not in meetings[-1][1])
        elif opposed:
            meetings.append(([h], opposed))
    return meetings


def _resolved(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], meeting: Meeting
) -> tuple[tuple[int, int], list[str] | None]:
    """Return the base lines of a meeting, and the new lines where one side includes the other."""
    hunks = [*meeting[0], *meeting[1]]
    start, end = min(h[0] for h in hunks), max(h[1] for h in hunks)
    before = list(base[start:end])
    mine = _as_changed(base, ours, meeting[0], start, end)
    other = _as_changed(base, theirs, meeting[1], start, end)
    if _includes(before, mine, other):
        return (start, end), mine
    return (start, end), other if _includes(before, other, mine) else None


def _as_changed(
    base: Sequence[str], side: Sequence[str], hunks: Sequence[Hunk], start: int, end: int
) -> list[str]:
    out: list[str] = []
    for h in hunks:
        out += base[start : h[0]]
        out += side[h[2] : h[3]]
        start = h[1]
    return [*out, *base[start:end]]


def _includes(base: Sequence[str], one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether `one` has all lines that `other` added to the base, in order, and none that
    `other` removed. An `other` that only removed lines is never included."""
    changed = diff(base, other)
    added = {n for h in changed for n in range(h[2], h[3])}
    removed = {line for h in changed for line in base[h[0] : h[1]]}
    further = diff(other, one)
    lost = {n for h in further for n in range(h[0], h[1])}
    fresh = {line for h in further for line in one[h[2] : h[3]]}
    has_text = any(other[n].strip() for n in added)
    return has_text and not added & lost and not removed & fresh


def _glued(one: Hunk, lines: Sequence[str], other: Hunk) -> bool:
    """Return whether lines of `other` would follow a change that removed the last newline. Joined,
    two lines would become one that nobody wrote."""
    follows = other[0] == other[1] == one[1] and other[3] > other[2]
    return follows and one[3] > one[2] and not lines[one[3] - 1].endswith("\n")
