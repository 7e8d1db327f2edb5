"""Answer how an attempt would end, and whether a session may rely on a file."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from sightline.changes.attribution import detect_changes
from sightline.changes.authors import changed_by
from sightline.changes.renames import RenameFinder, resolve_rename
from sightline.changes.session_context import Known, SessionContext, located
from sightline.errors import Unverifiable
from sightline.filesystem.file_state import ResolvedPath
from sightline.guard.edit_case import EditCase, Ruling
from sightline.guard.evaluation import claims_on, forbids, policy_of
from sightline.guard.evidence import edit_case
from sightline.guard.file_states import record_changes
from sightline.guard.refusals import bounded
from sightline.guard.verdict import judge
from sightline.model.attempts import Attempt, Replace, WriteWhole
from sightline.model.events import Fact
from sightline.model.results import Verdict, VerdictReason
from sightline.model.spans import covers

ANYTHING = "\x1a"
"""In check(), the unknown new text of a replacement: a character that files do not contain."""


def check(
    context: SessionContext,
    path: str,
    *,
    old: str | None = None,
    content: str | None = None,
    record: bool = True,
) -> Verdict:
    """Return what the guard would say of an attempt now: to replace `old`, or to write `content`.
    With neither: whether this session may rely on what it was shown. Changes no file. record: whether
    to record a change that the look finds."""
    try:
        where = located(context, path)
    except Unverifiable:
        return Verdict(
            path=path,
            state="unverifiable",
            decision="refuse",
            reason="unverifiable",
            diff="",
            changed_by=None,
            in_window=False,
            seen_lines=(),
            complete=False,
        )
    on_disk = context.look(where.path)
    known = resolve_rename(context, where, on_disk)
    policy = policy_of(context, where)
    attempt: Attempt | None = WriteWhole(content) if content is not None else None
    if old is not None:
        attempt = Replace(old, ANYTHING)
    case = edit_case(context, on_disk, known, policy, attempt)
    ruling = judge(case, attempt)
    moved = (
        ruling.state == "deleted"
        and known.knowledge
        and RenameFinder(context).find(known.knowledge.path)
    )
    if moved:  # an attempt would follow the rename
        case = edit_case(context, moved, known, policy, attempt)
        ruling = _as_moved(judge(case, attempt), attempt)
    if isinstance(attempt, WriteWhole) and ruling.reason == "no_change":
        ruling = structs.replace(ruling, decision="allow")
    if record:
        record_changes(context, [on_disk])
    news = () if record else detect_changes(context, on_disk)
    verdict = _verdict(context, where, case, ruling, known, policy, news)
    return _with_claims(context, where.path, verdict, attempt)


def _verdict(
    context: SessionContext,
    where: ResolvedPath,
    case: EditCase,
    ruling: Ruling,
    known: Known,
    policy: str,
    news: Sequence[Fact],
) -> Verdict:
    _, by = changed_by(context, where.path, news)
    state, decision = ruling.state, ruling.decision
    reason: VerdictReason | None = ruling.reason
    diff, _ = bounded(case, case.changes)
    if ruling.endings_only and not reason:
        reason = "line endings only"
    belief = known.belief
    return Verdict(
        path=where.name or where.path,
        state=state,
        decision="ask" if policy == "ask" and decision != "refuse" else decision,
        reason=reason,
        diff=diff,
        changed_by=by if state not in ("fresh", "unseen") else None,
        in_window=bool(belief and covers(belief.held, belief.shown)),
        seen_lines=belief.shown if belief else (),
        complete=bool(case.held and case.held.complete),
    )


def _with_claims(
    context: SessionContext, path: str, verdict: Verdict, attempt: Attempt | None
) -> Verdict:
    """Add other sessions' claims on the path. They concern writes, not what may be relied on."""
    claims = claims_on(context, path)
    if not claims:
        return verdict
    claimed_by = tuple(dict.fromkeys(claim.session for claim in claims))
    verdict = structs.replace(verdict, claimed_by=claimed_by)
    if attempt is not None and forbids(context, claims):
        return structs.replace(verdict, decision="refuse", reason="claimed")
    if attempt is not None and verdict.decision == "allow":
        return structs.replace(verdict, decision="notice", reason="claimed")
    return verdict


def _as_moved(ruling: Ruling, attempt: Attempt | None) -> Ruling:
    """Return the ruling for a renamed file. Without an attempt the question is whether the old
    name holds what was shown, and it does not."""
    if attempt is None:
        return structs.replace(ruling, state="moved", decision="refuse", reason="moved")
    decision = "notice" if ruling.decision == "allow" else ruling.decision
    return structs.replace(
        ruling, state="moved", decision=decision, reason=ruling.reason or "moved"
    )
