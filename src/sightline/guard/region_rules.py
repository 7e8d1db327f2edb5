"""Judge an attempt on a region of a readable file: replace a text, replace lines, patch."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from sightline.errors import RefusalReason
from sightline.guard.edit_case import EditCase, Ruling, Sought
from sightline.model.attempts import Patch, Replace, ReplaceLines
from sightline.model.belief import Held, edited, edited_lines, first_look, look
from sightline.model.diff import diff
from sightline.model.locate import (
    Edit,
    Occurrences,
    Unplaced,
    applied,
    block_places,
    ended,
    find_replacement,
    find_text,
    hunks_of,
    is_ended,
    line_edits,
    old_spans,
    place_hunks,
    replace_text,
    replaced,
    shifted,
    written_lines,
)
from sightline.model.merge import merge
from sightline.model.nearest import nearest
from sightline.model.patches import PatchHunk
from sightline.model.spans import (
    Hunk,
    Spans,
    carry,
    collide,
    covers,
    intersect,
    new_sides,
    spans,
    subtract,
    union,
    whole,
)
from sightline.model.text import joined, lines_in, normal, split

# --- replace a text -----------------------------------------------------------------------------


def replace(case: EditCase, attempt: Replace) -> Ruling:
    """Judge a replacement of a text: it goes on where the text is on disk as often as asked."""
    disk = case.disk_text
    old, new, places = find_replacement(disk.plain, attempt)
    if old == new:
        return case.refuse("no_change")
    number = len(places.offsets)
    if number == attempt.count or (attempt.count is None and number):
        return _replace_there(case, attempt, old, new, places)
    if attempt.count is not None and number > attempt.count:
        lines = spans((line, line) for line in places.starts)
        return case.refuse("ambiguous", lines=lines, found=number)
    if case.base is not None and case.held is not None and not case.same:
        before = find_text(case.base.plain, old)
        wanted = len(before.offsets) if attempt.count is None else attempt.count
        if wanted and wanted == len(before.offsets) and covers(case.held.shown, before.lines):
            return _region_changed(case, replaced(case.base.plain, old, new, before.offsets))
    return _not_found(case, Sought(old), number)


def _replace_there(
    case: EditCase, attempt: Replace, old: str, new: str, places: Occurrences
) -> Ruling:
    disk, held = case.disk_text, case.held
    plain, data = replace_text(disk, old, new, places.offsets)
    if data is None:
        return unfit(case)
    if case.same and held is not None and covers(held.shown, places.lines):
        return case.allow(data, edited(held, plain))
    if not _is_whole_lines(disk.plain, old, places) and _may_be_hidden(case, old):
        return case.refuse("stale")
    edits = line_edits(disk.plain, old, new, places.offsets)
    if case.base is not None and held is not None:
        before = places if case.same else find_text(case.base.plain, old)
        own_edits = line_edits(case.base.plain, old, new, before.offsets)
        meant = [edit for edit in own_edits if _is_shown(held, edit, before)]
        found = {case.place(*edit[:2], exactly=False) for edit in meant}
        is_all = len(own_edits) == len(edits)
        if None in found:
            if attempt.count is None and found.issuperset(edit[0] for edit in edits):
                # It stood there more often before. Each place that is left was shown.
                return case.allow(data, _known_after(case, edits, ()))
            return _meant_elsewhere(
                case, replaced(case.base.plain, old, new, before.offsets) if is_all else None, meant
            )
        if meant and len(meant) == len(edits):
            if is_all:
                mine = plain if case.same else replaced(case.base.plain, old, new, before.offsets)
                return case.allow(data, edited(held, mine))
            return case.allow(data, _known_after(case, edits, ()))
        changed = [hunk for hunk in case.changes if any(_touches(hunk, edit) for edit in edits)]
        if before.offsets and any(a0 < a1 for a0, a1, *_ in changed):
            return case.refuse("stale", changes=tuple(changed))
    written = written_lines(plain, places.offsets, old, new)
    return _unseen_region(case, data, edits, written, places.lines)


def _is_whole_lines(plain: str, old: str, places: Occurrences) -> bool:
    """Return whether a text is whole lines at each of its places, the white space around them aside."""
    before = [plain[plain.rfind("\n", 0, at) + 1 : at] for at in places.offsets]
    ends = [at + len(old.rstrip("\n")) for at in places.offsets]
    behind = [plain[end : (plain.find("\n", end) + 1 or len(plain) + 1) - 1] for end in ends]
    return not any(part.strip() for part in (*before, *behind))


def _may_be_hidden(case: EditCase, old: str) -> bool:
    """Return whether shown lines whose text was not stored, only their marks, may have had this text. Only
    the text's first and last line can be a part of such a line."""
    if case.base is None or not case.hidden:
        return False
    parts = split(old)
    hidden, lines, last = set(case.hidden), case.base.lines, len(parts) - 1
    for start in {at - n for at in case.hidden for n in (0, last)}:
        if start < 0 or start + last >= len(lines):
            continue
        found = zip(range(start, start + last + 1), parts, strict=True)
        if all(
            (n in hidden and (n == start or (n == start + last and not part.endswith("\n"))))
            or (lines[n].endswith(part) if n == start else lines[n].startswith(part))
            for n, part in found
        ):
            return True
    return False


def _is_shown(held: Held, edit: Edit, places: Occurrences) -> bool:
    """Return whether the agent was shown the lines of the places that an edit of its own text
    replaces."""
    return covers(held.shown, intersect(places.lines, old_spans([edit])))


def _meant_elsewhere(case: EditCase, ours: str | None, meant: Sequence[Edit]) -> Ruling:
    """Judge a replacement whose text stands on disk, but not where the agent was shown it. ours: the
    base with the edit; None where the agent was shown more places than it means to change."""
    if ours is not None:
        return _region_changed(case, ours)
    gone = [hunk for hunk in case.theirs if any(collide(hunk, (*edit[:2], 0, 0)) for edit in meant)]
    return case.refuse("stale", changes=tuple(gone) or case.changes or tuple(case.theirs))


def _touches(hunk: Hunk, edit: Edit) -> bool:
    """Return whether the new lines of a hunk collide with an edit of the same text."""
    return collide((*hunk[2:], 0, 0), (*edit[:2], 0, 0))


def _unseen_region(
    case: EditCase, data: bytes, edits: list[Edit], written: Spans, region: Spans
) -> Ruling:
    """Judge an attempt that matches the disk in lines the agent was never shown. written: lines of
    the new text that are wholly the agent's own."""
    if case.rules.unseen == "refuse":
        return case.refuse("unseen", lines=region)
    allowed = case.allow(data, _known_after(case, edits, written))
    return structs.replace(allowed, decision="notice", reason="unseen", lines=region)


def _known_after(case: EditCase, edits: list[Edit], written: Spans) -> Held:
    """Return what the agent knows after edits of the disk's own lines. Others' changes that an
    edit overlaps become known; all others stay unseen. Where an edit replaces only shown lines,
    the lines it leaves are known."""
    disk = case.disk_text
    if case.held is None:
        return first_look(applied(disk.lines, edits), written)
    overlapped = [hunk for hunk in case.theirs if any(_touches(hunk, edit) for edit in edits)]
    before = look(case.held, disk.lines, (), overlapped)
    unseen = [hunk for hunk in case.changes if hunk not in overlapped]
    back = [(b0, b1, a0, a1) for a0, a1, b0, b1 in unseen]
    own_edits = [shifted(edit, back) for edit in edits]
    own_hunks = hunks_of(own_edits)
    fresh: Spans = ()
    for on_disk, own in zip(hunks_of(edits), own_hunks, strict=True):
        lines_left = spans([(own[2] + 1, own[3])])
        if own[1] > own[0] and covers(before.shown, spans([(own[0] + 1, own[1])])):
            fresh = union(fresh, lines_left)
        else:
            by = own[2] - on_disk[2]
            own_lines = spans((first + by, last + by) for first, last in written)
            fresh = union(fresh, intersect(own_lines, lines_left))
    return Held(
        ended(applied(before.lines, own_edits)),
        union(carry(before.shown, own_hunks), fresh),
        union(carry(before.held, own_hunks), fresh),
    )


def _not_found(case: EditCase, sought: Sought, found: int) -> Ruling:
    """Refuse with the nearest lines, and whether the agent was ever shown them."""
    near = nearest(sought.anchor or sought.text, case.disk_text.lines)
    shown = carry(case.held.shown, case.theirs) if case.held else ()
    lines = ((near.first, near.last),) if near else ()
    return case.refuse(
        "not_found",
        sought=sought,
        near=near,
        near_shown=near is not None and covers(shown, lines),
        lines=lines,
        found=found,
    )


# --- replace lines, patch -----------------------------------------------------------------------


def replace_lines(case: EditCase, attempt: ReplaceLines) -> Ruling:
    """Judge a replacement by line numbers. They count in the text last seen, so an agent that
    was shown no text cannot give any."""
    if case.base is None or case.held is None:
        reason: RefusalReason = (
            "stale" if case.sight.belief else "unseen"
        )  # was it shown, and its text not kept?
        return case.refuse(reason, lines=whole(len(case.disk_text.lines)))
    total = len(case.held.lines)
    first, last = attempt.first, attempt.last
    if not (1 <= first <= total + 1 and first - 1 <= last <= total):
        return case.refuse("not_found", found=total)
    relied_on: Spans = ((first, last),)
    if last < first:  # an insertion relies on both neighbours
        relied_on = spans((line, line) for line in (first - 1, first) if 1 <= line <= total)
    if not covers(case.held.shown, relied_on):
        return case.refuse("unseen", lines=subtract(relied_on, case.held.shown))
    return _regions(case, [_line_edit(case.held.lines, first - 1, last, normal(attempt.new))])


def _line_edit(lines: Sequence[str], start: int, end: int, new: str) -> Edit:
    """Return the edit of whole lines, with the newlines that keep its neighbours apart."""
    put = split(new)
    if put and (end < len(lines) or (lines and lines[-1].endswith("\n"))):
        put[-1] = put[-1].removesuffix("\n") + "\n"
    elif put and start == len(lines) and lines:  # after a last line that has no newline
        return start - 1, end, [lines[-1] + "\n", *put]
    return start, end, put


def patch(case: EditCase, attempt: Patch) -> Ruling:
    """Judge a patch: its hunks fit the text that was shown, or else the text on disk."""
    disk = case.disk_text
    if case.base is not None and case.held is not None:
        edits = place_hunks(attempt.hunks, case.base.lines)
        if not isinstance(edits, Unplaced) and covers(case.held.shown, old_spans(edits)):
            return _regions(case, edits)
    edits = place_hunks(attempt.hunks, disk.lines)
    if isinstance(edits, Unplaced):
        return _patch_not_found(case, attempt.hunks[edits.number], edits)
    if not case.same and _is_shown_elsewhere(case, attempt.hunks):
        return case.refuse("stale", changes=case.changes or tuple(case.theirs))
    hunks = hunks_of(edits)
    data = disk.fit(joined(applied(disk.lines, edits)), hunks)
    if data is None:
        return unfit(case)
    if data == case.sight.disk:
        return case.refuse("no_change")
    return _unseen_region(case, data, edits, new_sides(hunks), old_spans(edits))


def _is_shown_elsewhere(case: EditCase, hunks: Sequence[PatchHunk]) -> bool:
    """Return whether the agent was shown lines that a patch replaces, and others changed one of
    the places: nothing shows that the place that is left is the one that the patch means."""
    if case.base is None or case.held is None:
        return False
    shown = [
        case.place(at, at + len(hunk.old))
        for hunk in hunks
        for at in block_places(hunk.old, case.base.lines)
        if covers(case.held.shown, spans([(at + 1, at + len(hunk.old))]))
    ]
    return None in shown


def _patch_not_found(case: EditCase, hunk: PatchHunk, unplaced: Unplaced) -> Ruling:
    """Refuse for a hunk that has no place, or several."""
    sought = Sought("".join(hunk.old), unplaced.number + 1, unplaced.anchor)
    places = unplaced.places
    if len(places) > 1:
        starts = spans((place + 1, place + 1) for place in places)
        return case.refuse("ambiguous", sought=sought, lines=starts, found=len(places))
    return _not_found(case, sought, 0)


def _regions(case: EditCase, edits: list[Edit]) -> Ruling:
    """Judge edits of base lines that were shown: carry them to where these lines are on disk."""
    assert case.base is not None
    assert case.held is not None
    disk = case.disk_text
    ours = applied(case.base.lines, edits)
    if ours == case.base.lines:
        return case.refuse("no_change")
    places = [case.place(start, end) for start, end, _ in edits]
    on_disk = sorted(
        (place, place + end - start, put)
        for place, (start, end, put) in zip(places, edits, strict=True)
        if place is not None
    )
    if len(on_disk) < len(edits):
        return _region_changed(case, joined(ours))
    lines = ours if case.same else applied(disk.lines, on_disk)
    if not is_ended(lines):  # an edit took the last newline, and others appended lines
        return _region_changed(case, joined(ours))
    data = disk.fit(joined(lines), hunks_of(on_disk))
    if data is None:
        return unfit(case)
    if is_ended(ours):  # each is a line of its own, so the text need not be split again
        return case.allow(data, edited_lines(case.held, ours, diff(case.held.lines, ours)))
    return case.allow(data, edited(case.held, joined(ours)))


def _region_changed(case: EditCase, ours: str) -> Ruling:
    """Judge an edit of lines that somebody else changed: merge where that is allowed and clean.
    ours: the base with the edit."""
    assert case.base is not None
    lines = lines_in(ours)
    mine = diff(case.base.lines, lines)
    overlapping = tuple(hunk for hunk in case.theirs if any(collide(own, hunk) for own in mine))
    changes = overlapping or case.changes or tuple(case.theirs)
    if case.rules.policy not in ("merge", "warn"):
        return case.refuse("stale", changes=changes)
    merged = merge(case.base.lines, lines, case.disk_text.lines)
    if not merged.clean:
        return case.refuse("stale", changes=changes, conflicts=merged.conflicts)
    return as_merged(case, merged.lines, lines, mine)


def as_merged(
    case: EditCase, lines: Sequence[str], ours: Sequence[str], mine: Sequence[Hunk]
) -> Ruling:
    """Allow the lines of a clean merge. The agent knows its own text; others' changes stay
    unseen."""
    assert case.held is not None
    data = case.disk_text.fit("".join(lines))
    if data is None:
        return unfit(case)
    if data == case.sight.disk:
        return case.refuse("no_change")
    return structs.replace(case.allow(data, edited_lines(case.held, ours, mine)), decision="merge")


def unfit(case: EditCase) -> Ruling:
    """Refuse a text with characters that the file's encoding, or any text file, cannot hold."""
    return case.refuse("binary", encoding=case.disk_text.label)
