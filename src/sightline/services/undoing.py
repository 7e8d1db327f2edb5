"""What core.rewinding plans from: what a session did to files, and what stands there now."""

from __future__ import annotations

from functools import partial
from stat import S_IMODE

from sightline.core.causes import REWINDING
from sightline.core.events import (
    Cause,
    Changed,
    CommandEnded,
    GitMoved,
    Moved,
    Seen,
)
from sightline.core.manifest import EMPTY
from sightline.core.revision import MISSING, UNKNOWN, as_link, is_link
from sightline.core.rewinding import (
    Effect,
    Left,
    Standing,
    Undoing,
    paths_of,
    together,
    undo,
)
from sightline.core.timeline import archived
from sightline.services import unheard
from sightline.workspace.deadline import DeadlinePassed, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline.core.events import Fact
    from sightline.core.manifest import Entry, Manifest
    from sightline.core.revision import Revision
    from sightline.core.timeline import Recorded
    from sightline.services.ground import Ground
    from sightline.services.unheard import Pictures
    from sightline.workspace import Found

    Planned = tuple[Undoing, dict[str, Found]]
    """A plan, and what it was made for."""

TOGETHER = 64
"""Groups that are looked at in one go."""

RECENT = 20
"""How many changes of a file are looked through for the rights it had."""

KINDS: tuple[type[Fact], ...] = (Changed, Moved)
"""The facts that a session's effects are."""


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


def effects(ground: Ground, target: Target) -> list[list[Effect]]:
    """What this session did to files since then, by paths that hang together."""
    since = ground.store.timeline(after=target.position, kinds=list(KINDS))
    own = [each for recorded in since for each in _effects(ground, target, recorded)]
    own = sorted([*own, *_removed(ground, target)], key=lambda each: each.position)
    pictures = unheard.Pictures(ground)
    return together([_with_past(ground, pictures, each) for each in own])


def _effects(ground: Ground, target: Target, recorded: Recorded) -> Iterator[Effect]:
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
        yield made.replace(mode=S_IMODE(fact.mode or 0)) if given else made


def _with_past(ground: Ground, pictures: Pictures, effect: Effect) -> Effect:
    """An effect with what has to be looked up of what stood there before it."""
    if effect.src is None and effect.before in (UNKNOWN, MISSING):
        effect = _with_before(ground, pictures, effect)
    gave = effect.mode is not None and effect.before == effect.after
    gone = effect.after == MISSING or is_link(effect.after)
    if effect.src is None and effect.was is None and (gave or gone):
        return effect.replace(was=_mode_before(ground, pictures, effect))
    return effect


def _mode_before(ground: Ground, pictures: Pictures, effect: Effect) -> int | None:
    """The permission bits that a file had before it, by the last that is on record of them."""
    upto = effect.position - 1
    entry = pictures.entry(effect.path, upto)
    after = pictures.taken(upto) if entry is not None and entry.kind == "file" else 0
    past = ground.store.timeline(
        path=effect.path, kinds=[Changed], after=after, upto=upto, newest=RECENT
    )
    for recorded in reversed([*past]):
        if isinstance(recorded.fact, Changed) and recorded.fact.mode is not None:
            return S_IMODE(recorded.fact.mode)
    return S_IMODE(entry.mode) if entry is not None else None


def _removed(ground: Ground, target: Target) -> Iterator[Effect]:
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
            if not _heard(ground, path, recorded.position):
                at = recorded.happened_at
                was = S_IMODE(entry.mode) if entry.kind == "file" else None
                yield Effect(path, of_entry(entry), MISSING, recorded.position, at, was=was)


def vanished(
    ground: Ground,
    target: Target,
    groups: Sequence[Sequence[Effect]],
    standing: Manifest = EMPTY,
) -> list[Left]:
    """Files of the checkpoint that are gone, and nobody saw who removed them. standing: what was
    just seen there."""
    if target.manifest is None:
        return []
    away = target.manifest.rows.keys() - standing.rows.keys()
    away.difference_update(ground.store.paths())
    for group in groups:
        away.difference_update(path for each in group for path in paths_of(each))
    return [Left(path, "vanished") for path in sorted(away) if unheard.is_gone(ground, path)]


def is_own(cause: Cause, session: str) -> bool:
    """Whether a session made a change: its edit, its command, a formatter behind its edit."""
    if cause.kind == "formatter":
        return cause.detail == session
    return cause.kind in ("agent", "session", "command") and cause.who == session


def _with_before(ground: Ground, pictures: Pictures, effect: Effect) -> Effect:
    """What stood there before a command, where only a checkpoint has it: nobody had looked at it
    before, so this is the first that is on record of it. Of a symlink that is on record: where it
    led."""
    if _heard(ground, effect.path, effect.position - 1):
        led = _led(ground, effect) if effect.before == UNKNOWN else None
        return effect if led is None else effect.replace(before=as_link(led))
    entry = pictures.entry(effect.path, effect.position)
    if entry is None or (effect.before == MISSING and entry.kind == "file"):
        return effect
    return effect.replace(before=of_entry(entry))


def _led(ground: Ground, effect: Effect) -> str | None:
    """Where a symlink led by the last that is on record of its path."""
    upto = effect.position - 1
    for recorded in ground.store.timeline(path=effect.path, kinds=[*KINDS], upto=upto, newest=1):
        return recorded.fact.target if isinstance(recorded.fact, Changed) else None
    return None


def of_entry(entry: Entry) -> Revision:
    """What stood there at a checkpoint."""
    return standing(entry.revision, entry.target)


def standing(revision: Revision, target: str | None) -> Revision:
    """What is compared: a file's revision, or where a symlink leads."""
    return revision if target is None else as_link(target)


def _heard(ground: Ground, path: str, upto: int) -> bool:
    """Whether anything about a file was on record by then."""
    kinds: list[type[Fact]] = [*KINDS, GitMoved, Seen]
    return any(True for _ in ground.store.timeline(path=path, kinds=kinds, upto=upto, newest=1))


def planned_each(ground: Ground, groups: Sequence[Sequence[Effect]]) -> Iterator[Planned]:
    """planned() of several, looked at in one other thread: to go there for each takes longer than
    the look. Where that does not come back in time, each has the time by itself."""
    for start in range(0, len(groups), TOGETHER):
        some = groups[start : start + TOGETHER]
        try:
            yield from within(ground.settings.deadline_s, partial(_planned_each, ground, some))
        except DeadlinePassed:
            yield from _planned_each(ground, some)


def _planned_each(ground: Ground, groups: Sequence[Sequence[Effect]]) -> list[Planned]:
    return [planned(ground, group) for group in groups]


def planned(ground: Ground, group: Sequence[Effect]) -> Planned:
    """What taking back effects that hang together comes to now, and what stands at their paths."""
    found: dict[str, Found] = {}
    standing: dict[str, Standing] = {}
    for path in sorted({path for each in group for path in paths_of(each)}):
        standing[path], found[path] = look(ground, path)
    return undo(group, standing, ground.store.blob), found


def look(ground: Ground, path: str) -> tuple[Standing, Found]:
    """What stands at a path, and whether a rewind may touch it."""
    there = ground.look(path)
    if _leads_elsewhere(there) or ground.workspace.refused([path]):
        return Standing(why="elsewhere"), there
    if not ground.settings.may_store(path):
        return Standing(why="never_stored"), there
    if there.kind == "unreadable":
        return Standing(why="unreadable"), there
    if there.target is not None:
        return Standing(there.standing), there
    if there.kind not in ("file", "missing"):
        return Standing(why="kind"), there
    if there.kind == "file" and there.data is None:
        return Standing(there.revision, why="too_large"), there
    mode = S_IMODE(there.signature.mode) if there.signature is not None else None
    return Standing(there.revision, there.data, mode=mode), there


def _leads_elsewhere(there: Found) -> bool:
    """Whether a folder above a path became a symlink; one that stands at the path itself does not
    matter, because it is not followed."""
    return there.kind == "symlink" and there.why is not None
