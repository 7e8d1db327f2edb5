"""Views folded from one timeline: what each session knows of a file, and what the disk holds.

Each view has a step, which changes the states by one recorded fact. A store keeps the states as
rows and steps them in the transaction that appends the fact; folding the whole log from nothing
gives the same rows (a property of every store).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs

from sightline.model import events
from sightline.model.events import Belief, Cause
from sightline.model.revision import MISSING, Revision, known
from sightline.model.session_ids import archived
from sightline.model.spans import subtract
from sightline.model.timeline import Position, Recorded, effective


class Knowledge(Struct, frozen=True):
    """One session's knowledge of one path. Times are UTC microseconds. position: of the newest fact
    that changed this knowledge; first_position: of the first. name: the symlink that the session
    asked for, where one led to the path."""

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
    """A path's file by the timeline, and the cause of its last change. changes: the number of facts that
    changed the file, or its name."""

    path: str
    revision: Revision
    position: int
    at: int
    cause: Cause | None = None
    mode: int | None = None
    moved_to: str | None = None
    last_external_edit: int | None = None
    changes: int = 0


class SessionState(Struct, frozen=True):
    """A session as its own facts describe it. Times are UTC microseconds; position: of its newest
    fact; newest_message: of its newest MessageAppended, 0 where it has none. active: when a fact of the
    session was recorded, less than ACTIVE_US apart from its newest one."""

    id: str
    agent: str
    started: int
    parent: str | None = None
    ended: int | None = None
    turn: int = 0
    model: str | None = None
    position: int = 0
    owner: str | None = None
    newest_message: int = 0
    active: int = 0


class Stash(Struct, frozen=True):
    """An entry of git's stash, as the recorded operations tell. commit: of the entry. path: of a file that the
    entry changes, by which its repository is found. position: of the operation that made it known."""

    commit: str
    path: str
    position: int


ACTIVE_US = 60_000_000
"""SessionState.active is set anew when a fact comes so much later, or earlier where the clock was set
back. So the state of a session at work changes once in this time, and not with each fact."""


def is_activity(active: int, recorded: Recorded) -> bool:
    """Return whether a fact sets SessionState.active anew."""
    return abs(recorded.recorded_at - active) >= ACTIVE_US


def know(states: dict[str, Knowledge], recorded: Recorded) -> None:
    """Step one session's knowledge (path -> state) by one of its own facts."""
    fact, at = recorded.fact, recorded.happened_at
    if isinstance(fact, events.Dropped) and not fact.received:
        states.pop(fact.path, None)
    elif isinstance(fact, events.Dropped) and fact.path in states:
        belief = fact.belief or states[fact.path].belief
        held = () if fact.lines is None else subtract(belief.held, fact.lines)
        states[fact.path] = structs.replace(
            states[fact.path],
            belief=structs.replace(belief, held=held),
            position=recorded.position,
        )
    elif isinstance(fact, events.WindowEmptied):
        for path, state in states.items():
            belief = structs.replace(state.belief, held=())
            states[path] = structs.replace(state, belief=belief, position=recorded.position)
    elif isinstance(fact, events.Seen):
        now = Knowledge(fact.path, fact.belief, fact.via, recorded.position, at, at)
        old = states.get(fact.path) or structs.replace(now, first_position=recorded.position)
        name = fact.name or old.name
        states[fact.path] = structs.replace(
            old, belief=now.belief, via=now.via, position=now.position, last_read=at, name=name
        )
    elif isinstance(fact, events.NoticeAcknowledged) and fact.path in states:
        states[fact.path] = structs.replace(
            states[fact.path], belief=fact.belief, position=recorded.position, last_read=at
        )
    elif isinstance(fact, events.Changed) and fact.belief is not None:
        place = recorded.position
        if fact.after == MISSING:
            states.pop(fact.path, None)
        elif fact.path in states:
            states[fact.path] = structs.replace(
                states[fact.path], belief=fact.belief, position=place, last_agent_edit=at
            )
        else:
            states[fact.path] = Knowledge(fact.path, fact.belief, "edit", place, at, at, at, place)
    elif isinstance(fact, events.Moved) and fact.src in states:
        moved = states.pop(fact.src)
        states[fact.path] = structs.replace(
            moved, path=fact.path, position=recorded.position, name=None
        )


def on_disk(states: dict[str, DiskFile], recorded: Recorded) -> None:
    """Step the disk view (path -> state) by a fact of any session but an archive."""
    fact, at = recorded.fact, recorded.happened_at
    if archived(recorded.session):
        return

    def changes(path: str) -> int:
        row = states.get(path)
        return 1 if row is None else row.changes + (row.position != recorded.position)

    if isinstance(fact, events.Seen):
        if fact.path not in states and known(fact.revision):
            states[fact.path] = DiskFile(fact.path, fact.revision, recorded.position, at)
    elif isinstance(fact, events.Changed):
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
            changes=changes(fact.path),
        )
    elif isinstance(fact, events.GitMoved):
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
                changes=changes(change.path),
            )
    elif isinstance(fact, events.Moved):
        position, made = recorded.position, (changes(fact.src), changes(fact.path))
        states[fact.src] = DiskFile(
            *(fact.src, MISSING, position, at, fact.cause), moved_to=fact.path, changes=made[0]
        )
        states[fact.path] = DiskFile(
            *(fact.path, fact.revision, position, at, fact.cause), changes=made[1]
        )


def stash(states: dict[str, Stash], recorded: Recorded) -> None:
    """Step the entries of git's stash (commit -> state) by a fact of any session but an archive."""
    fact = recorded.fact
    if archived(recorded.session):
        return
    if isinstance(fact, events.StashDropped):
        states.pop(fact.commit, None)
    elif isinstance(fact, events.GitMoved) and fact.paths:
        if fact.operation == "stash pop":
            states.pop(fact.before, None)
        elif fact.operation in ("stash", "stash apply"):
            commit = fact.after if fact.operation == "stash" else fact.before
            states.setdefault(commit, Stash(commit, fact.paths[0], recorded.position))


STASHING = (events.GitMoved, events.StashDropped)
"""Kinds that may change the entries of git's stash."""


def is_about_stashes(fact: events.Fact) -> bool:
    """Return whether a fact may change the entries of git's stash."""
    if isinstance(fact, events.GitMoved):
        return fact.operation.startswith("stash")
    return isinstance(fact, events.StashDropped)


def run(states: dict[str, dict[str, Recorded]], recorded: Recorded) -> None:
    """Step the commands under way (session -> run -> CommandStarted) by a fact of any session but an
    archive. A new turn and the end of a session end all commands of the session: a host that was cut off
    records no end."""
    fact, session = recorded.fact, recorded.session
    if archived(session):
        return
    if isinstance(fact, events.CommandStarted):
        states.setdefault(session, {})[fact.run] = recorded
    elif isinstance(fact, events.CommandEnded):
        states.get(session, {}).pop(fact.run, None)
    elif isinstance(fact, ENDING_ALL_COMMANDS):
        states.pop(session, None)


ENDING_ALL_COMMANDS = (events.TurnBegan, events.SessionEnded)
"""Facts after which no command of their session is under way."""


def column(state: SessionState | None, recorded: Recorded) -> SessionState:
    """Step a session's state by one of its facts."""
    fact, at = recorded.fact, recorded.happened_at
    if state is None:
        state = SessionState(recorded.session, "unknown", at, active=recorded.recorded_at)
    if isinstance(fact, events.SessionStarted):
        state = structs.replace(state, agent=fact.agent, started=at, parent=fact.parent)
    elif isinstance(fact, events.SessionForked):
        state = structs.replace(state, parent=fact.parent)
    elif isinstance(fact, events.SessionEnded):
        state = structs.replace(state, ended=at)
    elif isinstance(fact, events.TurnBegan):
        state = structs.replace(state, turn=fact.number, ended=None)
    elif isinstance(fact, events.ModelUsed):
        state = structs.replace(state, model=fact.model)
    elif isinstance(fact, events.EnvironmentSeen):
        # A new owner has taken the session up again.
        state = structs.replace(
            state, owner=fact.owner or state.owner, ended=None if fact.owner else state.ended
        )
    elif isinstance(fact, events.MessageAppended):
        state = structs.replace(state, newest_message=recorded.position)
    active = recorded.recorded_at if is_activity(state.active, recorded) else state.active
    return structs.replace(state, position=recorded.position, active=active)


def git_cause(fact: events.GitMoved) -> Cause:
    """Return the cause of each change of a git operation. who: the operation."""
    commits = f"{fact.before[:7]}..{fact.after[:7]}"
    detail = f"{fact.detail} {commits}" if fact.detail else commits
    return Cause("git", fact.operation, detail)


def fold_columns(
    columns: Mapping[str, Sequence[Recorded]], session: str, upto: Position
) -> dict[str, Knowledge]:
    """Fold all that a session knows at a position from the facts of each session."""
    states: dict[str, Knowledge] = {}
    for recorded in effective(columns, session, upto):
        know(states, recorded)
    return states


def fold_stashes(log: Iterable[Recorded]) -> dict[str, Stash]:
    """Fold the entries of git's stash from nothing, by commit, oldest first."""
    states: dict[str, Stash] = {}
    for recorded in log:
        stash(states, recorded)
    return states


def fold_running(log: Iterable[Recorded]) -> list[Recorded]:
    """Fold the commands under way from nothing, in order of position."""
    states: dict[str, dict[str, Recorded]] = {}
    for recorded in log:
        run(states, recorded)
    return running_in_order(states.values())


def running_in_order(states: Iterable[Mapping[str, Recorded]]) -> list[Recorded]:
    """Return the commands under way of some sessions, in order of position."""
    begun = [recorded for runs in states for recorded in runs.values()]
    return sorted(begun, key=lambda recorded: recorded.position)


def fold_disk(log: Iterable[Recorded]) -> dict[str, DiskFile]:
    """Fold the disk view from nothing."""
    states: dict[str, DiskFile] = {}
    for recorded in log:
        on_disk(states, recorded)
    return states
