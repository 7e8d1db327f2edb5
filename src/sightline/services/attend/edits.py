"""Edits by a host's own tools, judged before it writes.

The host writes, not we. So an attempt that may go on is journalled with the bytes it is to leave,
and compared with what was written (services.attend.writes).
"""

from __future__ import annotations

from sightline import render, services
from sightline.core.attempts import Create, Replace, WriteWhole
from sightline.core.events import Told, WriteIntended
from sightline.core.placing import new_sides
from sightline.core.regions import intersect
from sightline.core.text import unmarked
from sightline.errors import EditRefused, PathRefused
from sightline.render import attending as words
from sightline.services.attend import DIFF_MAX, NOTHING, Answer, CellEdit
from sightline.services.automatic import before_change
from sightline.services.plans import Plan, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.attempts import Attempt
    from sightline.services.attend import Attempted, Failed
    from sightline.services.ground import Ground
    from sightline.workspace import Located

STRAIGHT = {ord(curly): straight for curly, straight in zip("“”‘’", "\"\"''", strict=True)}
"""Typographic quotes -> those of a keyboard."""

UNJUDGED = ("no_change", "too_large")
"""Refusals of ours that are none to a host: its tool does no harm, or we cannot tell."""


def attempted(ground: Ground, event: Attempted) -> Answer:
    """Judge an attempt: refuse it with what changed, hand over a merge, or let it go on."""
    try:
        located = place_of(ground, event.path)
    except PathRefused as error:
        return Answer(refuse=words.refused(error)) if error.reason == "ignored" else NOTHING
    except EditRefused as error:  # the disk does not answer
        return Answer(refuse=words.refused(error))
    before_change(ground, located.path)
    with ground.workspace.lock(located.path):
        if isinstance(event.attempt, CellEdit):
            from sightline.services.attend.notebooks import judged

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


def failed_unheard(ground: Ground, event: Failed, room: int) -> str:
    """Why an attempt does not fit, that the host turned down before any hook heard of it; no
    words where it would have been let through. room: characters of a diff."""
    if event.attempt is None:
        return ""
    try:
        located = place_of(ground, event.path)
    except (PathRefused, EditRefused):
        return ""
    with ground.workspace.lock(located.path):
        plan = Plan(ground, located, event.attempt)
        refusal = _refusal(plan)
    if refusal is None:
        return _turned_down(ground, located, room)
    _handed_over(plan, refusal, room)
    return words.why_it_failed(refusal, _alike(plan))


def _turned_down(ground: Ground, located: Located, room: int) -> str:
    """What others changed, when a host turned down what could have stood beside it."""
    from sightline.services.attend.telling import tell_changes

    change, told = tell_changes(ground, located, room)
    return words.turned_down(change.summary, change.diff) if told else ""


def _alike(plan: Plan) -> str:
    """On the lines nearest to the text of a replacement that others have changed."""
    from sightline.core.nearest import nearest

    if plan.ruling.reason != "stale" or not isinstance(plan.attempt, Replace):
        return ""
    near = nearest(plan.attempt.old, plan.case.disk.lines if plan.case.disk else [])
    changed = new_sides(plan.ruling.changes)
    if near is None or not intersect(changed, ((near.first, near.last),)):
        return ""
    return render.nearest(near, shown=True)


def journal(plan: Plan) -> None:
    """Say that the host is about to leave these bytes, and keep those that stand there."""
    ground, ruling = plan.ground, plan.ruling
    belief, body = services.edits.belief_after(plan, plan.known)
    before, after = plan.found.revision, plan.after
    intent = WriteIntended(plan.path, before, after, (), ground.owner, belief)
    blobs = ground.keepable(plan.path, plan.found.data, ruling.new, body)
    ground.append([*plan.news, intent], blobs=blobs, found=[plan.found], durable=True)


def _plan(ground: Ground, located: Located, attempt: Attempt) -> Plan:
    """The attempt, judged. Hosts find a text also where the file has typographic quotes for its
    straight ones, and leave those be; so do we."""
    plan = Plan(ground, located, attempt)
    if isinstance(attempt, WriteWhole) and plan.found.kind == "missing":
        from sightline.services.attend.gone import known_gone

        anew = known_gone(ground, plan.path)
        return Plan(ground, located, Create(attempt.content)) if anew else plan
    if plan.ruling.reason != "not_found" or not isinstance(attempt, Replace):
        return plan
    sought = attempt.old.translate(STRAIGHT)
    for text in (plan.case.disk, plan.case.base):
        at = text.plain.translate(STRAIGHT).find(sought) if text else -1
        if text and at >= 0:
            stands = text.plain[at : at + len(sought)]
            return Plan(ground, located, attempt.replace(old=stands))
    return plan


def _refusal(plan: Plan) -> EditRefused | None:
    if plan.elsewhere is not None and not isinstance(plan.attempt, Create):
        there = plan.elsewhere.name or plan.elsewhere.path
        message, hint = words.moved_away(plan.shown_path, there)
        return EditRefused("moved", plan.shown_path, message, hint=hint)
    if plan.ruling.decision == "refuse":
        if _would_write_back(plan):
            plan.ruling = plan.case.refuse("stale")
        return None if plan.ruling.reason in UNJUDGED else plan.refuse()
    return plan.refuse_again(plan.again) if plan.again is not None else None


def _would_write_back(plan: Plan) -> bool:
    """Whether a whole text that brings nothing new would still take others' changes away: merged
    with them it is what stands there, but its host writes it as it is."""
    attempt, disk = plan.attempt, plan.case.disk
    if plan.ruling.reason != "no_change" or not isinstance(attempt, WriteWhole) or disk is None:
        return False
    return unmarked(attempt.content) != disk.plain


def _handed_over(plan: Plan, refusal: EditRefused, room: int = DIFF_MAX) -> None:
    """Record what a refusal tells. What does not fit is left out of it, and not counted."""
    from sightline.services.attend.telling import fitted, hand

    told = refusal.told if isinstance(refusal.told, Told) else None
    if refusal.text is not None and len(refusal.diff) + len(refusal.text) > room:
        refusal.text = None
        told = told.replace(whole=False) if told else None
    refusal.diff, whole = fitted(refusal.diff, refusal.path, room)
    if told is not None and not whole:
        told = told.replace(hunks=(), whole=False)
    if refusal.reason in ("deleted", "moved"):
        from sightline.services.attend.gone import told_gone

        refusal.hint = words.gone(refusal.hint, refusal.reason)
        told = told_gone(plan.ground, plan.path)
    hand(plan.ground, "refusal", [refusal.path], [told])


def _on_its_way(plan: Plan) -> bool:
    """Whether the host was handed words on what stands there now, and has not said that they
    arrived: the agent may well have been shown the lines it means."""
    from sightline.services.telling import handed_already

    known = plan.known.knowledge
    return known is not None and handed_already(plan.ground, known, plan.found.revision)


def _let_go_on(plan: Plan) -> Answer:
    ask = words.asks(plan.shown_path) if plan.protected else None
    context = ""
    if plan.ruling.reason == "unseen" and not _on_its_way(plan):
        from sightline.services.notices import unseen_notice

        context = words.says(unseen_notice(plan).text)
    content = None
    if plan.ruling.decision == "merge" and isinstance(plan.attempt, WriteWhole):
        assert plan.new_text is not None
        content, context = plan.new_text.plain, words.merged(plan.shown_path)
    if plan.claims:
        from sightline.services.claimed import once

        claimed = once(plan.ground, plan.shown_path, plan.claims)
        context = "\n\n".join(filter(None, [context, claimed]))
    return Answer(ask=ask, content=content, context=context)
