"""Edits by a host's own tools, judged before it writes.

The host writes, not we. So an attempt that may go on is journalled with the bytes it is to leave,
and compared with what was written (hooks.handlers.tool_writes).
"""

from __future__ import annotations

from msgspec import structs

from sightline.agents.hook_events import DIFF_MAX, NOTHING, Answer, Attempted, CellEdit, Failed
from sightline.changes.attribution import detect_changes
from sightline.changes.authors import changed_by
from sightline.changes.renames import resolve_rename
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import before_change
from sightline.errors import EditRefused, PathRefused
from sightline.filesystem.file_state import ResolvedPath
from sightline.guard import notebooks
from sightline.guard import words as guard_words
from sightline.guard.edit import planned_write
from sightline.guard.edit_notices import unseen_notice
from sightline.guard.evaluation import Evaluation, claims_on, edit_case, forbids, resolve_path
from sightline.guard.notebooks import CellRuling, judge_cell
from sightline.guard.write_journal import intend, recover
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import fitted, hand, tell_changes
from sightline.hooks.handlers.deletions import known_gone, told_gone
from sightline.model.attempts import Attempt, Create, Replace, WriteWhole
from sightline.model.events import Refused, Told
from sightline.model.nearest import nearest
from sightline.model.revision import revision_of
from sightline.model.spans import intersect, new_sides
from sightline.model.text import unmarked
from sightline.notices.pending import is_handed
from sightline.sessions.claims import announce_once
from sightline.sessions.words import claim_enforced
from sightline.text import phrases

STRAIGHT = {ord(curly): straight for curly, straight in zip("“”‘’", "\"\"''", strict=True)}
"""Typographic quotes -> those of a keyboard."""

UNJUDGED = ("no_change", "too_large")
"""Refusals of ours that are none to a host: its tool does no harm, or we cannot tell."""


def attempted(ground: SessionContext, event: Attempted) -> Answer:
    """Judge an attempt: refuse it with what changed, hand over a merge, or let it go on."""
    try:
        located = resolve_path(ground, event.path)
    except PathRefused as error:
        return Answer(refuse=words.refused(error)) if error.reason == "ignored" else NOTHING
    except EditRefused as error:  # the disk does not answer
        return Answer(refuse=words.refused(error))
    before_change(ground, located.path)
    with ground.workspace.lock(located.path):
        if isinstance(event.attempt, CellEdit):
            return judged(ground, located, event.attempt)
        plan = _plan(ground, located, event.attempt)
        refusal = _refusal(plan)
        if refusal is not None:
            _handed_over(plan, refusal)
            return Answer(refuse=words.refused(refusal))
        if plan.ruling.decision == "refuse":
            return Answer(context=words.not_judged(plan.shown_path, plan.ruling.reason or ""))
        journal(plan)
    return _let_go_on(plan)


def failed_unheard(ground: SessionContext, event: Failed, room: int) -> str:
    """Why an attempt does not fit, that the host turned down before any hook heard of it; no
    words where it would have been let through. room: characters of a diff."""
    if event.attempt is None:
        return ""
    try:
        located = resolve_path(ground, event.path)
    except (PathRefused, EditRefused):
        return ""
    with ground.workspace.lock(located.path):
        plan = Evaluation(ground, located, event.attempt)
        refusal = _refusal(plan)
    if refusal is None:
        return _turned_down(ground, located, room)
    _handed_over(plan, refusal, room)
    return words.why_it_failed(refusal, _alike(plan))


def _turned_down(ground: SessionContext, located: ResolvedPath, room: int) -> str:
    """What others changed, when a host turned down what could have stood beside it."""
    change, told = tell_changes(ground, located, room)
    return words.turned_down(change.summary, change.diff) if told else ""


def _alike(plan: Evaluation) -> str:
    """On the lines nearest to the text of a replacement that others have changed."""
    if plan.ruling.reason != "stale" or not isinstance(plan.attempt, Replace):
        return ""
    near = nearest(plan.attempt.old, plan.case.disk.lines if plan.case.disk else [])
    changed = new_sides(plan.ruling.changes)
    if near is None or not intersect(changed, ((near.first, near.last),)):
        return ""
    return guard_words.nearest(near, shown=True)


def journal(plan: Evaluation) -> None:
    """Say that the host is about to leave these bytes, and keep those that stand there."""
    write = planned_write(plan)
    intend(plan.context, [write], unrecorded=plan.unrecorded, by_host=True)


def _plan(ground: SessionContext, located: ResolvedPath, attempt: Attempt) -> Evaluation:
    """The attempt, judged. Hosts find a text also where the file has typographic quotes for its
    straight ones, and leave those be; so do we."""
    plan = Evaluation(ground, located, attempt)
    if isinstance(attempt, WriteWhole) and plan.on_disk.kind == "missing":
        anew = known_gone(ground, plan.path)
        return Evaluation(ground, located, Create(attempt.content)) if anew else plan
    if plan.ruling.reason != "not_found" or not isinstance(attempt, Replace):
        return plan
    sought = attempt.old.translate(STRAIGHT)
    for text in (plan.case.disk, plan.case.base):
        at = text.plain.translate(STRAIGHT).find(sought) if text else -1
        if text and at >= 0:
            stands = text.plain[at : at + len(sought)]
            return Evaluation(ground, located, structs.replace(attempt, old=stands))
    return plan


def _refusal(plan: Evaluation) -> EditRefused | None:
    if plan.renamed_to is not None and not isinstance(plan.attempt, Create):
        there = plan.renamed_to.name or plan.renamed_to.path
        message, hint = words.moved_away(plan.shown_path, there)
        return EditRefused("moved", plan.shown_path, message, hint=hint)
    if plan.ruling.decision == "refuse":
        if _would_write_back(plan):
            plan.ruling = plan.case.refuse("stale")
        return None if plan.ruling.reason in UNJUDGED else plan.refuse()
    return plan.refuse_again(plan.repeated) if plan.repeated is not None else None


def _would_write_back(plan: Evaluation) -> bool:
    """Whether a whole text that brings nothing new would still take others' changes away: merged
    with them it is what stands there, but its host writes it as it is."""
    attempt, disk = plan.attempt, plan.case.disk
    if plan.ruling.reason != "no_change" or not isinstance(attempt, WriteWhole) or disk is None:
        return False
    return unmarked(attempt.content) != disk.plain


def _handed_over(plan: Evaluation, refusal: EditRefused, room: int = DIFF_MAX) -> None:
    """Record what a refusal tells. What does not fit is left out of it, and not counted."""
    told = refusal.told if isinstance(refusal.told, Told) else None
    if refusal.text is not None and len(refusal.diff) + len(refusal.text) > room:
        refusal.text = None
        told = structs.replace(told, whole=False) if told else None
    refusal.diff, whole = fitted(refusal.diff, refusal.path, room)
    if told is not None and not whole:
        told = structs.replace(told, hunks=(), whole=False)
    if refusal.reason in ("deleted", "moved"):
        refusal.hint = words.gone(refusal.hint, refusal.reason)
        told = told_gone(plan.context, plan.path)
    hand(plan.context, "refusal", [refusal.path], [told])


def _on_its_way(plan: Evaluation) -> bool:
    """Whether the host was handed words on what stands there now, and has not said that they
    arrived: the agent may well have been shown the lines it means."""
    known = plan.known.knowledge
    return known is not None and is_handed(plan.context, known, plan.on_disk.revision)


def _let_go_on(plan: Evaluation) -> Answer:
    ask = words.asks(plan.shown_path) if plan.protected else None
    context = ""
    if plan.ruling.reason == "unseen" and not _on_its_way(plan):
        context = phrases.says(unseen_notice(plan).text)
    content = None
    if plan.ruling.decision == "merge" and isinstance(plan.attempt, WriteWhole):
        assert plan.new_text is not None
        content, context = plan.new_text.plain, words.merged(plan.shown_path)
    if plan.claims:
        claimed = announce_once(plan.context, plan.shown_path, plan.claims)
        context = "\n\n".join(filter(None, [context, claimed]))
    return Answer(ask=ask, content=content, context=context)


def judged(ground: SessionContext, located: ResolvedPath, edit: CellEdit) -> Answer:
    """Refuse the edit of a cell that is not what its agent was shown, or let it go on. Under the
    caller's lock."""
    path = located.name or located.path
    recover(ground, located.path)
    found = ground.look(located.path)
    known = resolve_rename(ground, located, found)
    news = detect_changes(ground, found)
    policy = ground.settings.policy_for(path)
    ruling = judge_cell(edit_case(ground, found, known, policy), edit.cell, edit.mode)
    claims = claims_on(ground, located.path)
    if forbids(ground, claims):
        fact = Refused(located.path, _described(edit), "claimed", found.revision)
        ground.append([*news, fact], found=[found])
        message, hint = claim_enforced(path, claims, ground.session)
        return Answer(refuse=words.refused(EditRefused("claimed", path, message, hint=hint)))
    refused = ruling.decision == "refuse" and ruling.reason != "too_large"
    blobs = ground.keepable(located.path, found.data) if news or refused else ()
    if refused:
        who, _ = changed_by(ground, located.path, news)
        reason = ruling.reason or "stale"
        fact = Refused(located.path, _described(edit), reason, found.revision)
        ground.append([*news, fact], blobs=blobs, found=[found])
        error = _error(path, edit, ruling, who, there=found.kind == "file")
        return Answer(refuse=words.refused(error))
    ground.append(news, blobs=blobs, found=[found])
    context = ""
    if ruling.reason is not None:
        context = words.not_judged(path, ruling.reason)
    elif ruling.others:
        context = notebooks.changed_cells(path, ruling.others, ruling.diff)
    if claims:
        context = "\n\n".join(filter(None, [context, announce_once(ground, path, claims)]))
    return Answer(ask=words.asks(path) if policy == "ask" else None, context=context)


def _error(path: str, edit: CellEdit, ruling: CellRuling, who: str, *, there: bool) -> EditRefused:
    reason = ruling.reason or "stale"
    if there and reason != "unverifiable":
        message, hint = notebooks.refusal(path, edit.cell, reason, who)
    else:
        message, hint = notebooks.no_file(path, reason)
    return EditRefused(reason, path, message, diff=ruling.diff, hint=hint)


def _described(edit: CellEdit) -> str:
    """The attempt as a refusal records it, without its text."""
    return f"celledit:{revision_of(repr(edit).encode('utf-8', 'surrogatepass'))[:16]}"
