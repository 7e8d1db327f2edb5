"""Edits of a notebook's cells by a host's own tool, judged before it runs."""

from __future__ import annotations

from sightline.core.case import Case, Rules
from sightline.core.events import Refused
from sightline.core.notebooks import judge_cell
from sightline.core.revision import revision_of
from sightline.errors import EditRefused
from sightline.render import attending, notebooks
from sightline.services.attend import Answer, CellEdit
from sightline.services.authors import changed_by
from sightline.services.follow import recognised
from sightline.services.ground import noticed
from sightline.services.plans import claims_on, forbids, sight_of
from sightline.services.recovery import settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.notebooks import CellRuling
    from sightline.services.ground import Ground
    from sightline.workspace import Located


def judged(ground: Ground, located: Located, edit: CellEdit) -> Answer:
    """Refuse the edit of a cell that is not what its agent was shown, or let it go on. Under the
    caller's lock."""
    path = located.name or located.path
    settle(ground, located.path)
    found = ground.look(located.path)
    known = recognised(ground, located, found)
    news = noticed(ground, found)
    policy = ground.settings.policy_for(path)
    rules = Rules("merge" if policy == "ask" else policy, ground.settings.unseen)
    ruling = judge_cell(Case(sight_of(found, known), rules), edit.cell, edit.mode)
    claims = claims_on(ground, located.path)
    if forbids(ground, claims):
        from sightline.render.several import claim_enforced

        fact = Refused(located.path, _described(edit), "claimed", found.revision)
        ground.append([*news, fact], found=[found])
        message, hint = claim_enforced(path, claims, ground.session)
        return Answer(refuse=attending.refused(EditRefused("claimed", path, message, hint=hint)))
    refused = ruling.decision == "refuse" and ruling.reason != "too_large"
    blobs = ground.keepable(located.path, found.data) if news or refused else ()
    if refused:
        who, _ = changed_by(ground, located.path, news)
        reason = ruling.reason or "stale"
        fact = Refused(located.path, _described(edit), reason, found.revision)
        ground.append([*news, fact], blobs=blobs, found=[found])
        error = _error(path, edit, ruling, who, there=found.kind == "file")
        return Answer(refuse=attending.refused(error))
    ground.append(news, blobs=blobs, found=[found])
    context = ""
    if ruling.reason is not None:
        context = attending.not_judged(path, ruling.reason)
    elif ruling.others:
        context = notebooks.changed_cells(path, ruling.others, ruling.diff)
    if claims:
        from sightline.services.claimed import once

        context = "\n\n".join(filter(None, [context, once(ground, path, claims)]))
    return Answer(ask=attending.asks(path) if policy == "ask" else None, context=context)


def _error(path: str, edit: CellEdit, ruling: CellRuling, who: str, *, there: bool) -> EditRefused:
    reason = ruling.reason or "stale"
    if there and reason != "unverifiable":
        message, hint = notebooks.refusal(path, edit.cell, reason, who)
    else:
        message, hint = notebooks.no_file(path, reason)
    return EditRefused(reason, path, message, diff=ruling.diff, hint=hint)


def _described(edit: CellEdit) -> str:
    """The attempt as a refusal records it, without its text."""
    return f"celledit:{revision_of(repr(edit).encode('utf-8', 'surrogatepass'))[:16]}"
