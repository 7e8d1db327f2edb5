"""What happened, for people to look at: the timeline, a verdict's reasons, all sessions at once.

A Ground whose session is empty serves here: looking at others starts no session of one's own.
"""

from __future__ import annotations

from sightline.core.events import (
    FACTS,
    Cause,
    Changed,
    CommandEnded,
    Dropped,
    GitMoved,
    Moved,
    RewindEnded,
)
from sightline.core.revision import MISSING
from sightline.core.timeline import archived
from sightline.core.value import Value
from sightline.services import views
from sightline.services.ground import Ground, located
from sightline.services.recovery import settle_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sightline.core.context import SessionState
    from sightline.core.events import CauseKind, Fact
    from sightline.core.regions import Spans
    from sightline.core.timeline import Recorded
    from sightline.services.ground import Policy
    from sightline.services.results import FileInContext, Verdict
    from sightline.store import Store
    from sightline.workspace import Workspace

WHY_ENTRIES = 30
"""How many facts `why` tells of one file, the newest ones."""


class Entry(Value):
    """A fact as people read it. at: UTC microseconds. kind: a word of the public interface; src:
    where a moved file came from. before, after: revisions, or commits for a move of git's.
    cause.detail says what is particular to the kind: how it was shown, why it was refused."""

    position: int
    at: int
    session: str
    agent: str
    kind: str
    path: str | None
    src: str | None
    lines: Spans | None
    before: str | None
    after: str | None
    cause: Cause


class SessionFiles(Value):
    """A session and the files it was shown."""

    session: SessionState
    files: tuple[FileInContext, ...]


class SessionSummary(Value):
    """A session and how many files it was shown."""

    session: SessionState
    files: int


class Why(Value):
    """How a verdict comes about. entries: the facts, oldest first; earlier: how many more there
    are before them; others: other sessions that were shown the file."""

    path: str
    entries: tuple[Entry, ...]
    earlier: int
    verdict: Verdict
    others: tuple[str, ...]


def survey(
    store: Store, workspace: Workspace, settings: Policy, clock: Callable[[], int]
) -> Ground:
    """Ports to look through without a session; writes of dead processes are settled first."""
    from sightline.workspace.process import owner

    ground = Ground("", store, workspace, settings, clock, owner())
    settle_all(ground)
    return ground


def entries(
    store: Store,
    *,
    path: str | None = None,
    session: str | None = None,
    after: int = 0,
    newest: int | None = None,
) -> Iterator[Entry]:
    """The timeline in order: all of it, or what names a canonical path, or one session's part.
    after: only what stands behind that position; newest: only the last N."""
    agents = {state.id: state.agent for state in store.sessions()}
    log = store.timeline(session=session, path=path, kinds=_TOLD, after=after, newest=newest)
    return (_entry(recorded, agents) for recorded in log)


def status(
    ground: Ground,
    session: str | None = None,
) -> list[SessionFiles]:
    """Every session, or one, with its files as they stand now."""
    return [
        SessionFiles(state, tuple(views.files(_as(ground, state.id))))
        for state in ground.store.sessions()
        if session in (None, state.id)
    ]


def sessions(store: Store) -> list[SessionSummary]:
    """Every session, oldest first."""
    return [SessionSummary(state, len(store.known(state.id))) for state in store.sessions()]


def why(ground: Ground, path: str) -> Why:
    """The facts behind the verdict on a file that `ground`'s session would get now."""
    verdict = views.check(ground, path)
    there = located(ground, path)
    store, session = ground.store, ground.session
    knowledge = store.knowledge(session, there.name or there.path)
    others = tuple(
        state.id
        for state in store.sessions()
        if state.id != session and store.knowledge(state.id, there.path) is not None
    )
    if knowledge is None:
        return Why(verdict.path, (), 0, verdict, others)
    agents = {state.id: state.agent for state in store.sessions()}
    about = [r for r in store.timeline(path=knowledge.path, kinds=_TOLD) if _concerns(r, session)]
    # These change what is known of every file and name none.
    wide = store.timeline(session=session, kinds=[Dropped, RewindEnded])
    about += [r for r in wide if getattr(r.fact, "path", None) is None]
    since = [r for r in about if r.position >= knowledge.first_position]
    told = sorted(since, key=lambda r: r.position)
    shown = tuple(_entry(r, agents) for r in told[-WHY_ENTRIES:])
    return Why(verdict.path, shown, len(told) - len(shown), verdict, others)


def _as(ground: Ground, session: str) -> Ground:
    return Ground(
        session, ground.store, ground.workspace, ground.settings, ground.clock, ground.owner
    )


def _concerns(recorded: Recorded, session: str) -> bool:
    if recorded.session == session:
        return not isinstance(recorded.fact, CommandEnded)  # its changes say that it was run
    if archived(recorded.session):
        return False
    return isinstance(recorded.fact, (Changed, Moved, GitMoved))


def _entry(recorded: Recorded, agents: dict[str, str]) -> Entry:
    fact = recorded.fact
    before, after = _REVISIONS.get(type(fact).__name__, ("before", "after"))
    path = getattr(fact, "path", None)
    return Entry(
        position=recorded.position,
        at=recorded.happened_at,
        session=recorded.session,
        agent=agents.get(recorded.session, "unknown"),
        kind=_kind(fact),
        path=path,
        src=fact.src if isinstance(fact, Moved) else None,
        lines=getattr(fact, "lines", None),
        before=getattr(fact, before, None),
        after=getattr(fact, after, None),
        cause=_cause(fact, recorded.session),
    )


def _kind(fact: Fact) -> str:
    if isinstance(fact, Changed) and fact.after == MISSING:
        return "deleted"
    return _KINDS[type(fact).__name__]


def _cause(fact: Fact, session: str) -> Cause:
    made = getattr(fact, "cause", None)
    if isinstance(made, Cause):
        return made
    field = _DETAILS.get(type(fact).__name__, "")
    said = getattr(fact, field, None)
    kind: CauseKind = "git" if isinstance(fact, GitMoved) else "agent"
    who = None if kind == "git" else session
    return Cause(kind, who, None if said in (None, "") else str(said))


_KINDS = {
    "SessionStarted": "session", "SessionForked": "forked", "SessionEnded": "ended",
    "TurnBegan": "turn", "ModelUsed": "model", "EnvironmentSeen": "environment",
    "Seen": "seen", "Dropped": "dropped", "Changed": "changed", "Moved": "moved",
    "GitMoved": "git", "CommandStarted": "command", "CommandEnded": "command_ended",
    "Refused": "refused", "Merged": "merged", "NoticeDelivered": "notice",
    "NoticeAcknowledged": "acknowledged", "Delivered": "delivered",
    "CheckpointTaken": "checkpoint", "RewindStarted": "rewind", "RewindStep": "rewind",
    "RewindEnded": "rewind", "MessageAppended": "message", "Folded": "folded",
    "Condensed": "condensed", "ClaimTaken": "claim", "ClaimRenewed": "claim",
    "ClaimReleased": "claim", "WarningRaised": "warning", "WarningAcknowledged": "warning",
    "SubtaskProposed": "subtask", "SubtaskStarted": "subtask", "SubtaskEnded": "subtask",
    "Imported": "imported", "SightLost": "sight_lost", "BlobPurged": "purged",
}  # fmt: skip
"""Fact -> the word that users know it by. The journal of writes under way is not told: what came
of them is."""

_TOLD = [made for name, made in FACTS.items() if name in _KINDS]

_REVISIONS = {
    "Seen": ("", "revision"),
    "Moved": ("revision", "revision"),
    "Refused": ("revision", ""),
    "Merged": ("disk", "result"),
    "BlobPurged": ("revision", ""),
}
"""Fact -> the fields that hold what was there before and after, where they are called otherwise."""

_DETAILS = {
    "SessionStarted": "parent", "SessionForked": "parent", "SessionEnded": "reason",
    "TurnBegan": "number", "ModelUsed": "model", "EnvironmentSeen": "host", "Seen": "via",
    "GitMoved": "operation", "CommandStarted": "command", "CommandEnded": "exit_code",
    "Refused": "reason", "NoticeDelivered": "notice", "NoticeAcknowledged": "notice",
    "Delivered": "part", "CheckpointTaken": "label", "RewindStarted": "checkpoint",
    "RewindEnded": "to", "MessageAppended": "role", "WarningRaised": "text",
    "ClaimTaken": "claim", "ClaimRenewed": "claim", "ClaimReleased": "claim",
    "WarningAcknowledged": "warning", "SubtaskProposed": "goal", "SubtaskStarted": "subtask",
    "SubtaskEnded": "state", "Imported": "source", "SightLost": "reason", "BlobPurged": "reason",
}  # fmt: skip
"""Fact -> the field that says what is particular to it."""
