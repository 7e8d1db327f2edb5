"""Facts as people read them: one shape for all kinds, with the words of the public interface."""

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
    """A fact as people read it. at: UTC microseconds. kind: a word of the public interface; src:
    where a moved file came from. before, after: revisions, or commits for a move of git's.
    cause.detail says what is particular to the kind: how it was shown, why it was refused.
    paths: of a fact about several; fact: its name; count: of the things it is about; quiet: it
    comes by itself all the time, so that nobody has to see it at once."""

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


def told(recorded: Iterable[Recorded], agents: dict[str, str]) -> Iterator[Entry]:
    """Facts as people read them; those that nobody is told are left out. agents: session -> its
    agent."""
    return (entry(each, agents) for each in recorded if type(each.fact) in TOLD)


def facts_of(kinds: Iterable[str]) -> list[type[Fact]]:
    """The facts that go by any of these words."""
    wanted = {"changed" if kind == "deleted" else kind for kind in kinds}
    return [FACTS[name] for name, word in WORDS.items() if word in wanted]


def entry(recorded: Recorded, agents: dict[str, str]) -> Entry:
    """One fact as people read it."""
    fact = recorded.fact
    name = type(fact).__name__
    before, after = _REVISIONS.get(name, ("before", "after"))
    paths: tuple[str, ...] = getattr(fact, "paths", getattr(fact, "files", ()))
    return Entry(
        position=recorded.position,
        at=recorded.happened_at,
        session=recorded.session,
        agent=agents.get(recorded.session, "unknown" if recorded.session else ""),
        kind=_kind(fact),
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


def _kind(fact: Fact) -> str:
    if isinstance(fact, Changed) and fact.after == MISSING:
        return "deleted"
    return WORDS[type(fact).__name__]


def _cause(fact: Fact, session: str) -> Cause:
    made = getattr(fact, "cause", None)
    if isinstance(made, Cause):
        return made
    if isinstance(fact, GitMoved):
        return Cause("git", fact.operation, fact.detail)
    return Cause("agent", session, _detail(fact))


def _detail(fact: Fact) -> str | None:
    if isinstance(fact, ModelUsed):
        return words.model(fact.model, fact.provider, fact.mode)
    if isinstance(fact, EnvironmentSeen):
        return words.environment(fact.system, fact.python, fact.host, fact.host_version)
    if isinstance(fact, CheckpointTaken):
        return " ".join(filter(None, [fact.checkpoint, fact.label]))
    if isinstance(fact, RewindEnded) and fact.files_only:
        return None
    field = _DETAILS.get(type(fact).__name__, "")
    said = getattr(fact, field, None)
    if isinstance(said, tuple):
        return ", ".join(said)
    return None if said in (None, "") else str(said)


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
"""Fact -> the word that users know it by. The journal of writes under way is not told: what came
of them is."""

TOLD = [made for name, made in FACTS.items() if name in WORDS]

KINDS = tuple(dict.fromkeys([*WORDS.values(), "deleted"]))
"""Every word there is for what happened."""

OF_FILES = ("changed", "deleted", "moved", "git", "sight_lost")
"""What became of files, and that it could not be seen. The rest is about sessions."""

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
"""Fact -> the field that says what is particular to it."""
