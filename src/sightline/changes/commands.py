"""Find the changes of a command: tracked files by one stat each, other files by a walk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from stat import S_ISLNK, S_ISREG
from time import monotonic

from msgspec import Struct

from sightline.changes.attribution import detect_changes, may_touch, of_mode
from sightline.changes.detect import change, doubtful
from sightline.changes.session_context import SessionContext
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.model.events import Cause, Change, Changed, Fact, GitMoved, WriteIntended
from sightline.model.projections import DiskFile, disk_paths
from sightline.model.revision import MISSING, UNKNOWN, Revision, Stamp, StatSignature, known

Before = Callable[[str, StatSignature], "Stood | None"]
"""A path and the signature of its file now -> the file before the command; None for a file that is
untouched."""


class Stood(Struct, frozen=True):
    """A file before a command. revision: MISSING, UNKNOWN for another one than now, or a
    checkpoint's; mode: where it is known; target: of a symlink, whose revision is UNKNOWN."""

    revision: Revision
    mode: int | None = None
    target: str | None = None


class Changes(Struct, frozen=True):
    """Changes that were found. found: the changed files as they are now; fresh: unchanged files
    that were read on the way; complete: whether there was time to look everywhere."""

    facts: tuple[Changed | GitMoved, ...] = ()
    found: tuple[FileState, ...] = ()
    fresh: tuple[FileState, ...] = ()
    complete: bool = True

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the changed files, in order."""
        return tuple(sorted({path for fact in self.facts for path in disk_paths(fact)}))

    def record(self, context: SessionContext, *more: Fact, text_max: int | None = None) -> None:
        """Append the facts and `more` behind them in one step. text_max: bytes of a kept text that
        somebody outside wrote; None for no limit."""
        outside = {
            fact.path
            for fact in self.facts
            if isinstance(fact, Changed) and fact.cause.kind == "external"
        }
        blobs = [
            text
            for file in self.found
            for text in context.keepable(file.path, file.data)
            if text_max is None or len(text) <= text_max or file.path not in outside
        ]
        if self.facts or more or self.fresh:
            context.append([*self.facts, *more], blobs=blobs, found=[*self.found, *self.fresh])


def changes(
    context: SessionContext,
    cause: Cause | None = None,
    before: Before | None = None,
    *,
    paths: Iterable[str] | None = None,
    since_ns: int = 0,
    deadline_s: float | None = None,
) -> Changes:
    """Return the differences of the disk from the timeline. cause: of the changes, None for an
    unknown one. before: also return files that the timeline does not have, and that were made or
    changed since. paths: of the tracked files look at these alone. since_ns: of the other files look
    at those alone whose times are younger. deadline_s: the time for the other files; the answer is
    what was found until then."""
    if paths is None:
        rows = context.store.disks()
    else:
        rows = {path: row for path in paths if (row := context.store.disk(path)) is not None}
    stamps = context.store.stamps(None if paths is None else rows)
    tracked = _of_tracked(context, rows, stamps, cause)
    if before is None or cause is None:
        return tracked
    facts, found, complete = _of_others(context, rows, cause, before, since_ns, deadline_s)
    return Changes((*tracked.facts, *facts), (*tracked.found, *found), tracked.fresh, complete)


def _of_tracked(
    context: SessionContext,
    rows: dict[str, DiskFile],
    stamps: dict[str, Stamp],
    cause: Cause | None,
) -> Changes:
    looked: list[FileState] = []
    fresh: list[FileState] = []
    same_bytes: list[Changed] = []
    for file in doubtful(context, rows, stamps):
        if file.revision != rows[file.path].revision:
            looked.append(context.look(file.path))
            continue
        if file.target is not None and (moved_link := _of_link(context, file, cause)):
            same_bytes.append(moved_link)
        if known(file.revision):
            fresh.append(file)
            stamp, now = stamps.get(file.path), file.signature
            if stamp is not None and now is not None and stamp.signature.mode != now.mode:
                by = of_mode(context, file.path, cause)
                same_bytes.append(_of_mode(file, by, now.mode))
    detected = detect_changes(context, *looked, presumed=cause)
    facts = [*(fact for fact in detected if isinstance(fact, (Changed, GitMoved))), *same_bytes]
    changed = {path for fact in facts for path in disk_paths(fact)}
    found = tuple(file for file in looked if file.path in changed)
    return Changes(tuple(facts), found, tuple(fresh))


def _of_mode(file: FileState, cause: Cause, mode: int | None) -> Changed:
    return Changed(file.path, file.revision, file.revision, "mode", cause, mode)


def _of_link(context: SessionContext, file: FileState, cause: Cause | None) -> Changed | None:
    """Return the fact of a symlink that leads elsewhere than the timeline says."""
    last = next(context.store.timeline(path=file.path, kinds=[Changed], newest=1), None)
    led = last.fact.target if last is not None and isinstance(last.fact, Changed) else None
    if led is None or led == file.target:
        return None
    by = of_mode(context, file.path, cause)
    return Changed(file.path, UNKNOWN, UNKNOWN, "kind", by, led=led, target=file.target)


def _of_others(
    context: SessionContext,
    rows: dict[str, DiskFile],
    cause: Cause,
    before: Before,
    since_ns: int,
    deadline_s: float | None,
) -> tuple[list[Changed], list[FileState], bool]:
    """Return the changes of files that the timeline does not have, the files, and whether there was
    time for all."""
    facts: list[Changed] = []
    found: list[FileState] = []
    writes = [pending.fact for pending in context.store.pending()]
    being_written = {fact.path for fact in writes if isinstance(fact, WriteIntended)}
    until = None if deadline_s is None else monotonic() + deadline_s
    try:
        listed = list(context.workspace.walk(since_ns=since_ns, links=True, until=until))
    except DeadlinePassed:
        return facts, found, False
    for path, signature in listed:
        if until is not None and monotonic() > until:
            return facts, found, False
        was = before(path, signature) if path not in rows else None
        is_recorded = S_ISREG(signature.mode) or S_ISLNK(signature.mode)
        if was is None or path in being_written or not is_recorded:
            continue
        file = context.look(path)
        by = cause if may_touch(cause.detail or "", path) else Cause("external")
        fact = _change(was, file, by) if known(file.content) else None
        if fact is not None:
            facts.append(fact)
            found.append(file)
    return facts, found, True


def _change(was: Stood, file: FileState, cause: Cause) -> Changed | None:
    """Return the fact of a file that differs in bytes, target or mode; None where it does not."""
    path, now = file.path, file.revision
    if file.target is not None:
        if file.target == was.target:
            return None
        kind: Change = "created" if was.revision == MISSING else "kind"
        return Changed(path, was.revision, now, kind, cause, target=file.target)
    if was.revision != now:
        return Changed(path, was.revision, now, change(was.revision, now), cause)
    mode = file.signature.mode if file.signature is not None else None
    return None if was.mode in (None, mode) else _of_mode(file, cause, mode)


def by_times(_: str, __: StatSignature) -> Stood:
    """Return an unknown file, for one that is younger than the command: its times do not tell what
    was there before."""
    return Stood(UNKNOWN)


def changed_from(signatures: dict[str, StatSignature]) -> Before:
    """Return a Before that compares with the signatures of all files before the command."""

    def before(path: str, signature: StatSignature) -> Stood | None:
        was = signatures.get(path)
        return Stood(MISSING) if was is None else Stood(UNKNOWN) if was != signature else None

    return before
