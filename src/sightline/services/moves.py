"""Moving a file: the bytes stay, the path changes, nothing is overwritten."""

from __future__ import annotations

from os import urandom

from sightline.core.attempts import Move
from sightline.core.events import WriteAbandoned, WriteIntended
from sightline.core.revision import MISSING
from sightline.errors import EditRefused, Unverifiable
from sightline.services.edits import with_claims
from sightline.services.notices import notice_of
from sightline.services.plans import Plan, claims_on, forbids, place_of
from sightline.services.recovery import done, settle
from sightline.services.results import EditResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.services.ground import Ground


def move(ground: Ground, src: str, dst: str) -> EditResult:
    """Rename a file. Refused when dst exists, or src is not what this session may rely on."""
    source, target = place_of(ground, src), place_of(ground, dst)
    with ground.workspace.lock(source.path, target.path):
        settle(ground, target.path)
        plan = Plan(ground, source, Move(target.path))
        if plan.elsewhere is None:
            return _judged(ground, plan, target.path, dst)
    return move(ground, plan.elsewhere.path, dst)  # renamed since: follow, as an edit does


def _judged(ground: Ground, plan: Plan, target: str, dst: str) -> EditResult:
    if plan.ruling.decision == "refuse":
        raise plan.refuse()
    if plan.protected or ground.settings.policy_for(target) == "ask":
        plan.ruling = plan.ruling.replace(decision="refuse", reason="scope")
        raise plan.refuse()
    there = claims_on(ground, target)
    if forbids(ground, there):
        plan.shown_path, plan.claims = dst, there
        plan.ruling = plan.ruling.replace(decision="refuse", reason="claimed")
        raise plan.refuse()
    plan.claims = tuple(dict.fromkeys((*plan.claims, *there)))
    if ground.workspace.stat(target) is not None:
        plan.shown_path, plan.ruling = dst, plan.ruling.replace(reason="exists")
        raise plan.refuse()
    return _carry_out(ground, plan, target)


def _carry_out(ground: Ground, plan: Plan, target: str) -> EditResult:
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
    moved = done(intent, stands, ground.session, position)
    recorded = ground.append([moved], found=[stands], durable=True)
    notice = with_claims(plan, notice_of(plan, target, recorded[-1].position))
    return EditResult(
        path=target,
        revision=revision,
        merged=False,
        notice=notice,
        diff=f"rename {plan.path} => {target}\n",
    )
