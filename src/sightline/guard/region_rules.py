"""How an attempt on a region is judged, once something readable stands there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from sightline.guard.edit_case import EditCase, Ruling
from sightline.model.attempts import Patch, PatchHunk, Replace, ReplaceLines
from sightline.model.belief import Held, first_look, look
from sightline.model.diff import diff
from sightline.model.locate import (
    Edit,
    applied,
    block_places,
    ended,
    ends_replaced,
    hunks_of,
    line_edits,
    lines_of,
    located,
    old_spans,
    places_of,
    replaced,
    shifted,
    written_lines,
)
from sightline.model.merge import collide, merge
from sightline.model.nearest import nearest
from sightline.model.spans import (
    Hunk,
    Spans,
    carry,
    covers,
    intersect,
    new_sides,
    spans,
    subtract,
    union,
    whole,
)
from sightline.model.text import Text, lines_at, normal, split

# --- replace a text -----------------------------------------------------------------------------


def replace(case: EditCase, attempt: Replace) -> Ruling:
    """Where the text stands on disk as often as asked, it is replaced there; else, why not."""
    old, new = normal(attempt.old), normal(attempt.new)
    disk = disk_text(case)
    if old == new:
        return case.refuse("no_change")
    places = places_of(disk.plain, old)
    if len(places) == attempt.count or (attempt.count is None and places):
        return _replace_here(case, old, new, places)
    if attempt.count is not None and len(places) > attempt.count:
        lines = spans((n, n) for n in lines_at(disk.plain, places))
        return case.refuse("ambiguous", lines=lines, found=len(places))
    if case.base is not None and case.held is not None and not case.same:
        before = places_of(case.base.plain, old)
        shown = covers(case.held.shown, lines_of(case.base.plain, before, old))
        if before and shown and attempt.count in (None, len(before)):
            return _region_changed(case, replaced(case.base.plain, old, new, before))
    return _not_found(case, old, len(places))


def _replace_here(case: EditCase, old: str, new: str, places: list[int]) -> Ruling:
    disk = disk_text(case)
    plain = replaced(disk.plain, old, new, places)
    result = encoded(disk, plain, ends_replaced(disk.plain, old, new, places))
    if result is None:
        return unfit(case)
    region = lines_of(disk.plain, places, old)
    if case.base is not None and case.held is not None:
        before = places if case.same else places_of(case.base.plain, old)
        in_base = lines_of(case.base.plain, before, old)
        mapped = covers(carry(case.held.shown, case.theirs), region)
        alike = len(before) == len(places) and covers(case.held.shown, in_base)
        if alike:  # the same text stands as often in what was shown, moved or not
            return case.allow(result, own(case.held, replaced(case.base.plain, old, new, before)))
        if mapped:  # it stood there more often before; each place left was shown
            return case.allow(result, _after_here(case, _line_edits(disk, old, new, places), ()))
    written = written_lines(plain, places, old, new)
    return _unseen_region(case, result, _line_edits(disk, old, new, places), written, region)


def _line_edits(disk: Text, old: str, new: str, places: list[int]) -> list[Edit]:
    return line_edits(disk.plain, disk.lines, old, new, places)


def _unseen_region(
    case: EditCase, result: bytes, edits: list[Edit], written: Spans, region: Spans
) -> Ruling:
    """The text to replace matches the disk, but the agent was never shown those lines.
    written: lines of the new text that are the agent's own from end to end."""
    if case.rules.unseen == "refuse":
        return case.refuse("unseen", lines=region)
    allowed = case.allow(result, _after_here(case, edits, written))
    return structs.replace(allowed, decision="notice", reason="unseen", lines=region)


def _after_here(case: EditCase, edits: list[Edit], written: Spans) -> Held:
    """What is held after edits of the disk's own lines: others' changes that an edit meets are in
    it, the others stay unseen. An edit of lines that were all shown leaves lines all known."""
    disk = disk_text(case)
    if case.held is None:
        return first_look(applied(disk.lines, edits), written)
    met = [
        t for t in case.theirs if any(collide((t[2], t[3], 0, 0), (*e[:2], 0, 0)) for e in edits)
    ]
    at = look(case.held, disk.lines, (), met)
    back = [(b0, b1, a0, a1) for a0, a1, b0, b1 in case.changes if (a0, a1, b0, b1) not in met]
    there = [shifted(edit, back) for edit in edits]
    hunks = hunks_of(there)
    fresh: Spans = ()
    for here, moved in zip(hunks_of(edits), hunks, strict=True):
        first, last, by = moved[2] + 1, moved[3], moved[2] - here[2]
        if covers(at.shown, spans([(moved[0] + 1, moved[1])])) and moved[1] > moved[0]:
            fresh = union(fresh, spans([(first, last)]))
        else:
            own_lines = spans((a + by, b + by) for a, b in written)
            fresh = union(fresh, intersect(own_lines, spans([(first, last)])))
    lines = ended(applied(at.lines, there))
    return Held(
        tuple(lines), union(carry(at.shown, hunks), fresh), union(carry(at.held, hunks), fresh)
    )


def _not_found(case: EditCase, old: str, found: int) -> Ruling:
    """Nothing to replace: the nearest lines, and whether the agent was ever shown them."""
    disk = disk_text(case)
    near = nearest(old, disk.lines)
    shown = carry(case.held.shown, case.theirs) if case.held else ()
    known = near is not None and covers(shown, ((near.first, near.last),))
    lines = ((near.first, near.last),) if near else ()
    return case.refuse("not_found", near=near, near_shown=known, lines=lines, found=found)


# --- replace lines, patch -----------------------------------------------------------------------


def replace_lines(case: EditCase, attempt: ReplaceLines) -> Ruling:
    """Line numbers are those of the text last seen, so without one nothing can be meant."""
    if case.base is None or case.held is None:
        reason = "stale" if case.sight.belief else "unseen"  # was it shown, and its text not kept?
        return case.refuse(reason, lines=whole(len(disk_text(case).lines)))
    total = len(case.held.lines)
    first, last = attempt.first, attempt.last
    if not (1 <= first <= total + 1 and first - 1 <= last <= total):
        return case.refuse("not_found", found=total)
    about = ((first, last),) if last >= first else _neighbours(first, total)
    if not covers(case.held.shown, about):
        return case.refuse("unseen", lines=subtract(about, case.held.shown))
    return _regions(case, [_line_edit(case.held.lines, first - 1, last, normal(attempt.new))])


def _neighbours(first: int, total: int) -> Spans:
    return spans((n, n) for n in (first - 1, first) if 1 <= n <= total)


def _line_edit(lines: Sequence[str], start: int, end: int, new: str) -> Edit:
    """The edit of whole lines, with the newlines that keep its neighbours apart."""
    put = split(new)
    if (put and end < len(lines)) or (put and lines and lines[-1].endswith("\n")):
        put[-1] = put[-1].removesuffix("\n") + "\n"
    elif put and start == len(lines) and lines:  # after a last line that has no newline
        return start - 1, end, [lines[-1] + "\n", *put]
    return start, end, put


def patch(case: EditCase, attempt: Patch) -> Ruling:
    """The hunks stand in what was shown, else in what is on disk; else, which of them does not."""
    disk = disk_text(case)
    if case.base is not None and case.held is not None:
        edits = located(attempt.hunks, case.base.lines)
        if edits is not None and covers(case.held.shown, old_spans(edits)):
            return _regions(case, edits)
    edits = located(attempt.hunks, disk.lines)
    if edits is None:
        return _patch_not_found(case, attempt.hunks)
    result = encoded(disk, "".join(applied(disk.lines, edits)), hunks_of(edits))
    if result is None:
        return unfit(case)
    if result == case.sight.disk:
        return case.refuse("no_change")
    return _unseen_region(case, result, edits, new_sides(hunks_of(edits)), old_spans(edits))


def _patch_not_found(case: EditCase, hunks: Sequence[PatchHunk]) -> Ruling:
    disk = disk_text(case)
    for hunk in hunks:
        if located([hunk], disk.lines) is None:
            block = "".join(hunk.old)
            found = len(block_places(hunk.old, disk.lines))
            if found > 1:
                places = block_places(hunk.old, disk.lines)
                return case.refuse(
                    "ambiguous", lines=spans((p + 1, p + 1) for p in places), found=found
                )
            return _not_found(case, block, found)
    return _not_found(case, "".join(hunks[0].old), 0)


def _regions(case: EditCase, edits: list[Edit]) -> Ruling:
    """Edits of base lines that were shown, carried onto the disk's text."""
    assert case.base is not None
    assert case.held is not None
    disk = disk_text(case)
    ours = applied(case.base.lines, edits)
    if ours == case.base.lines:
        return case.refuse("no_change")
    claims = [(start, end, 0, 0) for start, end, _ in edits]
    if any(collide(claim, hunk) for claim in claims for hunk in case.theirs):
        moved = _moved_block(case, edits)
        if moved is None:
            return _region_changed(case, "".join(ours))
        there = [moved]
    else:
        there = [shifted(edit, case.theirs) for edit in edits]
    lines = applied(disk.lines, there)
    if lines != ended(lines):  # an edit took the last newline, others wrote on behind it
        return _region_changed(case, "".join(ours))
    result = encoded(disk, "".join(lines), hunks_of(there))
    if result is None:
        return unfit(case)
    return case.allow(result, own(case.held, "".join(ours)))


def _moved_block(case: EditCase, edits: list[Edit]) -> Edit | None:
    """One edit whose lines stand once in the base and once on disk: moved as they are."""
    assert case.base is not None
    if len(edits) != 1 or edits[0][0] == edits[0][1]:
        return None
    start, end, put = edits[0]
    block = case.base.lines[start:end]
    there = block_places(block, disk_text(case).lines)
    if len(there) != 1 or len(block_places(block, case.base.lines)) != 1:
        return None
    return there[0], there[0] + len(block), put


def _region_changed(case: EditCase, ours: str) -> Ruling:
    """Somebody changed lines of the region itself: merge where that is allowed and clean."""
    assert case.base is not None
    assert case.held is not None
    disk = disk_text(case)
    lines = split(ours)
    if case.rules.policy not in ("merge", "warn"):
        return case.refuse("stale", changes=_colliding(case, lines))
    mine = diff(case.base.lines, lines)
    merged = merge(case.base.lines, lines, disk.lines, mine=mine, other=case.theirs)
    if not merged.clean:
        return case.refuse("stale", changes=_colliding(case, lines), conflicts=merged.conflicts)
    return as_merged(case, merged.lines, lines, mine)


def _colliding(case: EditCase, ours: Sequence[str]) -> tuple[Hunk, ...]:
    """The hunks of theirs that meet ours; all that touch shown lines when none does."""
    assert case.base is not None
    mine = diff(case.base.lines, ours)
    met = tuple(t for t in case.theirs if any(collide(h, t) for h in mine))
    return met or case.changes


def as_merged(
    case: EditCase, lines: Sequence[str], ours: Sequence[str], mine: Sequence[Hunk]
) -> Ruling:
    """Allow what a clean merge made; the agent holds its own text, others' changes stay news."""
    assert case.held is not None
    disk = disk_text(case)
    result = encoded(disk, "".join(lines))
    if result is None:
        return unfit(case)
    if result == case.sight.disk:
        return case.refuse("no_change")
    return structs.replace(case.allow(result, edited(case.held, ours, mine)), decision="merge")


# --- small parts --------------------------------------------------------------------------------


def own(before: Held, plain: str) -> Held:
    """What is held after the agent's own edit of the text it held: only that region moved."""
    lines = split(plain)
    return edited(before, lines, diff(before.lines, lines))


def edited(before: Held, lines: Sequence[str], mine: Sequence[Hunk]) -> Held:
    """What is held after the agent made these lines of those it held."""
    written = new_sides(mine)
    shown = union(carry(before.shown, mine), written)
    return Held(tuple(lines), shown, union(carry(before.held, mine), written))


def disk_text(case: EditCase) -> Text:
    """What stands on disk, where that is text."""
    assert case.disk is not None
    return case.disk


def encoded(disk: Text, plain: str, hunks: Sequence[Hunk] | None = None) -> bytes | None:
    """The text as the file's bytes; None when these could not be read back as that text."""
    try:
        return None if "\0" in plain else disk.encode(plain, hunks)
    except UnicodeEncodeError:
        return None


def unfit(case: EditCase) -> Ruling:
    """The new text has characters that the file's encoding, or any text file, cannot hold."""
    return case.refuse("binary", encoding=disk_text(case).label)
