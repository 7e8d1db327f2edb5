"""The closed list of facts. A fact records an event. It is never changed and never deleted.

A new field without a default is a new version of the store (store.schema). Facts have paths, hashes and
line numbers, never the text of a file or of a shell command, so that a text can be purged without a
change of the timeline.
Paths are canonical workspace paths. A fact has the agent's knowledge after it (Belief), so that a fold
needs no texts.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct

from sightline.model.revision import MISSING, Revision, known
from sightline.model.spans import Hunk, Spans

CauseKind = Literal["agent", "command", "formatter", "git", "session", "external"]
"""Who or what caused a change."""

CauseEvidence = Literal["named", "watched", "only_writer", "guess"]
Change = Literal["content", "created", "deleted", "mode", "kind"]
BatchOutcome = Literal["done", "undone", "mixed"]


class Fact(Struct, frozen=True, omit_defaults=True):
    """Base of all facts. All that the house says of a kind of fact stands on its class; only the step
    of a view (model.projections) stands beside it.

    A fact about one file has the file's path in the field `path`. The fields path, src, name, paths
    and files name paths, and a fact is found by each of them.
    """

    words: ClassVar[tuple[str, ...]] = ()
    """Words of the public interface for facts of this kind; () for a journal that people do not read."""

    short: ClassVar[str] = ""
    """What the live view calls the fact; "" for its word."""

    detail_field: ClassVar[str] = ""
    """The field that is the fact's detail; "" for none."""

    log_form: ClassVar[str] = "{kind} {detail}"
    """The fact as a sentence, whose fields history.words fills in."""

    why_form: ClassVar[str] = ""
    """The fact as a reason of a verdict; "" for the sentence."""

    of_files: ClassVar[bool] = False
    """Whether the fact is about files, or about sight of them, rather than about a session."""

    changes_session: ClassVar[bool] = False
    """Whether the fact changes more of its session's state than the newest position."""

    @property
    def word(self) -> str:
        """The word for this fact, one of `words`."""
        return self.words[0]

    @property
    def particulars(self) -> str | None:
        """The detail of the fact for people."""
        value = getattr(self, self.detail_field) if self.detail_field else None
        if isinstance(value, tuple):
            value = ", ".join(value)
        return None if value in (None, "") else str(value)

    @property
    def sentence(self) -> str:
        """The form of this fact's sentence."""
        return self.log_form

    @property
    def why_sentence(self) -> str:
        """The form of this fact as a reason of a verdict; "" for the sentence."""
        return self.why_form

    @property
    def about(self) -> tuple[str, ...]:
        """The paths of a fact about several files."""
        paths: tuple[str, ...] = getattr(self, "paths", getattr(self, "files", ()))
        return paths

    @property
    def count(self) -> int:
        """The number of things that the fact is about."""
        return len(self.about)

    @property
    def revisions(self) -> tuple[str | None, str | None]:
        """The revisions, or git's commits, before and after."""
        return getattr(self, "before", None), getattr(self, "after", None)

    @property
    def is_quiet(self) -> bool:
        """True for an automatic fact that nobody has to see at once."""
        return False

    def author(self, session: str) -> Cause:
        """Return who caused the fact, of whose timeline `session` is."""
        cause = getattr(self, "cause", None)
        return cause if isinstance(cause, Cause) else Cause("agent", session, self.particulars)

    def known_paths(self) -> tuple[str, ...] | None:
        """Return the paths whose knowledge row the fact can change; None for all rows."""
        return ()

    def disk_paths(self) -> tuple[str, ...]:
        """Return the paths whose disk row the fact can change."""
        return ()


class MessageAppended(Fact, frozen=True):
    """A message was added to the conversation. message: its id, a hash of its content and the
    message before; parent: the id of the message before. role: system, user, model or tool. text: of
    its JSON. side: the chain of a sub-agent, "" for the session's own. formats: that all messages up
    to this one may have. media: pictures and documents that were removed from its JSON, in order."""

    words: ClassVar[tuple[str, ...]] = ("message",)
    detail_field: ClassVar[str] = "role"
    log_form: ClassVar[str] = "message of the {detail}"
    changes_session: ClassVar[bool] = True

    message: str
    parent: str | None
    role: str
    text: Revision | None = None
    side: str = ""
    formats: tuple[str, ...] = ()
    media: tuple[Revision, ...] = ()


class Folded(Fact, frozen=True):
    """A decision on folded blocks, which holds from here on. message: the newest message at that
    time. blocks: their numbers since the last Condensed; text: of the decision's JSON."""

    words: ClassVar[tuple[str, ...]] = ("folded",)
    log_form: ClassVar[str] = "parts of a message were folded away"

    message: str
    blocks: tuple[int, ...]
    text: Revision | None = None
    side: str = ""


class Condensed(Fact, frozen=True):
    """A summary replaces the messages first..last from here on. summary: its id; text: of its
    JSON."""

    words: ClassVar[tuple[str, ...]] = ("condensed",)
    log_form: ClassVar[str] = "messages were condensed"

    summary: str
    first: str
    last: str
    text: Revision | None = None
    side: str = ""


class CondenseFailed(Fact, frozen=True):
    """A summary failed, or was not accepted."""

    words: ClassVar[tuple[str, ...]] = ("condensed",)
    detail_field: ClassVar[str] = "reason"
    log_form: ClassVar[str] = "messages were not condensed: {detail}"

    reason: str
    side: str = ""


class RequestMeasured(Fact, frozen=True):
    """A provider told the size of a request, or refused it as too long. message: the newest message of
    the request; estimate: our tokens of its messages, before any correction; tokens: the provider's,
    of the whole request, None: not told; limit: of the context window, where a refusal names it;
    refused: the request was too long, or was cut without a word."""

    words: ClassVar[tuple[str, ...]] = ("measured",)
    detail_field: ClassVar[str] = "tokens"
    log_form: ClassVar[str] = "a request had {detail} tokens"

    message: str
    estimate: int
    tokens: int | None = None
    limit: int | None = None
    refused: bool = False
    model: str | None = None
    side: str = ""


class FilesSought(Fact, frozen=True):
    """A search for files by a chain of patterns, from exact to broad. won: the number of the pattern
    that matched, from 1 on, 0 for none; tried: the number of patterns that were tried; matches: the
    number of files that matched; offered: similar paths, where no pattern matched."""

    words: ClassVar[tuple[str, ...]] = ("sought",)
    detail_field: ClassVar[str] = "patterns"
    log_form: ClassVar[str] = "files were looked for: {detail}"

    patterns: tuple[str, ...]
    won: int
    tried: int
    matches: int = 0
    offered: tuple[str, ...] = ()


class ListingRequested(Fact, frozen=True):
    """The agent asked for the listing of a folder before its next turn. folder: as the agent wrote
    it; the other fields as in search.listing_requests.ListingRequest."""

    words: ClassVar[tuple[str, ...]] = ("requested",)
    detail_field: ClassVar[str] = "folder"
    log_form: ClassVar[str] = "its agent asked for the listing of {detail}"

    folder: str
    recursive: bool = False
    filter: str | None = None
    depth: int = 3
    limit: int = 200


class AnswerGiven(Fact, frozen=True):
    """The agent gave a structured answer. text: of its record's JSON (see messages.progress).
    changes: the number of files that it changes; applied: the numbers, from 0 on, of those changes
    that were carried out; turn: of the session; sought: the number of its requests for files."""

    words: ClassVar[tuple[str, ...]] = ("answer",)
    log_form: ClassVar[str] = "an answer was given: {detail}"

    text: Revision
    changes: int = 0
    applied: tuple[int, ...] = ()
    turn: int = 0
    sought: int = 0

    @property
    def particulars(self) -> str | None:
        changes = f"{self.changes} change{'' if self.changes == 1 else 's'}"
        return f"{len(self.applied)} of {changes} applied"


class Belief(Struct, frozen=True):
    """An agent's knowledge of one file.

    text: the revision of the text that the agent believes the file to have: the text that it was
    shown, with its own replacements. Others' unseen changes are not in that text, so these bytes may
    never have been on disk. shown: lines of the text that were ever shown. held: those still in the
    context window. lines: the number of all lines.
    """

    text: Revision
    shown: Spans
    held: Spans
    lines: int


class Cause(Struct, frozen=True, omit_defaults=True):
    """The author of a change, for wording only; a cause never decides a verdict. evidence: named (the
    command or the tool call names the file), watched (the change was seen while its author alone
    could make it), only_writer (nobody else was at work), guess (the time alone indicates it), or
    None in older facts. command: the revision of the text of the shell command; None for other
    causes."""

    kind: CauseKind
    who: str | None = None
    detail: str | None = None
    confidence: str = "certain"
    evidence: CauseEvidence | None = None
    command: Revision | None = None


class SessionStarted(Fact, frozen=True):
    words: ClassVar[tuple[str, ...]] = ("session",)
    short: ClassVar[str] = "began"
    detail_field: ClassVar[str] = "parent"
    log_form: ClassVar[str] = "session of {agent} began"
    changes_session: ClassVar[bool] = True

    agent: str
    parent: str | None = None
    parent_position: int | None = None


class SessionForked(Fact, frozen=True):
    """The session begins with all that `parent` knew at `position`."""

    words: ClassVar[tuple[str, ...]] = ("forked",)
    short: ClassVar[str] = "began"
    detail_field: ClassVar[str] = "parent"
    log_form: ClassVar[str] = "began with what {other} knew"
    changes_session: ClassVar[bool] = True

    parent: str
    position: int


class SessionEnded(Fact, frozen=True):
    words: ClassVar[tuple[str, ...]] = ("ended",)
    detail_field: ClassVar[str] = "reason"
    log_form: ClassVar[str] = "session ended"
    changes_session: ClassVar[bool] = True

    reason: str = "ended"


class TurnBegan(Fact, frozen=True):
    """The user sent a message. title: its first words, of the first message alone, by which people
    know the session; "" where unknown."""

    words: ClassVar[tuple[str, ...]] = ("turn",)
    detail_field: ClassVar[str] = "number"
    log_form: ClassVar[str] = "turn {detail} began"
    changes_session: ClassVar[bool] = True

    number: int
    title: str = ""


class ModelUsed(Fact, frozen=True):
    words: ClassVar[tuple[str, ...]] = ("model",)
    log_form: ClassVar[str] = "model {detail}"
    changes_session: ClassVar[bool] = True

    provider: str | None
    model: str
    mode: str | None = None

    @property
    def particulars(self) -> str | None:
        more = ", ".join(each for each in (self.provider, self.mode) if each)
        return f"{self.model} ({more})" if more else self.model


class EnvironmentSeen(Fact, frozen=True):
    """The environment of a session's agent. owner: "machine:pid:start" of the process that holds the
    session, by which other processes check whether that process is alive."""

    words: ClassVar[tuple[str, ...]] = ("environment",)
    log_form: ClassVar[str] = "runs on {detail}"
    changes_session: ClassVar[bool] = True

    system: str
    python: str
    host: str | None = None
    host_version: str | None = None
    owner: str | None = None

    @property
    def particulars(self) -> str | None:
        where = f"{self.system}, Python {self.python}"
        host = " ".join(filter(None, (self.host, self.host_version)))
        return f"{host} on {where}" if self.host else where


class Seen(Fact, frozen=True):
    """Lines of a file were shown. revision: of the file's bytes then; name: the path that the agent
    asked for, when a symlink led from it to `path`."""

    words: ClassVar[tuple[str, ...]] = ("seen",)
    detail_field: ClassVar[str] = "via"
    log_form: ClassVar[str] = "{path}: {shown} shown ({detail})"
    why_form: ClassVar[str] = "{Shown} {were} shown to the agent ({detail})"

    path: str
    revision: Revision
    lines: Spans
    via: str
    belief: Belief
    name: str | None = None

    @property
    def revisions(self) -> tuple[str | None, str | None]:
        return None, self.revision

    def known_paths(self) -> tuple[str, ...] | None:
        return (self.path,)

    def disk_paths(self) -> tuple[str, ...]:
        return (self.path,)


class Dropped(Fact, frozen=True):
    """Text of a file left the context window. lines: None for all lines. received:
    False where the text never reached the agent, whose knowledge of the file is void then. belief: what the
    agent knows of the file without the notices that left the window, where that is another text."""

    words: ClassVar[tuple[str, ...]] = ("dropped",)
    log_form: ClassVar[str] = "{path}: {lines} left the context window"
    why_form: ClassVar[str] = "{left} left the agent's context window"

    path: str
    lines: Spans | None = None
    received: bool = True
    belief: Belief | None = None

    def known_paths(self) -> tuple[str, ...] | None:
        return (self.path,)


class WindowEmptied(Fact, frozen=True):
    """All texts of files left the context window, as a summary took the place of the conversation."""

    words: ClassVar[tuple[str, ...]] = ("dropped",)
    log_form: ClassVar[str] = "everything: all lines left the context window"
    why_form: ClassVar[str] = "all of it left the agent's context window"

    def known_paths(self) -> tuple[str, ...] | None:
        return None


class WriteIntended(Fact, frozen=True):
    """A write is about to happen. The next Changed of the same path and `after` settles it, or
    WriteAbandoned. aside: names of files in the same folder to remove after a crash. owner:
    "host:pid:start" of the writing process. belief: the agent's knowledge after the write, so that
    the write can be recorded in full when its process died. src: the source of a move to `path`.
    led, target: as in Changed. by: the rewind that writes, as its causes name it
    (text.causes.REWINDING); None for an edit. batch: the name of a batch, whose writes happen all
    or none; None for a single write. makes: folders above `path` that are missing before the write;
    gives_way: empty folders at `path` whose place the file takes. call: as in Changed."""

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
    makes: tuple[str, ...] = ()
    gives_way: tuple[str, ...] = ()
    call: str = ""


class WriteAbandoned(Fact, frozen=True):
    """An intended write did not happen. intent: the position of its WriteIntended."""

    path: str
    intent: int


class BatchEnded(Fact, frozen=True):
    """Every WriteIntended of a batch ended. outcome: done (all writes happened), undone (all files
    are as before), or mixed, where neither was possible. paths: the files that prevented it."""

    batch: str
    outcome: BatchOutcome
    paths: tuple[str, ...] = ()


class Changed(Fact, frozen=True):
    """A file changed from its row in the disk view. belief: the knowledge of the writing session
    afterwards, for this session's own write. intent: the position of the WriteIntended that this
    settles. led: the target of the symlink that was at the path before; target: of the symlink that
    is there now, whose revision is UNKNOWN. mode_before: the mode before a command, where it is
    known and differs from `mode`. call: the id of the host's tool call that wrote, "" for none."""

    words: ClassVar[tuple[str, ...]] = ("changed", "deleted")
    log_form: ClassVar[str] = "{path} was changed {by}"
    why_form: ClassVar[str] = "changed {by}"
    of_files: ClassVar[bool] = True

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
    mode_before: int | None = None
    call: str = ""

    @property
    def word(self) -> str:
        return "deleted" if self.after == MISSING else "changed"

    @property
    def sentence(self) -> str:
        if self.after == MISSING:
            return "{path} was deleted {by}"
        if self.before == MISSING:
            return "{path} was created {by}"
        is_mode = self.before == self.after and known(self.before)
        return "the mode of {path} was changed {by}" if is_mode else self.log_form

    @property
    def why_sentence(self) -> str:
        if self.after == MISSING:
            return "deleted {by}"
        return "created {by}" if self.before == MISSING else self.why_form

    def known_paths(self) -> tuple[str, ...] | None:
        return () if self.belief is None else (self.path,)

    def disk_paths(self) -> tuple[str, ...]:
        return (self.path,)


class Moved(Fact, frozen=True):
    """A file moved from `src` to `path` with the same bytes."""

    words: ClassVar[tuple[str, ...]] = ("moved",)
    short: ClassVar[str] = "renamed"
    log_form: ClassVar[str] = "{src} was renamed to {path} {by}"
    why_form: ClassVar[str] = "renamed from {src} to {path} {by}"
    of_files: ClassVar[bool] = True

    path: str
    src: str
    revision: Revision
    cause: Cause
    intent: int | None = None

    @property
    def revisions(self) -> tuple[str | None, str | None]:
        return self.revision, self.revision

    def known_paths(self) -> tuple[str, ...] | None:
        return self.src, self.path

    def disk_paths(self) -> tuple[str, ...]:
        return self.src, self.path


class Rewritten(Struct, frozen=True, omit_defaults=True):
    """The change of one file in a git operation."""

    path: str
    before: Revision
    after: Revision
    mode: int | None = None


class GitMoved(Fact, frozen=True):
    """A git operation changed tracked files. before, after: commits (HEAD before and after; for a
    stash HEAD and the stash's commit, or the other way round). operation: its name in git's log
    ("checkout", "rebase", "reset", "merge", "stash", "stash pop" …); detail: from git's log. paths:
    of the files, in order."""

    words: ClassVar[tuple[str, ...]] = ("git",)
    detail_field: ClassVar[str] = "operation"
    log_form: ClassVar[str] = "git {operation} {move} changed: {paths}"
    why_form: ClassVar[str] = "changed by git {detail} {move}"
    of_files: ClassVar[bool] = True

    before: str
    after: str
    operation: str
    paths: tuple[str, ...]
    changes: tuple[Rewritten, ...] = ()
    detail: str | None = None

    def author(self, session: str) -> Cause:
        return Cause("git", self.operation, self.detail)

    def disk_paths(self) -> tuple[str, ...]:
        return tuple([change.path for change in self.changes])


class StashDropped(Fact, frozen=True):
    """An entry left git's stash, and its text did not come back into the tree. commit: of the entry."""

    commit: str


class CommandStarted(Fact, frozen=True):
    """A command began. command: the revision of its text. gone: files of the newest checkpoint, covered or not, that no session had read,
    and that were missing then; None where nobody checked. uncovered: files and folders that it names and
    that no checkpoint covers. folders: those that held no file of that checkpoint; None where nobody
    checked."""

    words: ClassVar[tuple[str, ...]] = ("command",)
    log_form: ClassVar[str] = "command began: {detail}"

    command: Revision
    run: str
    gone: tuple[str, ...] | None = None
    uncovered: tuple[str, ...] = ()
    folders: tuple[str, ...] | None = None

    def author(self, session: str) -> Cause:
        return Cause("agent", session, command=self.command)


class CommandEnded(Fact, frozen=True):
    """A command ended. paths: files that changed meanwhile, and files that went and that no session
    had read, also those (and folders) that no checkpoint covers. named: those of the files that went which
    the command removed by name. stood: files as the command printed them, where its output comes later.
    folders_made, folders_removed: folders that came and went meanwhile; of removed ones those without a
    file of the checkpoint. Older facts have neither named, stood nor folders."""

    words: ClassVar[tuple[str, ...]] = ("command_ended",)
    detail_field: ClassVar[str] = "exit_code"
    log_form: ClassVar[str] = "command ended with exit code {detail}"

    run: str
    exit_code: int | None
    paths: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    stood: tuple[tuple[str, Revision], ...] = ()
    folders_made: tuple[str, ...] = ()
    folders_removed: tuple[str, ...] = ()


class Refused(Fact, frozen=True):
    """An attempt was refused. revision: of the file on disk then."""

    words: ClassVar[tuple[str, ...]] = ("refused",)
    detail_field: ClassVar[str] = "reason"
    log_form: ClassVar[str] = "an attempt on {path} was refused: {detail}"
    why_form: ClassVar[str] = "an edit by this session was refused: {refusal}"

    path: str
    attempt: str
    reason: str
    revision: Revision

    @property
    def revisions(self) -> tuple[str | None, str | None]:
        return self.revision, None


class Merged(Fact, frozen=True):
    """An attempt was merged with changes of others."""

    words: ClassVar[tuple[str, ...]] = ("merged",)
    log_form: ClassVar[str] = "the edit of {path} was merged with what others had changed"
    why_form: ClassVar[str] = "an edit by this session was merged with what others had changed"

    path: str
    base: Revision
    disk: Revision
    result: Revision

    @property
    def revisions(self) -> tuple[str | None, str | None]:
        return self.disk, self.result


class Told(Struct, frozen=True, omit_defaults=True):
    """Changes of others in an answer, which count as shown once the delivery of the answer is
    acknowledged. hunks: from the text believed at `position` to that of `revision`; None for all
    hunks, () where the answer said only that the file changed. whole: the answer had the whole text
    of `revision`. moved: hunks of which the answer named the place alone, without printing lines."""

    path: str
    revision: Revision
    hunks: tuple[Hunk, ...] | None
    position: int
    refusal: bool = False
    whole: bool = False
    moved: tuple[Hunk, ...] = ()


WARNING_PART = "warning"
"""The part of a briefing that warnings are delivered as; a warning's digest is its id."""

DeliveryKind = Literal["notice", "change", "refusal"]
"""What a delivered text is: a notice of changes, the change of one file in the answer to a call, or
why an attempt was refused."""

DeliveryWay = Literal["asked", "call", "request"]
"""How a text goes to an agent: somebody asked for it and acknowledges it by its id; the host has it
with the answer to a call; or the host has it, and its next request to the model brings it."""


class NoticeDelivered(Fact, frozen=True):
    """A text about these paths was handed over. told: changes that count as shown once the agent has
    the text. notice: the id of a notice of changes, "" for other texts; diff: the digest of the diff
    that the text holds, "" for none, and where an earlier text holds the same diff."""

    words: ClassVar[tuple[str, ...]] = ("notice",)
    log_form: ClassVar[str] = "the agent was sent what had changed: {paths}"
    why_form: ClassVar[str] = (
        "the agent was sent what had changed; whether that arrived is not known"
    )

    kind: DeliveryKind
    way: DeliveryWay
    paths: tuple[str, ...]
    told: tuple[Told, ...] = ()
    notice: str = ""
    diff: str = ""

    @property
    def is_hosts(self) -> bool:
        """True where the agent's host has the text, and says when it arrived."""
        return self.way != "asked"

    @property
    def particulars(self) -> str | None:
        return self.notice or self.kind

    @property
    def count(self) -> int:
        """The number of files whose changed lines, or text, it holds."""
        if self.diff:
            return len(self.paths)
        is_notice = self.kind == "notice"
        return sum(told.whole or (told.hunks != () and is_notice) for told in self.told)

    @property
    def sentence(self) -> str:
        if self.count:
            return self.log_form
        if self.kind == "refusal":
            return "the agent was told why its attempt was refused: {paths}"
        return "the agent was told that these changed: {paths}"

    @property
    def why_sentence(self) -> str:
        return self.why_form if self.count else ""


class NoticeAcknowledged(Fact, frozen=True):
    """The agent received the text about a change at `path`. notice: the id of the notice, "" for
    another text; belief: its knowledge since then. revision: of the file in the text."""

    words: ClassVar[tuple[str, ...]] = ("acknowledged",)
    detail_field: ClassVar[str] = "notice"
    log_form: ClassVar[str] = "the agent was told of the change of {path}"
    why_form: ClassVar[str] = "the agent has been told what had changed, and knows it since"

    notice: str
    path: str
    belief: Belief
    revision: Revision | None = None

    def known_paths(self) -> tuple[str, ...] | None:
        return (self.path,)


class ClaimAnnounced(Fact, frozen=True):
    """The agent received words on another session's claim on a file that the agent writes."""

    words: ClassVar[tuple[str, ...]] = ("notice",)
    detail_field: ClassVar[str] = "claim"
    log_form: ClassVar[str] = "the agent was told that another session claims the file"

    claim: str


class PartHanded(Fact, frozen=True):
    """A part of a briefing was handed to the agent's host; Delivered tells of its arrival. digest: of
    what the part says, or the id of a warning."""

    words: ClassVar[tuple[str, ...]] = ("notice",)
    detail_field: ClassVar[str] = "part"
    log_form: ClassVar[str] = "the agent was sent a part of the briefing: {detail}"

    part: str
    digest: str

    @property
    def sentence(self) -> str:
        is_warning = self.part == WARNING_PART
        return "the agent was sent a warning" if is_warning else self.log_form


class Delivered(Fact, frozen=True):
    """A part of a briefing reached the agent. part, digest: as in PartHanded."""

    words: ClassVar[tuple[str, ...]] = ("delivered",)
    detail_field: ClassVar[str] = "part"
    log_form: ClassVar[str] = "a part of the briefing arrived: {detail}"

    part: str
    digest: str


ASKED = "asked"
"""CheckpointTaken.why of a checkpoint that somebody asked for; all others are automatic."""


class CheckpointTaken(Fact, frozen=True):
    """A checkpoint of the tree. manifest: its revision; covers: the number of files and
    symlinks; message: the newest one of the conversation then; why: asked, turn (before the first
    change of a turn), edits (after some edits), rewind (before a rewind)."""

    words: ClassVar[tuple[str, ...]] = ("checkpoint",)
    short: ClassVar[str] = "kept"
    log_form: ClassVar[str] = "checkpoint {detail}"

    checkpoint: str
    label: str
    manifest: Revision
    message: str | None = None
    covers: int = 0
    why: str = ASKED

    @property
    def particulars(self) -> str | None:
        return " ".join(filter(None, [self.checkpoint, self.label]))

    @property
    def is_quiet(self) -> bool:
        return self.why != ASKED


class CheckpointMissed(Fact, frozen=True):
    """An automatic checkpoint failed. label: the label it would have had; why: as in
    CheckpointTaken; reason: of the failure."""

    words: ClassVar[tuple[str, ...]] = ("checkpoint",)
    short: ClassVar[str] = "not kept"
    detail_field: ClassVar[str] = "reason"
    log_form: ClassVar[str] = "no automatic checkpoint was taken: {detail}"

    label: str
    why: str
    reason: str


class CheckpointDropped(Fact, frozen=True):
    """A checkpoint was dropped. Its texts are kept only while something else needs them."""

    words: ClassVar[tuple[str, ...]] = ("checkpoint",)
    short: ClassVar[str] = "let go"
    detail_field: ClassVar[str] = "checkpoint"
    log_form: ClassVar[str] = "checkpoint {detail} was dropped"

    checkpoint: str
    reason: str


class RewindStarted(Fact, frozen=True):
    """A rewind is about to happen; the next RewindEnded of its session ends it. owner: as in
    WriteIntended, "" in older facts. with_files, conversation, forced, commands: arguments of the
    rewind, so that another process can finish it after a crash. everyone: it takes back the work of all
    sessions, and is itself of none; only: the paths that it is limited to, () for all."""

    words: ClassVar[tuple[str, ...]] = ("rewind",)
    detail_field: ClassVar[str] = "checkpoint"
    log_form: ClassVar[str] = "a rewind to {detail} began"

    checkpoint: str
    to: int
    owner: str = ""
    with_files: bool = True
    conversation: bool = False
    forced: tuple[str, ...] = ()
    commands: bool = False
    everyone: bool = False
    only: tuple[str, ...] = ()


class RewindEnded(Fact, frozen=True):
    """A rewind restored the session's knowledge as of position `to`; the disk view stays.
    files_only: the rewind restored files alone, and the knowledge stays as well. folders_made,
    folders_removed: the folders that it set back once its files were."""

    words: ClassVar[tuple[str, ...]] = ("rewind",)
    log_form: ClassVar[str] = "the agent knows again what it knew at position {detail}"

    to: int
    files_only: bool = False
    folders_made: tuple[str, ...] = ()
    folders_removed: tuple[str, ...] = ()

    @property
    def particulars(self) -> str | None:
        return None if self.files_only else str(self.to)

    @property
    def sentence(self) -> str:
        stays = "the rewind changed the files; what the agent knows stays"
        return stays if self.files_only else self.log_form


class ClaimTaken(Fact, frozen=True):
    """The session claims paths or globs that it works on. expires_at: UTC microseconds."""

    words: ClassVar[tuple[str, ...]] = ("claim",)
    detail_field: ClassVar[str] = "claim"
    log_form: ClassVar[str] = "claim {detail} taken: {paths}"

    claim: str
    paths: tuple[str, ...]
    expires_at: int
    exclusive: bool = True


class ClaimRenewed(Fact, frozen=True):
    words: ClassVar[tuple[str, ...]] = ("claim",)
    detail_field: ClassVar[str] = "claim"
    log_form: ClassVar[str] = "claim {detail} renewed"

    claim: str
    expires_at: int


class ClaimReleased(Fact, frozen=True):
    words: ClassVar[tuple[str, ...]] = ("claim",)
    detail_field: ClassVar[str] = "claim"
    log_form: ClassVar[str] = "claim {detail} released"

    claim: str


class WarningRaised(Fact, frozen=True):
    words: ClassVar[tuple[str, ...]] = ("warning",)
    detail_field: ClassVar[str] = "text"
    log_form: ClassVar[str] = "warning: {detail} {paths}"

    warning: str
    text: str
    paths: tuple[str, ...]

    @property
    def sentence(self) -> str:
        is_named = all(path in self.text for path in self.paths)
        return "warning: {detail}" if is_named else self.log_form


class WarningAcknowledged(Fact, frozen=True):
    words: ClassVar[tuple[str, ...]] = ("warning",)
    detail_field: ClassVar[str] = "warning"
    log_form: ClassVar[str] = "warning {detail} acknowledged"

    warning: str


class SubtaskProposed(Fact, frozen=True):
    """A part of the work is to be delegated. files: for the one who does it; dependencies: ids of the
    sub-tasks that must be completed before; scope: patterns of the files that it may write, () for
    all; auto_execute: the proposer asks to begin without the user; budget: tokens at most, None: not
    limited."""

    words: ClassVar[tuple[str, ...]] = ("subtask",)
    detail_field: ClassVar[str] = "goal"
    log_form: ClassVar[str] = "sub-task proposed: {detail}"

    subtask: str
    goal: str
    files: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    auto_execute: bool = False
    budget: int | None = None


class SubtaskApproved(Fact, frozen=True):
    """A proposed sub-task may be carried out. by: user, or setting, where the settings allow
    auto_execute."""

    words: ClassVar[tuple[str, ...]] = ("subtask",)
    detail_field: ClassVar[str] = "subtask"
    log_form: ClassVar[str] = "sub-task {detail} was approved"

    subtask: str
    by: str = "user"


class SubtaskStarted(Fact, frozen=True):
    """An attempt at a sub-task began. session: of the attempt; attempt: its number, from 1 on; owner:
    "host:pid:start" of the process that makes it; isolation: worktree or shared."""

    words: ClassVar[tuple[str, ...]] = ("subtask",)
    detail_field: ClassVar[str] = "subtask"
    log_form: ClassVar[str] = "sub-task {detail} began"

    subtask: str
    session: str | None = None
    attempt: int = 1
    owner: str = ""
    isolation: str = ""


class SubtaskReported(Fact, frozen=True):
    """The runner of an attempt ended well, and its changes are about to be applied. record: of the
    result's JSON; texts: of the files that it changes."""

    words: ClassVar[tuple[str, ...]] = ("subtask",)
    detail_field: ClassVar[str] = "subtask"
    log_form: ClassVar[str] = "sub-task {detail} reported its result"

    subtask: str
    attempt: int
    record: Revision
    texts: tuple[Revision, ...] = ()


class SubtaskReturned(Fact, frozen=True):
    """An attempt ended without an end of the sub-task, which may be started again. is_lost: the
    process of the attempt died; else the attempt failed."""

    words: ClassVar[tuple[str, ...]] = ("subtask",)
    detail_field: ClassVar[str] = "reason"
    log_form: ClassVar[str] = "an attempt at a sub-task ended: {detail}"

    subtask: str
    attempt: int
    reason: str
    is_lost: bool = False


class SubtaskEnded(Fact, frozen=True):
    """A sub-task ended. state: completed, failed, skipped or cancelled; result: a summary; attempt:
    the one that ended it, 0 where a person did; reason: of any other state than completed; record:
    of the result's JSON; texts: of the files whose changes were not applied."""

    words: ClassVar[tuple[str, ...]] = ("subtask",)
    detail_field: ClassVar[str] = "state"
    log_form: ClassVar[str] = "sub-task {detail}"

    subtask: str
    state: str
    result: str | None = None
    attempt: int = 0
    reason: str = ""
    record: Revision | None = None
    texts: tuple[Revision, ...] = ()


class SubtaskRetried(Fact, frozen=True):
    """A sub-task that failed, was skipped or was cancelled is to be carried out after all."""

    words: ClassVar[tuple[str, ...]] = ("subtask",)
    detail_field: ClassVar[str] = "subtask"
    log_form: ClassVar[str] = "sub-task {detail} is to be tried again"

    subtask: str


class Imported(Fact, frozen=True):
    """A recorded conversation was imported. source: its file; digest: of the file's bytes."""

    words: ClassVar[tuple[str, ...]] = ("imported",)
    detail_field: ClassVar[str] = "source"
    log_form: ClassVar[str] = "imported from {detail}"

    source: str
    digest: str


class TranscriptRead(Fact, frozen=True):
    """The transcript of a session that hooks guard was read. offset: in bytes, where the next reading
    begins; is_whole: rows from before the session's first hook count, too."""

    transcript: str
    offset: int
    is_whole: bool = False


class PromptFollowed(Fact, frozen=True):
    """The transcript was searched for the older message that the user went back to with a prompt.
    prompt: its id; offset: in bytes, where the next search begins; is_sure: False where the row of
    the prompt was not written yet."""

    transcript: str
    offset: int
    prompt: str
    is_sure: bool = True


class FolderAdded(Fact, frozen=True):
    """The user added a folder to the agent's project in mid-conversation. folder: as the host spells
    it."""

    words: ClassVar[tuple[str, ...]] = ("folder",)
    detail_field: ClassVar[str] = "folder"
    log_form: ClassVar[str] = "the user added the folder {detail}"

    folder: str


class SightLost(Fact, frozen=True):
    """Changes may have been missed: a watcher had a gap, or a disk did not answer."""

    words: ClassVar[tuple[str, ...]] = ("sight_lost",)
    detail_field: ClassVar[str] = "reason"
    log_form: ClassVar[str] = "what happened could not be seen: {lost} {paths}"
    of_files: ClassVar[bool] = True

    reason: str
    paths: tuple[str, ...] = ()


class BlobPurged(Fact, frozen=True):
    """Texts were deleted. others: the texts beside `revision`."""

    words: ClassVar[tuple[str, ...]] = ("purged",)
    detail_field: ClassVar[str] = "reason"
    log_form: ClassVar[str] = "{texts} forgotten: {forgotten}"

    revision: Revision
    reason: str
    others: tuple[Revision, ...] = ()

    @property
    def revisions(self) -> tuple[str | None, str | None]:
        return self.revision, None

    @property
    def count(self) -> int:
        return 1 + len(self.others)


def overriding(name: str) -> tuple[type[Fact], ...]:
    """Return the kinds of facts that have a method of their own in place of the base's."""
    return tuple([k for k in FACTS.values() if getattr(k, name) is not getattr(Fact, name)])


FACTS: dict[str, type[Fact]] = {
    kind.__name__: kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Fact) and kind is not Fact
}
"""Every kind of fact by name."""
