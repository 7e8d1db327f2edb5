"""Writes that were intended and not told of: settled by what stands on disk."""

from __future__ import annotations

from sightline.changes.detect import change
from sightline.changes.session_context import SessionContext, stamp_of
from sightline.filesystem.file_state import FileState
from sightline.filesystem.process import alive
from sightline.model.events import (
    Cause,
    Changed,
    Fact,
    Moved,
    RewindStarted,
    WriteAbandoned,
    WriteIntended,
)
from sightline.model.revision import Revision, as_link
from sightline.model.timeline import Recorded


def settle_all(ground: SessionContext) -> int:
    """Settle the writes of processes that are gone; how many there were."""
    settled = 0
    for intent in ground.store.pending():
        fact = intent.fact
        if isinstance(fact, WriteIntended) and not alive(fact.owner):
            with ground.workspace.lock(fact.path):
                settled += recover(ground, fact.path)
    return settled


def unfinished(ground: SessionContext, session: str | None = None) -> list[Recorded]:
    """The rewinds that a process began which is gone, oldest first: of all sessions, or of one.
    What a rewind of one leads to is led to by its newest."""
    found: dict[str, Recorded] = {}
    for begun in ground.store.pending():
        fact = begun.fact
        if session in (None, begun.session) and isinstance(fact, RewindStarted):
            found.pop(begun.session, None)
            if not alive(fact.owner):
                found[begun.session] = begun
    return list(found.values())


def recover(ground: SessionContext, *paths: str) -> int:
    """Settle the writes to paths whose lock the caller holds. Nobody can be in the middle of one
    of our own; a host's own write (it leaves nothing aside) is left alone while its process lives.
    """
    settled = 0
    for intent in ground.store.pending():
        fact = intent.fact
        if not isinstance(fact, WriteIntended) or fact.path not in paths:
            continue
        if fact.aside or not alive(fact.owner):
            _settle(ground, intent, fact)
            settled += 1
    return settled


def settle_own(ground: SessionContext) -> None:
    """Settle what this session's host was about to write, and told nothing of: it has ended its
    calls. What the user did not permit has no other hook."""
    for intent in ground.store.pending():
        fact = intent.fact
        if intent.session == ground.session and isinstance(fact, WriteIntended) and not fact.aside:
            with ground.workspace.lock(fact.path):
                _settle(ground, intent, fact)


def _settle(ground: SessionContext, intent: Recorded, fact: WriteIntended) -> None:
    before, after = _ends(fact)
    ground.workspace.clean(fact.path, fact.aside, before=before, after=after)
    found = ground.workspace.read(fact.path)
    told: Fact = WriteAbandoned(fact.path, intent.position)
    if took_effect(fact, found):
        told = completed(fact, found, intent.session, intent.position)
    stamp = stamp_of(found)
    ground.store.append(
        intent.session,
        [told],
        at=ground.clock(),
        stats={found.path: stamp} if stamp else None,
        durable=True,
    )


def took_effect(fact: WriteIntended, found: FileState) -> bool:
    """Whether what was intended stands there."""
    return found.standing == _ends(fact)[1]


def _ends(fact: WriteIntended) -> tuple[Revision, Revision]:
    """What stood there before an intended write, and what is to stand there after it."""
    before = fact.before if fact.led is None else as_link(fact.led)
    return before, fact.after if fact.target is None else as_link(fact.target)


def completed(
    fact: WriteIntended, found: FileState, session: str, position: int
) -> Changed | Moved:
    """The fact that an intended write happened."""
    cause = Cause("agent", session) if fact.by is None else Cause("command", session, fact.by)
    if fact.src is not None:
        return Moved(fact.path, fact.src, fact.after, cause, position)
    mode = found.signature.mode if found.signature else None
    return Changed(
        fact.path,
        fact.before,
        fact.after,
        change(fact.before, fact.after) if fact.target is None else "kind",
        cause,
        mode,
        fact.belief,
        position,
        fact.led,
        fact.target,
    )
