"""What a command changed: files of the timeline by a stat each, others by a walk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from stat import S_ISLNK, S_ISREG
from time import monotonic

from msgspec import Struct

from sightline.changes.attribution import detect_changes, of_mode
from sightline.changes.cause_rules import may_touch
from sightline.changes.detect import change, doubtful
from sightline.changes.session_context import SessionContext
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.model.events import Cause, Change, Changed, Fact, GitMoved, WriteIntended
from sightline.model.projections import DiskFile, disk_paths
from sightline.model.revision import MISSING, UNKNOWN, Revision, Stamp, StatSignature, known

Before = Callable[[str, StatSignature], "Stood | None"]
"""A path and what stands there -> what stood there before: missing, unknown when it was
something else, or what a checkpoint says; None when it is untouched."""


class Stood(Struct, frozen=True):
    """What stood at a path before: its revision, and its mode where that is known; target: of a
    symlink, whose revision is UNKNOWN."""

    revision: Revision
    mode: int | None = None
    target: str | None = None


class Changes(Struct, frozen=True):
    """What was found: the facts, what stands there now, and further fresh looks. complete:
    whether there was the time to look everywhere."""

    facts: tuple[Changed | GitMoved, ...] = ()
    found: tuple[FileState, ...] = ()
    fresh: tuple[FileState, ...] = ()
    complete: bool = True

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are told of, in order."""
        return tuple(sorted({path for fact in self.facts for path in disk_paths(fact)}))

    def record(self, ground: SessionContext, *more: Fact, text_max: int | None = None) -> None:
        """Append them in one step, with further facts behind them. text_max: bytes of the texts
        that are kept of what somebody outside made; None: all are."""
        outside = {
            fact.path
            for fact in self.facts
            if isinstance(fact, Changed) and fact.cause.kind == "external"
        }
        blobs = [
            kept
            for there in self.found
            for kept in ground.keepable(there.path, there.data)
            if text_max is None or len(kept) <= text_max or there.path not in outside
        ]
        if self.facts or more or self.fresh:
            ground.append([*self.facts, *more], blobs=blobs, found=[*self.found, *self.fresh])

    def __add__(self, other: Changes) -> Changes:
        complete = self.complete and other.complete
        found, fresh = self.found + other.found, self.fresh + other.fresh
        return Changes(self.facts + other.facts, found, fresh, complete)


def changes(
    ground: SessionContext,
    cause: Cause | None = None,
    before: Before | None = None,
    *,
    paths: Iterable[str] | None = None,
    since_ns: int = 0,
    deadline_s: float | None = None,
) -> Changes:
    """What differs from the timeline: of its own files (cause None: by somebody unknown); and with
    `before`, files it has never heard of that were made or changed since. paths: to look at no
    others of the timeline's. since_ns: only those
    that are younger by their times. deadline_s: for these; what was found when time is up is
    answered."""
    rows = ground.store.disks() if paths is None else _rows(ground, paths)
    stamps = ground.store.stamps(None if paths is None else rows)
    heard = _of_known(ground, rows, stamps, cause)
    if before is None or cause is None:
        return heard
    return heard + _of_new(ground, rows, cause, before, since_ns, deadline_s)


def _rows(ground: SessionContext, paths: Iterable[str]) -> dict[str, DiskFile]:
    found = {path: ground.store.disk(path) for path in paths}
    return {path: row for path, row in found.items() if row is not None}


def _of_known(
    ground: SessionContext,
    rows: dict[str, DiskFile],
    stamps: dict[str, Stamp],
    cause: Cause | None,
) -> Changes:
    looked: list[FileState] = []
    fresh: list[FileState] = []
    modes: list[Changed] = []
    for there in doubtful(ground, rows, stamps):
        if there.revision != rows[there.path].revision:
            looked.append(ground.look(there.path))
            continue
        if there.target is not None:
            modes += _of_link(ground, there, cause)
        if not known(there.revision):
            continue  # no stamp vouches for it: there is nothing to learn
        fresh.append(there)
        modes += _of_mode(ground, stamps.get(there.path), there, cause)
    facts = [
        fact for fact in detect_changes(ground, *looked, presumed=cause) if isinstance(fact, WHAT)
    ]
    facts += modes
    named = {path for fact in facts for path in disk_paths(fact)}
    found = tuple(there for there in looked if there.path in named)
    return Changes(tuple(facts), found, tuple(fresh))


def _of_mode(
    ground: SessionContext, stamp: Stamp | None, there: FileState, cause: Cause | None
) -> Iterator[Changed]:
    """The fact that the same bytes got other rights."""
    now = there.signature
    if stamp is None or now is None or stamp.signature.mode == now.mode:
        return

    by = of_mode(ground, there.path, cause)
    yield Changed(there.path, there.revision, there.revision, "mode", by, now.mode)


def _of_link(ground: SessionContext, there: FileState, cause: Cause | None) -> Iterator[Changed]:
    """The fact that a symlink leads elsewhere than the timeline says."""
    last = next(ground.store.timeline(path=there.path, kinds=[Changed], newest=1), None)
    led = last.fact.target if last is not None and isinstance(last.fact, Changed) else None
    if led is None or led == there.target:
        return

    by = of_mode(ground, there.path, cause)
    yield Changed(there.path, UNKNOWN, UNKNOWN, "kind", by, led=led, target=there.target)


WHAT = (Changed, GitMoved)
"""The facts that a difference to the timeline is told by."""


def _of_new(
    ground: SessionContext,
    rows: dict[str, DiskFile],
    cause: Cause,
    before: Before,
    since_ns: int,
    deadline_s: float | None,
) -> Changes:
    facts: list[Changed] = []
    found: list[FileState] = []
    writes = [pending.fact for pending in ground.store.pending()]
    others = {fact.path for fact in writes if isinstance(fact, WriteIntended)}
    until = None if deadline_s is None else monotonic() + deadline_s
    try:
        listed = list(ground.workspace.walk(since_ns=since_ns, links=True, until=until))
    except DeadlinePassed:
        return Changes((), (), complete=False)
    for path, signature in listed:
        if until is not None and monotonic() > until:
            return Changes(tuple(facts), tuple(found), complete=False)
        was = before(path, signature) if path not in rows else None
        if was is None or path in others or not _is_told(signature):
            continue
        there = ground.look(path)
        by = cause if may_touch(cause.detail or "", path) else Cause("external")
        made = _change(was, there, by) if known(there.content) else None
        if made is not None:
            facts.append(made)
            found.append(there)
    return Changes(tuple(facts), tuple(found))


def _is_told(signature: StatSignature) -> bool:
    return S_ISREG(signature.mode) or S_ISLNK(signature.mode)


def _change(was: Stood, there: FileState, cause: Cause) -> Changed | None:
    """The fact of a difference, also of one of rights alone; None where there is none."""
    path, now = there.path, there.revision
    if there.target is not None:
        if there.target == was.target:
            return None
        what: Change = "created" if was.revision == MISSING else "kind"
        return Changed(path, was.revision, now, what, cause, target=there.target)
    if was.revision != now:
        return Changed(path, was.revision, now, change(was.revision, now), cause)
    mode = there.signature.mode if there.signature is not None else None
    if was.mode in (None, mode):
        return None
    return Changed(path, now, now, "mode", cause, mode)


def by_times(_: str, __: StatSignature) -> Stood:
    """Of a file that is younger than the command: its times do not tell what was there before."""
    return Stood(UNKNOWN)


def changed_from(signatures: dict[str, StatSignature]) -> Before:
    """By what all files were before."""

    def before(path: str, signature: StatSignature) -> Stood | None:
        was = signatures.get(path)
        return Stood(MISSING) if was is None else Stood(UNKNOWN) if was != signature else None

    return before
