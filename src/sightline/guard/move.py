"""Move a file: its bytes stay, its path changes, nothing is overwritten."""

from __future__ import annotations

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.errors import EditRefused, Unverifiable
from sightline.guard.edit import with_claim_notice
from sightline.guard.edit_notices import notice_of
from sightline.guard.evaluation import Evaluation, claims_on, forbids, resolve_path
from sightline.guard.write_journal import Write, carry_out, intend, is_done, record_ends, recover
from sightline.model.attempts import Move
from sightline.model.results import EditResult
from sightline.model.revision import MISSING


def move(context: SessionContext, src: str, dst: str) -> EditResult:
    """Rename a file. EditRefused when dst exists, or when src is not as this session knows it."""
    source, target = resolve_path(context, src), resolve_path(context, dst)
    with context.workspace.lock(source.path, target.path):
        recover(context, target.path)
        plan = Evaluation(context, source, Move(target.path))
        if plan.renamed_to is None:
            _raise_refusal(plan, target.path, dst)
            return _carry_out(plan, target.path)
    return move(context, plan.renamed_to.path, dst)


def _raise_refusal(plan: Evaluation, target: str, dst: str) -> None:
    context = plan.context
    if plan.ruling.decision == "refuse":
        raise plan.refuse()
    if plan.protected or context.settings.policy_for(target) == "ask":
        plan.ruling = structs.replace(plan.ruling, decision="refuse", reason="scope")
        raise plan.refuse()
    claims = claims_on(context, target)
    if forbids(context, claims):
        plan.shown_path, plan.claims = dst, claims
        plan.ruling = structs.replace(plan.ruling, decision="refuse", reason="claimed")
        raise plan.refuse()
    plan.claims = tuple(dict.fromkeys((*plan.claims, *claims)))
    if context.workspace.stat(target) is not None:
        plan.shown_path, plan.ruling = dst, structs.replace(plan.ruling, reason="exists")
        raise plan.refuse()


def _carry_out(plan: Evaluation, target: str) -> EditResult:
    context, revision = plan.context, plan.on_disk.revision
    write = Write(target, MISSING, revision, plan.on_disk, src=plan.path)
    intents = intend(context, [write], unrecorded=plan.unrecorded)
    [outcome] = carry_out(context, intents)
    done = is_done(intents[0], outcome)
    recorded = record_ends(context, [(intents[0], outcome)], durable=done)
    if isinstance(outcome, Unverifiable):
        raise EditRefused("unverifiable", target, outcome.message, hint=outcome.hint) from outcome
    if not done:
        raise EditRefused(
            "stale", plan.path, f"{plan.path} changed while it was being moved.", hint="Read it."
        )
    return EditResult(
        path=target,
        revision=revision,
        merged=False,
        notice=with_claim_notice(plan, notice_of(plan, target, recorded[-1].position)),
        diff=f"rename {plan.path} => {target}\n",
    )
