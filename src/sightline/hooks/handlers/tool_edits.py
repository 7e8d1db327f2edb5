"""Judge edits by a host's own tools before the host writes.

The host writes the file, so an attempt that may go on is journalled with the bytes it will leave,
and hooks.handlers.tool_writes compares those with the bytes that were written.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from sightline.agents.hook_events import DIFF_MAX, NOTHING, Answer, Attempted, CellEdit, Failed
from sightline.changes.attribution import detect_changes
from sightline.changes.authors import changed_by
from sightline.changes.renames import resolve_rename
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import names_for
from sightline.checkpoints.automatic import before_change
from sightline.errors import EditRefused, PathRefused
from sightline.filesystem.file_state import ResolvedPath
from sightline.guard import notebooks
from sightline.guard import words as guard_words
from sightline.guard.edit import planned_write, unseen_notice
from sightline.guard.evaluation import (
    Evaluation,
    claims_on,
    describe,
    edit_case,
    forbids,
    outside_scope,
    policy_of,
    resolve_path,
)
from sightline.guard.notebooks import CellRuling, judge_cell
from sightline.guard.unfinished import locked
from sightline.guard.write_journal import intend
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import (
    acknowledge_request,
    cut_diff,
    deliver_changes,
    knows_deletion,
    notice_of_deletion,
    record_diff,
)
from sightline.model.attempts import Attempt, Create, Replace, WriteWhole
from sightline.model.events import Refused, Told
from sightline.model.nearest import nearest
from sightline.model.path import composed
from sightline.model.revision import revision_of
from sightline.model.spans import intersect, new_sides
from sightline.notices.pending import is_handed
from sightline.sessions.claims import announce_once
from sightline.sessions.words import claim_enforced
from sightline.text import phrases

STRAIGHT = {ord(curly): straight for curly, straight in zip("“”‘’", "\"\"''", strict=True)}
"""Typographic quotes -> the quotes of a keyboard."""

HOST_ENCODINGS = ("utf-8", "utf-16-le")
"""Encodings that tools of hosts read and write; they put U+FFFD in place of all else, also in text that
they leave alone. UTF-16 begins with a mark."""

UNJUDGED = ("no_change", "too_large")
"""Refusals that do not refuse a host's tool: it does no harm, or nothing is known of the file."""

CatchUp = Callable[[bool], None]
"""Record what the transcript shows. True: the session knows some lines of the file already."""


Rewriters = Callable[[], list[str]]
"""Return the files with hooks of others that could put their own text in the place of a merge."""


def attempted(
    context: SessionContext,
    event: Attempted,
    catch_up: CatchUp = lambda _: None,
    rewriters: Rewriters = list,
) -> Answer:
    """Judge an attempt: refuse it with the diff of the changes, merge it, or let it go on. Where another hook
    could put its own text in the place of a merge, refuse what else would be merged."""
    try:
        located = resolve_path(context, event.path)
    except PathRefused as error:
        if error.reason == "ignored" and not error.control:
            return Answer(refuse=words.refused(error))
        # Version control's own file, or a name in the workspace that leads outside: its own workspace
        # judges the rest.
        is_judged = error.control or error.reason == "outside"
        ask = _question(context, error.control or error.path) if is_judged else None
        return Answer(ask=ask) if ask else NOTHING
    except EditRefused as error:  # the disk does not answer
        return Answer(refuse=words.refused(error))
    if _is_other_form(event.path, located):
        return Answer(refuse=words.other_form(located.name or located.path))
    acknowledge_request(context)
    knowledge = context.store.knowledge(context.session, located.name or located.path)
    belief = knowledge.belief if knowledge else None
    if belief is None or (belief.lines and belief.shown != ((1, belief.lines),)):
        catch_up(belief is not None)
    before_change(context, located.path)
    with locked(context, located.path):
        if isinstance(event.attempt, CellEdit):
            return judge_notebook(context, located, event.attempt)
        plan = _evaluate(context, located, event.attempt)
        disk = plan.case.disk
        if disk is not None and (disk.encoding not in HOST_ENCODINGS or disk.has_lone):
            attempt = describe(plan.attempt)
            fact = Refused(plan.path, attempt, "binary", plan.on_disk.revision)
            context.append([*plan.unrecorded, fact], found=[plan.on_disk])
            return Answer(refuse=words.would_damage(plan.shown_path, disk.label))
        refusal = _refusal(plan)
        if refusal is None and _is_handed_over(plan) and (places := rewriters()):
            plan.ruling = plan.case.refuse("stale")
            refusal = plan.refuse()
            refusal.hint = words.no_merge(refusal.hint, places)
        if refusal is not None:
            _deliver_refusal(plan, refusal)
            return Answer(refuse=words.refused(refusal))
        if plan.ruling.decision == "refuse":
            return Answer(context=words.not_judged(plan.shown_path, plan.ruling.reason or ""))
        journal(plan)
    return _let_go_on(plan)


def _is_other_form(asked: str, located: ResolvedPath) -> bool:
    """Return whether a name leads to a file whose own name has another Unicode form. The host's tool
    does not find that file, and would write a second one beside it."""
    name = located.name or located.path
    return not asked.endswith(name) and composed(asked).endswith(composed(name))


def explain_failure(context: SessionContext, event: Failed, room: int) -> str:
    """Return why an attempt does not fit that the host rejected before any hook was called; ""
    where Sightline would have let it go on. room: characters of a diff."""
    if event.attempt is None:
        return ""
    try:
        located = resolve_path(context, event.path)
    except (PathRefused, EditRefused):
        return ""
    if _is_other_form(event.path, located):
        return words.other_form(located.name or located.path)
    with locked(context, located.path):
        plan = Evaluation(context, located, event.attempt)
        refusal = _refusal(plan)
    if refusal is None:
        # The facts first: text that is handed over is about the file as it was changed.
        context.append(plan.unrecorded, found=[plan.on_disk])
        change, delivered = deliver_changes(context, located, room, with_request=True)
        return words.turned_down(change.summary, change.diff) if delivered else ""
    _deliver_refusal(plan, refusal, room, with_request=True)
    return words.why_it_failed(refusal, _nearest_lines(plan))


def _nearest_lines(plan: Evaluation) -> str:
    """Describe the lines nearest to the text of a replacement, where others changed them."""
    if plan.ruling.reason != "stale" or not isinstance(plan.attempt, Replace):
        return ""
    near = nearest(plan.attempt.old, plan.case.disk.lines if plan.case.disk else [])
    changed = new_sides(plan.ruling.changes)
    if near is None or not intersect(changed, ((near.first, near.last),)):
        return ""
    return guard_words.nearest(near, shown=True, sent=plan.attempt.old)


def journal(plan: Evaluation) -> None:
    """Record the bytes that the host is about to leave, and keep the bytes on disk."""
    intend(plan.context, [planned_write(plan)], unrecorded=plan.unrecorded, by_host=True)


def _evaluate(context: SessionContext, located: ResolvedPath, attempt: Attempt) -> Evaluation:
    """Evaluate an attempt. Hosts match straight quotes with the typographic quotes of the file,
    and leave the file's quotes as they are; so does this."""
    plan = Evaluation(context, located, attempt)
    if isinstance(attempt, WriteWhole) and plan.on_disk.kind == "missing":
        if knows_deletion(context, plan.path):
            return Evaluation(context, located, Create(attempt.content))
        return plan
    if plan.ruling.reason != "not_found" or not isinstance(attempt, Replace):
        return plan
    old = attempt.old.translate(STRAIGHT)
    for text in (plan.case.disk, plan.case.base):
        at = text.plain.translate(STRAIGHT).find(old) if text else -1
        if text and at >= 0:
            exact = text.plain[at : at + len(old)]
            return Evaluation(context, located, structs.replace(attempt, old=exact))
    return plan


def _refusal(plan: Evaluation) -> EditRefused | None:
    if plan.renamed_to is not None and not isinstance(plan.attempt, Create):
        new_path = plan.renamed_to.name or plan.renamed_to.path
        message, hint = words.moved_away(plan.shown_path, new_path)
        return EditRefused("moved", plan.shown_path, message, hint=hint)
    if plan.ruling.decision == "refuse":
        return None if plan.ruling.reason in UNJUDGED else plan.refuse()
    return plan.refuse_again(plan.repeated) if plan.repeated is not None else None


def _deliver_refusal(
    plan: Evaluation, refusal: EditRefused, room: int = DIFF_MAX, *, with_request: bool = False
) -> None:
    """Cut a refusal to the room there is, and record the lines that it prints. with_request: as in
    record_delivery."""
    told = refusal.told if isinstance(refusal.told, Told) else None
    if refusal.text is not None and len(refusal.diff) + len(refusal.text) > room:
        refusal.text = None
        told = structs.replace(told, whole=False) if told else None
    refusal.diff, is_whole = cut_diff(refusal.diff, refusal.path, room)
    if told is not None and not is_whole:
        told = structs.replace(told, hunks=(), whole=False)
    if refusal.reason in ("deleted", "moved"):
        refusal.hint = words.gone(refusal.hint, refusal.reason)
        told = notice_of_deletion(plan.context, plan.path)
    names = plan.path, refusal.path
    if record_diff(plan.context, "refusal", *names, refusal.diff, told, with_request=with_request):
        refusal.diff, refusal.hint = "", words.diff_above(refusal.hint)


def _is_handed_over(plan: Evaluation) -> bool:
    """Return whether the host receives a merge to write in place of the agent's text."""
    return plan.ruling.decision == "merge" and isinstance(plan.attempt, WriteWhole)


def _let_go_on(plan: Evaluation) -> Answer:
    ask = None
    if plan.protected:
        ask = _question(plan.context, plan.shown_path, plan.path, *plan.located.links)
    context, known = "", plan.known.knowledge
    # A notice that was delivered, but not confirmed, may have shown the agent these lines.
    if plan.ruling.reason == "unseen" and not (
        known is not None and is_handed(plan.context, known, plan.on_disk.revision)
    ):
        context = phrases.says(unseen_notice(plan).text)
    content = None
    if _is_handed_over(plan):
        assert plan.new_text is not None
        content = plan.new_text.plain  # told once it is written: the user may not allow it
    if plan.claims:
        claims = announce_once(plan.context, plan.shown_path, plan.claims)
        context = "\n\n".join(filter(None, [context, claims]))
    return Answer(ask=ask, content=content, context=context)


def judge_notebook(context: SessionContext, located: ResolvedPath, edit: CellEdit) -> Answer:
    """Refuse the edit of a cell that changed after the agent saw it, or let it go on. The caller
    has the path `locked`."""
    path = located.name or located.path
    on_disk = context.look(located.path)
    known = resolve_rename(context, located, on_disk)
    unrecorded = detect_changes(context, on_disk)
    policy = policy_of(context, located)
    ruling = judge_cell(edit_case(context, on_disk, known, policy), edit.cell, edit.mode)
    claims = claims_on(context, located.path)
    refusal = None
    if forbids(context, claims):
        message, hint = claim_enforced(path, claims, names_for(context))
        refusal = EditRefused("claimed", path, message, hint=hint)
    elif ruling.decision == "refuse" and ruling.reason != "too_large":
        who, _ = changed_by(context, located.path, unrecorded)
        refusal = _notebook_refusal(path, edit, ruling, who, exists=on_disk.kind == "file")
    is_new = bool(unrecorded or refusal)
    blobs = context.keepable(located.path, on_disk.data, on_disk=on_disk) if is_new else ()
    if refusal is not None:
        digest = revision_of(repr(edit).encode("utf-8", "surrogatepass"))[:16]
        fact = Refused(located.path, f"celledit:{digest}", refusal.reason, on_disk.revision)
        context.append([*unrecorded, fact], blobs=blobs, found=[on_disk])
        return Answer(refuse=words.refused(refusal))
    context.append(unrecorded, blobs=blobs, found=[on_disk])
    text = ""
    if ruling.reason is not None:
        text = words.not_judged(path, ruling.reason)
    elif ruling.others:
        text = notebooks.changed_cells(path, ruling.others, ruling.diff)
    if claims:
        text = "\n\n".join(filter(None, [text, announce_once(context, path, claims)]))
    ask = _question(context, path, located.path, *located.links) if policy == "ask" else None
    return Answer(ask=ask, context=text)


def _question(context: SessionContext, path: str, *names: str) -> str | None:
    """Return why the user must approve a write of a file; None where the settings do not ask. path,
    names: all canonical names of the file; "" for none."""
    settings = context.settings
    if outside_scope(context, names[0] if names and names[0] else path):
        return guard_words.outside_scope(path, context.scopes)[0]
    if settings.policy_for(path, *names) != "ask":
        return None
    return words.asks(path, settings.asking_setting(path, *names))


def _notebook_refusal(
    path: str, edit: CellEdit, ruling: CellRuling, who: str, *, exists: bool
) -> EditRefused:
    reason = ruling.reason or "stale"
    if exists and reason != "unverifiable":
        message, hint = notebooks.refusal(path, edit.cell, reason, who)
    else:
        message, hint = notebooks.no_file(path, reason)
    return EditRefused(reason, path, message, diff=ruling.diff, hint=hint)
