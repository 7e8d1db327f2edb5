"""What others changed, made into a notice for the agent."""

from __future__ import annotations

from sightline import render
from sightline.services.authors import changed_by
from sightline.services.refusals import bounded
from sightline.services.results import FileChange, Notice, Told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.services.plans import Plan
    from sightline.services.results import EditResult


def notice_of(plan: Plan, path: str, position: int) -> Notice | None:
    """The notice that goes with an attempt that was carried out; None when nothing else changed.

    path: where the file is now; position: where that was recorded.
    """
    ruling, case = plan.ruling, plan.case
    if ruling.decision == "allow":
        return None
    if not ruling.changes and not ruling.endings_only:
        return _unseen_notice(plan) if ruling.reason == "unseen" else None
    who, by = changed_by(plan.ground, plan.path, plan.news)
    diff_text, shown = bounded(case, ruling.changes)
    text = render.notice(plan.shown_path, who, diff_text, endings_only=ruling.endings_only)
    seen = case.sight.belief.text if case.sight.belief else ""
    summary = text.split("\n")[0]
    change = FileChange(
        plan.shown_path, ruling.state, diff_text, summary, by, seen, plan.found.revision
    )
    told = None
    if set(ruling.changes) <= set(shown):
        told = Told(path, plan.after, None, position, refusal=False)
    return Notice(f"{path}@{position}", text, (change,), told)


def _unseen_notice(plan: Plan) -> Notice:
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
