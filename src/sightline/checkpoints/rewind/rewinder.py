"""Rewind: undo what this session did since a checkpoint, and keep the work of everybody else.

A rewind is three steps: plan it as values, take the safety checkpoint, apply the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec import structs

from sightline.changes.command_folders import Folders
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import names_of
from sightline.checkpoints import take
from sightline.checkpoints.changed_since import NO_MESSAGES, about_rewind
from sightline.checkpoints.rewind import words
from sightline.checkpoints.rewind.apply import apply_undo, undo_folders
from sightline.checkpoints.rewind.effects import (
    EFFECTS,
    PastRewind,
    Target,
    owner,
    past_rewinds,
)
from sightline.checkpoints.rewind.interrupted import unfinished_rewinds
from sightline.checkpoints.rewind.planning import RewindPlan, find_lost, find_vanished, plan_rewind
from sightline.checkpoints.rewind.report import build_report, preview
from sightline.checkpoints.take import REWIND, TakenCheckpoint
from sightline.errors import RewindInterrupted, RewindRefused, SightlineError, StoreError
from sightline.model.events import (
    Changed,
    CheckpointDropped,
    CheckpointTaken,
    CommandEnded,
    CommandStarted,
    Fact,
    Moved,
    RewindEnded,
    RewindStarted,
    TurnBegan,
    WarningRaised,
    WriteIntended,
)
from sightline.model.path import is_at_or_below
from sightline.model.results import Checkpoint, Deleted, FileWarning, RewindReport, UndoableTurn
from sightline.model.session_ids import archived
from sightline.model.timeline import Recorded, newest_first, of_kind
from sightline.model.units import moment
from sightline.notices import warnings
from sightline.text.causes import is_rewind


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
    everyone: bool = False,
    only: Iterable[str] = (),
) -> RewindReport:
    """Undo what this session did since a checkpoint, its id or label, or a position. everyone: undo what
    all sessions did; only: at or below these paths alone.

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
    plan = plan_rewind(
        context, to, paths, with_files=files, commands=commands, everyone=everyone, only=only
    )
    if dry_run or not (conversation or plan.has_work):
        if not dry_run and unfinished_rewinds(context, context.session):
            end(context, plan.target, Folders(), conversation=False)
        undone = [*plan.undone, find_vanished(context, plan)]
        report = build_report(
            context, plan, undone, plan.folders, dry_run=dry_run, conversation=conversation
        )
        return preview(plan, report) if dry_run else report

    warned = None
    if conversation and not files:
        warned = about_rewind(context, plan.target.position, deleted)
    safety = _begin(context, plan, files=files, conversation=conversation)
    folders = Folders()
    try:
        undone = [*apply_undo(context, plan.target, plan.groups)]
        folders = undo_folders(context, plan.target) if files else folders
        warning = end(context, plan.target, folders, conversation=conversation, warned=warned)
    except StoreError as error:
        name = words.argument(plan.target.name, plan.target.position)
        raise StoreError(
            *words.unfinished(name, error.fault, error.next_step), error.kind
        ) from error
    except KeyboardInterrupt:
        raise _interrupted(context, plan, safety) from None
    undone.append(find_vanished(context, plan, safety.manifest))
    report = build_report(context, plan, undone, folders, dry_run=False, conversation=conversation)
    return structs.replace(report, safety_checkpoint=safety.fact.checkpoint, warning=warning)


VERBS: tuple[type[Fact], ...] = (WriteIntended, CommandStarted)
"""The kinds of fact that a verb begins with."""


def last_turn(
    context: SessionContext, session: str | None = None, only: Sequence[str] = ()
) -> UndoableTurn:
    """Find the newest turn that an undo takes back: of the session with the newest change that no
    rewind took back, or of the named one. only: count changes at or below these paths alone. A turn of which others removed everything is passed over, and
    so is one of which nothing can come back, unless it is the only one: its report names what is lost.
    RewindRefused where there is none."""
    upto: int | None = None
    lost: UndoableTurn | None = None
    limits = [context.workspace.locate(path).path for path in only]
    while (newest := _newest_effect(context, session, upto, limits)) is not None:
        recorded, session = newest
        turn, upto = _turn(context, session, recorded)
        plan = plan_rewind(context.for_session(session), turn.to, only=only)
        if plan.has_work or any(each.skipped for each in plan.undone):
            return turn
        if lost is None and find_lost(context.for_session(session), plan):
            lost = turn
    if lost is not None:
        return lost
    name = None if session is None else names_of(context.store)(session)
    raise RewindRefused(*words.nothing_to_undo(name, limits))


def _newest_effect(
    context: SessionContext, session: str | None, upto: int | None, only: Sequence[str]
) -> tuple[Recorded, str] | None:
    """Return the newest effect up to a position that no rewind took back, and its session. only: at or
    below these paths, () for all."""
    past: dict[str, list[PastRewind]] = {}
    standing: dict[tuple[str, tuple[int, ...]], list[tuple[int, int]]] = {}
    for recorded in newest_first(context.store.timeline, upto=upto, kinds=[*EFFECTS, CommandEnded]):
        author = _author(recorded)
        paths = _paths_of(recorded.fact)
        is_meant = not only or any(is_at_or_below(path, only) for path in paths)
        if author is None or session not in (None, author) or not is_meant:
            continue
        if author not in past:
            past[author] = past_rewinds(context, [author])
        reaching = [each for each in past[author] if each.reaches(paths)]
        key = author, tuple(each.ended for each in reaching)
        if key not in standing:
            standing[key] = _standing(context, reaching)
        if any(after < recorded.position <= end for after, end in standing[key]):
            return recorded, author
    return None


def _author(recorded: Recorded) -> str | None:
    """Return the session that a fact is an effect of; None for one that is no effect, and for a
    rewind's own."""
    fact = recorded.fact
    if archived(recorded.session) or (isinstance(fact, Moved) and fact.intent is None):
        return None
    if isinstance(fact, Changed | Moved):
        return None if is_rewind(fact.cause) else owner(fact.cause)
    return recorded.session if isinstance(fact, CommandEnded) and _paths_of(fact) else None


def was_taken_back(context: SessionContext, position: int) -> bool:
    """Return whether a rewind, of this session or of all, took back all that this session did at a
    position."""
    rewinds = past_rewinds(context, [context.session])
    return any(each.to < position < each.ended and not each.only for each in rewinds)


def _paths_of(fact: Fact) -> tuple[str, ...]:
    """Return the paths that an effect involves."""
    if isinstance(fact, CommandEnded):
        return *fact.paths, *fact.folders_made, *fact.folders_removed
    if isinstance(fact, Moved):
        return fact.src, fact.path
    return (fact.path,) if isinstance(fact, Changed) else ()


def _standing(context: SessionContext, rewinds: Iterable[PastRewind]) -> list[tuple[int, int]]:
    """Return the ranges (after, up to) of positions whose effects stand after these rewinds. A rewind
    leaves those that stood at its target, so a rewind to a safety checkpoint brings effects back."""
    ends: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]

    def at(position: int) -> list[tuple[int, int]]:
        end, before = next(each for each in reversed(ends) if each[0] <= position)
        return [*before, (end, position)]

    for past in rewinds:
        ends.append((past.ended, at(past.to)))  # noqa: PERF401 - each needs those before it
    return at(context.store.position())


def _turn(context: SessionContext, session: str, effect: Recorded) -> tuple[UndoableTurn, int]:
    """Return the turn of an effect, and the last position before the turn."""
    upto, timeline = effect.position, context.store.timeline
    begun = [*timeline(session=session, kinds=[TurnBegan], upto=upto, newest=1)]
    number = max((fact.number for fact in of_kind(TurnBegan, begun)), default=0)
    before = begun[0].position if begun else _before_verb(context, session, upto)
    facts = timeline(after=before, upto=upto, kinds=[*EFFECTS, CommandEnded])
    first = next((each.position for each in facts if _author(each) == session), upto)
    # The automatic checkpoint before the first change has files that no session had read.
    taken = timeline(session=session, kinds=[CheckpointTaken], after=before, upto=first, newest=1)
    dropped = timeline(kinds=[CheckpointDropped], after=before)
    gone = {fact.checkpoint for fact in of_kind(CheckpointDropped, dropped)}
    names = [f.checkpoint for f in of_kind(CheckpointTaken, taken) if f.checkpoint not in gone]
    at = moment(effect.happened_at)
    return UndoableTurn(session, number, names[0] if names else before, at), before


def _before_verb(context: SessionContext, session: str, position: int) -> int:
    """Return the position before the verb that made the effect at a position."""
    began, has_begun = position, False
    kinds: list[type[Fact]] = [*EFFECTS, CommandEnded, *VERBS]
    for recorded in newest_first(
        context.store.timeline, upto=position, session=session, kinds=kinds
    ):
        is_start = isinstance(recorded.fact, VERBS)
        if has_begun and not is_start:
            break
        began, has_begun = recorded.position, has_begun or is_start
    return began - 1


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
        target.everyone,
        _only(plan),
    )
    try:
        return take.record(
            context,
            f"before the rewind to {target.name}",
            why=REWIND,
            followed_by=[started],
        )
    except SightlineError as error:
        raise RewindRefused(*words.no_safety(error.message, error.next_step)) from error


def _only(plan: RewindPlan) -> tuple[str, ...]:
    """Return the paths that a rewind is limited to, and all paths connected with these."""
    if not plan.target.only:
        return ()
    together = sorted({path for group in plan.groups for path in group.found})
    return tuple(dict.fromkeys([*plan.target.only, *together]))


def end(
    context: SessionContext,
    target: Target,
    folders: Folders,
    *,
    conversation: bool,
    warned: WarningRaised | None = None,
) -> FileWarning | None:
    """Record the end of a rewind with the folders that it made and removed, and in the same append a
    warning for the agent; return the warning."""
    to = target.position if conversation else context.store.position()
    ended: list[Fact] = [RewindEnded(to, not conversation, folders.made, folders.removed)]
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
        end(context, plan.target, Folders(), conversation=False)
    name = words.argument(plan.target.name, plan.target.position)
    text = words.interrupted(name, len(done), len(files), safety.fact.checkpoint)
    return RewindInterrupted(*text)
