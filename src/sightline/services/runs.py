"""What a command changed: files of the timeline by a stat each, others by a walk."""

from __future__ import annotations

from stat import S_ISLNK, S_ISREG
from time import monotonic

from sightline.core.causes import may_touch
from sightline.core.context import disk_paths
from sightline.core.events import Cause, Changed, GitMoved, WriteIntended
from sightline.core.revision import MISSING, UNKNOWN, known
from sightline.core.value import Value
from sightline.services.ground import change, noticed, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sightline.core.context import DiskFile
    from sightline.core.events import Change, Fact
    from sightline.core.revision import Revision, Stamp, StatSignature
    from sightline.services.ground import Ground
    from sightline.workspace import Found

    Before = Callable[[str, StatSignature], "Stood | None"]
    """A path and what stands there -> what stood there before: missing, unknown when it was
    something else, or what a checkpoint says; None when it is untouched."""


class Stood(Value):
    """What stood at a path before: its revision, and its mode where that is known; target: of a
    symlink, whose revision is UNKNOWN."""

    revision: Revision
    mode: int | None = None
    target: str | None = None


class Changes(Value):
    """What was found: the facts, what stands there now, and further fresh looks. complete:
    whether there was the time to look everywhere."""

    facts: tuple[Changed | GitMoved, ...] = ()
    found: tuple[Found, ...] = ()
    fresh: tuple[Found, ...] = ()
    complete: bool = True

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are told of, in order."""
        return tuple(sorted({path for fact in self.facts for path in disk_paths(fact)}))

    def record(self, ground: Ground, *more: Fact, text_max: int | None = None) -> None:
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
    ground: Ground,
    cause: Cause | None = None,
    before: Before | None = None,
    *,
    paths: Iterable[str] | None = None,
    since_ns: int = 0,
    deadline_s: float | None = None,
    looked: Mapping[str, Found] | None = None,
) -> Changes:
    """What differs from the timeline: of its own files (cause None: by somebody unknown); and with
    `before`, files it has never heard of that were made or changed since. paths: to look at no
    others of the timeline's. since_ns: only those
    that are younger by their times. deadline_s: for these; what was found when time is up is
    answered. looked: what the caller read a moment ago."""
    rows = ground.store.disks() if paths is None else _rows(ground, paths)
    stamps = ground.store.stamps(None if paths is None else rows)
    heard = _of_known(ground, rows, stamps, cause, looked or {})
    if before is None or cause is None:
        return heard
    return heard + _of_new(ground, rows, cause, before, since_ns, deadline_s)


def _rows(ground: Ground, paths: Iterable[str]) -> dict[str, DiskFile]:
    found = {path: ground.store.disk(path) for path in paths}
    return {path: row for path, row in found.items() if row is not None}


def _of_known(
    ground: Ground,
    rows: dict[str, DiskFile],
    stamps: dict[str, Stamp],
    cause: Cause | None,
    read: Mapping[str, Found],
) -> Changes:
    looked: list[Found] = []
    fresh: list[Found] = []
    modes: list[Changed] = []
    for there in doubtful(ground, rows, stamps, read):
        if there.revision != rows[there.path].revision:
            looked.append(ground.look(there.path))
            continue
        if there.target is not None:
            modes += _of_link(ground, there, cause)
        if not known(there.revision):
            continue  # no stamp vouches for it: there is nothing to learn
        fresh.append(there)
        modes += _of_mode(ground, stamps.get(there.path), there, cause)
    facts = [fact for fact in noticed(ground, *looked, presumed=cause) if isinstance(fact, WHAT)]
    facts += modes
    named = {path for fact in facts for path in disk_paths(fact)}
    found = tuple(there for there in looked if there.path in named)
    return Changes(tuple(facts), found, tuple(fresh))


def _of_mode(
    ground: Ground, stamp: Stamp | None, there: Found, cause: Cause | None
) -> Iterator[Changed]:
    """The fact that the same bytes got other rights."""
    now = there.signature
    if stamp is None or now is None or stamp.signature.mode == now.mode:
        return
    from sightline.services.causes import of_mode

    by = of_mode(ground, there.path, cause)
    yield Changed(there.path, there.revision, there.revision, "mode", by, now.mode)


def _of_link(ground: Ground, there: Found, cause: Cause | None) -> Iterator[Changed]:
    """The fact that a symlink leads elsewhere than the timeline says."""
    last = next(ground.store.timeline(path=there.path, kinds=[Changed], newest=1), None)
    led = last.fact.target if last is not None and isinstance(last.fact, Changed) else None
    if led is None or led == there.target:
        return
    from sightline.services.causes import of_mode

    by = of_mode(ground, there.path, cause)
    yield Changed(there.path, UNKNOWN, UNKNOWN, "kind", by, led=led, target=there.target)


WHAT = (Changed, GitMoved)
"""The facts that a difference to the timeline is told by."""


def _of_new(
    ground: Ground,
    rows: dict[str, DiskFile],
    cause: Cause,
    before: Before,
    since_ns: int,
    deadline_s: float | None,
) -> Changes:
    facts: list[Changed] = []
    found: list[Found] = []
    writes = [pending.fact for pending in ground.store.pending()]
    others = {fact.path for fact in writes if isinstance(fact, WriteIntended)}
    until = None if deadline_s is None else monotonic() + deadline_s
    for path, signature in ground.workspace.walk(since_ns=since_ns, links=True):
        if until is not None and monotonic() > until:
            return Changes(tuple(facts), tuple(found), complete=False)
        was = before(path, signature) if path not in rows else None
        if was is None or path in others or not _is_told(signature):
            continue
        there = ground.look(path)
        by = cause if may_touch(cause.detail or "", path) else Cause("external")
        made = _change(was, there, by) if known(there.standing) else None
        if made is not None:
            facts.append(made)
            found.append(there)
    return Changes(tuple(facts), tuple(found))


def _is_told(signature: StatSignature) -> bool:
    return S_ISREG(signature.mode) or S_ISLNK(signature.mode)


def _change(was: Stood, there: Found, cause: Cause) -> Changed | None:
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


def doubtful(
    ground: Ground,
    rows: dict[str, DiskFile],
    stamps: dict[str, Stamp],
    read: Mapping[str, Found] | None = None,
) -> Iterator[Found]:
    """Those that no stamp of the very bytes the timeline names vouches for. read: what the caller
    read a moment ago; it is a newer stamp, and answered as it is."""
    sure = {p: s for p, s in stamps.items() if p in rows and s.revision == rows[p].revision}
    newer = _newer(sure, read or {})
    for path in newer:
        del sure[path]
    yield from newer.values()
    if sure:
        yield from ground.workspace.scan(sure, deadline_s=ground.settings.deadline_s)
    for path, row in rows.items():
        if path in sure or path in newer:
            continue
        if not (row.revision == MISSING and _is_gone(ground, path)):
            yield ground.look(path)


def _newer(sure: Mapping[str, Stamp], read: Mapping[str, Found]) -> dict[str, Found]:
    """What was read of the same bytes, and may vouch for them."""
    stamps = {path: stamp_of(read[path]) for path in read.keys() & sure.keys()}
    same = [
        path for path, stamp in stamps.items() if stamp and stamp.revision == sure[path].revision
    ]
    return {path: read[path] for path in sorted(same)}


def _is_gone(ground: Ground, path: str) -> bool:
    try:
        return ground.workspace.stat(path) is None
    except OSError:
        return True  # nothing can be told of it


def by_times(_: str, __: StatSignature) -> Stood:
    """Of a file that is younger than the command: its times do not tell what was there before."""
    return Stood(UNKNOWN)


def changed_from(signatures: dict[str, StatSignature]) -> Before:
    """By what all files were before."""

    def before(path: str, signature: StatSignature) -> Stood | None:
        was = signatures.get(path)
        return Stood(MISSING) if was is None else Stood(UNKNOWN) if was != signature else None

    return before
