"""Plan a rewind as values: resolve its target, read the current files, plan each group of effects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from stat import S_IMODE

from msgspec import Struct, structs

from sightline.changes import untracked
from sightline.changes.session_context import SessionContext
from sightline.checkpoints import take
from sightline.checkpoints.rewind import words
from sightline.checkpoints.rewind.effects import (
    EFFECTS,
    Target,
    load_effects,
    revision_of_entry,
    revision_or_link,
)
from sightline.checkpoints.rewind.undo_plan import (
    CurrentState,
    Effect,
    Rename,
    Restore,
    Skipped,
    UndoPlan,
    group_effects,
    undo,
)
from sightline.errors import PathRefused, RewindRefused
from sightline.filesystem.file_state import FileState
from sightline.model.events import Changed, Fact, GitMoved, Moved
from sightline.model.manifest import EMPTY, Manifest
from sightline.model.results import Checkpoint
from sightline.model.revision import MISSING, Revision, is_link, known
from sightline.model.timeline import archived


class GroupPlan(Struct, frozen=True):
    """The plan for one group of connected effects. found: the file at each path of the group, as
    it was read for the plan."""

    effects: tuple[Effect, ...]
    undo: UndoPlan
    found: dict[str, FileState]

    @property
    def size(self) -> int:
        """Return the bytes of the group's files on disk."""
        return sum(each.signature.size for each in self.found.values() if each.signature)


class RewindPlan(Struct, frozen=True):
    """A whole rewind before anything is changed. forced: per path that the user forces, the state
    to restore."""

    target: Target
    groups: tuple[GroupPlan, ...] = ()
    forced: dict[str, CurrentState] = {}


def plan_rewind(
    context: SessionContext,
    to: Checkpoint | str | int,
    force_paths: Iterable[str] = (),
    *,
    with_files: bool = True,
) -> RewindPlan:
    """Plan what a rewind does to files. UnknownName, RewindRefused, PathRefused."""
    target = resolve_target(context, to)
    paths = [_resolve_forced(context, target, path) for path in force_paths]
    forced = {path: forced_state(context, target, path) for path in dict.fromkeys(paths)}
    if not with_files:
        return RewindPlan(target, forced=forced)
    groups = plan_groups(context, group_effects(load_effects(context, target)))
    return RewindPlan(target, tuple(groups), forced)


def resolve_target(context: SessionContext, to: Checkpoint | str | int) -> Target:
    """Resolve a checkpoint, its id or label, or a position. UnknownName; RewindRefused for another
    session's checkpoint and for a position that does not exist."""
    if isinstance(to, int):
        newest = context.store.position()
        if not 0 <= to <= newest:
            raise RewindRefused(*words.no_position(to, newest))
        return Target(to, words.name_of_position(to), None)
    recorded, fact = take.find(context, to if isinstance(to, str) else to.id)
    if recorded.session != context.session:
        raise RewindRefused(*words.anothers(fact.checkpoint, recorded.session))
    return Target(recorded.position, fact.checkpoint, take.load_manifest(context, fact))


def plan_groups(context: SessionContext, groups: Sequence[Sequence[Effect]]) -> list[GroupPlan]:
    """Read the current files of each group of effects, and plan the undoing of the group."""
    every = {path for group in groups for effect in group for path in effect.paths}
    refused = context.workspace.refused(every)
    plans: list[GroupPlan] = []
    for group in groups:
        paths = sorted({path for each in group for path in each.paths})
        found = {path: context.look(path) for path in paths}
        current = {p: _state(context, each, refused) for p, each in found.items()}
        plans.append(GroupPlan(tuple(group), undo(group, current, context.store.blob), found))
    return plans


def read_current(context: SessionContext, path: str) -> tuple[CurrentState, FileState]:
    """Read the file at a path, and say whether a rewind may touch it."""
    found = context.look(path)
    return _state(context, found, context.workspace.refused([path])), found


def _state(context: SessionContext, found: FileState, refused: set[str]) -> CurrentState:
    above_is_link = found.kind == "symlink" and found.why is not None
    if above_is_link or found.path in refused:
        return CurrentState(blocked="elsewhere")
    if not context.settings.may_store(found.path):
        return CurrentState(blocked="never_stored")
    if found.kind == "unreadable":
        return CurrentState(blocked="unreadable")
    if found.target is not None:
        return CurrentState(found.content)
    if found.kind not in ("file", "missing"):
        return CurrentState(blocked="kind")
    if found.kind == "file" and found.data is None:
        return CurrentState(found.revision, blocked="too_large")
    mode = S_IMODE(found.signature.mode) if found.signature is not None else None
    return CurrentState(found.revision, found.data, mode=mode)


def find_vanished(context: SessionContext, plan: RewindPlan, current: Manifest = EMPTY) -> UndoPlan:
    """List the files of the target's checkpoint that are gone although no session read or changed
    them. current: the manifest of a checkpoint that was just taken."""
    if plan.target.manifest is None:
        return UndoPlan()
    away = plan.target.manifest.rows.keys() - current.rows.keys()
    for group in plan.groups:
        away.difference_update(group.found)
    if away:
        away.difference_update(context.store.paths())
    gone = [path for path in sorted(away) if untracked.is_gone(context, path)]
    return UndoPlan(skipped=tuple(Skipped(path, "vanished") for path in gone))


# --- forced paths


def _resolve_forced(context: SessionContext, target: Target, path: str) -> str:
    """Return the canonical path of a forced path. A symlink is followed, unless the checkpoint has
    an entry at the symlink's own name. PathRefused."""
    covered = target.manifest or EMPTY
    try:
        located = context.workspace.locate(path)
    except PathRefused as error:
        if error.reason != "outside" or error.path not in covered:
            raise
        return error.path
    return located.name if located.name in covered and located.name else located.path


def forced_state(context: SessionContext, target: Target, path: str) -> CurrentState:
    """Return the state of a path at the target. RewindRefused where its bytes are not stored."""
    revision = _revision_at(context, target, path)
    if revision == MISSING or is_link(revision):
        return CurrentState(revision)
    data = context.store.blob(revision) if known(revision) else None
    if data is None:
        raise RewindRefused(*words.not_kept_then(path, target.name))
    return CurrentState(revision, data)


def _revision_at(context: SessionContext, target: Target, path: str) -> Revision:
    """Return the revision of a path at the target, from the checkpoint or else from the first fact
    about the path after it."""
    if target.manifest is not None:
        if path in target.manifest:
            return revision_of_entry(target.manifest[path])
        if untracked.covers(context, target.manifest, path):
            return MISSING
    kinds: list[type[Fact]] = [*EFFECTS, GitMoved]
    for recorded in context.store.timeline(path=path, after=target.position, kinds=kinds):
        fact = recorded.fact
        if archived(recorded.session):
            continue
        if isinstance(fact, Moved):
            return fact.revision if fact.src == path else MISSING
        if isinstance(fact, Changed):
            return revision_or_link(fact.before, fact.led)
        if isinstance(fact, GitMoved):
            return next(each.before for each in fact.changes if each.path == path)
    row = context.store.disk(path)
    return row.revision if row is not None else MISSING


def force_step(path: str, current: CurrentState, then: CurrentState) -> Restore | None:
    """Return the step that restores a forced path; None where nothing is to be done."""
    if current.revision == then.revision:
        return None
    return Restore(path, current.revision, then.revision, then.data, forced=True)


def plan_forced(context: SessionContext, plan: RewindPlan) -> list[UndoPlan]:
    """Plan the forced paths as they will be once the groups of the plan are undone."""
    plans: list[UndoPlan] = []
    for path, then in plan.forced.items():
        current, _ = read_current(context, path)
        if current.blocked is not None:
            plans.append(UndoPlan(skipped=(Skipped(path, current.blocked),)))
            continue
        steps = [step for group in plan.groups for step in group.undo.steps]
        writes = [step for step in steps if isinstance(step, Restore) and step.path == path]
        if writes:
            current = CurrentState(writes[-1].after, writes[-1].data)
        step = force_step(path, current, then)
        plans.append(UndoPlan((step,) if step else ()))
    return plans


def merge_forced(plans: Iterable[UndoPlan], forced: Sequence[UndoPlan]) -> list[UndoPlan]:
    """Join the plans of groups with those of forced paths. Of a forced path only its forced step
    counts, and the path is not listed as left alone."""
    paths = {each.path for plan in forced for each in (*plan.steps, *plan.skipped)}
    others = [
        structs.replace(
            plan,
            steps=tuple(s for s in plan.steps if isinstance(s, Rename) or s.path not in paths),
            skipped=tuple(each for each in plan.skipped if each.path not in paths),
            gone=tuple(each for each in plan.gone if each.path not in paths),
        )
        for plan in plans
    ]
    return [*others, *forced]
