"""Plan a rewind as values: resolve its target, read the current files, plan each group of effects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from stat import S_IMODE

from msgspec import Struct, structs

from sightline.changes import untracked
from sightline.changes.command_folders import Folders
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import names_of
from sightline.checkpoints import take
from sightline.checkpoints.rewind import words
from sightline.checkpoints.rewind.effects import (
    EFFECTS,
    PriorState,
    Target,
    authors_of,
    lineage,
    load_effects,
    load_folders,
    revision_or_link,
)
from sightline.checkpoints.rewind.places import combined, joined_by_folders
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
from sightline.checkpoints.time_points import TimeToCome, position_named
from sightline.errors import PathRefused, RewindRefused, UnknownName, Unverifiable
from sightline.filesystem.file_state import FileState
from sightline.filesystem.tree_index import NO_UNICODE
from sightline.model.events import Changed, CommandEnded, Fact, GitMoved, Moved
from sightline.model.manifest import EMPTY, Manifest
from sightline.model.path import folders_above
from sightline.model.results import Checkpoint
from sightline.model.revision import MISSING, UNKNOWN, Revision, is_link, known
from sightline.model.session_ids import NOBODY, archived
from sightline.model.timeline import live


class LostFile(Struct, frozen=True):
    """A missing file or folder that no checkpoint covers. reason: why; command: the session's own
    command that ran when it went."""

    reason: str
    command: str | None = None


class GroupPlan(Struct, frozen=True):
    """The plan for one group of connected effects. found: the file at each path of the group, as
    it was read for the plan. forced: the states that the user wants at some of these paths."""

    effects: Sequence[Effect]
    undo: UndoPlan
    found: dict[str, FileState]
    forced: dict[str, CurrentState]

    @property
    def session(self) -> str:
        """Return the session whose effects these are; NOBODY for those of several, and for none."""
        sessions = {each.session for each in self.effects}
        return sessions.pop() if len(sessions) == 1 else NOBODY

    @property
    def size(self) -> int:
        """Return the bytes of the group's files on disk."""
        return sum(each.signature.size for each in self.found.values() if each.signature)


class RewindPlan(Struct, frozen=True):
    """A whole rewind before anything is changed. forced: the paths that the user forces; folders: the
    empty ones that it makes and removes."""

    target: Target
    groups: list[GroupPlan]
    forced: tuple[str, ...] = ()
    folders: Folders = Folders()

    @property
    def has_work(self) -> bool:
        """Return whether anything on disk is to be changed."""
        files = any(group.undo.steps for group in self.groups)
        return files or bool(self.folders.made or self.folders.removed)

    @property
    def undone(self) -> list[UndoPlan]:
        """Return the plan of each group."""
        return [group.undo for group in self.groups]


def plan_rewind(
    context: SessionContext,
    to: Checkpoint | str | int,
    force_paths: Iterable[str] = (),
    *,
    with_files: bool = True,
    commands: bool = False,
    everyone: bool = False,
    only: Iterable[str] = (),
) -> RewindPlan:
    """Plan what a rewind does to files. everyone, only: as in Target. UnknownName, RewindRefused,
    PathRefused."""
    limits = tuple(context.workspace.locate(path).path for path in only)
    target = resolve_target(context, to, everyone=everyone)
    target = structs.replace(target, commands=commands, everyone=everyone, only=limits)
    paths = dict.fromkeys([_resolve_forced(context, target, path) for path in force_paths])
    forced = {path: forced_state(context, target, path) for path in paths}
    groups = plan_groups(context, target, forced) if with_files else []
    folders = _folders(context, target, groups) if with_files else Folders()
    return RewindPlan(target, groups, tuple(forced), folders)


def _folders(context: SessionContext, target: Target, groups: Sequence[GroupPlan]) -> Folders:
    """Return the folders that a plan makes and removes once its files are set back: those that went since
    the target and at whose path nothing stands then, and those that came and hold nothing then."""
    folders, workspace = load_folders(context, target), context.workspace
    steps = [step for group in groups for step in group.undo.steps]
    away: set[str] = set()
    there: set[str] = set()
    for step in steps:
        if isinstance(step, Restore):
            (away if step.after == MISSING else there).add(step.path)
        elif isinstance(step, Rename):
            away.add(step.src)
            there.add(step.path)
    filled = {above[:-1] for path in there for above in folders_above(path)}
    goes = {path: workspace.emptied(path, away) for path in folders.made if path not in filled}
    removed = [path for path, below in goes.items() if below and goes.keys() >= {*below}]
    made = [path for path in folders.removed if path in away or _is_free(context, path)]
    return Folders(tuple(path for path in made if path not in filled), tuple(removed))


def _is_free(context: SessionContext, path: str) -> bool:
    try:
        return context.workspace.stat(path) is None
    except OSError:
        return False


def resolve_target(
    context: SessionContext, to: Checkpoint | str | int, *, everyone: bool = False
) -> Target:
    """Resolve a checkpoint, its id or label, a position or a time. everyone: for a rewind of all sessions.
    UnknownName; RewindRefused for another session's checkpoint, except of a parent before this session was
    forked from it, and for a position that does not exist."""
    past = lineage(context)
    if isinstance(to, int):
        newest = context.store.position()
        if not 0 <= to <= newest:
            raise RewindRefused(*words.no_position(to, newest))
        return Target(to, words.name_of_position(to), None, past)
    try:
        recorded, fact = take.find(context, to if isinstance(to, str) else to.id)
    except UnknownName:
        try:
            position = position_named(context, to) if isinstance(to, str) else None
        except TimeToCome as error:
            raise RewindRefused(f"{error}.", words.PAST_TIMES) from None
        if position is None:
            raise
        return Target(position, words.name_of_position(position), None, past)
    is_own = recorded.position <= past.get(recorded.session, -1)
    if not (everyone or is_own or take.is_of_workspace(recorded.session, fact.why)):
        raise RewindRefused(
            *words.anothers(
                fact.checkpoint, recorded.session, names_of(context.store)(recorded.session)
            )
        )
    manifest = take.load_manifest(context, fact)
    return Target(recorded.position, fact.checkpoint, manifest, past)


def plan_groups(
    context: SessionContext, target: Target, forced: Mapping[str, CurrentState]
) -> list[GroupPlan]:
    """Plan the undoing of the effects after the target, in groups that are undone together: those whose
    paths are connected by moves, and those of a file and of what is below a folder with its name. A
    forced path without an effect is a group of its own."""
    groups = group_effects(load_effects(context, target))
    planned = {path for group in groups for each in group for path in each.paths}
    groups += [[] for path in forced if path not in planned]
    paths = [{path for each in group for path in each.paths} for group in groups if group]
    paths += [{path} for path in forced if path not in planned]
    joined = [
        (together, {path for n in together for path in paths[n]})
        for together in joined_by_folders(paths)
    ]
    return [
        plan_group(
            context,
            sorted((e for n in together for e in groups[n]), key=lambda each: each.position),
            touched,
            forced,
        )
        for together, touched in joined
        if target.limited_to(touched)
    ]


def plan_group(
    context: SessionContext,
    effects: Sequence[Effect],
    paths: Iterable[str],
    forced: Mapping[str, CurrentState],
) -> GroupPlan:
    """Read the current files at the paths of a group, and plan the undoing of its effects."""
    found = {path: context.look(path, is_edit=True) for path in sorted(paths)}
    refused = context.workspace.refused(found)
    current = {path: _state(context, each, refused) for path, each in found.items()}
    wanted = {path: then for path, then in forced.items() if path in found}
    plans: list[UndoPlan] = []
    planned: set[str] = set()
    for group in group_effects(effects):
        own = {path for each in group for path in each.paths}
        planned |= own
        there = {path: then for path, then in wanted.items() if path in own}
        plans.append(undo(group, current, context.store.blob, there))
    plans += [
        undo((), current, context.store.blob, {path: then})
        for path, then in wanted.items()
        if path not in planned
    ]
    return GroupPlan(effects, combined(context.workspace, plans, current), found, wanted)


def _state(context: SessionContext, found: FileState, refused: set[str]) -> CurrentState:
    above_is_link = found.kind == "symlink" and found.why is not None
    if above_is_link or found.path in refused:
        return CurrentState(UNKNOWN, blocked="elsewhere")
    if not context.may_store(found.path, found):
        return CurrentState(found.content, blocked="never_stored")
    if found.kind == "unreadable":
        return CurrentState(UNKNOWN, blocked="unreadable")
    if found.target is not None:
        return CurrentState(found.content)
    if found.kind == "directory":
        return CurrentState(is_folder=True)
    if found.kind not in ("file", "missing"):
        return CurrentState(UNKNOWN, blocked="kind")
    if found.kind == "file" and found.data is None:
        return CurrentState(found.revision, blocked="too_large")
    mode = S_IMODE(found.signature.mode) if found.signature is not None else None
    return CurrentState(found.revision, found.data, mode=mode)


def find_vanished(context: SessionContext, plan: RewindPlan, current: Manifest = EMPTY) -> UndoPlan:
    """List the files of the target's checkpoint that disappeared without a fact: no session read or
    changed them; and those that came since with a name that no fact can hold. current: the manifest of a
    checkpoint that was just taken."""
    if plan.target.manifest is None:
        return UndoPlan()
    away = plan.target.manifest.rows.keys() - current.rows.keys()
    away.difference_update(*[group.found for group in plan.groups])
    if away:
        away.difference_update(context.store.paths())
    gone = [path for path in sorted(away) if untracked.is_gone(context, path)]
    named = plan.target.manifest.omitted
    new = [
        path
        for path, why in (current.omitted or _left_out(context)).items()
        if why == NO_UNICODE and path not in named
    ]
    skipped = [Skipped(path, "vanished") for path in gone if plan.target.limited_to([path])]
    new = [path for path in new if plan.target.limited_to([path])]
    return UndoPlan(skipped=(*skipped, *(Skipped(path, "no_unicode") for path in sorted(new))))


def find_lost(context: SessionContext, plan: RewindPlan) -> dict[str, LostFile]:
    """Return the missing files and folders that no checkpoint can restore: the target's checkpoint did not
    cover them, or a command of this session named them. Whole folders end in "/"."""
    covered = plan.target.manifest or EMPTY
    lost = {path: LostFile(why) for path, why in untracked.left_out(covered).items()}
    past, prior = authors_of(context, plan.target), PriorState(context)
    ended = context.store.timeline(after=plan.target.position, kinds=[CommandEnded])
    for recorded in live(ended):
        is_own = recorded.position <= past.get(recorded.session, -1)
        for path, reason in prior.uncovered(recorded) if is_own else ():
            if path.rstrip("/") not in covered:
                command = prior.command(recorded)
                lost[path] = LostFile(reason, command)
    known = {path for group in plan.groups for path in group.found}.union(context.store.paths())
    meant = [
        path
        for path in lost
        if path.rstrip("/") not in known and plan.target.limited_to([path.rstrip("/")])
    ]
    return {path: lost[path] for path in untracked.gone_of(context, meant)}


def _left_out(context: SessionContext) -> dict[str, str]:
    """Return the paths that a look at the tree leaves out, each with the reason; none where the tree cannot
    be looked at."""
    try:
        tree = context.workspace.tree(context.workspace.remembered())
    except Unverifiable:
        return {}
    return {
        folder + name: why
        for folder, listing in tree.listings.items()
        for name, why in listing.hidden.items()
    }


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
    entry = target.manifest.get(path) if target.manifest is not None else None
    return CurrentState(revision, data, mode=S_IMODE(entry.mode) if entry is not None else None)


def _revision_at(context: SessionContext, target: Target, path: str) -> Revision:
    """Return the revision of a path at the target, from the checkpoint or else from the first fact
    about the path after it."""
    if target.manifest is not None:
        if path in target.manifest:
            return target.manifest[path].content
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
