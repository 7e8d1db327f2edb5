"""Carrying out what core.rewinding plans: look, plan, journal, replace, record; file by file."""

from __future__ import annotations

from os import urandom
from stat import S_IMODE

from sightline.core.events import (
    Cause,
    Changed,
    CommandEnded,
    GitMoved,
    Moved,
    Seen,
    WriteAbandoned,
    WriteIntended,
)
from sightline.core.revision import MISSING, UNKNOWN, revision_of
from sightline.core.rewinding import (
    Effect,
    Left,
    Put,
    Rights,
    Standing,
    Undoing,
    paths_of,
    together,
    undo,
)
from sightline.core.timeline import archived
from sightline.errors import PathRefused, Unverifiable
from sightline.services import unheard
from sightline.services.ground import TRIES, noticed
from sightline.services.recovery import done, settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sightline.core.events import Fact
    from sightline.core.manifest import Entry
    from sightline.core.rewinding import Rename, Step
    from sightline.core.timeline import Recorded
    from sightline.services.ground import Ground
    from sightline.workspace import Found

RECENT = 20
"""How many changes of a file are looked through for the rights it had."""

KINDS: tuple[type[Fact], ...] = (Changed, Moved)
"""The facts that a session's effects are."""


class Target:
    """Where a rewind leads. position: what came after it goes; manifest: how the tree stood
    there, where that was kept; name: as it is told."""

    def __init__(self, position: int, name: str, manifest: Mapping[str, Entry] | None) -> None:
        self.position = position
        self.name = name
        self.manifest = manifest


def effects(ground: Ground, target: Target) -> list[list[Effect]]:
    """What this session did to files since then, by paths that hang together."""
    since = ground.store.timeline(after=target.position, kinds=list(KINDS))
    own = [each for recorded in since for each in _effects(ground, recorded)]
    own = sorted([*own, *_removed(ground, target)], key=lambda each: each.position)
    return together([_with_manifest(ground, each) for each in own])


def _effects(ground: Ground, recorded: Recorded) -> Iterator[Effect]:
    fact, at = recorded.fact, recorded.happened_at
    if archived(recorded.session) or not isinstance(fact, (Changed, Moved)):
        return
    cause = fact.cause
    if not is_own(cause, ground.session):
        return
    sure = cause.kind != "command" or cause.confidence == "certain"
    position = recorded.position
    if isinstance(fact, Moved) and fact.intent is None:
        return  # a rename that was found later: what it did to the disk is on record before
    if isinstance(fact, Moved):
        yield Effect(fact.path, fact.revision, fact.revision, position, at, fact.src, sure)
    elif fact.change == "mode" and fact.mode is not None:
        after, mode = fact.after, S_IMODE(fact.mode)
        made = Effect(fact.path, after, after, position, at, sure=sure, mode=mode)
        yield _with_mode(ground, made)
    else:
        made = Effect(fact.path, fact.before, fact.after, position, at, sure=sure)
        if fact.before == MISSING and fact.mode is not None:
            made = made.replace(mode=S_IMODE(fact.mode))
        yield _with_mode(ground, made) if fact.after == MISSING else made


def _with_mode(ground: Ground, effect: Effect) -> Effect:
    """The permission bits that a file had before it, by the last that is on record of them."""
    upto = effect.position - 1
    past = ground.store.timeline(path=effect.path, kinds=[Changed], upto=upto, newest=RECENT)
    modes = [fact.mode for each in past if isinstance(fact := each.fact, Changed)]
    taken = unheard.newest(ground, upto)
    entry = unheard.manifest(ground, taken).get(effect.path) if taken is not None else None
    every = [entry.mode if entry is not None else None, *modes]
    return effect.replace(was=next((S_IMODE(m) for m in reversed(every) if m is not None), None))


def _removed(ground: Ground, target: Target) -> Iterator[Effect]:
    """Files that a command of this session removed, and that nobody had looked at before: the
    checkpoint alone knows what they were."""
    ended = ground.store.timeline(
        session=ground.session, kinds=[CommandEnded], after=target.position
    )
    for recorded in ended if target.manifest is not None else ():
        assert isinstance(recorded.fact, CommandEnded)
        for path in recorded.fact.paths:
            entry = target.manifest.get(path) if target.manifest is not None else None
            if entry is None or entry.kind != "file":
                continue
            if not _heard(ground, path, recorded.position):
                at = recorded.happened_at
                was = S_IMODE(entry.mode)
                yield Effect(path, entry.revision, MISSING, recorded.position, at, was=was)


def vanished(ground: Ground, target: Target, groups: Sequence[Sequence[Effect]]) -> list[Left]:
    """Files of the checkpoint that are gone, and nobody saw who removed them."""
    if target.manifest is None:
        return []
    heard = set(ground.store.paths())
    named = {path for group in groups for each in group for path in paths_of(each)}
    return [
        Left(path, "vanished")
        for path in target.manifest
        if path not in heard and path not in named and _is_gone(ground, path)
    ]


def _is_gone(ground: Ground, path: str) -> bool:
    try:
        return ground.workspace.stat(path) is None
    except OSError:
        return False  # nothing can be told of it


def is_own(cause: Cause, session: str) -> bool:
    """Whether a session made a change: its edit, its command, a formatter behind its edit."""
    if cause.kind == "formatter":
        return cause.detail == session
    return cause.kind in ("agent", "session", "command") and cause.who == session


def _with_manifest(ground: Ground, effect: Effect) -> Effect:
    """What stood there before a command, where only a checkpoint has it: nobody had looked at the
    file before, so this is the first that is on record of it."""
    path = effect.path
    if effect.before != UNKNOWN or _heard(ground, path, effect.position - 1):
        return effect
    taken = unheard.newest(ground, effect.position)
    entry = unheard.manifest(ground, taken).get(path) if taken is not None else None
    if entry is None or entry.kind != "file":
        return effect
    return effect.replace(before=entry.revision)


def _heard(ground: Ground, path: str, upto: int) -> bool:
    """Whether anything about a file was on record by then."""
    kinds: list[type[Fact]] = [*KINDS, GitMoved, Seen]
    return next(ground.store.timeline(path=path, kinds=kinds, upto=upto), None) is not None


def planned(ground: Ground, group: Sequence[Effect]) -> tuple[Undoing, dict[str, Found]]:
    """What taking back effects that hang together comes to now, and what stands at their paths."""
    found: dict[str, Found] = {}
    standing: dict[str, Standing] = {}
    for path in sorted({path for each in group for path in paths_of(each)}):
        standing[path], found[path] = look(ground, path)
    return undo(group, standing, ground.store.blob), found


def look(ground: Ground, path: str) -> tuple[Standing, Found]:
    """What stands at a path, and whether a rewind may touch it."""
    there = ground.look(path)
    if not _leads_there(ground, path):
        return Standing(why="elsewhere"), there
    if not ground.settings.may_store(path):
        return Standing(why="never_stored"), there
    if there.kind == "unreadable":
        return Standing(why="unreadable"), there
    if there.kind not in ("file", "missing"):
        return Standing(why="kind"), there
    if there.kind == "file" and there.data is None:
        return Standing(there.revision, why="too_large"), there
    mode = S_IMODE(there.signature.mode) if there.signature is not None else None
    return Standing(there.revision, there.data, mode=mode), there


def _leads_there(ground: Ground, path: str) -> bool:
    """Whether a path still is its own: no folder above it became a way to elsewhere."""
    try:
        return ground.workspace.locate(path).path == path
    except (PathRefused, Unverifiable):
        return False


def carry_out(ground: Ground, target: Target, group: Sequence[Effect]) -> Undoing:
    """Take back effects that hang together; what was done. What others do meanwhile is planned
    for again, with what was done until then among the effects."""
    paths = sorted({path for each in group for path in paths_of(each)})
    made: list[Step] = []
    for _ in range(TRIES):
        with ground.workspace.lock(*paths):
            settled = sum([settle(ground, path) for path in paths])
            now = _again(ground, target, paths) if made or settled else group
            plan, found = planned(ground, now)
            for step in plan.steps:
                try:
                    if not _step(ground, target, step, found):
                        break
                except Unverifiable as error:
                    left = Left(step.path, "refused", other=error.message)
                    return plan.replace(steps=_joined(made), left=(*plan.left, left))
                made.append(step)
            else:
                return plan.replace(steps=_joined(made))
    return Undoing(left=tuple(Left(path, "busy") for path in paths))


def _again(ground: Ground, target: Target, paths: Sequence[str]) -> list[Effect]:
    wanted = set(paths)
    groups = effects(ground, target)
    return [each for group in groups for each in group if wanted.issuperset(paths_of(each))]


def _joined(made: Sequence[Step]) -> tuple[Step, ...]:
    """Steps without those that were repeated because somebody came in between."""
    last = {step.path: step for step in made if isinstance(step, Put)}
    return tuple(step for step in made if not isinstance(step, Put) or last[step.path] is step)


def force(ground: Ground, target: Target, path: str, data: bytes | None) -> Put | None:
    """Put these bytes at a path, whatever file stands there; None when they stand there."""
    for _ in range(TRIES):
        with ground.workspace.lock(path):
            settle(ground, path)
            standing, found = look(ground, path)
            step = forced(path, standing, data)
            if step is None or _step(ground, target, step, {path: found}):
                return step
    raise Unverifiable(path, f"{path} was changed by others {TRIES} times meanwhile.")


def forced(path: str, standing: Standing, data: bytes | None) -> Put | None:
    """The step that puts a checkpoint's bytes at a path; None when they stand there."""
    after = MISSING if data is None else revision_of(data)
    if standing.revision == after:
        return None
    return Put(path, standing.revision, after, data, forced=True)


def _step(ground: Ground, target: Target, step: Step, found: Mapping[str, Found]) -> bool:
    """One file: whether it was done. Unverifiable: it is as it was."""
    if isinstance(step, Put):
        return _put(ground, target, step, found[step.path])
    if isinstance(step, Rights):
        return _rights(ground, target, step)
    return _rename(ground, target, step, found[step.src])


def _put(ground: Ground, target: Target, step: Put, found: Found) -> bool:
    workspace, token = ground.workspace, urandom(6).hex()
    if found.revision != step.before:  # it was moved here by a step before
        found = ground.look(step.path)
    asides = workspace.asides(step.path, token)
    intent = WriteIntended(step.path, step.before, step.after, asides, ground.owner)
    position = _journal(ground, intent, found, step.data)
    try:
        stands = workspace.replace_if(step.path, step.before, step.data, token=token)
    except Unverifiable:
        ground.append([WriteAbandoned(step.path, position)])
        raise
    return _record(ground, target, intent, position, stands)


def _rename(ground: Ground, target: Target, step: Rename, found: Found) -> bool:
    workspace = ground.workspace
    asides = workspace.asides(step.path, urandom(6).hex())
    intent = WriteIntended(step.path, MISSING, step.revision, asides, ground.owner, src=step.src)
    position = _journal(ground, intent, found)
    try:
        stands = workspace.move_if(step.src, step.path, step.revision)
    except Unverifiable:
        ground.append([WriteAbandoned(step.path, position)])
        raise
    return _record(ground, target, intent, position, stands)


def _rights(ground: Ground, target: Target, step: Rights) -> bool:
    """In one step of the system's, so nothing is journalled before."""
    there = ground.look(step.path)
    now = S_IMODE(there.signature.mode) if there.signature is not None else None
    if now is None or step.before not in (None, now):
        return False
    found = ground.workspace.set_mode(step.path, now, step.after)
    mode = found.signature.mode if found.signature is not None else None
    if mode is not None and S_IMODE(mode) == step.after != now:
        cause = Cause("command", ground.session, f"rewind to {target.name}")
        fact = Changed(step.path, there.revision, found.revision, "mode", cause, mode)
        ground.append([fact], found=[found], durable=True)
    return True


def _journal(ground: Ground, intent: WriteIntended, found: Found, data: bytes | None = None) -> int:
    """Say what is about to happen, with what others did before it, and both texts."""
    blobs = ground.keepable(intent.path, found.data, data)
    facts = [*noticed(ground, found), intent]
    return ground.append(facts, blobs=blobs, found=[found], durable=True)[-1].position


def _record(
    ground: Ground, target: Target, intent: WriteIntended, position: int, stands: Found
) -> bool:
    """Say how it ended; whether it was done. What the agent holds is not touched: where it is
    not taken back with the conversation, its files are stale to it."""
    if stands.revision != intent.after:
        ground.append([WriteAbandoned(intent.path, position)], found=[stands])
        return False
    fact = done(intent, stands, ground.session, position)
    cause = Cause("command", ground.session, f"rewind to {target.name}")
    # The intent is on the platter: should the power fail now, the next open finds that it happened.
    # The end of the rewind takes this there as well.
    ground.append([fact.replace(cause=cause)], found=[stands])
    return True
