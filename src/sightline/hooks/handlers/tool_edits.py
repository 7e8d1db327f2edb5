"""Judge edits by a host's own tools before the host writes.

The host writes the file, so an attempt that may go on is journalled with the bytes it will leave,
and hooks.handlers.tool_writes compares those with the bytes that were written.
"""

from __future__ import annotations

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import before_change
from sightline.errors import EditRefused, PathRefused
from sightline.filesystem.file_state import ResolvedPath
from sightline.guard import notebooks
from sightline.guard import words as guard_words
from sightline.guard.commit import planned_write
from sightline.guard.edit import unseen_notice
from sightline.guard.evaluation import (
    Evaluation,
    describe,
    evaluate,
    outside_scope,
    refuse,
    resolve_path,
)
from sightline.guard.plan import refused_again
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
from sightline.hooks.host import Host
from sightline.model.attempts import Attempt, CellEdit, Create, Replace, WriteWhole
from sightline.model.events import Refused, Told
from sightline.model.hook_events import NOTHING, Answer, Attempted, Failed
from sightline.model.nearest import nearest
from sightline.model.path import composed
from sightline.model.spans import intersect, new_sides
from sightline.notices.pending import is_handed
from sightline.sessions.claims import announce_once
from sightline.text import phrases

STRAIGHT = {ord(curly): straight for curly, straight in zip("“”‘’", "\"\"''", strict=True)}
"""Typographic quotes -> the quotes of a keyboard."""

HOST_ENCODINGS = ("utf-8", "utf-16-le")
"""Encodings that tools of hosts read and write; they put U+FFFD in place of all else, also in text that
they leave alone. UTF-16 begins with a mark."""

UNJUDGED = ("no_change", "too_large")
"""Refusals that do not refuse a host's tool: it does no harm, or nothing is known of the file."""


def attempted(context: SessionContext, event: Attempted, host: Host) -> Answer:
    """Judge an attempt: refuse it with the diff of the changes, merge it, or let it go on. Where another hook
    could put its own text in the place of a merge, refuse what else would be merged."""
    try:
        located = resolve_path(context, event.path)
    except PathRefused as error:
        if error.reason == "ignored" and not error.control:
            return Answer(refuse=words.refused(error, host.wording))
        # Version control's own file, or a name in the workspace that leads outside: its own workspace
        # judges the rest.
        is_judged = error.control or error.reason == "outside"
        ask = _question(context, error.control or error.path) if is_judged else None
        return Answer(ask=ask) if ask else NOTHING
    except EditRefused as error:  # the disk does not answer
        return Answer(refuse=words.refused(error, host.wording))
    if _is_other_form(event.path, located):
        return Answer(refuse=words.other_form(located.name or located.path))
    acknowledge_request(context)
    knowledge = context.store.knowledge(context.session, located.name or located.path)
    belief = knowledge.belief if knowledge else None
    if belief is None or (belief.lines and belief.shown != ((1, belief.lines),)):
        host.catch_up(belief is not None)
    before_change(context, located.path)
    with locked(context, located.path):
        judged = _evaluate(context, located, event.attempt)
        disk = judged.case.disk
        if disk is not None and (disk.encoding not in HOST_ENCODINGS or disk.has_lone):
            attempt = describe(judged.attempt)
            fact = Refused(judged.path, attempt, "binary", judged.on_disk.revision)
            context.append([*judged.unrecorded, fact], found=[judged.on_disk])
            return Answer(refuse=words.would_damage(judged.shown_path, disk.label))
        refusal = _refusal(context, judged)
        if refusal is None and _is_handed_over(judged) and (places := host.rewriters()):
            refusal = refuse(context, judged.refused("stale"))
            refusal.next_step = words.no_merge(refusal.next_step, places)
        if refusal is not None:
            _deliver_refusal(context, host, judged, refusal, host.limits.diff)
            return Answer(refuse=words.refused(refusal, host.wording))
        if judged.ruling.decision == "refuse":
            return Answer(context=words.not_judged(judged.shown_path, judged.ruling.reason or ""))
        journal(context, judged, event.call)
    return _let_go_on(context, host, judged)


def _is_other_form(asked: str, located: ResolvedPath) -> bool:
    """Return whether a name leads to a file whose own name has another Unicode form. The host's tool
    does not find that file, and would write a second one beside it."""
    name = located.name or located.path
    return not asked.endswith(name) and composed(asked).endswith(composed(name))


def explain_failure(context: SessionContext, event: Failed, host: Host, room: int) -> str:
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
        judged = evaluate(context, located, event.attempt)
        refusal = _refusal(context, judged)
    if refusal is None:
        # The facts first: text that is handed over is about the file as it was changed.
        context.append(judged.unrecorded, found=[judged.on_disk])
        change, delivered = deliver_changes(context, host, located, room, with_request=True)
        return words.turned_down(change.summary, change.diff) if delivered else ""
    _deliver_refusal(context, host, judged, refusal, room, with_request=True)
    return words.why_it_failed(refusal, host.wording, _nearest_lines(judged))


def _nearest_lines(judged: Evaluation) -> str:
    """Describe the lines nearest to the text of a replacement, where others changed them."""
    if judged.ruling.reason != "stale" or not isinstance(judged.attempt, Replace):
        return ""
    near = nearest(judged.attempt.old, judged.case.disk.lines if judged.case.disk else [])
    changed = new_sides(judged.ruling.changes)
    if near is None or not intersect(changed, ((near.first, near.last),)):
        return ""
    return guard_words.nearest(near, shown=True, sent=judged.attempt.old)


def journal(context: SessionContext, judged: Evaluation, call: str) -> None:
    """Record the bytes that the host is about to leave by a call, and keep the bytes on disk. Nobody knows
    the bytes that the edit of a notebook's cell leaves."""
    if not isinstance(judged.attempt, CellEdit):
        write, unrecorded = planned_write(judged), judged.unrecorded
        intend(context, [write], unrecorded=unrecorded, by_host=True, call=call)
        return
    on_disk = judged.on_disk
    texts = (
        context.keepable(judged.path, on_disk.data, on_disk=on_disk) if judged.unrecorded else ()
    )
    context.append(judged.unrecorded, blobs=texts, found=[on_disk])


def _evaluate(context: SessionContext, located: ResolvedPath, attempt: Attempt) -> Evaluation:
    """Evaluate an attempt. Hosts match straight quotes with the typographic quotes of the file,
    and leave the file's quotes as they are; so does this."""
    judged = evaluate(context, located, attempt)
    if isinstance(attempt, WriteWhole) and judged.on_disk.kind == "missing":
        if knows_deletion(context, judged.path):
            return evaluate(context, located, Create(attempt.content))
        return judged
    if judged.ruling.reason != "not_found" or not isinstance(attempt, Replace):
        return judged
    old = attempt.old.translate(STRAIGHT)
    for text in (judged.case.disk, judged.case.base):
        at = text.plain.translate(STRAIGHT).find(old) if text else -1
        if text and at >= 0:
            exact = text.plain[at : at + len(old)]
            return evaluate(context, located, structs.replace(attempt, old=exact))
    return judged


def _refusal(context: SessionContext, judged: Evaluation) -> EditRefused | None:
    if judged.renamed_to is not None and not isinstance(judged.attempt, Create):
        new_path = judged.renamed_to.name or judged.renamed_to.path
        message, hint = words.moved_away(judged.shown_path, new_path)
        return EditRefused("moved", judged.shown_path, message, hint=hint)
    if judged.ruling.decision == "refuse":
        return None if judged.ruling.reason in UNJUDGED else refuse(context, judged)
    again = refused_again(judged)
    return None if again is None else refuse(context, again)


def _deliver_refusal(
    context: SessionContext,
    host: Host,
    judged: Evaluation,
    refusal: EditRefused,
    room: int,
    *,
    with_request: bool = False,
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
        refusal.next_step = words.gone(refusal.next_step, refusal.reason)
        told = notice_of_deletion(context, judged.path)
    if not host.takes_refusals:
        return
    names = judged.path, refusal.path
    if record_diff(context, "refusal", *names, refusal.diff, told, with_request=with_request):
        refusal.diff, refusal.next_step = "", words.diff_above(refusal.next_step)


def _is_handed_over(judged: Evaluation) -> bool:
    """Return whether the host receives a merge to write in place of the agent's text."""
    return judged.ruling.decision == "merge" and isinstance(judged.attempt, WriteWhole)


def _let_go_on(context: SessionContext, host: Host, judged: Evaluation) -> Answer:
    ask = None
    if judged.is_protected:
        ask = _question(context, judged.shown_path, judged.path, *judged.located.links)
    notes: list[str] = []
    known = judged.known.knowledge
    # A notice that was delivered, but not confirmed, may have shown the agent these lines.
    if judged.ruling.reason == "unseen" and not (
        known is not None and is_handed(context, known, judged.on_disk.revision)
    ):
        notes.append(phrases.says(unseen_notice(judged).text))
    if judged.ruling.cells:
        cells, diff = judged.ruling.cells, judged.ruling.cell_diff
        notes.append(notebooks.changed_cells(judged.shown_path, cells, diff))
    content = None
    if _is_handed_over(judged):
        assert judged.new_text is not None
        content = judged.new_text.plain  # told once it is written: the user may not allow it
    if judged.claims and host.takes_words:
        notes.append(announce_once(context, judged.shown_path, judged.claims))
    return Answer(ask=ask, content=content, context="\n\n".join(filter(None, notes)))


def _question(context: SessionContext, path: str, *names: str) -> str | None:
    """Return why the user must approve a write of a file; None where the settings do not ask. path,
    names: all canonical names of the file; "" for none."""
    settings = context.settings
    if outside_scope(context, names[0] if names and names[0] else path):
        return guard_words.outside_scope(path, context.scopes)[0]
    if settings.policy_for(path, *names) != "ask":
        return None
    return words.asks(path, settings.asking_setting(path, *names))
