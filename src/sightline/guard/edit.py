"""Edit files: judge under the lock, journal, replace, record; or refuse with the diff."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from sightline.changes.session_context import TRIES, Known, SessionContext, believe, load_knowledge
from sightline.errors import EditRefused, StoreConflict, StoreError, Unverifiable
from sightline.guard import words
from sightline.guard.edit_notices import moved_notice, notice_of
from sightline.guard.evaluation import Evaluation, describe, resolve_path
from sightline.guard.write_journal import (
    Intent,
    Outcome,
    Write,
    carry_out,
    intend,
    is_done,
    record_ends,
)
from sightline.model.attempts import Attempt
from sightline.model.belief import look
from sightline.model.diff import diff
from sightline.model.events import Belief, Fact, Merged, Refused
from sightline.model.results import Affected, EditResult, Notice
from sightline.model.revision import MISSING
from sightline.model.spans import new_sides
from sightline.sessions.affected import affected
from sightline.sessions.claims import claim_notice


def apply_edit(context: SessionContext, path: str, attempt: Attempt) -> EditResult:
    """Carry out one attempt on one file. EditRefused, PathRefused: the file is as it was."""
    located = resolve_path(context, path)
    approved: str | None = None
    renamed_from: str | None = None
    for _ in range(TRIES):
        with context.workspace.lock(located.path):
            plan = Evaluation(context, located, attempt)
            if plan.renamed_to is not None:
                renamed_from, located = located.path, plan.renamed_to
                continue
            if plan.ruling.decision == "refuse":
                raise plan.refuse()
            if plan.repeated is not None:
                raise plan.refuse_again(plan.repeated)
            if not plan.protected or approved == plan.diff:
                results = commit([plan])
                if results is None:
                    continue
                return with_move_notice(results[0], renamed_from)
        approved = _ask_user(context, plan)
    raise EditRefused(
        "unverifiable",
        path,
        f"{path} was changed by others {TRIES} times while this edit was being made.",
        hint="Try again when the program that writes it has finished.",
    )


def commit(plans: Sequence[Evaluation]) -> list[EditResult] | None:
    """Write the files of these plans as one journal entry, all or none. Return None, with every
    file as before, when somebody changed a file after it was judged: judge again. EditRefused
    (unverifiable) when the disk refuses. The caller holds the locks."""
    context = plans[0].context
    expect = {plan.path: plan.known.position for plan in plans}
    try:
        intents = intend(
            context,
            [planned_write(plan) for plan in plans],
            unrecorded=[fact for plan in plans for fact in plan.unrecorded],
            expect=expect,
        )
    except StoreConflict:
        return None
    ended: list[tuple[Intent, Outcome]] = []
    for intent in intents:
        [outcome] = carry_out(context, [intent])
        ended.append((intent, outcome))
        if not is_done(intent, outcome):
            _give_up(plans, intents, ended)
            if isinstance(outcome, Unverifiable):
                path = plans[len(ended) - 1].shown_path
                raise EditRefused(
                    "unverifiable", path, outcome.message, hint=outcome.hint
                ) from outcome
            return None
    positions = _record(plans, ended, expect)
    return [
        EditResult(
            path=plan.shown_path,
            revision=plan.after,
            merged=plan.ruling.decision == "merge",
            notice=with_claim_notice(plan, notice_of(plan, plan.path, position)),
            diff=plan.diff,
            affected=_affected(plan),
        )
        for plan, position in zip(plans, positions, strict=True)
    ]


def planned_write(plan: Evaluation) -> Write:
    """Return the write that carries out an allowed plan."""
    belief, body = _belief_after(plan, plan.known)
    return Write(
        plan.path, plan.on_disk.revision, plan.after, plan.on_disk, plan.ruling.new, belief, body
    )


def _give_up(
    plans: Sequence[Evaluation],
    intents: Sequence[Intent],
    ended: Sequence[tuple[Intent, Outcome]],
) -> None:
    """Record the intents as ended where the last of `ended` failed, and put back those before."""
    context, tried = plans[0].context, len(ended)
    never = [
        (intent, plan.on_disk) for intent, plan in zip(intents[tried:], plans[tried:], strict=True)
    ]
    record_ends(context, [*ended, *never], durable=tried > 1)
    for plan in reversed(plans[: tried - 1]):
        put_back(plan)


def put_back(plan: Evaluation) -> None:
    """Undo a committed plan where its own bytes still are on disk."""
    context, known = plan.context, load_knowledge(plan.context, plan.located)
    lines = len(plan.case.disk.lines) if plan.case.disk else 0
    before = plan.known.belief or Belief(plan.on_disk.revision, (), (), lines)
    undo = Write(
        plan.path,
        plan.after,
        plan.on_disk.revision,
        plan.on_disk,
        plan.on_disk.data,
        before,
    )
    intents = intend(context, [undo], with_stamps=False)
    ended = list(zip(intents, carry_out(context, intents), strict=True))
    expect = {plan.path: known.position} if is_done(*ended[0]) else None
    record_ends(context, ended, expect=expect)


def with_claim_notice(plan: Evaluation, notice: Notice | None) -> Notice | None:
    """Add to the notice of a write that other sessions claim the file."""
    if not plan.claims:
        return notice
    return claim_notice(plan.context, plan.shown_path, plan.claims, notice)


def _affected(plan: Evaluation) -> tuple[Affected, ...]:
    """Return the other sessions whose view of the file this write made stale."""
    context = plan.context
    if not context.store.knowers(plan.path).keys() - {context.session}:
        return ()
    return affected(context, plan.path, plan.on_disk.data, plan.ruling.new)


def _record(
    plans: Sequence[Evaluation],
    ended: Sequence[tuple[Intent, Outcome]],
    expect: dict[str, int],
) -> list[int]:
    """Record that the writes happened; return the positions of these facts. The files are written
    already, so a failure says so; the next open records the writes from their intents."""
    context = plans[0].context
    merged: list[Fact] = [
        Merged(plan.path, plan.known.belief.text, plan.on_disk.revision, plan.after)
        for plan in plans
        if plan.ruling.decision == "merge" and plan.known.belief
    ]
    try:
        try:
            recorded = record_ends(context, ended, merged=merged, expect=expect)
        except StoreConflict:  # another process of this session looked at a file meanwhile
            beliefs = {
                plan.path: _belief_after(plan, load_knowledge(context, plan.located), anew=True)
                for plan in plans
            }
            bodies = [
                text for path, (_, body) in beliefs.items() for text in context.keepable(path, body)
            ]
            recorded = record_ends(
                context,
                ended,
                beliefs={path: belief for path, (belief, _) in beliefs.items()},
                merged=merged,
                blobs=bodies,
            )
    except StoreError as error:
        names = ", ".join(plan.shown_path for plan in plans)
        was = "was" if len(plans) == 1 else "were"
        raise StoreError(
            f"{names} {was} written, but the store could not record it: {error.message}",
            "Do not repeat the edit. It is recorded at the next open. " + error.hint,
        ) from error
    return [entry.position for entry in recorded[: len(plans)]]


def _belief_after(
    plan: Evaluation, known: Known, *, anew: bool = False
) -> tuple[Belief, bytes | None]:
    """Return what the agent knows of the file once the plan is carried out, and that text's bytes.
    anew: start from what the agent knows by now instead of the ruling."""
    new, after, text = plan.ruling.new, plan.ruling.after, plan.new_text
    if new is None or text is None or after is None:
        return Belief(MISSING, (), (), 0), None
    disk = plan.case.disk
    if anew and known.held is not None:
        own = new_sides(diff(disk.lines if disk else [], text.lines))
        after = look(known.held, text.lines, own)
    plain = "".join(after.lines)
    if disk and text.plain != plain and disk.is_encoded(plain, new):
        # By its characters now, the file would be read as one of another encoding.
        return Belief(plan.after, after.shown, after.held, len(after.lines)), new
    return believe(after, text, new, plan.after)


def _ask_user(context: SessionContext, plan: Evaluation) -> str:
    """Ask the user for approval, with no lock held; return the diff that was approved. The caller
    judges again, and asks again when the diff differs by then. EditRefused (scope)."""
    asked = plan.diff
    if context.approve is not None and context.approve(plan.shown_path, asked):
        return asked
    message, hint = words.refusal(structs.replace(plan.ruling, reason="scope"), plan.shown_path, "")
    attempt = describe(plan.attempt)
    context.append([Refused(plan.path, attempt, "scope", plan.on_disk.revision)])
    raise EditRefused("scope", plan.shown_path, message, diff=asked, hint=hint)


def with_move_notice(result: EditResult, renamed_from: str | None) -> EditResult:
    """Add to a result that the edit followed the file to its new name."""
    if renamed_from is None:
        return result
    return structs.replace(result, notice=moved_notice(renamed_from, result))
