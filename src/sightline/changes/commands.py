"""Find the changes of a command: tracked files by one stat each, other files by a walk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import monotonic

from msgspec import Struct, structs

from sightline.changes.attribution import by_ended, detect_changes, of_mode
from sightline.changes.command_evidence import EndedCommand
from sightline.changes.detect import change, doubtful
from sightline.changes.session_context import SessionContext
from sightline.changes.untracked import covers
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.filesystem.tree_index import Row, Tree, signature_of_row
from sightline.model.events import Cause, Changed, Fact, GitMoved, Moved, WriteIntended
from sightline.model.manifest import Entry
from sightline.model.projections import DiskFile
from sightline.model.revision import MISSING, UNKNOWN, Revision, Stamp, StatSignature, known
from sightline.model.timeline import of_kind

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
    that were read on the way; complete: whether there was time to look everywhere; tree: the tree as it
    is now, where it was looked at."""

    facts: tuple[Changed | GitMoved | Moved, ...] = ()
    found: tuple[FileState, ...] = ()
    fresh: tuple[FileState, ...] = ()
    complete: bool = True
    tree: Tree | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the changed files, in order."""
        return tuple(sorted({path for fact in self.facts for path in fact.disk_paths()}))

    def record(
        self,
        context: SessionContext,
        *more: Fact,
        texts: Iterable[bytes] = (),
        text_max: int | None = None,
    ) -> None:
        """Append the facts and `more` behind them in one step. texts: that `more` name. text_max: bytes of
        a kept text that somebody outside wrote; None for no limit."""
        outside = {
            fact.path
            for fact in self.facts
            if isinstance(fact, Changed) and fact.cause.kind == "external"
        }
        blobs = [
            text
            for file in self.found
            for text in context.keepable(file.path, file.data, on_disk=file)
            if text_max is None or len(text) <= text_max or file.path not in outside
        ]
        if self.facts or more or self.fresh:
            found = [*self.found, *self.fresh]
            context.append([*self.facts, *more], blobs=[*blobs, *texts], found=found)


def changes(
    context: SessionContext,
    ended: EndedCommand | None = None,
    before: Before | None = None,
    *,
    paths: Iterable[str] | None = None,
    since_ns: int = 0,
    made: Callable[[Tree], Iterable[str]] = lambda _: (),
    deadline_s: float | None = None,
) -> Changes:
    """Return the differences of the disk from the timeline. ended: the command during which they
    came about, if one has just ended. before: also return files that the timeline does not have, and
    that were made or changed since. paths: of the tracked files look at these alone. since_ns: of
    the other files look at those alone whose times are younger, and at those in the folders that made() names:
    the files of a folder that was moved keep their times. deadline_s: the time for the other
    files; the answer is what was found until then."""
    if paths is None:
        rows = context.store.disks()
    else:
        rows = {path: row for path in paths if (row := context.store.disk(path)) is not None}
    stamps = context.store.stamps(None if paths is None else rows)
    looked: list[FileState] = []
    fresh: list[FileState] = []
    same_bytes: list[Changed] = []
    for file in doubtful(context, rows, stamps):
        if file.revision != rows[file.path].revision:
            looked.append(context.look(file.path))
            continue
        if file.target is not None and (moved_link := _of_link(context, file, ended)):
            same_bytes.append(moved_link)
        if known(file.revision):
            fresh.append(file)
            stamp, now = stamps.get(file.path), file.signature
            if stamp is not None and now is not None and stamp.signature.mode != now.mode:
                by = of_mode(context, file.path, ended)
                same_bytes.append(_of_mode(file, by, now.mode, stamp.signature.mode))
    detected = detect_changes(context, *looked, ended=ended)
    facts = [
        *(_with_mode(f, stamps) for f in detected if isinstance(f, (Changed, GitMoved))),
        *same_bytes,
    ]
    changed = {path for fact in facts for path in fact.disk_paths()}
    found = [file for file in looked if file.path in changed]
    complete, tree = True, None
    if before is not None and ended is not None:
        until = None if deadline_s is None else monotonic() + deadline_s
        try:
            tree = context.workspace.tree(until=until)
            young = [*tree.younger(since_ns), *tree.files_in(made(tree))]
            for fact, file in _of_others(context, rows, ended, before, young, until):
                facts.append(fact)
                found.append(file)
        except DeadlinePassed:
            complete = False
    return Changes(tuple(facts), tuple(found), tuple(fresh), complete, tree)


def _of_mode(file: FileState, cause: Cause, mode: int | None, before: int | None) -> Changed:
    revision = file.revision
    return Changed(file.path, revision, revision, "mode", cause, mode, mode_before=before)


def _with_mode(fact: Changed | GitMoved, stamps: dict[str, Stamp]) -> Changed | GitMoved:
    """Add the mode before a command's change: its file may have other permissions now."""
    stamp = stamps.get(fact.path) if isinstance(fact, Changed) else None
    if not isinstance(fact, Changed) or fact.cause.kind != "command" or stamp is None:
        return fact
    mode = stamp.signature.mode
    return fact if mode == fact.mode else structs.replace(fact, mode_before=mode)


def _of_link(
    context: SessionContext, file: FileState, ended: EndedCommand | None
) -> Changed | None:
    """Return the fact of a symlink that leads elsewhere than the timeline says."""
    changes_there = context.store.timeline(path=file.path, kinds=[Changed], newest=1)
    led = next((fact.target for fact in of_kind(Changed, changes_there)), None)
    if led is None or led == file.target:
        return None
    by = of_mode(context, file.path, ended)
    return Changed(file.path, UNKNOWN, UNKNOWN, "kind", by, led=led, target=file.target)


def _of_others(
    context: SessionContext,
    rows: dict[str, DiskFile],
    ended: EndedCommand,
    before: Before,
    young: Iterable[tuple[str, Row]],
    until: float | None,
) -> Iterator[tuple[Changed, FileState]]:
    """Yield the changes of files that the timeline does not have, with the files. young: the files to look
    at. DeadlinePassed."""
    being_written = {write.path for write in of_kind(WriteIntended, context.store.pending())}
    for path, row in dict(young).items():
        if until is not None and monotonic() > until:
            raise DeadlinePassed
        was = before(path, signature_of_row(row)) if path not in rows else None
        if was is None or path in being_written:
            continue
        file = context.look(path)
        fact = _change(context, was, file, ended) if known(file.content) else None
        if fact is not None:
            yield fact, file


def _change(
    context: SessionContext, was: Stood, file: FileState, ended: EndedCommand
) -> Changed | None:
    """Return the fact of a file that differs in bytes, target or mode; None where it does not."""
    path, now = file.path, file.revision
    mode = file.signature.mode if file.signature is not None else None
    if file.target is None and was.revision == now:
        is_same = was.mode in (None, mode)
        if is_same:
            return None
        return _of_mode(file, of_mode(context, path, ended), mode, was.mode)
    cause = by_ended(context, ended, path, was.revision, file)
    if file.target is None:
        old = None if was.mode == mode else was.mode
        kind = change(was.revision, now)
        return Changed(path, was.revision, now, kind, cause, mode, mode_before=old)
    if file.target == was.target:
        return None
    kind = "created" if was.revision == MISSING else "kind"
    return Changed(path, was.revision, now, kind, cause, target=file.target)


def by_times(_: str, __: StatSignature) -> Stood:
    """Return an unknown file, for one that is younger than the command: its times do not tell what
    was there before."""
    return Stood(UNKNOWN)


def in_checkpoint(context: SessionContext, entries: Mapping[str, Entry]) -> Before:
    """Return a Before that takes the state of files from a checkpoint. Later changes have to be on
    record."""

    def before(path: str, _: StatSignature) -> Stood:
        entry = entries.get(path)
        if entry is None:
            return Stood(MISSING if covers(context, entries, path) else UNKNOWN)
        if entry.kind == "file":
            return Stood(entry.revision, entry.mode)
        return Stood(UNKNOWN, target=entry.target)

    return before


def changed_from(signatures: Mapping[str, StatSignature], recorded: Before = by_times) -> Before:
    """Return a Before that compares with the signatures of all files before the command. recorded:
    the state of a file that was there and has another signature now."""

    def before(path: str, signature: StatSignature) -> Stood | None:
        was = signatures.get(path)
        if was is None:
            return Stood(MISSING)
        return recorded(path, signature) if was != signature else None

    return before


def with_moves(context: SessionContext, found: Changes, ended: EndedCommand) -> Changes:
    """Return the changes of a command with a Moved fact for each file that the command certainly moved by
    name, behind the changes at both paths: what the session knows of the file goes along. What changed
    at the new path after the move is a change of its own."""
    root = f"{context.workspace.root}/"
    went = {
        fact.path: fact
        for fact in found.facts
        if isinstance(fact, Changed) and fact.after == MISSING and known(fact.before)
    }
    facts: list[Changed | GitMoved | Moved] = []
    last: list[Changed | Moved] = []
    for fact in found.facts:
        sources: list[str] = []
        if isinstance(fact, Changed) and fact.before in (MISSING, UNKNOWN) and not fact.target:
            writes = (write for named in ended.named for write in named.to(root + fact.path))
            sources = [write.source.removeprefix(root) for write in writes if write.kind == "copy"]
        gone = next((went.pop(source) for source in sources if source in went), None)
        if gone is None or not isinstance(fact, Changed) or fact.after in (MISSING, UNKNOWN):
            facts.append(fact)
            continue
        facts.append(structs.replace(fact, after=gone.before))
        last.append(Moved(fact.path, gone.path, gone.before, gone.cause))
        if fact.after != gone.before:
            last.append(structs.replace(fact, before=gone.before, change="content"))
    return structs.replace(found, facts=(*facts, *last))
