"""Report a rewind that was planned or done, and preview what a plan does to the text of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from sightline.changes.authors import cause_of, changed_by
from sightline.changes.command_folders import Folders
from sightline.changes.renames import RenameFinder
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import author
from sightline.checkpoints.compare import compared
from sightline.checkpoints.rewind import words
from sightline.checkpoints.rewind.effects import EFFECTS, Target, owner
from sightline.checkpoints.rewind.planning import RewindPlan, find_lost
from sightline.checkpoints.rewind.undo_plan import (
    Rename,
    Restore,
    SetMode,
    Skipped,
    Step,
    UndoPlan,
)
from sightline.filesystem.file_state import FileState
from sightline.model.events import Changed, GitMoved, Moved
from sightline.model.manifest import Change, FileDifference
from sightline.model.results import (
    LeftAlone,
    MovedBack,
    RestoredMode,
    RewindReport,
    SessionPaths,
    TakenBack,
)
from sightline.model.revision import MISSING, is_link
from sightline.model.session_ids import NOBODY
from sightline.model.text import lines_of
from sightline.model.timeline import newest_first
from sightline.model.units import moment


def build_report(
    context: SessionContext,
    plan: RewindPlan,
    undone: Sequence[UndoPlan],
    folders: Folders,
    *,
    dry_run: bool,
    conversation: bool,
) -> RewindReport:
    """Report what was undone, or with dry_run what would be. undone: for each group of the plan; folders:
    those that the rewind made and removed, or with dry_run would."""
    steps = [step for each in undone for step in each.steps]
    last = {step.path: step for step in steps if isinstance(step, Restore)}
    writes = [write for _, write in sorted(last.items())]
    restored = {w.path for w in writes if w.after != MISSING and not w.merged}
    modes = [step for step in steps if isinstance(step, SetMode)]
    restored |= {step.path for step in modes} - last.keys()
    effects = [effect for each in undone for effect in each.effects]
    target = plan.target
    left_alone, gone = _left_alone_and_gone(context, undone)
    return RewindReport(
        checkpoint=None if target.manifest is None else target.name,
        to=target.position,
        dry_run=dry_run,
        conversation=conversation,
        restored=tuple(sorted(restored)),
        removed=tuple(w.path for w in writes if w.after == MISSING),
        merged=tuple(w.path for w in writes if w.merged and w.after != MISSING),
        moved=tuple(MovedBack(step.src, step.path) for step in steps if isinstance(step, Rename)),
        left_alone=left_alone,
        lost_edits=tuple(
            TakenBack(each.path, each.position, moment(each.happened_at))
            for each in sorted(effects, key=lambda effect: effect.position)
        ),
        stands=_changes_of_children(context, target),
        safety_checkpoint=None,
        gone=gone,
        lost=tuple(
            LeftAlone(path, words.lost(each.reason, each.command), each.command)
            for path, each in find_lost(context, plan).items()
        ),
        modes=tuple(
            RestoredMode(
                step.path, f"{step.before:o}", f"{step.after:o}", alone=step.path not in last
            )
            for step in sorted(modes, key=lambda step: step.path)
            if step.before is not None
        ),
        sessions=_shares(plan, undone) if target.everyone else (),
        folders_restored=tuple(sorted(folders.made)),
        folders_removed=tuple(sorted(folders.removed)),
    )


def _shares(plan: RewindPlan, undone: Sequence[UndoPlan]) -> tuple[SessionPaths, ...]:
    """List the sessions whose effects a rewind of all undoes or leaves alone, with the paths of each."""
    touched = {path for each in undone for step in each.steps for path in _paths_of(step)}
    touched |= {each.path for plan in undone for each in (*plan.skipped, *plan.gone)}
    effects = [effect for group in plan.groups for effect in group.effects]
    shares: dict[str, set[str]] = {}
    for effect in sorted(effects, key=lambda each: each.position, reverse=True):
        if paths := touched.intersection(effect.paths):
            shares.setdefault(effect.session, set()).update(paths)
    return tuple(SessionPaths(session, tuple(sorted(paths))) for session, paths in shares.items())


def _paths_of(step: Step) -> tuple[str, ...]:
    return (step.src, step.path) if isinstance(step, Rename) else (step.path,)


def _left_alone_and_gone(
    context: SessionContext, undone: Sequence[UndoPlan]
) -> tuple[tuple[LeftAlone, ...], tuple[LeftAlone, ...]]:
    """Split the paths without a step into those that keep some of the session's work, and those
    that keep none. A file that others only renamed keeps it at its new path."""
    renames = RenameFinder(context)
    left_alone: list[LeftAlone] = []
    gone: list[LeftAlone] = []
    every = [(each, left_alone) for plan in undone for each in plan.skipped]
    every += [(each, gone) for plan in undone for each in plan.gone]
    for each, listed in every:
        new_path = _renamed_to(each, renames)
        reason = each.reason if new_path is None else "renamed_since"
        who = _other_author(context, each.path)
        text = words.left_alone(reason, who, each.lines, new_path or each.other)
        command = each.other or "" if reason == "probable" else None
        (left_alone if new_path else listed).append(
            LeftAlone(each.path, text, command, probable=reason in ("probable", "layout"))
        )
    return tuple(sorted(left_alone, key=lambda each: each.path)), tuple(gone)


def _other_author(context: SessionContext, path: str) -> str:
    """Name the last author of a file whose work the rewind does not take back."""
    if context.session != NOBODY:
        return changed_by(context, path)[0]
    log = newest_first(context.store.timeline, path=path, kinds=[Changed, GitMoved])
    causes = (cause_of(each.fact, path) for each in log)
    return author(context, next((each for each in causes if each and not owner(each)), None))


def _renamed_to(skipped: Skipped, renames: RenameFinder) -> str | None:
    """Find the new path of a file that somebody else renamed, by its bytes."""
    if skipped.reason != "deleted_since":
        return None
    found = renames.find(skipped.path)
    return found.path if found is not None else None


def _changes_of_children(context: SessionContext, target: Target) -> tuple[SessionPaths, ...]:
    """List what sub-agents of this session changed since the target; a rewind keeps that."""
    if target.everyone:
        return ()
    children = {state.id for state in context.store.sessions(parent=context.session)}
    if not children:
        return ()
    changed: dict[str, set[str]] = {}
    for recorded in context.store.timeline(after=target.position, kinds=EFFECTS):
        fact = recorded.fact
        if isinstance(fact, (Changed, Moved)) and fact.cause.who in children:
            changed.setdefault(fact.cause.who or "", set()).add(fact.path)
    return tuple(SessionPaths(who, tuple(sorted(paths))) for who, paths in sorted(changed.items()))


# --- preview


def preview(plan: RewindPlan, report: RewindReport) -> RewindReport:
    """Add to the report of a plan its diff for each path that gets another text, in order of path;
    files that are only moved have none."""
    diffs = {d.path: d for group in plan.groups for d in diffs_of(group.undo.steps, group.found)}
    touched = {*report.restored, *report.removed, *report.merged}
    shown = tuple(each for path, each in sorted(diffs.items()) if path in touched)
    return structs.replace(report, diffs=shown)


def diffs_of(steps: Sequence[Step], found: Mapping[str, FileState]) -> Iterator[FileDifference]:
    """Yield the differences between the current files and the files after all steps: a file may be
    changed, moved back and changed again."""
    for step in steps:
        if isinstance(step, SetMode):
            yield FileDifference(step.path, "mode", None, None, "")
    links = {s.path: s for s in steps if isinstance(s, Restore) and _involves_link(s)}
    yield from [_link_diff(step) for step in links.values()]
    before = {path: each.data for path, each in found.items() if each.kind == "file"}
    after = dict(before)
    origin = {path: path for path in after}
    for step in steps:
        _simulate(step, after, origin)
    for path, data in after.items():
        if path in links:
            continue
        replaced = path in before and path not in origin.values()
        src = origin.get(path) or (path if replaced else None)
        old = before[src] if src is not None else None
        if old != data:
            yield _text_diff(path, old, data, src)
    for path, old in before.items():
        # A file that arrives with the text it has elsewhere replaces the one at this path.
        overwritten = path in origin and after[path] == before[origin[path]]
        leaves = path not in origin.values() and (path not in after or overwritten)
        if path not in links and leaves:
            yield _text_diff(path, old, None, path)


def _involves_link(step: Restore) -> bool:
    return is_link(step.before) or is_link(step.after)


def _link_diff(step: Restore) -> FileDifference:
    """Return the difference at a path where a symlink is, or will be: there is no text."""
    change: Change = "kind"
    if step.after == MISSING:
        change = "removed"
    elif step.before == MISSING:
        change = "added"
    elif is_link(step.before) and is_link(step.after):
        change = "changed"
    return FileDifference(step.path, change, None, None)


def _simulate(step: Step, data: dict[str, bytes | None], origin: dict[str, str]) -> None:
    """Take a step in memory. data: the bytes at each path; origin: the path where the file at each
    path was before all steps."""
    if isinstance(step, Rename):
        data[step.path] = data.pop(step.src)
        if step.src in origin:
            origin[step.path] = origin.pop(step.src)
    elif isinstance(step, Restore) and step.data is not None:
        data[step.path] = step.data
    elif isinstance(step, Restore):
        data.pop(step.path, None)
        origin.pop(step.path, None)


def _text_diff(
    path: str, before: bytes | None, after: bytes | None, src: str | None
) -> FileDifference:
    """Return the difference at a path. src: the path where the file was before; None for a new
    file."""
    change: Change = "removed" if after is None else "changed" if src else "added"
    old, new = lines_of(before) if src else [], [] if after is None else lines_of(after)
    return compared(FileDifference(path, change, None, None), old, new, src)
