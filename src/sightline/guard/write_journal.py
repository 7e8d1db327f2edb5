"""Journalled writes: record the intent, touch the disk, record how each write ended.

Every write of Sightline's goes through three steps, one call each:

1. `intend` appends what is about to happen, with both texts of every file, and syncs it.
2. `carry_out` compares and replaces each file on disk.
3. `record_ends` appends what became of each intent.

A process that dies in between leaves the intent behind. `recover` settles it by looking at what
stands on disk. Several files that belong together are intended by one append, and their ends are
recorded by one append. A host that writes with its own tools uses steps 1 and 3 only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import urandom

from msgspec import Struct

from sightline.changes.detect import change
from sightline.changes.session_context import SessionContext, stamp_of
from sightline.errors import Unverifiable
from sightline.filesystem.file_state import FileState, Link, Replacement
from sightline.filesystem.process import alive
from sightline.model.events import (
    Belief,
    Cause,
    Changed,
    Fact,
    Moved,
    RewindStarted,
    WriteAbandoned,
    WriteIntended,
)
from sightline.model.revision import UNKNOWN, Revision, as_link, link_of
from sightline.model.timeline import Recorded

Outcome = FileState | Unverifiable
"""The file as it is after a write; the error when the disk refused, and nothing was changed."""


class Write(Struct, frozen=True):
    """One file to change. before, after: revisions (a symlink's name where it leads) that are
    there now and afterwards, MISSING for no file. on_disk: the file as it was judged, at `src` for
    a move. data: the bytes or the symlink to leave. belief, body: what the agent knows afterwards, and the text
    of that where it is not `data`. src: the path from where the file moves."""

    path: str
    before: Revision
    after: Revision
    on_disk: FileState
    data: bytes | Link | None = None
    belief: Belief | None = None
    body: bytes | None = None
    src: str | None = None


class Intent(Struct, frozen=True):
    """A write that is on the timeline and not yet ended. position: of the fact; token: part of
    the names of the temporary files beside the path, empty when the host writes."""

    write: Write
    fact: WriteIntended
    position: int
    token: str


def intend(
    context: SessionContext,
    writes: Sequence[Write],
    *,
    unrecorded: Sequence[Fact] = (),
    by: str | None = None,
    expect: dict[str, int] | None = None,
    by_host: bool = False,
    with_stamps: bool = True,
) -> list[Intent]:
    """Append the intents of these writes, power-safe, and keep both texts of each file.

    unrecorded: changes by others that were detected first. by: the rewind that writes. expect: as
    SessionContext.append takes it. by_host: the host's tool writes, so there are no temporary
    files of ours. with_stamps: note how the files are; a rewind does not, so that the next look
    sees changed permissions. StoreConflict, StoreError.
    """
    tokens = ["" if by_host else urandom(6).hex() for _ in writes]
    facts = [
        _intent(context, write, token, by) for write, token in zip(writes, tokens, strict=True)
    ]
    texts = [
        text
        for write in writes
        for text in context.keepable(
            write.path,
            write.on_disk.data,
            None if isinstance(write.data, Link) else write.data,
            write.body,
        )
    ]
    recorded = context.append(
        [*unrecorded, *facts],
        blobs=texts,
        found=[write.on_disk for write in writes] if with_stamps else (),
        expect=expect,
        durable=True,
    )
    positions = [entry.position for entry in recorded[-len(facts) :]]
    return [Intent(*parts) for parts in zip(writes, facts, positions, tokens, strict=True)]


def _intent(context: SessionContext, write: Write, token: str, by: str | None) -> WriteIntended:
    led = link_of(write.before)
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
    )


def carry_out(context: SessionContext, intents: Sequence[Intent]) -> list[Outcome]:
    """Compare and replace, or move, each file; return the outcomes in order. The caller holds the
    locks of all paths."""
    workspace = context.workspace
    wanted = [
        Replacement(write.path, write.before, write.data, intent.token)
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


def is_done(intent: Intent, outcome: Outcome) -> bool:
    """Return whether the write took effect."""
    return not isinstance(outcome, Unverifiable) and took_effect(intent.fact, outcome)


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
    """Append for each intent that its write happened, or that it was abandoned.

    beliefs: path -> what the agent knows now, where that is not what was intended. merged: facts
    that go with them. expect: as SessionContext.append takes it. StoreConflict, StoreError.
    """
    facts: list[Fact] = []
    for intent, outcome in ended:
        path = intent.write.path
        if isinstance(outcome, Unverifiable) or not took_effect(intent.fact, outcome):
            facts.append(WriteAbandoned(path, intent.position))
        else:
            belief = (beliefs or {}).get(path, intent.fact.belief)
            facts.append(completed(intent.fact, outcome, context.session, intent.position, belief))
    found = [outcome for _, outcome in ended if not isinstance(outcome, Unverifiable)]
    return context.append(
        [*facts, *merged], blobs=blobs, found=found, expect=expect, durable=durable
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
    record_ends(context, ended, durable=False)
    return [
        outcome if isinstance(outcome, Unverifiable) else is_done(intent, outcome)
        for intent, outcome in ended
    ]


# --- after the fact: intents whose process died ---------------------------------------------------


def recover(context: SessionContext, *paths: str) -> int:
    """Settle the intents on paths whose locks the caller holds; return their number.

    No other process can be in the middle of a write of ours, because that needs the lock. A
    host's own write is left alone while its process lives.
    """
    settled = 0
    for intent in context.store.pending():
        fact = intent.fact
        if not isinstance(fact, WriteIntended) or fact.path not in paths:
            continue
        if fact.aside or not alive(fact.owner):
            _settle(context, intent, fact)
            settled += 1
    return settled


def recover_all(context: SessionContext) -> int:
    """Settle the intents of all processes that died; return their number."""
    settled = 0
    for intent in context.store.pending():
        fact = intent.fact
        if isinstance(fact, WriteIntended) and not alive(fact.owner):
            with context.workspace.lock(fact.path):
                settled += recover(context, fact.path)
    return settled


def settle_host_writes(context: SessionContext) -> None:
    """Settle this session's intents that its host carries out, once the host ended its calls. When
    the user denied a call, no other hook tells."""
    for intent in context.store.pending():
        fact = intent.fact
        own = intent.session == context.session
        if own and isinstance(fact, WriteIntended) and not fact.aside:
            with context.workspace.lock(fact.path):
                _settle(context, intent, fact)


def _settle(context: SessionContext, intent: Recorded, fact: WriteIntended) -> None:
    before, after = _ends(fact)
    context.workspace.clean(fact.path, fact.aside, before=before, after=after)
    on_disk = context.workspace.read(fact.path)
    end: Fact = WriteAbandoned(fact.path, intent.position)
    if took_effect(fact, on_disk):
        end = completed(fact, on_disk, intent.session, intent.position)
    stamp = stamp_of(on_disk)
    context.store.append(
        intent.session,
        [end],
        at=context.clock(),
        stats={on_disk.path: stamp} if stamp else None,
        durable=True,
    )


def unfinished_rewinds(context: SessionContext, session: str | None = None) -> list[Recorded]:
    """Return the rewinds whose process died, oldest first, of all sessions or of one. Of each
    session only the newest rewind counts: it leads to where the session is to be."""
    newest: dict[str, Recorded] = {}
    for entry in context.store.pending():
        fact = entry.fact
        if session in (None, entry.session) and isinstance(fact, RewindStarted):
            newest.pop(entry.session, None)
            if not alive(fact.owner):
                newest[entry.session] = entry
    return list(newest.values())


def took_effect(fact: WriteIntended, on_disk: FileState) -> bool:
    """Return whether the file on disk is what the intent was to leave."""
    content = on_disk.revision if on_disk.target is None else as_link(on_disk.target)
    return content == _ends(fact)[1]


def _ends(fact: WriteIntended) -> tuple[Revision, Revision]:
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
    mode = on_disk.signature.mode if on_disk.signature else None
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
    )
