"""Editing: judged under the lock, journalled, replaced, recorded; or refused with the diff."""

from __future__ import annotations

from os import urandom

from msgspec import structs

from sightline.changes.session_context import TRIES, Known, SessionContext, believe, load_knowledge
from sightline.changes.write_journal import completed
from sightline.errors import EditRefused, StoreConflict, StoreError, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard import words
from sightline.guard.edit_notices import moved_notice, notice_of
from sightline.guard.evaluation import Evaluation, describe, place_of
from sightline.model.attempts import Attempt
from sightline.model.belief import look
from sightline.model.diff import diff
from sightline.model.events import Belief, Fact, Merged, Refused, WriteAbandoned, WriteIntended
from sightline.model.locate import new_sides
from sightline.model.results import Affected, EditResult, Notice
from sightline.model.revision import MISSING
from sightline.sessions.affected import affected
from sightline.sessions.claims import told


def apply_edit(ground: SessionContext, path: str, attempt: Attempt) -> EditResult:
    """Carry out one attempt, or raise EditRefused and leave the file as it is."""
    located = place_of(ground, path)
    return _carried_out(ground, path, located, attempt)


def _carried_out(
    ground: SessionContext, path: str, located: ResolvedPath, attempt: Attempt
) -> EditResult:
    approved: str | None = None
    src: str | None = None
    for _ in range(TRIES):
        with ground.workspace.lock(located.path):
            plan = Evaluation(ground, located, attempt)
            if plan.elsewhere is not None:
                src, located = located.path, plan.elsewhere
                continue
            if plan.ruling.decision == "refuse":
                raise plan.refuse()
            if plan.again is not None:
                raise plan.refuse_again(plan.again)
            if not plan.protected or approved == plan.diff:
                result = commit(plan)
                if result is None:
                    continue
                return told_of_move(result, src)
        approved = _approved(ground, plan)
    raise EditRefused(
        "unverifiable",
        path,
        f"{path} was changed by others {TRIES} times while this edit was being made.",
        hint="Try again when the program that writes it has finished.",
    )


def commit(plan: Evaluation) -> EditResult | None:
    """Journal, replace, record. None when something moved meanwhile: judge again."""
    ground, ruling = plan.ground, plan.ruling
    token = urandom(6).hex()
    belief, body = belief_after(plan, plan.known)
    intent = WriteIntended(
        plan.path,
        plan.found.revision,
        plan.after,
        ground.workspace.asides(plan.path, token),
        ground.owner,
        belief,
    )
    try:
        recorded = ground.append(
            [*plan.news, intent],
            blobs=ground.keepable(plan.path, plan.found.data, ruling.new, body),
            found=[plan.found],
            expect={plan.path: plan.known.position},
            durable=True,
        )
    except StoreConflict:
        return None
    position = recorded[-1].position
    try:
        stands = ground.workspace.replace_if(
            plan.path, plan.found.revision, ruling.new, token=token
        )
    except Unverifiable as error:
        ground.append([WriteAbandoned(plan.path, position)])
        raise EditRefused(
            "unverifiable", plan.shown_path, error.message, hint=error.hint
        ) from error
    if stands.revision != plan.after:
        ground.append([WriteAbandoned(plan.path, position)], found=[stands])
        return None
    written = _record(plan, intent, position, stands)
    return EditResult(
        path=plan.shown_path,
        revision=plan.after,
        merged=ruling.decision == "merge",
        notice=with_claims(plan, notice_of(plan, plan.path, written)),
        diff=plan.diff,
        affected=_affected(plan),
    )


def with_claims(plan: Evaluation, notice: Notice | None) -> Notice | None:
    """The notice of what was carried out, with who else claims its file."""
    if not plan.claims:
        return notice

    return told(plan.ground, plan.shown_path, plan.claims, notice)


def _affected(plan: Evaluation) -> tuple[Affected, ...]:
    """Other sessions that this made stale. Where nobody else knows the file nothing is loaded."""
    if not plan.ground.store.knowers(plan.path).keys() - {plan.ground.session}:
        return ()

    return affected(plan.ground, plan.path, plan.found.data, plan.ruling.new)


def put_back(plan: Evaluation) -> None:
    """Undo a commit, where its bytes still stand: what was there before stands there again."""
    ground, known = plan.ground, load_knowledge(plan.ground, plan.located)
    lines = len(plan.case.disk.lines) if plan.case.disk else 0
    before = plan.known.belief or Belief(plan.found.revision, (), (), lines)
    token = urandom(6).hex()
    asides = ground.workspace.asides(plan.path, token)
    old = plan.found.revision
    intent = WriteIntended(plan.path, plan.after, old, asides, ground.owner, before)
    position = ground.append([intent], durable=True)[-1].position
    stands = ground.workspace.replace_if(plan.path, plan.after, plan.found.data, token=token)
    if stands.revision != old:
        ground.append([WriteAbandoned(plan.path, position)], found=[stands])
        return
    fact = completed(intent, stands, ground.session, position)
    ground.append([fact], found=[stands], expect={plan.path: known.position}, durable=True)


def _record(plan: Evaluation, intent: WriteIntended, position: int, stands: FileState) -> int:
    """Say that the write happened; where that stands on the timeline. The write is on disk
    already, so a failure here is told as such; the journalled intent lets the next open
    record it."""
    facts: list[Fact] = [completed(intent, stands, plan.ground.session, position)]
    if plan.ruling.decision == "merge" and plan.known.belief:
        base = plan.known.belief.text
        facts.append(Merged(plan.path, base, plan.found.revision, plan.after))
    expect = {plan.path: plan.known.position}
    try:
        try:
            recorded = plan.ground.append(facts, found=[stands], expect=expect, durable=True)
        except StoreConflict:  # this session looked at the file in another process meanwhile
            known = load_knowledge(plan.ground, plan.located)
            belief, body = belief_after(plan, known, afresh=True)
            facts[0] = completed(
                structs.replace(intent, belief=belief), stands, plan.ground.session, position
            )
            blobs = plan.ground.keepable(plan.path, body)
            recorded = plan.ground.append(facts, blobs=blobs, found=[stands], durable=True)
        return recorded[0].position
    except StoreError as error:
        raise StoreError(
            f"{plan.shown_path} was written, but the store could not record it: {error.message}",
            "Do not repeat the edit. It is recorded at the next open. " + error.hint,
        ) from error


def belief_after(
    plan: Evaluation, known: Known, *, afresh: bool = False
) -> tuple[Belief, bytes | None]:
    """What the agent holds once this is done, and its text. afresh: on what it knows now."""
    new, after, text = plan.ruling.new, plan.ruling.after, plan.new_text
    if new is None or text is None or after is None:
        return Belief(MISSING, (), (), 0), None
    if afresh and known.held is not None:
        old = plan.case.disk.lines if plan.case.disk else []
        own = new_sides(diff(old, text.lines))
        after = look(known.held, text.lines, own)
    disk, plain = plan.case.disk, "".join(after.lines)
    if disk and text.plain != plain and disk.is_encoded(plain, new):
        # By the letters it has now, the file would be taken for one of another encoding.
        return Belief(plan.after, after.shown, after.held, len(after.lines)), new
    return believe(after, text, new, plan.after)


def _approved(ground: SessionContext, plan: Evaluation) -> str:
    """Ask the user, with no lock held; the diff that was approved. The disk may change meanwhile,
    so it is judged again, and asked again when the diff is another then."""
    asked = plan.diff
    if ground.approve is not None and ground.approve(plan.shown_path, asked):
        return asked
    message, hint = words.refusal(structs.replace(plan.ruling, reason="scope"), plan.shown_path, "")
    refusal = Refused(plan.path, describe(plan.attempt), "scope", plan.found.revision)
    ground.append([refusal])
    raise EditRefused("scope", plan.shown_path, message, diff=asked, hint=hint)


def told_of_move(result: EditResult, src: str | None) -> EditResult:
    """A result that says so when a rename from `src` was followed."""
    if src is None:
        return result
    return structs.replace(result, notice=moved_notice(src, result))
