"""Rewind: what this session did since a checkpoint is taken back, and nobody else's work is.

How a rewind begins: nothing that stands is touched before its safety checkpoint is kept.

New bytes may be written aside while that is taken. All paths are locked as long, so that is done
only where the tree is known to be looked at in a moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NoReturn

from msgspec import structs

from sightline.changes import untracked
from sightline.changes.authors import changed_by, moment
from sightline.changes.renames import RenameFinder
from sightline.changes.session_context import SessionContext
from sightline.checkpoints import take
from sightline.checkpoints.changed_since import NO_MESSAGES, about_rewind
from sightline.checkpoints.rewind import apply, effects, preview, words
from sightline.checkpoints.rewind.effects import Target
from sightline.checkpoints.rewind.prior_state import KINDS, of_entry, standing
from sightline.checkpoints.rewind.undo_plan import (
    CurrentState,
    Effect,
    Put,
    Rename,
    Rights,
    Skipped,
    Step,
    UndoPlan,
)
from sightline.errors import (
    PathRefused,
    RewindInterrupted,
    RewindRefused,
    SightlineError,
    StoreError,
    Unverifiable,
)
from sightline.filesystem.file_state import FileState
from sightline.guard.write_journal import unfinished_rewinds
from sightline.model.events import (
    Changed,
    Fact,
    GitMoved,
    Moved,
    RewindEnded,
    RewindStarted,
    WarningRaised,
)
from sightline.model.manifest import EMPTY
from sightline.model.results import (
    Checkpoint,
    Deleted,
    FileDifference,
    FileWarning,
    LeftAlone,
    RewindReport,
    TakenBack,
)
from sightline.model.revision import MISSING, Revision, is_link, known
from sightline.model.timeline import archived
from sightline.notices import warnings


def rewind(
    ground: SessionContext,
    to: Checkpoint | str | int,
    *,
    files: bool = True,
    conversation: bool = False,
    dry_run: bool = False,
    force_paths: Iterable[str] = (),
    deleted: Deleted = NO_MESSAGES,
) -> RewindReport:
    """Take back what this session did since a checkpoint, its id, or a position. dry_run: only
    say what would be done. force_paths: these get the bytes they had then, whoever wrote there
    since. deleted: as of edited_since(), for the warning when the conversation alone
    goes back. RewindRefused, UnknownName, PathRefused, ValueError; RewindInterrupted by Ctrl-C."""
    target = target_of(ground, to)
    named = [forced_path(ground, target, path) for path in force_paths]
    wanted = {path: _then(ground, target, path) for path in dict.fromkeys(named)}
    if not (files or conversation) or (wanted and not files):
        raise RewindRefused(*words.nothing_asked())
    groups = effects.effects(ground, target) if files else []
    looks = effects.planned_each(ground, groups)
    planned = [*islice(looks, apply.AT_ONCE)]  # what was found there is kept for one batch
    diffs: dict[str, FileDifference] | None = {} if dry_run else None
    plans = [*_noted(chain(planned, looks), diffs)]
    forcing = [_planned_force(ground, plans, *each) for each in wanted.items()]
    if dry_run or not (any(plan.steps for plan in [*plans, *forcing]) or conversation):
        lost = _vanished(ground, target, groups) if files else UndoPlan()
        plans = with_forced([*plans, lost], forcing)
        if not dry_run and unfinished_rewinds(ground, ground.session):
            end(ground, target, conversation=False)
        report = _report(ground, target, plans, to, dry_run=dry_run, conversation=conversation)
        return report if diffs is None else preview.shown(ground, target, report, diffs, wanted)
    alone = conversation and not files
    warned = about_rewind(ground, target.position, deleted) if alone else None
    fact = RewindStarted(
        target.name, target.position, ground.owner, files, conversation, tuple(wanted)
    )
    looked = {path: there for _, found in planned for path, there in found.items()}
    begin = Beginning(ground, fact, typed(target.name, target.position), looked)
    if not is_small(ground):
        begin()
    try:
        made = [*apply.apply_undo(ground, target, groups, planned, begin)]
        begin()
        done = [_forced(ground, target, *each) for each in wanted.items()]
        warning = end(ground, target, conversation=conversation, warned=warned)
    except StoreError as error:
        raise begin.failed(error) from error
    except KeyboardInterrupt:
        if begin.position is None:
            raise  # nothing was touched
        _interrupted(ground, target, begin.position, plans, begin.safety.id)
    lost = _vanished(ground, target, groups, begin.safety) if files else UndoPlan()
    made = with_forced([*made, lost], done)
    report = _report(ground, target, made, to, dry_run=False, conversation=conversation)
    return structs.replace(report, safety_checkpoint=begin.safety.id, warning=warning)


def _noted(
    looks: Iterable[tuple[UndoPlan, dict[str, FileState]]], diffs: dict[str, FileDifference] | None
) -> Iterator[UndoPlan]:
    """The plans alone; what each does to files is put into diffs, where it is asked for."""
    for plan, found in looks:
        if diffs is not None:
            diffs |= {each.path: each for each in preview.ends(plan.steps, found)}
        yield plan


def end(
    ground: SessionContext,
    target: Target,
    *,
    conversation: bool,
    warned: WarningRaised | None = None,
) -> FileWarning | None:
    """Record that a rewind has ended, and in one step with it what to warn of; the warning."""
    to = target.position if conversation else ground.store.position()
    ended: list[Fact] = [RewindEnded(to, files_only=not conversation)]
    _, *raised = ground.append([*ended, warned] if warned else ended, durable=True)
    return warnings.warning_of(raised[0]) if raised else None


def typed(name: str, position: int) -> str:
    """Where a rewind led, as it is asked for. name: as RewindStarted has it."""
    return str(position) if name == _of_position(position) else name


def _of_position(position: int) -> str:
    return f"position {position}"


def _interrupted(
    ground: SessionContext, target: Target, started: int, plans: Sequence[UndoPlan], safety: str
) -> NoReturn:
    """Whoever interrupts a rewind wants it to stop: it has ended, as far as it came. Where even
    that cannot be recorded, the next open finishes it."""
    cause = target.cause(ground.session)
    facts = [r.fact for r in ground.store.timeline(after=started, kinds=[*KINDS])]
    paths = {
        each.path for each in facts if isinstance(each, (Changed, Moved)) and each.cause == cause
    }
    files = len({step.path for plan in plans for step in plan.steps})
    try:
        end(ground, target, conversation=False)
    finally:
        name = typed(target.name, target.position)
        said = words.interrupted(name, len(paths), files, safety)
        raise RewindInterrupted(*said)


def _vanished(
    ground: SessionContext,
    target: Target,
    groups: Sequence[Sequence[Effect]],
    safety: Checkpoint | None = None,
) -> UndoPlan:
    """safety: the checkpoint that was just taken."""
    standing = take.manifest(ground, safety) if safety is not None else EMPTY
    return UndoPlan(left=tuple(effects.vanished(ground, target, groups, standing)))


def target_of(ground: SessionContext, to: Checkpoint | str | int) -> Target:
    """Where a rewind leads. UnknownName; RewindRefused: another session's, or no position."""
    if isinstance(to, int):
        if not 0 <= to <= ground.store.position():
            raise RewindRefused(*words.no_position(to, ground.store.position()))
        return Target(to, _of_position(to), None)

    taken = take.named(ground, to if isinstance(to, str) else to.id)
    if taken.session != ground.session:
        raise RewindRefused(*words.anothers(taken.id, taken.session))
    return Target(taken.position, taken.id, take.manifest(ground, taken))


# --- paths that are forced


def forced_path(ground: SessionContext, target: Target, path: str) -> str:
    """The canonical path of one that is forced: where a symlink leads, unless the checkpoint knows
    something at its own name. PathRefused."""
    try:
        located = ground.workspace.locate(path)
    except PathRefused as error:
        if error.reason != "outside" or error.path not in (target.manifest or ()):
            raise
        return error.path
    name = located.name
    return name if name is not None and name in (target.manifest or ()) else located.path


def _then(ground: SessionContext, target: Target, path: str) -> CurrentState:
    """What stood at a path then: bytes, a symlink, or nothing. RewindRefused."""
    revision = _revision_then(ground, target, path)
    if revision == MISSING or is_link(revision):
        return CurrentState(revision)
    data = ground.store.blob(revision) if known(revision) else None
    if data is None:
        raise RewindRefused(*words.not_kept_then(path, target.name))
    return CurrentState(revision, data)


def _revision_then(ground: SessionContext, target: Target, path: str) -> Revision:
    """By the checkpoint, else by the first that is on record of the path since. Of a symlink:
    where it led."""
    if target.manifest is not None and path in target.manifest:
        return of_entry(target.manifest[path])
    if target.manifest is not None and untracked.covers(ground, target.manifest, path):
        return MISSING
    kinds: list[type[Fact]] = [Changed, Moved, GitMoved]
    for recorded in ground.store.timeline(path=path, after=target.position, kinds=kinds):
        fact = recorded.fact
        if archived(recorded.session):
            continue
        if isinstance(fact, Moved):
            return fact.revision if fact.src == path else MISSING
        if isinstance(fact, Changed):
            return standing(fact.before, fact.led)
        if isinstance(fact, GitMoved):
            return next(each.before for each in fact.changes if each.path == path)
    row = ground.store.disk(path)
    return row.revision if row is not None else MISSING


def _planned_force(
    ground: SessionContext, plans: Sequence[UndoPlan], path: str, then: CurrentState
) -> UndoPlan:
    puts = [s for plan in plans for s in plan.steps if isinstance(s, Put) and s.path == path]
    standing = effects.look(ground, path)[0]
    if standing.why is not None:
        return UndoPlan(left=(Skipped(path, standing.why),))
    stands = CurrentState(puts[-1].after, puts[-1].data) if puts else standing
    step = apply.forced(path, stands, then)
    return UndoPlan((step,) if step else ())


def forced(ground: SessionContext, target: Target, path: str) -> UndoPlan:
    """Put at a path what stood there then. RewindRefused."""
    return _forced(ground, target, path, _then(ground, target, path))


def _forced(ground: SessionContext, target: Target, path: str, then: CurrentState) -> UndoPlan:
    why = effects.look(ground, path)[0].why
    if why is not None:
        return UndoPlan(left=(Skipped(path, why),))
    try:
        step = apply.force(ground, target, path, then)
    except Unverifiable as error:
        return UndoPlan(left=(Skipped(path, "refused", other=error.message),))
    return UndoPlan((step,) if step else ())


def with_forced(plans: Sequence[UndoPlan], forced: Sequence[UndoPlan]) -> list[UndoPlan]:
    """All of it: a path that is forced is not left alone, and its last step is what counts."""
    paths = {each.path for plan in forced for each in (*plan.steps, *plan.left)}
    kept = [
        structs.replace(
            plan,
            steps=tuple(s for s in plan.steps if isinstance(s, Rename) or s.path not in paths),
            left=tuple(each for each in plan.left if each.path not in paths),
            gone=tuple(each for each in plan.gone if each.path not in paths),
        )
        for plan in plans
    ]
    return [*kept, *forced]


# --- the report


def _report(
    ground: SessionContext,
    target: Target,
    plans: Sequence[UndoPlan],
    to: Checkpoint | str | int,
    *,
    dry_run: bool,
    conversation: bool,
) -> RewindReport:
    steps = [step for plan in plans for step in plan.steps]
    puts = sorted([step for step in steps if isinstance(step, Put)], key=lambda put: put.path)
    removed = [each for plan in plans for each in plan.gone]
    alone, nothing = _told_apart(ground, [each for plan in plans for each in plan.left], removed)
    gone = [each for plan in plans for each in plan.effects]
    return RewindReport(
        checkpoint=None if isinstance(to, int) else target.name,
        to=target.position,
        dry_run=dry_run,
        conversation=conversation,
        restored=_restored(steps),
        removed=tuple(put.path for put in puts if put.after == MISSING),
        merged=tuple(put.path for put in puts if put.merged and put.after != MISSING),
        moved=tuple((step.src, step.path) for step in steps if isinstance(step, Rename)),
        left_alone=alone,
        lost_edits=tuple(
            TakenBack(each.path, each.position, moment(each.at))
            for each in sorted(gone, key=lambda effect: effect.position)
        ),
        stands=_children(ground, target),
        safety_checkpoint=None,
        gone=nothing,
    )


def _told_apart(
    ground: SessionContext, left: Sequence[Skipped], gone: Sequence[Skipped]
) -> tuple[tuple[LeftAlone, ...], tuple[LeftAlone, ...]]:
    """What is left alone, and where nothing of this session's is left. What somebody else only
    renamed bears its lines elsewhere, so it is left alone."""
    places = RenameFinder(ground)
    where = {each.path: _renamed_to(ground, each, places) for each in [*left, *gone]}
    moved = [each for each in gone if where[each.path] is not None]
    alone = sorted([*left, *moved], key=lambda each: each.path)
    nothing = [each for each in gone if each not in moved]
    found = [[_left(ground, x, where[x.path]) for x in some] for some in (alone, nothing)]
    return tuple(found[0]), tuple(found[1])


def _restored(steps: Sequence[Step]) -> tuple[str, ...]:
    """The paths that get their bytes of then, or only their rights."""
    exact = {s.path for s in steps if isinstance(s, Put) and s.after != MISSING and not s.merged}
    others = {s.path for s in steps if isinstance(s, Put)} - exact
    return tuple(sorted(exact | {s.path for s in steps if isinstance(s, Rights)} - others))


def _left(ground: SessionContext, left: Skipped, to: str | None) -> LeftAlone:
    who, _ = changed_by(ground, left.path)
    why = left.why if to is None else "renamed_since"
    return LeftAlone(left.path, words.left_alone(why, who, left.lines, to or left.other))


def _renamed_to(ground: SessionContext, left: Skipped, places: RenameFinder) -> str | None:
    """Where somebody else renamed a file to, where its bytes say so."""
    if left.why != "deleted_since":
        return None
    known = ground.store.knowledge(ground.session, left.path)
    found = places.of(known) if known is not None else None
    return found.path if found is not None else None


def _children(ground: SessionContext, target: Target) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What sub-agents of this session changed since: their own work, which stands."""
    mine = {s.id for s in ground.store.sessions() if s.parent == ground.session}
    if not mine:
        return ()
    found: dict[str, set[str]] = {}
    for recorded in ground.store.timeline(after=target.position, kinds=list(KINDS)):
        fact = recorded.fact
        if isinstance(fact, (Changed, Moved)) and fact.cause.who in mine:
            found.setdefault(fact.cause.who or "", set()).add(fact.path)
    return tuple((who, tuple(sorted(paths))) for who, paths in sorted(found.items()))


SMALL = 25_000
"""Files of a tree that others may have to wait for: a tenth of a second."""


class Beginning:
    """Begins a rewind when it is called; it does so once. name: where it leads, as it is told;
    looked: what was looked at for its plan; position: where it began, None as long as it did
    not."""

    def __init__(
        self,
        ground: SessionContext,
        fact: RewindStarted,
        name: str,
        looked: Mapping[str, FileState],
    ) -> None:
        self._ground = ground
        self._fact = fact
        self._name = name
        self._looked = looked
        self._safety: Checkpoint | None = None
        self.position: int | None = None

    def __call__(self) -> None:
        if self.position is not None:
            return
        self._safety = self._taken()
        [started] = self._ground.append([self._fact], durable=True)
        self.position = started.position

    @property
    def safety(self) -> Checkpoint:
        """The checkpoint by which the rewind can be rewound; of one that was begun."""
        assert self._safety is not None
        return self._safety

    def failed(self, error: StoreError) -> SightlineError:
        """What it means that the store refused."""
        if self.position is None:
            return RewindRefused(*words.no_safety(error.message, error.hint))
        return StoreError(*words.unfinished(self._name, error.message, error.hint))

    def _taken(self) -> Checkpoint:
        label = f"before the rewind to {self._fact.checkpoint}"
        try:
            return take.take(self._ground, label, why="rewind", looked=self._looked)
        except SightlineError as error:
            raise RewindRefused(*words.no_safety(error.message, error.hint)) from error


def is_small(ground: SessionContext) -> bool:
    """Whether the tree was looked at before, and is looked at quickly."""
    return 0 < ground.workspace.remembered().count() <= SMALL
