"""Two views folded from one timeline: what each session holds of a file, and what the disk holds.

Each view has a step: (state or None, recorded fact) -> state or None. A store keeps the states
as rows and steps them in the transaction that appends the fact; folding the whole log from
nothing gives the same rows (a property of every store).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct, structs

from sightline.model.events import (
    Belief,
    Cause,
    Changed,
    Dropped,
    EnvironmentSeen,
    Fact,
    GitMoved,
    ModelUsed,
    Moved,
    NoticeAcknowledged,
    Rewritten,
    Seen,
    SessionEnded,
    SessionForked,
    SessionStarted,
    TurnBegan,
)
from sightline.model.revision import MISSING, Revision, known
from sightline.model.spans import subtract
from sightline.model.timeline import Recorded, archived, effective


class Knowledge(Struct, frozen=True):
    """What one session knows of one path. Times in microseconds, positions on the timeline:
    position is of the newest fact that changed this, first_position of the first."""

    path: str
    belief: Belief
    via: str
    position: int
    first_seen: int
    last_read: int
    last_agent_edit: int | None = None
    first_position: int = 0
    name: str | None = None


class DiskFile(Struct, frozen=True):
    """What the timeline says stands at a path, and who put it there as far as is known."""

    path: str
    revision: Revision
    position: int
    at: int
    cause: Cause | None = None
    mode: int | None = None
    moved_to: str | None = None
    last_external_edit: int | None = None


class SessionState(Struct, frozen=True):
    """One session's column on the timeline."""

    id: str
    agent: str
    started: int
    parent: str | None = None
    ended: int | None = None
    turn: int = 0
    model: str | None = None
    position: int = 0
    owner: str | None = None


def knowledge_paths(fact: Fact) -> tuple[str, ...] | None:
    """Paths whose knowledge row a fact of that session can change; None means all of them."""
    if isinstance(fact, Dropped):
        return None if fact.path is None else (fact.path,)
    if isinstance(fact, (Seen, NoticeAcknowledged)) or (isinstance(fact, Changed) and fact.belief):
        return (fact.path,)
    return (fact.src, fact.path) if isinstance(fact, Moved) else ()


def know(states: dict[str, Knowledge], recorded: Recorded) -> None:
    """Step one session's knowledge, held as path -> state, by one of its own facts."""
    fact, at = recorded.fact, recorded.happened_at
    if isinstance(fact, Dropped):
        for path in list(states) if fact.path is None else [fact.path]:
            if path in states:
                states[path] = _dropped(states[path], fact, recorded.position)
    elif isinstance(fact, Seen):
        old = states.get(fact.path)
        states[fact.path] = Knowledge(
            path=fact.path,
            belief=fact.belief,
            via=fact.via,
            position=recorded.position,
            first_seen=old.first_seen if old else at,
            last_read=at,
            last_agent_edit=old.last_agent_edit if old else None,
            first_position=old.first_position if old else recorded.position,
            name=fact.name or (old.name if old else None),
        )
    elif isinstance(fact, NoticeAcknowledged) and fact.path in states:
        states[fact.path] = structs.replace(
            states[fact.path], belief=fact.belief, position=recorded.position, last_read=at
        )
    elif isinstance(fact, Changed) and fact.belief is not None:
        _wrote(states, recorded, fact, fact.belief)
    elif isinstance(fact, Moved) and fact.src in states:
        moved = states.pop(fact.src)
        states[fact.path] = structs.replace(
            moved, path=fact.path, position=recorded.position, name=None
        )


def _wrote(states: dict[str, Knowledge], recorded: Recorded, fact: Changed, belief: Belief) -> None:
    at = recorded.happened_at
    old = states.get(fact.path)
    if fact.after == MISSING:
        states.pop(fact.path, None)
    elif old is None:
        states[fact.path] = Knowledge(
            fact.path, belief, "edit", recorded.position, at, at, at, recorded.position
        )
    else:
        states[fact.path] = structs.replace(
            old, belief=belief, position=recorded.position, last_agent_edit=at
        )


def _dropped(state: Knowledge, fact: Dropped, position: int) -> Knowledge:
    held = () if fact.lines is None else subtract(state.belief.held, fact.lines)
    return structs.replace(
        state, belief=structs.replace(state.belief, held=held), position=position
    )


def disk_paths(fact: Fact) -> tuple[str, ...]:
    """Paths whose disk row a fact can change."""
    if isinstance(fact, (Seen, Changed)):
        return (fact.path,)
    if isinstance(fact, GitMoved):
        return tuple([change.path for change in fact.changes])
    return (fact.src, fact.path) if isinstance(fact, Moved) else ()


def on_disk(states: dict[str, DiskFile], recorded: Recorded) -> None:
    """Step the disk view, held as path -> state, by any session's fact but an archive's."""
    fact, at = recorded.fact, recorded.happened_at
    if archived(recorded.session):
        return
    if isinstance(fact, Seen):
        if fact.path not in states and known(fact.revision):
            states[fact.path] = DiskFile(fact.path, fact.revision, recorded.position, at)
    elif isinstance(fact, Changed):
        old = states.get(fact.path)
        edited = old.last_external_edit if old else None
        foreign = fact.cause.kind not in ("agent", "session")
        states[fact.path] = DiskFile(
            fact.path,
            fact.after,
            recorded.position,
            at,
            fact.cause,
            fact.mode,
            last_external_edit=at if foreign else edited,
        )
    elif isinstance(fact, GitMoved):
        by = git_cause(fact)
        for change in fact.changes:
            states[change.path] = DiskFile(
                change.path,
                change.after,
                recorded.position,
                at,
                by,
                change.mode,
                last_external_edit=at,
            )
    elif isinstance(fact, Moved):
        gone = DiskFile(fact.src, MISSING, recorded.position, at, fact.cause, moved_to=fact.path)
        states[fact.src] = gone
        states[fact.path] = DiskFile(fact.path, fact.revision, recorded.position, at, fact.cause)


def column(state: SessionState | None, recorded: Recorded) -> SessionState:
    """Step a session's own row by one of its facts."""
    fact, at = recorded.fact, recorded.happened_at
    if state is None:
        state = SessionState(recorded.session, "unknown", at)
    if isinstance(fact, SessionStarted):
        state = structs.replace(state, agent=fact.agent, started=at, parent=fact.parent)
    elif isinstance(fact, SessionForked):
        state = structs.replace(state, parent=fact.parent)
    elif isinstance(fact, SessionEnded):
        state = structs.replace(state, ended=at)
    elif isinstance(fact, TurnBegan):
        state = structs.replace(state, turn=fact.number, ended=None)
    elif isinstance(fact, ModelUsed):
        state = structs.replace(state, model=fact.model)
    elif isinstance(fact, EnvironmentSeen):
        # Who holds a session again has taken it up again.
        state = structs.replace(
            state, owner=fact.owner or state.owner, ended=None if fact.owner else state.ended
        )
    return structs.replace(state, position=recorded.position)


def git_cause(fact: GitMoved) -> Cause:
    """A move of git's as the cause of each of its changes. who: the operation."""
    commits = f"{fact.before[:COMMIT]}..{fact.after[:COMMIT]}"
    detail = f"{fact.detail} {commits}" if fact.detail else commits
    return Cause("git", fact.operation, detail)


COMMIT = 7
"""Digits of a commit that people read."""


def redundant(disk: DiskFile | None, fact: Fact, session: str = "") -> bool:
    """Whether an observation says nothing new: the disk view already has these bytes and mode.

    Only observed changes can be redundant; a session's own write always says what it holds, and
    an archive tells of another time.
    """
    if archived(session):
        return False
    if not isinstance(fact, Changed) or fact.belief is not None or fact.intent is not None:
        return False
    if disk is None:
        return fact.after == MISSING
    if fact.led != fact.target:  # of where symlinks lead the disk view knows nothing
        return False
    return disk.revision == fact.after and fact.mode in (None, disk.mode)


def news(fact: Fact, row: Callable[[str], DiskFile | None], session: str = "") -> Fact | None:
    """What a fact says that the disk view has not: None where it is redundant. Of a move of git's
    the files that are left: two who look at once find it twice. row: path -> the view's row."""
    if isinstance(fact, Changed):
        return None if redundant(row(fact.path), fact, session) else fact
    if not isinstance(fact, GitMoved):
        return fact
    by = git_cause(fact)
    left = tuple([each for each in fact.changes if not _has(row(each.path), each, by)])
    if len(left) == len(fact.changes):
        return fact
    return (
        structs.replace(fact, paths=tuple([each.path for each in left]), changes=left)
        if left
        else None
    )


def _has(disk: DiskFile | None, change: Rewritten, by: Cause) -> bool:
    return disk is not None and (disk.revision, disk.cause) == (change.after, by)


def fold_knowledge(
    log: Iterable[Recorded], session: str, upto: int | None = None
) -> dict[str, Knowledge]:
    """All a session knows at a position, folded from nothing."""
    states: dict[str, Knowledge] = {}
    for recorded in effective(log, session, upto):
        know(states, recorded)
    return states


def fold_disk(log: Iterable[Recorded]) -> dict[str, DiskFile]:
    """The disk view, folded from nothing."""
    states: dict[str, DiskFile] = {}
    for recorded in log:
        on_disk(states, recorded)
    return states
