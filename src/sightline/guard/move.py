"""Moving a file: the bytes stay, the path changes, nothing is overwritten."""

from __future__ import annotations

from os import urandom

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.changes.write_journal import completed, recover
from sightline.errors import EditRefused, Unverifiable
from sightline.guard.edit import with_claims
from sightline.guard.edit_notices import notice_of
from sightline.guard.evaluation import Evaluation, claims_on, forbids, place_of
from sightline.model.attempts import Move
from sightline.model.events import WriteAbandoned, WriteIntended
from sightline.model.results import EditResult
from sightline.model.revision import MISSING


def move(ground: SessionContext, src: str, dst: str) -> EditResult:
    """Rename a file. Refused when dst exists, or src is not what this session may rely on."""
    source, target = place_of(ground, src), place_of(ground, dst)
    with ground.workspace.lock(source.path, target.path):
        recover(ground, target.path)
        plan = Evaluation(ground, source, Move(target.path))
        if plan.elsewhere is None:
            return _judged(ground, plan, target.path, dst)
    return move(ground, plan.elsewhere.path, dst)  # renamed since: follow, as an edit does


def _judged(ground: SessionContext, plan: Evaluation, target: str, dst: str) -> EditResult:
    if plan.ruling.decision == "refuse":
        raise plan.refuse()
    if plan.protected or ground.settings.policy_for(target) == "ask":
        plan.ruling = structs.replace(plan.ruling, decision="refuse", reason="scope")
        raise plan.refuse()
    there = claims_on(ground, target)
    if forbids(ground, there):
        plan.shown_path, plan.claims = dst, there
        plan.ruling = structs.replace(plan.ruling, decision="refuse", reason="claimed")
        raise plan.refuse()
    plan.claims = tuple(dict.fromkeys((*plan.claims, *there)))
    if ground.workspace.stat(target) is not None:
        plan.shown_path, plan.ruling = dst, structs.replace(plan.ruling, reason="exists")
        raise plan.refuse()
    return _carry_out(ground, plan, target)


def _carry_out(ground: SessionContext, plan: Evaluation, target: str) -> EditResult:
    revision = plan.found.revision
    asides = ground.workspace.asides(target, urandom(6).hex())
    intent = WriteIntended(target, MISSING, revision, asides, ground.owner, src=plan.path)
    recorded = ground.append(
        [*plan.news, intent],
        blobs=ground.keepable(plan.path, plan.found.data),
        found=[plan.found],
        durable=True,
    )
    position = recorded[-1].position
    try:
        stands = ground.workspace.move_if(plan.path, target, revision)
    except Unverifiable as error:
        ground.append([WriteAbandoned(target, position)])
        raise EditRefused("unverifiable", target, error.message, hint=error.hint) from error
    if stands.revision != revision:
        ground.append([WriteAbandoned(target, position)])
        raise EditRefused(
            "stale", plan.path, f"{plan.path} changed while it was being moved.", hint="Read it."
        )
    moved = completed(intent, stands, ground.session, position)
    recorded = ground.append([moved], found=[stands], durable=True)
    notice = with_claims(plan, notice_of(plan, target, recorded[-1].position))
    return EditResult(
        path=target,
        revision=revision,
        merged=False,
        notice=notice,
        diff=f"rename {plan.path} => {target}\n",
    )
