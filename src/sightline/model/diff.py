"""Diff two texts by lines, with a bounded worst case.

Common ends are trimmed, lines that occur once on each side become anchors (patience), and only
the gaps between anchors are searched for a shortest script (Myers), within a budget of steps.
A gap that would cost more is one replaced block, so 10,000 rewritten lines cost no more than
reading them; difflib alone takes seconds there, or gives one block for repetitive files.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress, count
from operator import eq, ne

from sightline.model.marks import sendable
from sightline.model.spans import Hunk

Gap = tuple[int, int, int, int]
Run = tuple[int, int, int]

STEPS = 60_000
"""Search steps one diff may take, about 30 ms in all; what is left over is replaced whole."""

CONTEXT = 3
"""Unchanged lines printed around a change."""


def diff(a: Sequence[str], b: Sequence[str], steps: int = STEPS) -> list[Hunk]:
    """Return the hunks that turn a into b: (a0, a1, b0, b1), 0-based half-open, in order, never
    adjacent. steps: the search budget."""
    if a == b:
        return []
    return between(_runs(a, b, steps), len(a), len(b))


def equal(a: Sequence[str], b: Sequence[str]) -> bool:
    """Return whether two texts have the same lines, whatever kinds of sequences they are."""
    return a is b or (len(a) == len(b) and all(map(eq, a, b)))


def unified(
    a: Sequence[str],
    b: Sequence[str],
    hunks: Sequence[Hunk],
    *,
    old: str = "",
    new: str = "",
    exact: bool = False,
) -> str:
    """Return hunks as a unified diff. Lines have their own newline; a missing one is marked. exact:
    keep lone surrogates, which cannot be sent."""
    out = [f"--- {old}\n", f"+++ {new}\n"] if old else []
    for group in grouped(hunks):
        top = max(group[0][0] - CONTEXT, 0)
        end = min(group[-1][1] + CONTEXT, len(a))
        shift = group[0][2] - group[0][0]
        tail = group[-1][3] - group[-1][1]
        out.append(f"@@ -{_range(top, end)} +{_range(top + shift, end + tail)} @@\n")
        at = top
        for a0, a1, b0, b1 in group:
            out += [f" {line}" for line in a[at:a0]]
            out += [f"-{line}" for line in a[a0:a1]]
            out += [f"+{line}" for line in b[b0:b1]]
            at = a1
        out += [f" {line}" for line in a[at:end]]
    marked = "\n\\ No newline at end of file\n"
    text = "".join(line if line.endswith("\n") else line + marked for line in out)
    return text if exact else sendable(text)


def _range(first: int, end: int) -> str:
    length = end - first
    start = first + 1 if length else first
    return str(start) if length == 1 else f"{start},{length}"


def grouped(hunks: Sequence[Hunk]) -> list[list[Hunk]]:
    """Group the hunks whose contexts overlap, as a unified diff prints them."""
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        if groups and hunk[0] - groups[-1][-1][1] <= 2 * CONTEXT:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    return groups


def between(runs: Iterable[Run], a_end: int, b_end: int) -> list[Hunk]:
    """Return the gaps between runs of equal lines."""
    hunks: list[Hunk] = []
    i = j = 0
    for a0, b0, length in [*sorted(runs), (a_end, b_end, 0)]:
        if a0 > i or b0 > j:
            hunks.append((i, a0, j, b0))
        i, j = a0 + length, b0 + length
    return hunks


def settled(a: Sequence[str], b: Sequence[str], hunks: Sequence[Hunk]) -> list[Hunk]:
    """Move each insertion and each removal that repeated lines leave several places: to the hunk
    before or behind where the two can be joined, else to the lowest place."""
    out: list[Hunk] = []
    rest = list(reversed(hunks))
    while rest:
        a0, a1, b0, b1 = hunk = rest.pop()
        if a0 < a1 and b0 < b1:
            out.append(hunk)
            continue
        lines, start, end = (b, b0, b1) if a0 == a1 else (a, a0, a1)
        floor = a0 - out[-1][1] if out else a0
        up = next((n for n in range(floor) if lines[start - n - 1] != lines[end - n - 1]), floor)
        if out and up == floor:
            before = out.pop()
            rest.append((before[0], a1 - up, before[2], b1 - up))
            continue
        room = (rest[-1][0] if rest else len(a)) - a1
        down = next((n for n in range(room) if lines[start + n] != lines[end + n]), room)
        if rest and down == room:
            behind = rest.pop()
            rest.append((a0 + down, behind[1], b0 + down, behind[3]))
        else:
            out.append((a0 + down, a1 + down, b0 + down, b1 + down))
    return out


def _runs(a: Sequence[str], b: Sequence[str], steps: int) -> list[Run]:
    """Return runs of equal lines (a's start, b's start, length) in some order."""
    runs: list[Run] = []
    gaps: list[Gap] = [(0, len(a), 0, len(b))]
    while gaps:
        a0, a1, b0, b1 = _trimmed(a, b, gaps.pop(), runs)
        if a0 == a1 or b0 == b1:
            continue
        steps -= (a1 - a0 + b1 - b0) >> 2  # finding anchors costs less per line than searching
        if steps < 0:
            continue
        one, other = _part(a, a0, a1), _part(b, b0, b1)
        fixed = _in_place(one, other) or _joined(_anchors(one, other))
        if fixed:
            at_a, at_b = a0, b0
            for i, j, length in fixed:
                gaps.append((at_a, a0 + i, at_b, b0 + j))
                runs.append((a0 + i, b0 + j, length))
                at_a, at_b = a0 + i + length, b0 + j + length
            gaps.append((at_a, a1, at_b, b1))
        else:
            pairs, spent = _shortest(one, other, steps)
            steps -= spent
            runs += [(a0 + i, b0 + j, 1) for i, j in pairs]
    return runs


IN_PLACE = 16
"""Length of a run of equal lines at equal places that serves as an anchor."""


def _in_place(one: Sequence[str], other: Sequence[str]) -> list[Run]:
    """Return long runs of lines whose place did not change. Most edits replace a few lines by as
    many; then these runs serve as anchors, and no lines need counting."""
    if len(one) != len(other) or len(one) < 4 * IN_PLACE:
        return []
    changed = [n for n, differs in enumerate(map(ne, one, other)) if differs]
    if len(changed) * 8 > len(one):
        return []
    bounds = zip([-1, *changed], [*changed, len(one)], strict=True)
    return [(i + 1, i + 1, j - i - 1) for i, j in bounds if j - i > IN_PLACE]


def _joined(pairs: Iterable[tuple[int, int]]) -> list[Run]:
    """Join pairs, which are in order, into runs: most anchors follow one upon the other."""
    runs: list[Run] = []
    first_i = first_j = length = 0
    for i, j in pairs:
        if i == first_i + length and j == first_j + length:
            length += 1
        else:
            if length:
                runs.append((first_i, first_j, length))
            first_i, first_j, length = i, j, 1
    return [*runs, (first_i, first_j, length)] if length else runs


def _trimmed(a: Sequence[str], b: Sequence[str], gap: Gap, runs: list[Run]) -> Gap:
    """Return the gap without its equal ends, which are added to the runs."""
    a0, a1, b0, b1 = gap
    one, other = _part(a, a0, a1), _part(b, b0, b1)
    start = _common(one, other, min(len(one), len(other)))
    if start:
        runs.append((a0, b0, start))
    left = min(len(one), len(other)) - start
    end = _common(reversed(one), reversed(other), left)
    if end:
        runs.append((a1 - end, b1 - end, end))
    return a0 + start, a1 - end, b0 + start, b1 - end


def _part(lines: Sequence[str], start: int, end: int) -> Sequence[str]:
    """Return a part of the lines. All of them are not copied: a file may have millions."""
    return lines if (start, end) == (0, len(lines)) else lines[start:end]


def _common(one: Iterable[str], other: Iterable[str], most: int) -> int:
    """Count the lines that both begin with, `most` at most. Most edits leave nearly all lines as
    they are; map is five times as fast here as a loop."""
    return min(next(compress(count(), map(ne, one, other)), most), most)


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest chain, in order on both sides, of lines that occur once on each side."""
    once_a, once_b = Counter(a), Counter(b)
    place = {line: j for j, line in enumerate(b) if once_b[line] == 1}
    pairs = [(i, place[line]) for i, line in enumerate(a) if once_a[line] == 1 and line in place]
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for n, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        before.append(ends[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(j)
            ends.append(n)
        else:
            tops[pile], ends[pile] = j, n
    chain: list[tuple[int, int]] = []
    n = ends[-1] if ends else -1
    while n >= 0:
        chain.append(pairs[n])
        n = before[n]
    return chain[::-1]


def _shortest(a: Sequence[str], b: Sequence[str], steps: int) -> tuple[list[tuple[int, int]], int]:
    """Return the matched lines of a shortest script (Myers 1986) over the lines of both sides, and
    the steps spent; no match when the search would take more than `steps`."""
    both = set(a) & set(b)
    at_a = [i for i, line in enumerate(a) if line in both]
    at_b = [j for j, line in enumerate(b) if line in both]
    x_end, y_end = len(at_a), len(at_b)
    reached = {1: 0}
    history: list[dict[int, int]] = []
    spent = 0
    for depth in range(x_end + y_end + 1):
        history.append(reached.copy())
        spent += 2 * depth + 1
        if spent > steps:
            return [], spent
        for k in range(-depth, depth + 1, 2):
            down = k == -depth or (k != depth and reached[k - 1] < reached[k + 1])
            x = reached[k + 1] if down else reached[k - 1] + 1
            while x < x_end and x - k < y_end and a[at_a[x]] == b[at_b[x - k]]:
                x += 1
                spent += 1
            reached[k] = x
            if x >= x_end and x - k >= y_end:
                pairs = _traced(history, x_end, y_end)
                return [(at_a[i], at_b[j]) for i, j in pairs], spent
    return [], spent


def _traced(history: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """Return the diagonal steps of the path that reached (x, y), from its end to its start."""
    pairs: list[tuple[int, int]] = []
    for depth in range(len(history) - 1, -1, -1):
        reached = history[depth]
        k = x - y
        if depth == 0:
            pairs += [(n, n) for n in range(x - 1, -1, -1)]
            break
        down = k == -depth or (k != depth and reached[k - 1] < reached[k + 1])
        from_k = k + 1 if down else k - 1
        from_x = reached[from_k]
        start = from_x if down else from_x + 1
        pairs += [(n, n - k) for n in range(x - 1, start - 1, -1)]
        x, y = from_x, from_x - from_k
    return pairs
