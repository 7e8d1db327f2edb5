"""How an attempt on a file as a whole is judged: written, created, deleted, moved."""

from __future__ import annotations

from msgspec import structs

from sightline.guard.edit_case import EditCase, Ruling
from sightline.guard.region_rules import as_merged, disk_text, encoded, unfit
from sightline.model.attempts import Attempt, Delete, WriteWhole
from sightline.model.belief import first_look
from sightline.model.diff import diff
from sightline.model.merge import merge
from sightline.model.spans import Spans, carry, new_sides, subtract, union, whole
from sightline.model.text import Text, decode, split, unmarked


def write(case: EditCase, attempt: WriteWhole) -> Ruling:
    """The whole content: nothing never shown is written over, others' changes are merged."""
    disk = disk_text(case)
    content = attempt.content if attempt.raw else unmarked(attempt.content)
    result = _raw(attempt.content, disk) if attempt.raw else encoded(disk, content)
    merging = case.rules.policy == "merge" and not (case.same or attempt.raw or case.base is None)
    if result is None and not merging:  # what does not fit may be what others have replaced
        return unfit(case)
    if result == case.sight.disk:
        return case.refuse("no_change")
    unseen = _never_shown(case)
    if unseen:
        return case.refuse("unseen", lines=unseen)
    if merging:
        return _merge(case, split(content))
    whole_new = decode(result) if result is not None else None
    if whole_new is None:
        return case.refuse("binary")
    empty = case.sight.belief is None  # else it would have lines that were never shown
    if case.same or empty or case.rules.policy == "warn":
        all_lines = whole(len(whole_new.lines))
        return case.allow(result, first_look(whole_new.lines, all_lines))
    return case.refuse("stale")


def _merge(case: EditCase, lines: list[str]) -> Ruling:
    assert case.base is not None
    disk = disk_text(case)
    mine = diff(case.base.lines, lines)
    merged = merge(case.base.lines, lines, disk.lines, mine=mine, other=case.theirs)
    if not merged.clean:
        return case.refuse("conflict", conflicts=merged.conflicts)
    return as_merged(case, merged.lines, lines, mine)


def whole_path(case: EditCase, attempt: Attempt) -> Ruling:
    """Delete and move: what matters is the file as a whole."""
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
    """Lines on disk that the agent was never shown, other than changes to what it was shown."""
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
