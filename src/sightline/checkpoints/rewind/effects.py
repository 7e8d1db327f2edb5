"""What checkpoints.rewind.undo_plan plans from: what a session did to files, and what stands there now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from stat import S_IMODE

from msgspec import structs

from sightline.changes import untracked
from sightline.changes.cause_rules import REWINDING
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind.prior_state import KINDS, Past, of_entry, standing
from sightline.checkpoints.rewind.undo_plan import (
    CurrentState,
    Effect,
    Skipped,
    UndoPlan,
    paths_of,
    together,
    undo,
)
from sightline.filesystem.deadline import DeadlinePassed, within
from sightline.filesystem.file_state import FileState
from sightline.model.events import Cause, Changed, CommandEnded, Moved
from sightline.model.manifest import EMPTY, Manifest
from sightline.model.revision import MISSING
from sightline.model.timeline import Recorded, archived

Planned = tuple[UndoPlan, dict[str, FileState]]
"""A plan, and what it was made for."""

TOGETHER = 64
"""Groups that are looked at in one go."""


class Target:
    """Where a rewind leads. position: what came after it goes; manifest: how the tree stood
    there, where that was kept; name: as it is told. upto: where a rewind that is to be finished
    began; what came after that, but by itself, stands."""

    def __init__(
        self,
        position: int,
        name: str,
        manifest: Manifest | None,
        upto: int | None = None,
    ) -> None:
        self.position = position
        self.name = name
        self.manifest = manifest
        self.upto = upto

    def cause(self, session: str) -> Cause:
        """The cause of what a rewind of a session there does."""
        return Cause("command", session, f"{REWINDING}{self.name}")

    def takes_back(self, position: int, cause: Cause) -> bool:
        """Whether what a session did is among what goes."""
        if self.upto is None or position <= self.upto:
            return True
        return cause.detail == f"{REWINDING}{self.name}"


def effects(ground: SessionContext, target: Target) -> list[list[Effect]]:
    """What this session did to files since then, by paths that hang together."""
    since = [*ground.store.timeline(after=target.position, kinds=list(KINDS))]
    own = [each for recorded in since for each in _effects(ground, target, recorded)]
    past = Past(ground, target.position, since)
    own = sorted([*own, *_removed(ground, target, past)], key=lambda each: each.position)
    return together([past.put_before(each) for each in own])


def _effects(ground: SessionContext, target: Target, recorded: Recorded) -> Iterator[Effect]:
    fact, at = recorded.fact, recorded.happened_at
    if archived(recorded.session) or not isinstance(fact, (Changed, Moved)):
        return
    cause = fact.cause
    if not is_own(cause, ground.session) or not target.takes_back(recorded.position, cause):
        return
    sure = cause.kind != "command" or cause.confidence == "certain"
    position = recorded.position
    if isinstance(fact, Moved) and fact.intent is None:
        return  # a rename that was found later: what it did to the disk is on record before
    if isinstance(fact, Moved):
        yield Effect(fact.path, fact.revision, fact.revision, position, at, fact.src, sure)
    elif fact.change == "mode" and fact.mode is not None:
        after, mode = fact.after, S_IMODE(fact.mode)
        yield Effect(fact.path, after, after, position, at, sure=sure, mode=mode)
    else:
        before, after = standing(fact.before, fact.led), standing(fact.after, fact.target)
        made = Effect(fact.path, before, after, position, at, sure=sure)
        given = fact.before == MISSING and fact.mode is not None
        yield structs.replace(made, mode=S_IMODE(fact.mode or 0)) if given else made


def _removed(ground: SessionContext, target: Target, past: Past) -> Iterator[Effect]:
    """Files that a command of this session removed, and that nobody had looked at before: the
    checkpoint alone knows what they were."""
    ended = ground.store.timeline(
        session=ground.session, kinds=[CommandEnded], after=target.position, upto=target.upto
    )
    for recorded in ended if target.manifest is not None else ():
        assert isinstance(recorded.fact, CommandEnded)
        for path in recorded.fact.paths:
            entry = target.manifest.get(path) if target.manifest is not None else None
            if entry is None:
                continue
            if not past.heard(path, recorded.position):
                at = recorded.happened_at
                was = S_IMODE(entry.mode) if entry.kind == "file" else None
                yield Effect(path, of_entry(entry), MISSING, recorded.position, at, was=was)


def vanished(
    ground: SessionContext,
    target: Target,
    groups: Sequence[Sequence[Effect]],
    standing: Manifest = EMPTY,
) -> list[Skipped]:
    """Files of the checkpoint that are gone, and nobody saw who removed them. standing: what was
    just seen there."""
    if target.manifest is None:
        return []
    away = target.manifest.rows.keys() - standing.rows.keys()
    away.difference_update(ground.store.paths())
    for group in groups:
        away.difference_update(path for each in group for path in paths_of(each))
    return [Skipped(path, "vanished") for path in sorted(away) if untracked.is_gone(ground, path)]


def is_own(cause: Cause, session: str) -> bool:
    """Whether a session made a change: its edit, its command, a formatter behind its edit."""
    if cause.kind == "formatter":
        return cause.detail == session
    return cause.kind in ("agent", "session", "command") and cause.who == session


def planned_each(ground: SessionContext, groups: Sequence[Sequence[Effect]]) -> Iterator[Planned]:
    """planned() of several, looked at in one other thread: to go there for each takes longer than
    the look. Where that does not come back in time, each has the time by itself."""
    for start in range(0, len(groups), TOGETHER):
        some = groups[start : start + TOGETHER]
        try:
            yield from within(ground.settings.deadline_s, partial(_planned_each, ground, some))
        except DeadlinePassed:
            yield from _planned_each(ground, some)


def _planned_each(ground: SessionContext, groups: Sequence[Sequence[Effect]]) -> list[Planned]:
    return [planned(ground, group) for group in groups]


def planned(ground: SessionContext, group: Sequence[Effect]) -> Planned:
    """What taking back effects that hang together comes to now, and what stands at their paths."""
    found: dict[str, FileState] = {}
    standing: dict[str, CurrentState] = {}
    for path in sorted({path for each in group for path in paths_of(each)}):
        standing[path], found[path] = look(ground, path)
    return undo(group, standing, ground.store.blob), found


def look(ground: SessionContext, path: str) -> tuple[CurrentState, FileState]:
    """What stands at a path, and whether a rewind may touch it."""
    there = ground.look(path)
    if _leads_elsewhere(there) or ground.workspace.refused([path]):
        return CurrentState(why="elsewhere"), there
    if not ground.settings.may_store(path):
        return CurrentState(why="never_stored"), there
    if there.kind == "unreadable":
        return CurrentState(why="unreadable"), there
    if there.target is not None:
        return CurrentState(there.standing), there
    if there.kind not in ("file", "missing"):
        return CurrentState(why="kind"), there
    if there.kind == "file" and there.data is None:
        return CurrentState(there.revision, why="too_large"), there
    mode = S_IMODE(there.signature.mode) if there.signature is not None else None
    return CurrentState(there.revision, there.data, mode=mode), there


def _leads_elsewhere(there: FileState) -> bool:
    """Whether a folder above a path became a symlink; one that stands at the path itself does not
    matter, because it is not followed."""
    return there.kind == "symlink" and there.why is not None
