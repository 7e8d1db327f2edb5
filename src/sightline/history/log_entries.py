"""The log entry: one shape for facts of all kinds, in the words of the public interface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from sightline.model.events import (
    ASKED,
    FACTS,
    BlobPurged,
    Cause,
    Changed,
    CheckpointTaken,
    EnvironmentSeen,
    Fact,
    GitMoved,
    ModelUsed,
    Moved,
    RewindEnded,
)
from sightline.model.revision import MISSING
from sightline.model.spans import Spans
from sightline.model.timeline import Recorded
from sightline.sessions import words


class Entry(Struct, frozen=True):
    """A fact for people. at: UTC microseconds; kind: a word of the public interface; src: former path
    of a moved file; before, after: revisions, or commits for a move by git; cause.detail: particular
    to the kind, such as the way a file was shown or the reason of a refusal; paths: of a fact about
    several files; fact: its name; count: number of things it is about; quiet: an automatic fact that
    nobody has to see at once."""

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
    paths: tuple[str, ...] = ()
    fact: str = ""
    count: int = 0
    quiet: bool = False


def readable_entries(recorded: Iterable[Recorded], agents: dict[str, str]) -> Iterator[Entry]:
    """Return facts as entries, without the facts that have no word. agents: session -> its agent."""
    return (_entry(fact, agents) for fact in recorded if type(fact.fact) in FACT_KINDS)


def facts_of(kinds: Iterable[str]) -> list[type[Fact]]:
    """Return the kinds of facts for these words."""
    wanted = {"changed" if kind == "deleted" else kind for kind in kinds}
    return [FACTS[name] for name, word in WORDS.items() if word in wanted]


def _entry(recorded: Recorded, agents: dict[str, str]) -> Entry:
    fact = recorded.fact
    name = type(fact).__name__
    before, after = _REVISIONS.get(name, ("before", "after"))
    paths: tuple[str, ...] = getattr(fact, "paths", getattr(fact, "files", ()))
    deleted = isinstance(fact, Changed) and fact.after == MISSING
    return Entry(
        position=recorded.position,
        at=recorded.happened_at,
        session=recorded.session,
        agent=agents.get(recorded.session, "unknown" if recorded.session else ""),
        kind="deleted" if deleted else WORDS[name],
        path=getattr(fact, "path", None),
        src=fact.src if isinstance(fact, Moved) else None,
        lines=getattr(fact, "lines", None),
        before=getattr(fact, before, None),
        after=getattr(fact, after, None),
        cause=_cause(fact, recorded.session),
        paths=paths,
        fact=name,
        count=1 + len(fact.others) if isinstance(fact, BlobPurged) else len(paths),
        quiet=isinstance(fact, CheckpointTaken) and fact.why != ASKED,
    )


def _cause(fact: Fact, session: str) -> Cause:
    cause = getattr(fact, "cause", None)
    if isinstance(cause, Cause):
        return cause
    if isinstance(fact, GitMoved):
        return Cause("git", fact.operation, fact.detail)
    detail = getattr(fact, _DETAILS.get(type(fact).__name__, ""), None)
    if isinstance(fact, ModelUsed):
        detail = words.model(fact.model, fact.provider, fact.mode)
    elif isinstance(fact, EnvironmentSeen):
        detail = words.environment(fact.system, fact.python, fact.host, fact.host_version)
    elif isinstance(fact, CheckpointTaken):
        detail = " ".join(filter(None, [fact.checkpoint, fact.label]))
    elif isinstance(fact, RewindEnded) and fact.files_only:
        detail = None
    elif isinstance(detail, tuple):
        detail = ", ".join(detail)
    return Cause("agent", session, None if detail in (None, "") else str(detail))


WORDS = {
    "SessionStarted": "session", "SessionForked": "forked", "SessionEnded": "ended",
    "TurnBegan": "turn", "ModelUsed": "model", "EnvironmentSeen": "environment",
    "Seen": "seen", "Dropped": "dropped", "Changed": "changed", "Moved": "moved",
    "GitMoved": "git", "CommandStarted": "command", "CommandEnded": "command_ended",
    "Refused": "refused", "Merged": "merged", "NoticeDelivered": "notice",
    "NoticeAcknowledged": "acknowledged", "Delivered": "delivered",
    "ListingRequested": "requested",
    "CheckpointTaken": "checkpoint", "CheckpointDropped": "checkpoint",
    "CheckpointMissed": "checkpoint", "RewindStarted": "rewind",
    "RewindEnded": "rewind", "MessageAppended": "message", "Folded": "folded",
    "Condensed": "condensed", "CondenseFailed": "condensed",
    "ClaimTaken": "claim", "ClaimRenewed": "claim",
    "ClaimReleased": "claim", "WarningRaised": "warning", "WarningAcknowledged": "warning",
    "SubtaskProposed": "subtask", "SubtaskStarted": "subtask", "SubtaskEnded": "subtask",
    "FilesSought": "sought", "Imported": "imported", "SightLost": "sight_lost", "BlobPurged": "purged",
}  # fmt: skip
"""Fact -> its word for users. The journal of unfinished writes has no word: its results have."""

FACT_KINDS = [kind for name, kind in FACTS.items() if name in WORDS]
"""The kinds of facts that have a word."""

KINDS = tuple(dict.fromkeys([*WORDS.values(), "deleted"]))
"""All words for events."""

OF_FILES = ("changed", "deleted", "moved", "git", "sight_lost")
"""Words for events of files, and for a watcher's gaps. The other words are about sessions."""

_REVISIONS = {
    "Seen": ("", "revision"),
    "Moved": ("revision", "revision"),
    "Refused": ("revision", ""),
    "Merged": ("disk", "result"),
    "BlobPurged": ("revision", ""),
}
"""Fact -> the fields of the revisions before and after, unless these are `before` and `after`."""

_DETAILS = {
    "SessionStarted": "parent", "SessionForked": "parent", "SessionEnded": "reason",
    "TurnBegan": "number", "Seen": "via",
    "GitMoved": "operation", "CommandStarted": "command", "CommandEnded": "exit_code",
    "Refused": "reason", "NoticeDelivered": "notice", "NoticeAcknowledged": "notice",
    "Delivered": "part", "ListingRequested": "folder", "CheckpointDropped": "checkpoint",
    "CheckpointMissed": "reason", "RewindStarted": "checkpoint",
    "RewindEnded": "to", "MessageAppended": "role", "CondenseFailed": "reason",
    "WarningRaised": "text",
    "ClaimTaken": "claim", "ClaimRenewed": "claim", "ClaimReleased": "claim",
    "FilesSought": "patterns",
    "WarningAcknowledged": "warning", "SubtaskProposed": "goal", "SubtaskStarted": "subtask",
    "SubtaskEnded": "state", "Imported": "source", "SightLost": "reason", "BlobPurged": "reason",
}  # fmt: skip
"""Fact -> the field for the detail of its cause."""
