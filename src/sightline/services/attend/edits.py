"""Edits by a host's own tools: judged before, compared after.

Between the two the host writes, not we. So an attempt that may go on is journalled with the bytes
it is to leave, and what the host then says it found and wrote is held against that: a save that
slipped in between is told apart, and named when the write has lost it.
"""

from __future__ import annotations

from sightline import render, services
from sightline.core.attempts import Create, Replace, WriteWhole
from sightline.core.diff import diff, unified
from sightline.core.events import Changed, Merged, Told, WriteAbandoned, WriteIntended
from sightline.core.placing import new_sides
from sightline.core.regions import intersect
from sightline.core.revision import MISSING
from sightline.core.text import decode, normal, split
from sightline.errors import EditRefused, PathRefused
from sightline.render import attending as words
from sightline.services.attend import NOTHING, Answer, CellEdit
from sightline.services.attend.telling import DIFF_MAX, deliver, fitted
from sightline.services.plans import Plan, place_of
from sightline.services.recovery import done

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.attempts import Attempt
    from sightline.core.events import Fact
    from sightline.services.attend import Attempted, Failed, Wrote
    from sightline.services.ground import Ground
    from sightline.services.results import FileChange
    from sightline.workspace import Found, Located

STRAIGHT = {ord(curly): straight for curly, straight in zip("“”‘’", "\"\"''", strict=True)}
"""Typographic quotes -> those of a keyboard."""

UNJUDGED = ("no_change", "too_large")
"""Refusals of ours that are none to a host: its tool does no harm, or we cannot tell."""


def attempted(ground: Ground, event: Attempted) -> Answer:
    """Judge an attempt: refuse it with what changed, hand over a merge, or let it go on."""
    if isinstance(event.attempt, CellEdit):
        from sightline.services.attend.notebooks import attempt_on_notebook

        return attempt_on_notebook(ground, event)
    try:
        located = place_of(ground, event.path)
    except PathRefused as error:
        return Answer(refuse=words.refused(error)) if error.reason == "ignored" else NOTHING
    except EditRefused as error:  # the disk does not answer
        return Answer(refuse=words.refused(error))
    with ground.workspace.lock(located.path):
        plan = _plan(ground, located, event.attempt)
        refusal = _refusal(plan)
        if refusal is not None:
            _handed_over(plan, refusal)
            return Answer(refuse=words.refused(refusal))
        if plan.ruling.decision == "refuse":
            return Answer(context=words.not_judged(plan.shown_path, plan.ruling.reason or ""))
        journal(plan)
    return _let_go_on(plan)


def wrote(ground: Ground, event: Wrote) -> Answer:
    """Record what the host's tool wrote, and tell what others did to the same file meanwhile."""
    try:
        located = ground.workspace.locate(event.path)
    except PathRefused:
        return NOTHING
    intent = _journalled(ground, located.path)
    found = ground.look(located.path)
    again = intent is None and _recorded(ground, event, found)
    lost = "" if again else _lost(ground, located.path, intent, event)
    if intent is not None and _as_intended(ground, intent[1], event, found):
        _carried_out(ground, *intent, found, merged=event.whole and _is_merge(intent[1]))
    elif not again:
        row = ground.store.disk(located.path)
        begun = ground.store.blob(row.revision) if row else None
        services.hosts.wrote(
            ground,
            event.path,
            content=_bytes_of(event.content, found.data),
            before=_bytes_of(event.before, begun) if event.known_before else None,
            user_modified=event.user_modified,
            whole=event.whole and not (intent and _is_merge(intent[1])),
            intent=intent[1] if intent else None,
        )
        _abandon(ground, located.path)
    said = [lost] if lost else []
    return Answer(context="\n\n".join([*said, *_news(ground, located, DIFF_MAX - len(lost))]))


def failed(ground: Ground, event: Failed) -> Answer:
    """The host did not carry out what was let go on."""
    try:
        _abandon(ground, ground.workspace.locate(event.path).path)
    except PathRefused:
        return NOTHING
    return NOTHING


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
    change, told = _told_of(ground, located, room)
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
    return _plain(attempt.content) != disk.plain


def _handed_over(plan: Plan, refusal: EditRefused, room: int = DIFF_MAX) -> None:
    """Record what a refusal tells. What does not fit is left out of it, and not counted."""
    told = refusal.told if isinstance(refusal.told, Told) else None
    if refusal.text is not None and len(refusal.diff) + len(refusal.text) > room:
        refusal.text = None
        told = told.replace(whole=False) if told else None
    refusal.diff, whole = fitted(refusal.diff, refusal.path, room)
    told = told if whole else None
    if refusal.reason in ("deleted", "moved"):
        from sightline.services.attend.gone import told_gone

        refusal.hint = words.gone(refusal.hint, refusal.reason)
        told = told_gone(plan.ground, plan.path)
    deliver(plan.ground, "refusal", [refusal.path], [told])


def _let_go_on(plan: Plan) -> Answer:
    ask = words.asks(plan.shown_path) if plan.protected else None
    context = ""
    if plan.ruling.reason == "unseen":
        from sightline.services.notices import unseen_notice

        context = words.says(unseen_notice(plan).text)
    content = None
    if plan.ruling.decision == "merge" and isinstance(plan.attempt, WriteWhole):
        assert plan.new_text is not None
        content, context = plan.new_text.plain, words.merged(plan.shown_path)
    return Answer(ask=ask, content=content, context=context)


def _journalled(ground: Ground, path: str) -> tuple[int, WriteIntended] | None:
    """This session's newest attempt on a path that the host is carrying out."""
    return next(
        (
            (recorded.position, recorded.fact)
            for recorded in reversed(ground.store.pending())
            if recorded.session == ground.session
            and isinstance(recorded.fact, WriteIntended)
            and recorded.fact.path == path
            and not recorded.fact.aside
        ),
        None,
    )


def _as_intended(ground: Ground, intent: WriteIntended, event: Wrote, found: Found) -> bool:
    """Whether the host found what was judged, and left what was to be left."""
    if found.revision != intent.after or event.user_modified:
        return False
    return not event.known_before or _same_text(ground, intent.before, event.before)


def _recorded(ground: Ground, event: Wrote, found: Found) -> bool:
    """Whether this very write is the newest change of the file already: hooks that stand in two
    settings files, with two commands, are called twice for it."""
    changes = ground.store.timeline(path=found.path, kinds=[Changed], newest=1)
    last = next(iter(changes), None)
    fact = last.fact if last else None
    if not isinstance(fact, Changed) or fact.cause.who != ground.session:
        return False
    same = not event.known_before or _same_text(ground, fact.before, event.before)
    return same and fact.after == found.revision and not event.user_modified


def _bytes_of(told: str | None, data: bytes | None) -> str | bytes | None:
    """These bytes, where they are what a host tells in line ends and with a BOM of its own."""
    text = decode(data) if data is not None and told is not None else None
    same = text is not None and told is not None and text.plain == _plain(told)
    return data if same else told


def _plain(told: str) -> str:
    return normal(told).removeprefix("\ufeff")


def _same_text(ground: Ground, revision: str, told: str | None) -> bool:
    """Whether a host's text is that of a revision; hosts tell line ends and BOM in their own way."""
    data = ground.store.blob(revision)
    text = decode(data) if data is not None else None
    if told is None or text is None:
        return told is None and data is None
    return text.plain == _plain(told)


def _carried_out(
    ground: Ground, position: int, intent: WriteIntended, found: Found, *, merged: bool
) -> None:
    facts: list[Fact] = [done(intent, found, ground.session, position)]
    known = ground.store.knowledge(ground.session, intent.path)
    if merged and known is not None:
        facts.append(Merged(intent.path, known.belief.text, intent.before, intent.after))
    ground.append(facts, found=[found], durable=True)


def _is_merge(intent: WriteIntended) -> bool:
    """Whether a whole-file write leaves more than its agent gave: others' changes."""
    return intent.belief is not None and intent.belief.text != intent.after


def _lost(ground: Ground, path: str, intent: tuple[int, WriteIntended] | None, event: Wrote) -> str:
    """What a save between the check and the write had, and the write has not, in words. Of a write
    that was not journalled, the timeline's last text is what was checked."""
    if event.content is None or not event.whole:
        return ""  # a replacement is made in what stands there
    row = ground.store.disk(path)
    checked = intent[1].before if intent else row.revision if row else MISSING
    stood = event.before if event.known_before else _text_of(ground, row.revision if row else None)
    base = _text_of(ground, checked)
    if stood is None or base is None or base == _plain(stood):
        return ""
    from sightline.core.merge import merge

    ours, theirs = split(normal(event.content)), split(normal(stood))
    both = merge(split(base), ours, theirs)
    wanted = list(both.lines) if both.clean else theirs
    hunks = diff(ours, wanted)
    return words.lost(event.path, unified(ours, wanted, hunks)) if hunks else ""


def _text_of(ground: Ground, revision: str | None) -> str | None:
    """The text of a revision, which is none of a file that is not there; None when it is not
    kept, or no text."""
    if revision is None or revision == MISSING:
        return ""
    data = ground.store.blob(revision)
    text = decode(data) if data is not None else None
    return text.plain if text else None


def _abandon(ground: Ground, path: str) -> None:
    while (intent := _journalled(ground, path)) is not None:
        ground.append([WriteAbandoned(path, intent[0])])


def _news(ground: Ground, located: Located, room: int) -> list[str]:
    """Others' changes to the file that its agent was not told of yet."""
    change, told = _told_of(ground, located, room)
    return [words.also_changed(change.summary, change.diff)] if told else []


def _told_of(ground: Ground, located: Located, room: int) -> tuple[FileChange, bool]:
    """How a file differs from what its agent holds, recorded as handed over where it does."""
    from sightline.services.views import to_tell

    change, told, found = to_tell(ground, located.path, name=located.name)
    if change.state != "stale" or not change.diff:
        return change, False
    ground.store.keep(ground.keepable(located.path, found.data))
    diff, whole = fitted(change.diff, change.path, room)
    deliver(ground, "notice", [change.path], [told if whole else None])
    return change.replace(diff=diff), True
