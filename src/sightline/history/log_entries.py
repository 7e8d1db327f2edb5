"""Values for people: the log entry, one shape for facts of all kinds, and the reasons of a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from sightline.model.events import (
    ASKED,
    FACTS,
    AnswerGiven,
    BlobPurged,
    Cause,
    Changed,
    CheckpointTaken,
    EnvironmentSeen,
    Fact,
    GitMoved,
    ModelUsed,
    Moved,
    NoticeDelivered,
    RewindEnded,
)
from sightline.model.projections import Knowledge
from sightline.model.results import Verdict
from sightline.model.revision import MISSING
from sightline.model.spans import Spans
from sightline.model.timeline import Recorded
from sightline.sessions import words
from sightline.text.phrases import count


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


class Why(Struct, frozen=True):
    """The reasons of a verdict for a session. entries: the facts, oldest first; earlier: number of facts before
    them; others: other sessions that were shown the file and have not ended. knowledge: the session's,
    None for a file never shown. moved_to: the path of the file now, where it was renamed. differing:
    shown lines that differ on disk; kept: the shown text is stored."""

    path: str
    session: str
    agent: str
    entries: tuple[Entry, ...]
    earlier: int
    verdict: Verdict
    others: tuple[str, ...]
    policy: str
    knowledge: Knowledge | None = None
    differing: Spans = ()
    kept: bool = True
    moved_to: str | None = None


def readable_entries(
    recorded: Iterable[Recorded], agent_of: Callable[[str], str]
) -> Iterator[Entry]:
    """Return facts as entries, without the facts that have no word. agent_of: session -> its agent."""
    for row in recorded:
        if type(row.fact) not in FACT_KINDS:
            continue
        fact = row.fact
        name = type(fact).__name__
        before, after = _REVISIONS.get(name, ("before", "after"))
        paths: tuple[str, ...] = getattr(fact, "paths", getattr(fact, "files", ()))
        deleted = isinstance(fact, Changed) and fact.after == MISSING
        yield Entry(
            position=row.position,
            at=row.happened_at,
            session=row.session,
            agent=agent_of(row.session) if row.session else "",
            kind="deleted" if deleted else WORDS[name],
            path=getattr(fact, "path", None),
            src=fact.src if isinstance(fact, Moved) else None,
            lines=getattr(fact, "lines", None),
            before=getattr(fact, before, None),
            after=getattr(fact, after, None),
            cause=_cause(fact, row.session),
            paths=paths,
            fact=name,
            count=_count(fact, paths),
            quiet=isinstance(fact, CheckpointTaken) and fact.why != ASKED,
        )


def _count(fact: Fact, paths: Sequence[str]) -> int:
    """Return the number of things that a fact is about; of a delivery, the files whose changed lines or
    text it holds."""
    if isinstance(fact, NoticeDelivered):
        if fact.diff:
            return len(paths)
        is_notice = fact.kind == "notice"
        return sum(told.whole or (told.hunks != () and is_notice) for told in fact.told)
    return 1 + len(fact.others) if isinstance(fact, BlobPurged) else len(paths)


def facts_of(kinds: Iterable[str]) -> list[type[Fact]]:
    """Return the kinds of facts for these words."""
    wanted = {"changed" if kind == "deleted" else kind for kind in kinds}
    return [FACTS[name] for name, word in WORDS.items() if word in wanted]


def _cause(fact: Fact, session: str) -> Cause:
    cause = getattr(fact, "cause", None)
    if isinstance(cause, Cause):
        return cause
    if isinstance(fact, GitMoved):
        return Cause("git", fact.operation, fact.detail)
    detail = getattr(fact, FORMS[type(fact).__name__][1], None)
    if isinstance(fact, ModelUsed):
        detail = words.model(fact.model, fact.provider, fact.mode)
    elif isinstance(fact, NoticeDelivered):
        detail = fact.notice or fact.kind
    elif isinstance(fact, AnswerGiven):
        detail = f"{len(fact.applied)} of {count(fact.changes, 'change')} applied"
    elif isinstance(fact, EnvironmentSeen):
        detail = words.environment(fact.system, fact.python, fact.host, fact.host_version)
    elif isinstance(fact, CheckpointTaken):
        detail = " ".join(filter(None, [fact.checkpoint, fact.label]))
    elif isinstance(fact, RewindEnded) and fact.files_only:
        detail = None
    elif isinstance(detail, tuple):
        detail = ", ".join(detail)
    return Cause("agent", session, None if detail in (None, "") else str(detail))


FORMS = {
    "SessionStarted": ("session", "parent"), "SessionForked": ("forked", "parent"),
    "SessionEnded": ("ended", "reason"), "TurnBegan": ("turn", "number"),
    "ModelUsed": ("model", ""), "EnvironmentSeen": ("environment", ""), "Seen": ("seen", "via"),
    "Dropped": ("dropped", ""), "Changed": ("changed", ""), "Moved": ("moved", ""),
    "GitMoved": ("git", "operation"), "CommandStarted": ("command", "command"),
    "CommandEnded": ("command_ended", "exit_code"), "Refused": ("refused", "reason"),
    "Merged": ("merged", ""), "NoticeDelivered": ("notice", "notice"),
    "NoticeAcknowledged": ("acknowledged", "notice"), "Delivered": ("delivered", "part"),
    "PartHanded": ("notice", "part"), "ClaimAnnounced": ("notice", "claim"),
    "AnswerGiven": ("answer", ""), "ListingRequested": ("requested", "folder"), "CheckpointTaken": ("checkpoint", ""),
    "CheckpointDropped": ("checkpoint", "checkpoint"),
    "CheckpointMissed": ("checkpoint", "reason"), "RewindStarted": ("rewind", "checkpoint"),
    "RewindEnded": ("rewind", "to"), "MessageAppended": ("message", "role"),
    "Folded": ("folded", ""), "Condensed": ("condensed", ""),
    "CondenseFailed": ("condensed", "reason"), "RequestMeasured": ("measured", "tokens"),
    "ClaimTaken": ("claim", "claim"),
    "ClaimRenewed": ("claim", "claim"), "ClaimReleased": ("claim", "claim"),
    "WarningRaised": ("warning", "text"), "WarningAcknowledged": ("warning", "warning"),
    "SubtaskProposed": ("subtask", "goal"), "SubtaskApproved": ("subtask", "subtask"),
    "SubtaskStarted": ("subtask", "subtask"), "SubtaskReported": ("subtask", "subtask"),
    "SubtaskReturned": ("subtask", "reason"), "SubtaskRetried": ("subtask", "subtask"),
    "SubtaskEnded": ("subtask", "state"), "FilesSought": ("sought", "patterns"),
    "Imported": ("imported", "source"), "SightLost": ("sight_lost", "reason"), "FolderAdded": ("folder", "folder"),
    "BlobPurged": ("purged", "reason"),
}  # fmt: skip
"""Fact -> its word for users, and the field for the detail of its cause. The journal of unfinished
writes has no word: its results have."""

WORDS = {name: word for name, (word, _) in FORMS.items()}

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
