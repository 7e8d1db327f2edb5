"""Judge an attempt: judge(case, attempt) -> Ruling. First look, then edit.

Every attempt is judged by the region it touches, on three texts: the *base* (what this session's
agent believes), the *disk*, and the agent's own. A region whose bytes on disk are what the agent
was shown may be replaced, whatever happened elsewhere; others' changes elsewhere come back as
`changes`. The promises, and the table that these rules follow, are in docs/how-it-decides.md.
"""

from __future__ import annotations

from msgspec import structs

from sightline.guard import region_rules
from sightline.guard.edit_case import MARKS, EditCase, Evidence, Ruling
from sightline.guard.file_rules import whole_path, write
from sightline.guard.notebooks import judge_cell
from sightline.guard.opaque_bytes import as_kept
from sightline.model.attempts import (
    Attempt,
    CellEdit,
    Create,
    Delete,
    Move,
    Patch,
    Replace,
    ReplaceLines,
    Several,
    WriteWhole,
)
from sightline.model.belief import first_look
from sightline.model.events import Belief
from sightline.model.line_marks import has_marks
from sightline.model.results import Decision
from sightline.model.spans import whole
from sightline.model.text import OPAQUE, UNKNOWN_ENCODING, decode, joined

WEIGHT: list[Decision] = ["allow", "notice", "merge"]
"""Decisions of the parts of an attempt; the last in this order is the decision of the whole."""


def judge(case: EditCase, attempt: Attempt | None) -> Ruling:
    """Return whether an attempt may be carried out on the file as it is, and how. With no attempt:
    whether the agent may rely on what it was shown."""
    ruling = _judge(case, attempt)
    text = decode(ruling.new) if case.sight.has_marks else None
    if text is not None and has_marks(text.lines):  # a line that is nowhere cannot be written
        return case.refuse("stale")
    return ruling


def _judge(case: EditCase, attempt: Attempt | None) -> Ruling:
    sight = case.sight
    ruling = _without_text(case, attempt)
    if ruling is not None:
        return ruling
    if isinstance(attempt, Create):
        return case.refuse("exists")
    if sight.retargeted and not case.same and attempt is not None:
        return case.refuse("stale")
    if isinstance(attempt, CellEdit):
        return judge_cell(case, attempt)
    state = case.state
    if attempt is None:
        return case.allow(None, None) if state == "fresh" else case.refuse(state)
    if isinstance(attempt, Several):
        return _several(case, attempt)
    if state == "kind_changed":
        return case.refuse("kind_changed")
    if isinstance(attempt, (Move, Delete)):
        return whole_path(case, attempt)
    if case.disk is None and sight.disk is not None:
        return case.refuse("binary")
    return _of_text(case, attempt)


def _of_text(case: EditCase, attempt: Attempt) -> Ruling:
    """Return the verdict on new text for a file with a text."""
    kept = as_kept(case, attempt)
    if kept is None:
        is_opaque = case.disk_text.encoding == OPAQUE
        return case.refuse("binary", encoding=UNKNOWN_ENCODING if is_opaque else MARKS)
    if isinstance(kept, WriteWhole):
        return write(case, kept)
    if case.is_forgotten:  # nothing shows which lines others changed
        return case.refuse("stale")
    if isinstance(kept, Replace):
        return region_rules.replace(case, kept)
    if isinstance(kept, ReplaceLines):
        return region_rules.replace_lines(case, kept)
    assert isinstance(kept, Patch)
    return region_rules.patch(case, kept)


def _without_text(case: EditCase, attempt: Attempt | None) -> Ruling | None:
    """Return the verdict where the kind of the path decides; None for a file with content."""
    sight = case.sight
    if sight.kind == "file" and sight.why != "too_large":
        return None
    state = case.state
    if sight.kind == "unreadable":
        return Ruling("refuse", state, "unverifiable")
    if sight.why == "too_large":
        is_sure = attempt is None and state == "fresh"
        return Ruling("allow", state) if is_sure else Ruling("refuse", state, "too_large")
    if sight.kind != "missing":
        return Ruling("refuse", state, "exists" if isinstance(attempt, Create) else "kind_changed")
    if isinstance(attempt, Create) or (isinstance(attempt, WriteWhole) and sight.belief is None):
        return _created(attempt.content)
    return Ruling("refuse", state, "not_found" if sight.belief is None else "deleted")


def _created(content: str) -> Ruling:
    try:
        data = content.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return Ruling("refuse", "unseen", "binary", encoding="utf-8")
    text = decode(data)
    if text is None:
        return Ruling("refuse", "unseen", "binary")
    after = first_look(text.lines, whole(len(text.lines)))
    return Ruling("allow", "unseen", new=data, after=after)


def _several(case: EditCase, attempt: Several) -> Ruling:
    """Judge each part on the result of the part before; the first refusal is the answer."""
    current = case
    decision: Decision = "allow"
    ruling = case.refuse("no_change")
    for number, part in enumerate(attempt.parts, 1):
        ruling = judge(current, part)
        if ruling.decision == "refuse":
            return structs.replace(ruling, part=(number, len(attempt.parts)))
        decision = max(decision, ruling.decision, key=WEIGHT.index)
        current = _after(current, ruling)
    return structs.replace(ruling, decision=decision, changes=case.changes)


def _after(case: EditCase, ruling: Ruling) -> EditCase:
    """Return the case once a ruling was carried out."""
    after = ruling.after
    if after is None or ruling.new is None:
        return EditCase(Evidence("missing"), case.rules)
    believed = case.disk.hold(joined(after.lines)) if case.disk else ruling.new
    belief = Belief("", after.shown, after.held, len(after.lines))
    evidence = Evidence("file", ruling.new, belief, believed, has_marks=case.sight.has_marks)
    return EditCase(evidence, case.rules)
