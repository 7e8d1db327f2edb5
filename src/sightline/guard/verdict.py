"""The verdict: judge(case, attempt) -> Ruling. First look, then edit.

Every attempt is judged by the region it touches, on three texts: the *base* (what this session's
agent believes), the *disk*, and the agent's own. A region whose bytes on disk are what the agent
was shown may be replaced, whatever happened elsewhere; others' changes elsewhere come back as
`changes`. The promises, and the table that this follows, are in docs/how-it-decides.md.
"""

from __future__ import annotations

from msgspec import structs

from sightline.guard import region_rules
from sightline.guard.edit_case import Decision, EditCase, Evidence, Ruling, State
from sightline.guard.file_rules import (
    whole_path,  # most attempts are none: a hook is short
    write,
)
from sightline.guard.region_rules import disk_text
from sightline.model.attempts import (
    Attempt,
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
from sightline.model.spans import whole
from sightline.model.text import decode


def judge(case: EditCase, attempt: Attempt | None) -> Ruling:
    """Whether this attempt may be carried out on what stands there now, and how. With no attempt:
    whether the agent may rely on what it was shown."""
    sight = case.sight
    blocked = _standing(sight, attempt)
    if blocked is not None:
        return blocked
    if isinstance(attempt, Create):
        return case.refuse("exists")
    if sight.retargeted and not case.same and attempt is not None:
        return case.refuse("stale")
    if attempt is None:
        return _relied(case)
    if isinstance(attempt, Several):
        return _several(case, attempt)
    if case.state == "kind_changed":
        return case.refuse("kind_changed")
    if isinstance(attempt, (Move, Delete)):
        return whole_path(case, attempt)
    if case.disk is None and sight.disk is not None:
        return case.refuse("binary")
    if isinstance(attempt, WriteWhole):
        return write(case, attempt)
    if isinstance(attempt, Replace):
        return region_rules.replace(case, attempt)
    if isinstance(attempt, ReplaceLines):
        return region_rules.replace_lines(case, attempt)
    assert isinstance(attempt, Patch)
    return region_rules.patch(case, attempt)


def _standing(sight: Evidence, attempt: Attempt | None) -> Ruling | None:
    """Refusals and allowances that what stands there decides, before any text is looked at."""
    if sight.kind == "unreadable":
        return Ruling("refuse", "unverifiable", "unverifiable")
    if sight.why == "too_large":
        return Ruling("refuse", _unread_state(sight), "too_large")
    if sight.kind == "file":
        return None
    if sight.kind != "missing":
        state: State = "kind_changed" if sight.belief else "unseen"
        return Ruling("refuse", state, "exists" if isinstance(attempt, Create) else "kind_changed")
    if isinstance(attempt, Create) or (isinstance(attempt, WriteWhole) and sight.belief is None):
        return _created(attempt.content)
    if sight.belief is None:
        return Ruling("refuse", "unseen", "not_found")
    return Ruling("refuse", "deleted", "deleted")


def _unread_state(sight: Evidence) -> State:
    return "stale" if sight.belief else "unseen"


def _created(content: str) -> Ruling:
    try:
        new = content.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return Ruling("refuse", "unseen", "binary", encoding="utf-8")
    text = decode(new)
    if text is None:
        return Ruling("refuse", "unseen", "binary")
    after = first_look(text.lines, whole(len(text.lines)))
    return Ruling("allow", "unseen", new=new, after=after)


def _relied(case: EditCase) -> Ruling:
    """Without an attempt, whether the agent may rely on what it was shown."""
    if case.state == "fresh":
        return case.allow(None, None)
    return case.refuse(case.state)


def _several(case: EditCase, attempt: Several) -> Ruling:
    """Each part on what the part before would leave; the first refusal is the answer."""
    at = case
    changes = case.changes
    decision: Decision = "allow"
    ruling = case.refuse("no_change")
    for part in attempt.parts:
        ruling = judge(at, part)
        if ruling.decision == "refuse":
            return ruling
        decision = max(decision, ruling.decision, key=_WEIGHT.index)
        at = _after(at, ruling)
    return structs.replace(ruling, decision=decision, changes=changes)


_WEIGHT: list[Decision] = ["allow", "notice", "merge"]


def _after(case: EditCase, ruling: Ruling) -> EditCase:
    """The case as it stands once a ruling was carried out."""
    after = ruling.after
    if after is None or ruling.new is None:
        return EditCase(Evidence("missing"), case.rules)
    body = disk_text(case).hold("".join(after.lines)) if case.disk else ruling.new
    belief = Belief("", after.shown, after.held, len(after.lines))
    return EditCase(Evidence("file", ruling.new, belief, body), case.rules)
