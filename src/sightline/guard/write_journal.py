"""Journalled writes: record the intent, touch the disk, record how each write ended.

Every write of Sightline's goes through three steps, one call each:

1. `intend` appends what is about to happen, with both texts of every file, and syncs it.
2. `carry_out` compares and replaces each file on disk.
3. `record_ends` appends what became of each intent.

A process that dies in between leaves the intent behind, and guard.unfinished settles it by looking
at what stands on disk. Several files that belong together are intended by one append, as a batch, and
their ends are recorded by one append. A host that writes with its own tools uses steps 1 and 3 only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import urandom
from stat import S_ISDIR

from msgspec import Struct

from sightline.changes.attribution import after_write
from sightline.changes.detect import change
from sightline.changes.session_context import SessionContext
from sightline.errors import StoreConflict, StoreError, Unverifiable
from sightline.filesystem.file_state import FileCopy, FileState, Link, Replacement
from sightline.guard import words
from sightline.model.events import (
    Belief,
    Cause,
    Changed,
    Fact,
    Moved,
    WriteAbandoned,
    WriteIntended,
)
from sightline.model.path import folders_above
from sightline.model.revision import MISSING, UNKNOWN, Revision, as_link
from sightline.model.timeline import Recorded

Outcome = FileState | Unverifiable
"""The file as it is after a write; the error when the disk refused, and nothing was changed."""


class Write(Struct, frozen=True):
    """One file to change. before, after: revisions (a symlink's name where it leads) that are
    there now and afterwards, MISSING for no file. on_disk: the file as it was judged, at `src` for
    a move. data: the bytes, the symlink or the copy of a file to leave. belief, body: what the agent knows afterwards, and the text
    of that where it is not `data`; base: the bytes that the agent believed before, by their revision. src: the path from where the file moves. same_as: as in
    Replacement. gives_way: empty folders at the path whose place the file takes."""

    path: str
    before: Revision
    after: Revision
    on_disk: FileState
    data: bytes | Link | FileCopy | None = None
    belief: Belief | None = None
    body: bytes | None = None
    base: Mapping[Revision, bytes] = {}
    src: str | None = None
    same_as: str | None = None
    gives_way: tuple[str, ...] = ()


class Intent(Struct, frozen=True):
    """A write that is on the timeline and not yet ended. position: of the fact; token: part of
    the names of the temporary files beside the path, empty when the host writes. is_kept: the store
    has the texts."""

    write: Write
    fact: WriteIntended
    position: int
    token: str
    is_kept: bool


def intend(
    context: SessionContext,
    writes: Sequence[Write],
    *,
    unrecorded: Sequence[Fact] = (),
    by: str | None = None,
    expect: dict[str, int] | None = None,
    by_host: bool = False,
    call: str = "",
    with_stamps: bool = True,
    batch: str | None = None,
) -> list[Intent]:
    """Append the intents of these writes, power-safe, and keep both texts of each file.

    unrecorded: changes by others that were detected first. by: the rewind that writes. expect: as
    SessionContext.append takes it. by_host: the host's tool writes, so there are no temporary
    files of ours; call: the id of that tool call. with_stamps: note how the files are; a rewind does not, so that the next look
    sees changed permissions. batch: the name of these writes, if they happen all or none.
    StoreConflict, StoreError.
    """
    tokens = ["" if by_host else urandom(6).hex() for _ in writes]
    facts = [
        _intent(context, write, token, by, batch, call)
        for write, token in zip(writes, tokens, strict=True)
    ]
    texts = [_texts(context, write) for write in writes]
    recorded = context.append(
        [*unrecorded, *facts],
        blobs={revision: data for each in texts for revision, data in each.items()},
        found=[write.on_disk for write in writes] if with_stamps else (),
        expect=expect,
        durable=True,
    )
    positions = [entry.position for entry in recorded[-len(facts) :]]
    kept = map(bool, texts)
    return [Intent(*parts) for parts in zip(writes, facts, positions, tokens, kept, strict=True)]


def _texts(context: SessionContext, write: Write) -> dict[Revision, bytes]:
    """Return the texts of a write, when they may be stored."""
    named = [
        *write.base.items(),
        (write.on_disk.revision, write.on_disk.data),
        (write.after, write.data if isinstance(write.data, bytes) else None),
        (write.belief.text if write.belief else UNKNOWN, write.body),
    ]
    texts = {revision: data for revision, data in named if data is not None}
    return texts if context.keepable(write.path, *texts.values(), on_disk=write.on_disk) else {}


def _intent(
    context: SessionContext,
    write: Write,
    token: str,
    by: str | None,
    batch: str | None,
    call: str,
) -> WriteIntended:
    led = write.on_disk.target
    target = write.data.target if isinstance(write.data, Link) else None
    return WriteIntended(
        write.path,
        write.before if led is None else UNKNOWN,
        write.after if target is None else UNKNOWN,
        context.workspace.asides(write.path, token) if token else (),
        context.owner,
        write.belief,
        src=write.src,
        led=led,
        target=target,
        by=by,
        batch=batch,
        makes=_missing_folders(context, write.path) if write.before == MISSING else (),
        gives_way=write.gives_way,
        call=call,
    )


def _missing_folders(context: SessionContext, path: str) -> tuple[str, ...]:
    """Return the folders above a path that a write there has to make, the outermost first."""
    missing: list[str] = []
    for folder in reversed([each.rstrip("/") for each in folders_above(path)]):
        found = context.workspace.stat(folder)
        if found is not None and S_ISDIR(found.mode):
            break
        missing.insert(0, folder)
    return tuple(missing)


def carry_out(context: SessionContext, intents: Sequence[Intent]) -> list[Outcome]:
    """Compare and replace, or move, each file; return the outcomes in order. The caller holds the
    locks of all paths."""
    workspace = context.workspace
    for intent in intents:
        if intent.fact.gives_way:
            workspace.remove_folders(intent.fact.gives_way)
    wanted = [
        Replacement(
            write.path,
            write.before,
            write.data,
            intent.token,
            mendable=intent.is_kept,
            content=write.after,
            same_as=write.same_as,
        )
        for intent in intents
        if (write := intent.write).src is None
    ]
    replaced = iter(workspace.replace_each(wanted) if wanted else ())
    return [
        next(replaced) if intent.write.src is None else _move(context, intent.write)
        for intent in intents
    ]


def _move(context: SessionContext, write: Write) -> Outcome:
    assert write.src is not None
    try:
        return context.workspace.move_if(write.src, write.path, write.after)
    except Unverifiable as error:
        return error


def take_back_folders(context: SessionContext, fact: WriteIntended) -> None:
    """Set back the folders of a write that has no effect any more: those that it made and that are
    empty go, and those that gave way to its file come back."""
    if fact.makes:
        context.workspace.remove_folders(fact.makes)
    if fact.gives_way:
        context.workspace.make_folders(fact.gives_way)


def is_done(intent: Intent, outcome: Outcome) -> bool:
    """Return whether the write took effect, even if somebody saved over it since."""
    if isinstance(outcome, Unverifiable):
        return False
    return outcome.saved_over or took_effect(intent.fact, outcome)


def record_ends(
    context: SessionContext,
    ended: Sequence[tuple[Intent, Outcome]],
    *,
    beliefs: Mapping[str, Belief] | None = None,
    merged: Sequence[Fact] = (),
    blobs: Sequence[bytes] = (),
    expect: dict[str, int] | None = None,
    durable: bool = True,
) -> list[Recorded]:
    """Append for each intent, in order, that its write happened, or that it was abandoned. What
    others saved over a write since is recorded behind it, as theirs. Where the store fails, the intents
    stay, and whoever settles them records the same: StoreError says which files are written.

    beliefs: path -> what the agent knows now, where that is not what was intended. merged: facts
    that go with them. expect: as SessionContext.append takes it. StoreConflict, StoreError.
    """
    facts: list[Fact] = []
    saves: list[Fact] = []
    texts = [*blobs]
    for intent, outcome in ended:
        path = intent.write.path
        if isinstance(outcome, Unverifiable) or not is_done(intent, outcome):
            facts.append(WriteAbandoned(path, intent.position))
            continue
        belief = (beliefs or {}).get(path, intent.fact.belief)
        facts.append(completed(intent.fact, outcome, context.session, intent.position, belief))
        if outcome.saved_over and outcome.kind != "unreadable":
            saves.append(_save(context, intent, outcome))
            texts += context.keepable(path, outcome.data, on_disk=outcome)
    found = [outcome for _, outcome in ended if not isinstance(outcome, Unverifiable)]
    written = [intent.write.path for intent, outcome in ended if is_done(intent, outcome)]
    with telling(context, written):
        return context.append(
            [*facts, *saves, *merged], blobs=texts, found=found, expect=expect, durable=durable
        )


@contextmanager
def telling(context: SessionContext, written: Collection[str]) -> Iterator[None]:
    """Name the written files in the error of a store that fails to record the writes in the body.
    StoreError; StoreConflict as it is."""
    try:
        yield
    except StoreConflict:
        raise
    except StoreError as error:
        if not written:
            raise
        context.unrecorded = True
        raise StoreError(
            *words.not_recorded(written, error.fault, error.next_step), error.kind
        ) from error


def _save(context: SessionContext, intent: Intent, found: FileState) -> Changed:
    """Return the fact that somebody saved over a write before the next look."""
    fact, is_plain = intent.fact, found.kind in ("file", "missing")
    mine = intent.write.data
    cause = after_write(context, mine if isinstance(mine, bytes) else None, found.data)
    return Changed(
        fact.path,
        fact.after,
        found.revision if is_plain else UNKNOWN,
        change(fact.after, found.revision) if is_plain else "kind",
        cause,
        found.signature.mode if found.signature else None,
        target=found.target,
    )


def write_all(
    context: SessionContext,
    writes: Sequence[Write],
    *,
    by: str | None = None,
    unrecorded: Sequence[Fact] = (),
) -> list[bool | Unverifiable]:
    """Take the three steps for writes that leave the agent's knowledge as it is (a rewind). Return
    for each whether it took effect, or why the disk refused.

    The ends are not synced: the intents are, so after a power failure the next open finds what
    happened. The caller's next synced fact takes the ends along.
    """
    if not writes:
        return []
    intents = intend(context, writes, unrecorded=unrecorded, by=by, with_stamps=False)
    outcomes = carry_out(context, intents)
    ended = list(zip(intents, outcomes, strict=True))
    for intent, outcome in ended:
        if not is_done(intent, outcome):
            take_back_folders(context, intent.fact)
    record_ends(context, ended, durable=False)
    return [
        outcome if isinstance(outcome, Unverifiable) else is_done(intent, outcome)
        for intent, outcome in ended
    ]


def took_effect(fact: WriteIntended, on_disk: FileState) -> bool:
    """Return whether the file on disk is what the intent was to leave."""
    content = on_disk.revision if on_disk.target is None else as_link(on_disk.target)
    return content == ends_of(fact)[1]


def ends_of(fact: WriteIntended) -> tuple[Revision, Revision]:
    """Return the revisions before and after an intended write, symlinks included."""
    before = fact.before if fact.led is None else as_link(fact.led)
    return before, fact.after if fact.target is None else as_link(fact.target)


def completed(
    fact: WriteIntended,
    on_disk: FileState,
    session: str,
    position: int,
    belief: Belief | None = None,
) -> Changed | Moved:
    """Return the fact that an intended write happened. belief: what the agent knows now, when
    that is not what was intended."""
    cause = Cause("agent", session) if fact.by is None else Cause("command", session, fact.by)
    if fact.src is not None:
        return Moved(fact.path, fact.src, fact.after, cause, position)
    is_there = on_disk.kind != "directory" and on_disk.signature is not None
    mode = on_disk.signature.mode if is_there and on_disk.signature else None
    return Changed(
        fact.path,
        fact.before,
        fact.after,
        change(fact.before, fact.after) if fact.target is None else "kind",
        cause,
        mode,
        belief or fact.belief,
        position,
        fact.led,
        fact.target,
        call=fact.call,
    )
