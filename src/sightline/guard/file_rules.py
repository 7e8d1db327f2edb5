"""Judge an attempt on a file as a whole: write, delete, move."""

from __future__ import annotations

from msgspec import structs

from sightline.guard.edit_case import EditCase, Ruling
from sightline.guard.region_rules import as_merged, unfit
from sightline.model.attempts import Attempt, Delete, WriteWhole
from sightline.model.belief import first_look
from sightline.model.diff import diff
from sightline.model.merge import merge
from sightline.model.spans import Spans, carry, new_sides, subtract, union, whole
from sightline.model.text import Text, decode, split


def write(case: EditCase, attempt: WriteWhole) -> Ruling:
    """Judge a whole new content: it never replaces unseen lines, and is merged with others'
    changes."""
    disk = case.disk_text
    content = attempt.content if attempt.raw else disk.own(attempt.content)
    data = _raw(attempt.content, disk) if attempt.raw else disk.fit(content)
    merging = case.rules.policy == "merge" and not (case.same or attempt.raw or case.base is None)
    if data is None and not merging:  # a merge may take out what does not fit
        return unfit(case)
    if data == case.sight.disk:
        return case.refuse("no_change")
    unseen = _never_shown(case)
    if unseen:
        return case.refuse("unseen", lines=unseen)
    if merging:
        return _merge(case, split(content))
    text = decode(data)
    if text is None:
        return case.refuse("binary")
    never_shown = case.sight.belief is None  # and the file is empty, or there were unseen lines
    if case.same or never_shown or case.rules.policy == "warn":
        return case.allow(data, first_look(text.lines, whole(len(text.lines))))
    return case.refuse("stale")


def _merge(case: EditCase, lines: list[str]) -> Ruling:
    assert case.base is not None
    mine = diff(case.base.lines, lines)
    merged = merge(case.base.lines, lines, case.disk_text.lines, diffs=(mine, case.theirs))
    if not merged.clean:
        return case.refuse("conflict", conflicts=merged.conflicts)
    ruling = as_merged(case, merged.lines, lines, mine)
    if ruling.reason == "no_change":  # the merge is what is on disk, and this text is not
        return case.refuse("stale")
    return ruling


def whole_path(case: EditCase, attempt: Attempt) -> Ruling:
    """Judge a deletion or a move, which concerns the file as a whole."""
    if not isinstance(attempt, Delete):
        return case.allow(case.sight.disk, case.held)
    if case.sight.belief is None:
        if case.disk is None:  # not text, so it could never be shown
            return structs.replace(case.allow(None, None), decision="notice", reason="unseen")
        return case.refuse("unseen", lines=_never_shown(case))
    untouched = case.sight.believed is not None and case.sight.believed == case.sight.disk
    if not untouched and not case.same and case.rules.policy != "warn":
        return case.refuse("stale")
    unseen = _never_shown(case)
    return case.refuse("unseen", lines=unseen) if unseen else case.allow(None, None)


def _never_shown(case: EditCase) -> Spans:
    """Return the lines on disk that the agent was never shown, without others' changes to lines
    that it was shown."""
    if case.disk is None:
        return ()
    if case.held is None:
        return () if case.sight.belief else whole(len(case.disk.lines))
    if case.held.complete:
        return ()
    known = union(carry(case.held.shown, case.theirs), new_sides(case.changes))
    return subtract(whole(len(case.disk.lines)), known)


def _raw(content: str, disk: Text) -> bytes | None:
    try:
        return content.encode(disk.encoding, disk.errors)
    except UnicodeEncodeError:
        return None
