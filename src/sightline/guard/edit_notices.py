"""Build the notice that goes with an attempt that was carried out."""

from __future__ import annotations

from msgspec import structs

from sightline.changes.authors import changed_by
from sightline.guard import words
from sightline.guard.evaluation import Evaluation
from sightline.guard.refusals import bounded
from sightline.model.diff import diff
from sightline.model.events import Told
from sightline.model.relocation import Place, shifted
from sightline.model.results import EditResult, FileChange, Notice


def notice_of(plan: Evaluation, path: str, position: int) -> Notice | None:
    """Return the notice on changes by others to the file; None where there are none.

    path: where the file is now; position: of the fact that the attempt was carried out.
    """
    ruling, case = plan.ruling, plan.case
    if ruling.decision == "allow":
        return None
    if not ruling.changes and not ruling.endings_only:
        return unseen_notice(plan) if ruling.reason == "unseen" else None
    who, by = changed_by(plan.context, plan.path, plan.unrecorded)
    moved: tuple[Place, ...] = ()
    what, shown = "endings", ruling.changes
    if ruling.endings_only:
        diff_text, text = "", words.endings(plan.shown_path, who)
    else:
        what, moved = "changed", _moved_lines(plan)
        diff_text, shown = bounded(case, ruling.changes)
        text = words.beside(plan.shown_path, who, diff_text, moved)
    told: tuple[Told, ...] = ()
    if set(ruling.changes) <= set(shown):
        told = (Told(path, plan.after, None, position),)
    change = FileChange(
        plan.shown_path,
        ruling.state,
        diff_text,
        text.split("\n")[0],
        by,
        case.sight.belief.text if case.sight.belief else "",
        plan.on_disk.revision,
        what,
        moved_lines=moved,
    )
    return Notice(f"{path}@{position}", text, (change,), told)


def _moved_lines(plan: Evaluation) -> tuple[Place, ...]:
    """Return where lines that were shown stand after the attempt, when others' changes moved
    them."""
    case, text = plan.case, plan.new_text
    if case.held is None or case.base is None or text is None:
        return ()
    if all(b1 - b0 == a1 - a0 for a0, a1, b0, b1 in plan.ruling.changes):
        return ()
    return tuple(shifted(case.held.shown, diff(case.base.lines, text.lines)))


def unseen_notice(plan: Evaluation) -> Notice:
    """Return the notice on a replacement of text that matched, and that the agent was never
    shown, or whose text was not kept."""
    path = plan.shown_path
    kept = plan.known.belief is None or plan.case.base is not None
    return Notice(f"{path}@unseen", words.unseen(path, plan.ruling.lines, kept=kept), ())


def moved_notice(renamed_from: str, result: EditResult) -> Notice:
    """Return the notice on an edit that followed a rename."""
    text = words.moved(renamed_from, result.path)
    if result.notice is None:
        return Notice(f"{result.path}@moved", text, ())
    return structs.replace(result.notice, text=f"{text}\n{result.notice.text}")
