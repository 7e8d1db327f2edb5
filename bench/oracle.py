"""Who was wrong: a judge that knows no guard, only bytes.

It is told what the agent was shown, what stood on disk just before the attempt and what stands
there now, and counts in lines and words. It shares no code with Sightline: its diff is difflib,
its merge rule is four lines, and tests/bench/test_oracle.py holds both against hand-made cases
and against `git merge-file`.

- silent clobber: an accepted attempt after which bytes are gone that it was not about (changed
  by others, on lines the agent did not read, or simply elsewhere), or a deletion by others is
  undone, or another file than the one meant was changed; and nobody was told truly.
- false alarm: refused, or reported as changed, although nothing the agent saw differs; or a
  replacement refused although its own lines are untouched.
- useful merge: a whole-file write over others' changes, with both sides' changes in the result.
- missed merge: such a write refused although no line was changed by both.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Span = tuple[int, int]
Hunk = tuple[int, int, int, int]
WORDS = re.compile(rb"\w+|\s|[^\w\s]")
BOM = b"\xef\xbb\xbf"


class Evidence(NamedTuple):
    """One attempt and its outcome.

    base: the file as the agent knew it when it composed the attempt: when it was shown, with what it
    was told since (known_after); shown: its lines that were (1-based, inclusive), None for
    all. ours: base as the attempt would leave it (for a whole-file write: its content). target:
    for a replacement its lines in base, None for a whole-file write. before, after: the file
    around the attempt, None when no readable regular file stands there. elsewhere: whether any
    other file changed. told: whether the agent was told that something had changed. elsewhere_now:
    the name the agent used leads nowhere or to another file now; before and after are those of
    the file it is about. held: a program had the file open, or the lines of an edit by number had moved,
    or a merge could not be handed over, so that to refuse was right. owned_up: whoever lost a
    change was told truly: the agent itself, the other agent, or the person with a command that brings it back.
    """

    base: bytes
    shown: tuple[Span, ...] | None
    ours: bytes
    target: Span | None
    before: bytes | None
    after: bytes | None
    accepted: bool
    told: bool
    elsewhere: bool = False
    elsewhere_now: bool = False
    held: bool = False
    owned_up: bool = False


class Judgement(NamedTuple):
    false_alarm: bool
    silent_clobber: bool
    useful_merge: bool
    missed_merge: bool


def judge(evidence: Evidence) -> Judgement:
    """The verdict on one attempt."""
    is_silent = lost(evidence) and not evidence.owned_up
    clobber = evidence.accepted and (evidence.elsewhere or is_silent)
    foreign = evidence.before is not None and plain(evidence.base) != plain(evidence.before)
    over = evidence.target is None and foreign
    return Judgement(
        false_alarm=_false_alarm(evidence),
        silent_clobber=clobber,
        useful_merge=over and evidence.accepted and not clobber and _ours_present(evidence),
        missed_merge=over and not evidence.accepted and not evidence.held and mergeable(evidence),
    )


def lost(evidence: Evidence) -> bool:
    """Return whether bytes are gone that the attempt did not name, or deleted bytes of others are back."""
    if evidence.before is None:
        return evidence.after is not None
    if evidence.after is None:
        return True
    seen = b"".join(_shown_lines(evidence))
    ours = evidence.ours if evidence.target is None else _ours_of_shown(evidence, seen)
    texts = (seen, ours, evidence.before, evidence.after)
    best = merged(evidence) if evidence.target is None and evidence.shown is None else None
    if best is not None and Counter(lines(best)) - Counter(lines(evidence.after)):
        return True  # one of several equal lines that both sides removed once went twice
    # Lines first: they say whether anything can be missing. A line that both sides changed is
    # looked at by words, because a replacement may touch one word and keep the others' one.
    return _missing([Counter(t.splitlines(keepends=True)) for t in texts]) and _missing(
        [Counter(WORDS.findall(t)) for t in texts]
    )


def known_after(base: bytes, now: bytes, told: str, path: str) -> bytes:
    """The text that an agent knows that was shown `base` and then was told of the changes of `now`:
    `now`, where the diff below the path prints each line that came and each that went, else
    `base`. A diff that was cut off, or a mention, tells of no line."""
    came, went = Counter[str](), Counter[str]()
    is_told = is_diff = is_about = False
    for line in told.splitlines():
        if line.startswith("```"):
            is_diff = not is_diff
        elif not is_diff:
            is_about = line.startswith(path)
            is_told = is_told or is_about
        elif is_about and line[:1] in ("+", "-"):
            (came if line[0] == "+" else went)[line[1:]] += 1
    old, new = (Counter(plain(text).decode().splitlines()) for text in (base, now))
    is_whole = not (new - old) - came and not (old - new) - went
    return plain(now) if is_told and is_whole else base


def mergeable(evidence: Evidence) -> bool:
    """Return whether both sides' changes fit together, all of the file was shown, and it is still the
    file of that name."""
    here = not evidence.elsewhere_now and not _unseen_would_go(evidence)
    return here and merged(evidence) is not None


def merged(evidence: Evidence) -> bytes | None:
    """The text (as an agent sees it) with both sides' changes; None when a line of the base was
    changed by both, or both inserted into one gap. Changes of neighbouring lines do fit."""
    if evidence.before is None:
        return None
    base, ours, theirs = (lines(t) for t in (evidence.base, evidence.ours, evidence.before))
    changes: dict[tuple[int, int], list[bytes]] = {}
    for mine in hunks(base, ours):
        for other in hunks(base, theirs):
            if _collide(mine, other) and not _same(mine, ours, other, theirs):
                return None
        changes[mine[:2]] = ours[mine[2] : mine[3]]
    changes |= {other[:2]: theirs[other[2] : other[3]] for other in hunks(base, theirs)}
    for (start, end), new in sorted(changes.items(), reverse=True):
        base[start:end] = new
    return b"".join(base)


def dressed(text: bytes, like: bytes) -> bytes:
    """A plain text in the form of a file: its BOM, its line ends where all are alike."""
    crlf = b"\r\n" in like
    return (BOM if like.startswith(BOM) else b"") + (text.replace(b"\n", b"\r\n") if crlf else text)


def hunks(old: Sequence[bytes], new: Sequence[bytes]) -> list[Hunk]:
    """Return what differs between two texts, as half-open line ranges of both. Of equal lines, the lowest
    are the ones that were inserted or removed."""
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    found: list[Hunk] = []
    for tag, a, b, c, d in reversed(codes):
        text, first, last = (old, a, b) if tag == "delete" else (new, c, d)
        room = (found[-1][0] if found else len(old)) - b if tag in ("delete", "insert") else 0
        down = 0
        while down < room and text[first + down] == text[last + down]:
            down += 1
        if tag != "equal":
            found.append((a + down, b + down, c + down, d + down))
    return found[::-1]


def plain(data: bytes) -> bytes:
    """The text as an agent sees it: without BOM, line ends as a single newline."""
    return data.removeprefix(BOM).replace(b"\r\n", b"\n")


def lines(data: bytes) -> list[bytes]:
    """The lines of the text as an agent sees it."""
    return plain(data).splitlines(keepends=True)


def region_untouched(evidence: Evidence) -> bool:
    """Return whether the lines a replacement is about stand on disk as they were shown, as often."""
    if evidence.target is None or evidence.before is None:
        return False
    base, before = lines(evidence.base), lines(evidence.before)
    text = b"".join(base[evidence.target[0] - 1 : evidence.target[1]])
    if plain(evidence.before).count(text) != plain(evidence.base).count(text):
        return False
    return not any(_touches(evidence.target, hunk) for hunk in hunks(base, before))


def _false_alarm(evidence: Evidence) -> bool:
    if evidence.before is None or evidence.elsewhere_now or evidence.held:
        return False
    if evidence.accepted:
        # Flipped line ends are no change of what was seen, but may be told: the bytes differ.
        return evidence.told and _seen_stands(evidence, evidence.base, evidence.before)
    same = _seen_stands(evidence, plain(evidence.base), plain(evidence.before))
    return region_untouched(evidence) or (same and not _unseen_would_go(evidence))


def seen_stands(evidence: Evidence) -> bool:
    """Return whether all that the agent saw stands there unchanged, byte for byte."""
    assert evidence.before is not None
    return _seen_stands(evidence, evidence.base, evidence.before)


def _seen_stands(evidence: Evidence, base: bytes, before: bytes) -> bool:
    """Return whether all that was shown of `base` stands unchanged in `before`."""
    if evidence.shown is None:
        return base == before
    old, new = base.splitlines(keepends=True), before.splitlines(keepends=True)
    # Who saw the last line saw that nothing follows it, and so for the first.
    seen = [(first - (first == 1), last + (last == len(old))) for first, last in evidence.shown]
    return not any(_touches(span, hunk) for span in seen for hunk in hunks(old, new))


def _touches(span: Span, hunk: Hunk) -> bool:
    start, end = hunk[:2]
    return span[0] - 1 < start < span[1] if start == end else start < span[1] and span[0] <= end


def _unseen_would_go(evidence: Evidence) -> bool:
    """Return whether a whole-file write would drop lines that were never shown."""
    if evidence.target is not None or evidence.shown is None:
        return False
    unseen = Counter(lines(evidence.base)) - Counter(map(plain, _shown_lines(evidence)))
    return bool(unseen - Counter(lines(evidence.ours)))


def _shown_lines(evidence: Evidence) -> list[bytes]:
    every = evidence.base.splitlines(keepends=True)
    if evidence.shown is None:
        return every
    return [line for first, last in evidence.shown for line in every[first - 1 : last]]


def _ours_of_shown(evidence: Evidence, seen: bytes) -> bytes:
    """Return what a replacement makes of the lines that were shown."""
    gone = Counter(evidence.base.splitlines(keepends=True))
    gone.subtract(evidence.ours.splitlines(keepends=True))
    kept = Counter(seen.splitlines(keepends=True))
    kept.subtract(gone)
    return b"".join(kept.elements())


def _missing(counts: list[Counter[bytes]]) -> bool:
    base, ours, before, after = counts
    for piece in before.keys() | base.keys():
        wanted = ours[piece] - base[piece]
        if after[piece] < before[piece] + min(0, wanted):
            return True
        if before[piece] < base[piece] and after[piece] > before[piece] + max(0, wanted):
            return True
    return False


def _ours_present(evidence: Evidence) -> bool:
    added = Counter(lines(evidence.ours)) - Counter(lines(evidence.base))
    return not added - Counter(lines(evidence.after or b""))


def _collide(one: Hunk, other: Hunk) -> bool:
    if one[0] == one[1] and other[0] == other[1]:
        return one[0] == other[0]
    return one[0] < other[1] and other[0] < one[1]


def _same(mine: Hunk, ours: list[bytes], other: Hunk, theirs: list[bytes]) -> bool:
    return mine[:2] == other[:2] and ours[mine[2] : mine[3]] == theirs[other[2] : other[3]]
