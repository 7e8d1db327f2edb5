"""The closed list of facts. A fact says what happened; it is never changed or taken back.

A new kind of fact, or a new field without a default, is a new version in store.codec.
Facts hold paths, hashes and line numbers, never the text of a file, so that a text can be
purged without touching the timeline. Paths are canonical workspace paths. What an agent holds
after a fact is written into the fact (Belief), so that folding needs no texts.

What a fact is, the facts of a conversation, and of files that are asked for. model.events has all
of them.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct

from sightline.model.revision import Revision
from sightline.model.spans import Hunk, Spans

CauseKind = Literal["agent", "command", "formatter", "git", "session", "external"]
CauseEvidence = Literal["named", "watched", "only_writer", "guess"]
Change = Literal["content", "created", "deleted", "mode", "kind"]
BatchOutcome = Literal["done", "undone", "mixed"]


class Fact(Struct, frozen=True):
    """Base of all facts. `path` names the file it is about, where it is about one."""

    version: ClassVar[int] = 1


class MessageAppended(Fact, frozen=True):
    """A message of the conversation. message: its id, by what it says and the one before it;
    parent: the id of that one. role: system, user, model or tool. text: of its JSON. side: the
    chain of a sub-agent, "" for the session's own. formats: of which all messages up to it may be.
    media: pictures and documents that were taken out of its JSON, in the order they stood there."""

    message: str
    parent: str | None
    role: str
    text: Revision | None = None
    side: str = ""
    formats: tuple[str, ...] = ()
    media: tuple[Revision, ...] = ()


class Folded(Fact, frozen=True):
    """What is folded from here on, decided when `message` was the newest. blocks: how they are
    counted since the last Condensed; text: of the decision's JSON."""

    message: str
    blocks: tuple[int, ...]
    text: Revision | None = None
    side: str = ""


class Condensed(Fact, frozen=True):
    """A summary stands for the messages first..last from here on. summary: its id; text: of its
    JSON."""

    summary: str
    first: str
    last: str
    text: Revision | None = None
    side: str = ""


class CondenseFailed(Fact, frozen=True):
    """A summary that was asked for could not be had, or was not taken."""

    reason: str
    side: str = ""


class FilesSought(Fact, frozen=True):
    """Files were looked for by a chain of patterns, from exact to broad. won: which of them matched,
    from 1 on, 0 for none; tried: how many were; matches: how many files the winner matched;
    offered: the paths that may have been meant, where none did."""

    patterns: tuple[str, ...]
    won: int
    tried: int
    matches: int = 0
    offered: tuple[str, ...] = ()


class ListingRequested(Fact, frozen=True):
    """The agent asked for the listing of a folder, to have it before its next turn. folder: as it
    wrote it; the rest as in search.listing_requests.ListingRequest."""

    folder: str
    recursive: bool = False
    filter: str | None = None
    depth: int = 3
    limit: int = 200


class Belief(Struct, frozen=True):
    """What a session's agent holds of one file.

    text: the revision of the believed text, its own replacements applied; others' unseen
    changes are not in it, so these bytes may never have stood on disk. shown: its lines that
    were ever shown. held: those still in the context window. lines: how many it has in all.
    """

    text: Revision
    shown: Spans
    held: Spans
    lines: int


class Cause(Struct, frozen=True):
    """Who made a change, for wording only; it never decides a verdict. evidence: how that is
    known, None in what was recorded without it. named: the command or the tool call names the
    file; watched: the change was seen while its author alone could make it; only_writer: nobody
    else was at work; guess: nothing but the time speaks for it."""

    kind: CauseKind
    who: str | None = None
    detail: str | None = None
    confidence: str = "certain"
    evidence: CauseEvidence | None = None


class SessionStarted(Fact, frozen=True):
    agent: str
    parent: str | None = None
    parent_position: int | None = None


class SessionForked(Fact, frozen=True):
    """This session begins with all that `parent` knew at `position`."""

    parent: str
    position: int


class SessionEnded(Fact, frozen=True):
    reason: str = "ended"


class TurnBegan(Fact, frozen=True):
    number: int


class ModelUsed(Fact, frozen=True):
    provider: str | None
    model: str
    mode: str | None = None


class EnvironmentSeen(Fact, frozen=True):
    """Where a session's agent runs. owner: "machine:pid:start" of the process that holds the
    session, by which others tell whether it is still there."""

    system: str
    python: str
    host: str | None = None
    host_version: str | None = None
    owner: str | None = None


class Seen(Fact, frozen=True):
    """Lines of a file were shown. revision: the file's bytes then; name: the path as it was
    asked for, when a symlink led from it to `path`."""

    path: str
    revision: Revision
    lines: Spans
    via: str
    belief: Belief
    name: str | None = None


class Dropped(Fact, frozen=True):
    """Text left the context window: of one path or of all (None), some lines or all (None)."""

    path: str | None = None
    lines: Spans | None = None


class WriteIntended(Fact, frozen=True):
    """A write is about to happen; settled by the next Changed of the same path and `after`,
    or by WriteAbandoned. aside: names of files in the same folder to remove after a crash.
    owner: "host:pid:start" of the writing process. belief: what its agent holds once it is done,
    so that a write whose process died before saying so can be recorded in full. src: the file
    at `path` is to come from there (a move). led, target: as in Changed. by: the rewind that
    writes, as its causes name it (changes.words.REWINDING); None for an edit. batch: the
    name of the writes that happen with this one, all or none; None for a write of its own."""

    path: str
    before: Revision
    after: Revision
    aside: tuple[str, ...] = ()
    owner: str = ""
    belief: Belief | None = None
    src: str | None = None
    led: str | None = None
    target: str | None = None
    by: str | None = None
    batch: str | None = None


class WriteAbandoned(Fact, frozen=True):
    """The intended write at `intent` (a position) did not happen."""

    path: str
    intent: int


class BatchEnded(Fact, frozen=True):
    """Every WriteIntended of a batch came to its end. outcome: all were done, or all files stand as
    before; mixed where neither could be reached. paths: the files that kept it from that."""

    batch: str
    outcome: BatchOutcome
    paths: tuple[str, ...] = ()


class Changed(Fact, frozen=True):
    """The file at `path` differs from what the disk view said. belief: what the writing
    session holds afterwards, when it was this session's own write. intent: the position of
    the WriteIntended that this settles. led: where the symlink led that stood there before;
    target: where the one leads that stands there now (its revision is unknown)."""

    path: str
    before: Revision
    after: Revision
    change: Change
    cause: Cause
    mode: int | None = None
    belief: Belief | None = None
    intent: int | None = None
    led: str | None = None
    target: str | None = None


class Moved(Fact, frozen=True):
    """The same bytes now stand at `path` instead of `src`."""

    path: str
    src: str
    revision: Revision
    cause: Cause
    intent: int | None = None


class Rewritten(Struct, frozen=True):
    """What became of one file in a change of many."""

    path: str
    before: Revision
    after: Revision
    mode: int | None = None


class GitMoved(Fact, frozen=True):
    """git changed files of ours in one go. before, after: commits (HEAD before and after it; of a
    stash, HEAD and the stash's commit, or the other way round). operation: as git's own log
    names it ("checkout", "rebase", "reset", "merge", "stash", "stash pop" …); detail: what the log
    says of it. paths: of the files, in order."""

    before: str
    after: str
    operation: str
    paths: tuple[str, ...]
    changes: tuple[Rewritten, ...] = ()
    detail: str | None = None


class CommandStarted(Fact, frozen=True):
    """gone: files of the newest checkpoint that nobody had looked at, and that were not there any
    more; None where nobody looked for them."""

    command: str
    run: str
    gone: tuple[str, ...] | None = None


class CommandEnded(Fact, frozen=True):
    """paths: what it changed, and what it removed that nobody had looked at."""

    run: str
    exit_code: int | None
    paths: tuple[str, ...] = ()


class Refused(Fact, frozen=True):
    """An attempt was refused; revision: what stood on disk then."""

    path: str
    attempt: str
    reason: str
    revision: Revision


class Merged(Fact, frozen=True):
    """An attempt was merged with what others had changed since."""

    path: str
    base: Revision
    disk: Revision
    result: Revision


class Told(Struct, frozen=True):
    """What an answer printed of others' changes, which counts as shown once its delivery is
    acknowledged. hunks: from the text believed at `position` to that of `revision`; None for all
    of them, () for the bare news that the file is not what was shown. whole: the answer held the
    whole text of `revision`. moved: those of the hunks that were told by their place alone, with
    no line of theirs or around them printed."""

    path: str
    revision: Revision
    hunks: tuple[Hunk, ...] | None
    position: int
    refusal: bool = False
    whole: bool = False
    moved: tuple[Hunk, ...] = ()


class NoticeDelivered(Fact, frozen=True):
    """An answer about these paths was handed to the agent's host. told: what of it counts as
    shown once the agent has it."""

    notice: str
    paths: tuple[str, ...]
    told: tuple[Told, ...] = ()


class NoticeAcknowledged(Fact, frozen=True):
    """The agent was told of the change at `path`; belief: what it holds since. revision: what
    stood there, as it was told."""

    notice: str
    path: str
    belief: Belief
    revision: Revision | None = None


class Delivered(Fact, frozen=True):
    """A part of a briefing reached the agent."""

    part: str
    digest: str


ASKED = "asked"
"""Why a checkpoint was taken: somebody wanted it. All others were taken by themselves."""


class CheckpointTaken(Fact, frozen=True):
    """How the tree stood was kept: manifest names the texts. covers: how many files and symlinks;
    message: the newest of the conversation then; why: asked, turn (before the first change of
    one), edits (after some), rewind (before one)."""

    checkpoint: str
    label: str
    manifest: Revision
    message: str | None = None
    covers: int = 0
    why: str = ASKED


class CheckpointMissed(Fact, frozen=True):
    """One that was due by itself could not be kept. label: what it would have borne; why: as in
    CheckpointTaken; reason: what was in the way."""

    label: str
    why: str
    reason: str


class CheckpointDropped(Fact, frozen=True):
    """A checkpoint stands no longer: its texts are kept only as others need them."""

    checkpoint: str
    reason: str


class RewindStarted(Fact, frozen=True):
    """A rewind is about to happen; ended by the next RewindEnded of its session. owner: as in
    WriteIntended, "" in what older versions wrote. with_files, conversation, forced: what it was
    asked for, so that one whose process died can be finished."""

    checkpoint: str
    to: int
    owner: str = ""
    with_files: bool = True
    conversation: bool = False
    forced: tuple[str, ...] = ()


class RewindEnded(Fact, frozen=True):
    """What this session knows is again what it knew at position `to`; the disk view stays.
    files_only: its files alone went back, and what it knows stays as well."""

    to: int
    files_only: bool = False


class ClaimTaken(Fact, frozen=True):
    """This session says that it is at work on paths or globs. expires_at: UTC microseconds."""

    claim: str
    paths: tuple[str, ...]
    expires_at: int
    exclusive: bool = True


class ClaimRenewed(Fact, frozen=True):
    claim: str
    expires_at: int


class ClaimReleased(Fact, frozen=True):
    claim: str


class WarningRaised(Fact, frozen=True):
    warning: str
    text: str
    paths: tuple[str, ...]


class WarningAcknowledged(Fact, frozen=True):
    warning: str


class SubtaskProposed(Fact, frozen=True):
    subtask: str
    goal: str
    files: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()


class SubtaskStarted(Fact, frozen=True):
    subtask: str
    session: str | None = None


class SubtaskEnded(Fact, frozen=True):
    subtask: str
    state: str
    result: str | None = None


class Imported(Fact, frozen=True):
    source: str
    digest: str


class SightLost(Fact, frozen=True):
    """What happened here could not be seen: a watcher's gap, a disk that did not answer."""

    reason: str
    paths: tuple[str, ...] = ()


class BlobPurged(Fact, frozen=True):
    """Texts that are not kept any more. others: further ones that went with it."""

    revision: Revision
    reason: str
    others: tuple[Revision, ...] = ()


FACTS: dict[str, type[Fact]] = {
    made.__name__: made
    for made in list(globals().values())
    if isinstance(made, type) and issubclass(made, Fact) and made is not Fact
}
"""Every kind of fact by name."""
