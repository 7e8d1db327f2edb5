"""Rewind: undo what this session did since a checkpoint, and keep the work of everybody else.

A rewind is three steps: plan it as values, take the safety checkpoint, apply the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.checkpoints import take
from sightline.checkpoints.changed_since import NO_MESSAGES, about_rewind
from sightline.checkpoints.rewind import words
from sightline.checkpoints.rewind.apply import apply_undo
from sightline.checkpoints.rewind.effects import EFFECTS, Target
from sightline.checkpoints.rewind.planning import RewindPlan, find_vanished, plan_rewind
from sightline.checkpoints.rewind.report import build_report, preview
from sightline.checkpoints.take import REWIND, TakenCheckpoint
from sightline.errors import RewindInterrupted, RewindRefused, SightlineError, StoreError
from sightline.guard.unfinished import unfinished_rewinds
from sightline.model.events import Changed, Fact, Moved, RewindEnded, RewindStarted, WarningRaised
from sightline.model.results import Checkpoint, Deleted, FileWarning, RewindReport
from sightline.notices import warnings


def rewind(
    context: SessionContext,
    to: Checkpoint | str | int | None,
    *,
    files: bool = True,
    conversation: bool = False,
    dry_run: bool = False,
    force_paths: Iterable[str] = (),
    commands: bool = False,
    deleted: Deleted = NO_MESSAGES,
) -> RewindReport:
    """Undo what this session did since a checkpoint, its id or label, or a position.

    dry_run: return the plan and its diffs, and change nothing. force_paths: these paths get the
    bytes of then, whoever wrote there since. commands: also undo what changed while a command of
    this session ran, whoever changed it. deleted: as in edited_since(), for the warning where
    the conversation alone is rewound. RewindRefused, UnknownName, PathRefused, ValueError;
    RewindInterrupted on Ctrl-C; StoreError where the store fails in the middle."""
    if to is None:
        raise RewindRefused(*words.no_checkpoint())
    paths = tuple(force_paths)
    if not (files or conversation) or ((paths or commands) and not files):
        raise RewindRefused(*words.nothing_asked())
    plan = plan_rewind(context, to, paths, with_files=files, commands=commands)
    if dry_run or not (conversation or any(each.steps for each in plan.undone)):
        if not dry_run and unfinished_rewinds(context, context.session):
            end(context, plan.target, conversation=False)
        undone = [*plan.undone, find_vanished(context, plan)]
        report = build_report(context, plan, undone, dry_run=dry_run, conversation=conversation)
        return preview(plan, report) if dry_run else report

    warned = None
    if conversation and not files:
        warned = about_rewind(context, plan.target.position, deleted)
    safety = _begin(context, plan, files=files, conversation=conversation)
    try:
        undone = [*apply_undo(context, plan.target, plan.groups)]
        warning = end(context, plan.target, conversation=conversation, warned=warned)
    except StoreError as error:
        name = words.argument(plan.target.name, plan.target.position)
        raise StoreError(*words.unfinished(name, error.message, error.hint)) from error
    except KeyboardInterrupt:
        raise _interrupted(context, plan, safety) from None
    undone.append(find_vanished(context, plan, safety.manifest))
    report = build_report(context, plan, undone, dry_run=False, conversation=conversation)
    return structs.replace(report, safety_checkpoint=safety.fact.checkpoint, warning=warning)


def _begin(
    context: SessionContext, plan: RewindPlan, *, files: bool, conversation: bool
) -> TakenCheckpoint:
    """Take the safety checkpoint and record RewindStarted, both in one append. RewindRefused where
    the checkpoint cannot be taken: then nothing is rewound."""
    target = plan.target
    started = RewindStarted(
        target.name,
        target.position,
        context.owner,
        files,
        conversation,
        plan.forced,
        target.commands,
    )
    try:
        return take.record(
            context,
            f"before the rewind to {target.name}",
            why=REWIND,
            followed_by=[started],
        )
    except SightlineError as error:
        raise RewindRefused(*words.no_safety(error.message, error.hint)) from error


def end(
    context: SessionContext,
    target: Target,
    *,
    conversation: bool,
    warned: WarningRaised | None = None,
) -> FileWarning | None:
    """Record the end of a rewind, and in the same append a warning for the agent; return the
    warning."""
    to = target.position if conversation else context.store.position()
    ended: list[Fact] = [RewindEnded(to, files_only=not conversation)]
    _, *raised = context.append([*ended, warned] if warned else ended, durable=True)
    return warnings.warning_of(raised[0]) if raised else None


def _interrupted(
    context: SessionContext, plan: RewindPlan, safety: TakenCheckpoint
) -> RewindInterrupted:
    """End a rewind where it is, because the user interrupted it, and return the error to raise.
    Where the end cannot be recorded, the next open of the session finishes the rewind."""
    cause = plan.target.cause(context.session)
    recorded = context.store.timeline(after=safety.position, kinds=EFFECTS)
    facts: Sequence[Fact] = [each.fact for each in recorded]
    done = {f.path for f in facts if isinstance(f, (Changed, Moved)) and f.cause == cause}
    files = {step.path for group in plan.groups for step in group.undo.steps}
    with suppress(SightlineError, KeyboardInterrupt):
        end(context, plan.target, conversation=False)
    name = words.argument(plan.target.name, plan.target.position)
    text = words.interrupted(name, len(done), len(files), safety.fact.checkpoint)
    return RewindInterrupted(*text)
