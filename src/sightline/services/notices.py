"""What others changed, made into a notice for the agent."""

from __future__ import annotations

from sightline import render
from sightline.core.events import NoticeAcknowledged, NoticeDelivered, Told
from sightline.services.authors import changed_by
from sightline.services.refusals import bounded
from sightline.services.results import FileChange, Notice
from sightline.services.views import to_tell, unsettled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.events import Fact
    from sightline.services.ground import Ground
    from sightline.services.plans import Plan
    from sightline.services.results import EditResult

CHARACTERS = 4
"""Of one token, about."""


def notice_of(plan: Plan, path: str, position: int) -> Notice | None:
    """The notice that goes with an attempt that was carried out; None when nothing else changed.

    path: where the file is now; position: where that was recorded.
    """
    ruling, case = plan.ruling, plan.case
    if ruling.decision == "allow":
        return None
    if not ruling.changes and not ruling.endings_only:
        return unseen_notice(plan) if ruling.reason == "unseen" else None
    who, by = changed_by(plan.ground, plan.path, plan.news)
    diff_text, shown = bounded(case, ruling.changes)
    text = render.notice(plan.shown_path, who, diff_text, endings_only=ruling.endings_only)
    seen = case.sight.belief.text if case.sight.belief else ""
    summary = text.split("\n")[0]
    change = FileChange(
        plan.shown_path, ruling.state, diff_text, summary, by, seen, plan.found.revision
    )
    told: tuple[Told, ...] = ()
    if set(ruling.changes) <= set(shown):
        told = (Told(path, plan.after, None, position),)
    return Notice(f"{path}@{position}", text, (change,), told)


def unseen_notice(plan: Plan) -> Notice:
    """An edit of text that matched, and was never shown or not kept when it was."""
    path = plan.shown_path
    kept = plan.known.belief is None or plan.case.base is not None
    return Notice(f"{path}@unseen", render.unseen_notice(path, plan.ruling.lines, kept=kept), ())


def moved_notice(src: str, result: EditResult) -> Notice:
    """An edit that followed a rename."""
    text = render.moved(src, result.path)
    if result.notice is None:
        return Notice(f"{result.path}@moved", text, ())
    return result.notice.replace(text=f"{text}\n{result.notice.text}")


def untold(ground: Ground, budget: int) -> Notice | None:
    """What others changed in lines that were shown, and this session has not been told yet; None
    when there is nothing. budget: tokens at most, about four characters each. What does not fit
    is named, and told in full another time."""
    fresh = [
        (path, state)
        for path, state in unsettled(ground)
        if state != "fresh" and not _told_before(ground, path)
    ]
    known = ground.tracked().known
    found = [to_tell(ground, path, state, known[path].name) for path, state in fresh]
    if not found:
        return None
    text, fits = render.changes([change for change, _, _ in found], budget * CHARACTERS)
    told = [each for _, each, _ in found[:fits] if each is not None]
    blobs = [b for _, _, there in found for b in ground.keepable(there.path, there.data)]
    ground.store.keep(blobs)
    name = f"notice@{ground.store.position()}"
    return Notice(name, text, tuple(change for change, _, _ in found), tuple(told))


def _told_before(ground: Ground, path: str) -> bool:
    """Whether words on this path were handed over since it last changed."""
    row = ground.store.disk(path)
    kinds: list[type[Fact]] = [NoticeDelivered, NoticeAcknowledged]
    newest = ground.store.timeline(session=ground.session, path=path, kinds=kinds, newest=1)
    last = next(iter(newest), None)
    return last is not None and (row is None or last.position > row.position)
