"""What the verbs answer, as values. Times are aware UTC datetimes, lines 1-based and inclusive."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from sightline.model.events import Cause, CauseKind, Told
from sightline.model.manifest import Change, Entry
from sightline.model.spans import Span, Spans


class FileView(Struct, frozen=True):
    """Lines of a file as they were shown. lines: first and last of them ((0, 0) for an empty
    file); there may be more, see total_lines. unchanged: all of these lines were shown before,
    are the same and are still in the context window. diff: what changed in lines shown earlier
    since this session last saw them, None the first time."""

    path: str
    text: str
    lines: Span
    total_lines: int
    revision: str
    encoding: str
    unchanged: bool
    diff: str | None


class ChangedBy(Struct, frozen=True):
    """Who changed a file, as far as is known. kind: agent command formatter git session
    external; confidence: a word."""

    kind: CauseKind
    who: str | None
    at: datetime
    detail: str | None = None
    confidence: str = "certain"

    @property
    def cause(self) -> Cause:
        """Return the same as facts hold it."""
        return Cause(self.kind, self.who, self.detail, self.confidence)


class FileChange(Struct, frozen=True):
    """One file that is not what this session was shown. state as in Verdict; diff is clipped to
    lines that were shown; summary is one line of plain words.

    what: changed, taken_back (it is again what stood there before an edit of this session),
    endings (line ends or the byte order mark alone: the text is as shown), deleted, moved (to
    moved_to), kind_changed or unverifiable. moved_lines: (where lines were shown, where the very
    same lines stand now).
    """

    path: str
    state: str
    diff: str
    summary: str
    changed_by: ChangedBy | None
    revision_seen: str
    revision_on_disk: str
    what: str = "changed"
    moved_to: str | None = None
    moved_lines: tuple[tuple[Span, Span], ...] = ()


class Notice(Struct, frozen=True):
    """What others changed in lines that were shown; `text` is what to tell the agent. Hand it, or
    its id, to Session.acknowledge when the agent got it; until then it is told again."""

    id: str
    text: str
    changes: tuple[FileChange, ...]
    told: tuple[Told, ...] = ()

    def __str__(self) -> str:
        return self.text


class FileWarning(Struct, frozen=True):
    """What a session's agent has to mind about files, until it is acknowledged. at: an aware UTC
    datetime. Hand it, or its id, to Session.acknowledge."""

    id: str
    text: str
    paths: tuple[str, ...]
    session: str
    at: datetime

    def __str__(self) -> str:
        return self.text


class ModelUsage(Struct, frozen=True):
    """A model that a session's agent used from here on. provider, mode: None where they were not
    told. at: an aware UTC datetime; turn: of the session, 0 before the first."""

    provider: str | None
    model: str
    mode: str | None
    at: datetime
    turn: int
    position: int


class Environment(Struct, frozen=True):
    """Where a session's agent ran from here on. system: as sys.platform says it; host: the
    application, None where it was not told. at: an aware UTC datetime."""

    system: str
    python: str
    host: str | None
    host_version: str | None
    at: datetime
    position: int


class Affected(Struct, frozen=True):
    """A session at work that a write made stale. lines: of what it was shown of the file."""

    session: str
    agent: str
    path: str
    lines: Spans


class Claim(Struct, frozen=True):
    """What a session claims: paths and patterns as in a .gitignore. It stands until expires_at
    while its session is present; an exclusive one is nobody else's."""

    id: str
    session: str
    agent: str
    paths: tuple[str, ...]
    expires_at: datetime
    exclusive: bool
    taken_at: datetime


class HandedOver(Struct, frozen=True):
    """A file of which one session was told what another holds. lines: of the text it holds."""

    path: str
    lines: Spans


class EditedFile(Struct, frozen=True):
    """A file that is other than it was at a moment. by, at, position: of its last change since
    (at is an aware UTC datetime). lines: those of its present text that are new, None where that
    is not known. mine: this session edited it, by a verb or by a command it ran; others: somebody
    else did (both may be). from_messages: only a call in a deleted message names it. The agent
    asked for that edit; whether it was made, and when, is not on record, so by, at and position
    are None."""

    path: str
    by: ChangedBy | None
    at: datetime | None
    position: int | None
    lines: Spans | None
    mine: bool
    others: bool
    from_messages: bool = False


class UnreadCall(Struct, frozen=True):
    """A call of an edit tool in a deleted message that does not say which file it writes, or whose
    arguments are broken. message: which of the messages, counted from 1; id: "" where its format
    has none."""

    message: int
    tool: str
    id: str


class Deleted(Struct, frozen=True):
    """Messages that were taken out of a conversation. ids: those that were given, and those that messages bear. paths: files of the workspace that
    their calls may have written. unread: edits of which nobody can tell."""

    ids: frozenset[str]
    paths: tuple[str, ...] = ()
    unread: tuple[UnreadCall, ...] = ()


class EditedFiles(list[EditedFile]):
    """The files, in order of path. unread: edits in deleted messages of which nobody can tell what
    they wrote, so that files may be missing here."""

    unread: tuple[UnreadCall, ...]

    def __init__(self, files: Iterable[EditedFile] = (), unread: Iterable[UnreadCall] = ()) -> None:
        super().__init__(files)
        self.unread = tuple(unread)


class NotCovered(Struct, frozen=True):
    """What a checkpoint leaves out: a file, or a folder (ending in "/") with all in it."""

    path: str
    reason: str


class Checkpoint(Struct, frozen=True):
    """How the workspace stood at a moment. turn, position: of the session that took it, and on the
    timeline; manifest: the revision of its list of files; files: how many it covers; message: the
    newest of the conversation then. why: asked; by itself: turn (before the first change of one),
    edits (after some); rewind (before one)."""

    id: str
    label: str
    at: datetime
    session: str
    turn: int
    position: int
    manifest: str
    files: int
    not_covered: tuple[NotCovered, ...]
    message: str | None
    why: str = "asked"


class Export(Struct, frozen=True):
    """A checkpoint that left the house: as a patch, or as a commit on a new branch.

    since: the checkpoint that a patch begins at, None where it begins with nothing; until: where
    it ends, None for what stands now (of a commit both are the checkpoint). patch: as `git apply`
    takes it. branch, commit: what was made; parent: the commit before it. files: how many the
    patch changes, or the checkpoint gave to the commit. not_contained: what the export lacks; of
    a commit also what it has as its parent has it."""

    since: str | None
    until: str | None
    patch: bytes | None
    branch: str | None
    commit: str | None
    parent: str | None
    files: int
    not_contained: tuple[NotCovered, ...]


class EditResult(Struct, frozen=True):
    """An edit that was carried out. diff: what it changed on disk; revision: of the file now
    ("missing" after a delete). merged: others' changes to the same file were kept beside it.
    notice: what others changed meanwhile. others: further files of the same patch. affected: the
    other sessions whose shown lines it changed."""

    path: str
    revision: str
    merged: bool
    notice: Notice | None
    diff: str
    others: tuple[EditResult, ...] = ()
    affected: tuple[Affected, ...] = ()


class BatchResult(Struct, frozen=True):
    """Changes that were all carried out."""

    results: tuple[EditResult, ...]


class Verdict(Struct, frozen=True):
    """What the guard says of a path, or of an attempt on it.

    state: fresh stale deleted moved kind_changed unseen unverifiable. decision: allow notice
    merge ask refuse. in_window: every line shown is still in the context window. complete: every
    line of the file was shown. claimed_by: sessions that claim it, this one excepted.
    """

    path: str
    state: str
    decision: str
    reason: str
    diff: str
    changed_by: ChangedBy | None
    in_window: bool
    seen_lines: Spans
    complete: bool
    claimed_by: tuple[str, ...] = ()


class FileInContext(Struct, frozen=True):
    """A file this session was shown. Times are None where nothing of the kind happened."""

    path: str
    state: str
    in_window: bool
    via: str
    revision_seen: str
    revision_on_disk: str
    seen_lines: Spans
    total_lines: int
    first_seen: datetime
    last_read: datetime
    last_agent_edit: datetime | None
    last_external_edit: datetime | None
    turn_seen: int
    aged: int
    loaded_by: str
    language: str | None
    size: int
    preview: str
    changed_by: ChangedBy | None
    edited_by_agent: bool


class LeftAlone(Struct, frozen=True):
    """A path that a rewind does not touch, and why."""

    path: str
    reason: str


class TakenBack(Struct, frozen=True):
    """A change of a session's own that a rewind takes back. at: an aware UTC datetime."""

    path: str
    position: int
    at: datetime


class RewindReport(Struct, frozen=True):
    """What a rewind did, or with dry_run would do. checkpoint: None where a position was asked
    for; to: the position. restored: paths with the bytes of then; removed: files this session had
    made; merged: its lines went, others' stay; moved: (from, back to). lost_edits: what was taken
    back; stands: sub-agents of this session, and what they changed since. safety_checkpoint:
    rewinding to it takes this rewind back; None where nothing was done. warning: raised where the
    conversation alone went back, and files were edited since. diffs: of a dry run, what it does to
    the text of each file (path, change, diff, added, removed); None of one that was done. gone:
    paths of which there is nothing to take back, because others removed all that was this
    session's."""

    checkpoint: str | None
    to: int
    dry_run: bool
    conversation: bool
    restored: tuple[str, ...]
    removed: tuple[str, ...]
    merged: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    left_alone: tuple[LeftAlone, ...]
    lost_edits: tuple[TakenBack, ...]
    stands: tuple[tuple[str, tuple[str, ...]], ...]
    safety_checkpoint: str | None
    warning: FileWarning | None = None
    diffs: tuple[FileDifference, ...] | None = None
    gone: tuple[LeftAlone, ...] = ()


class CommandRun(Struct, frozen=True):
    """A command that was run, and what it changed. removed: files that it removed, and that nobody
    had looked at before: a checkpoint may know what they were."""

    command: str
    exit_code: int | None
    changes: tuple[FileChange, ...]
    removed: tuple[str, ...] = ()


class FileDifference(Struct, frozen=True):
    """A path at which two moments differ. change: added removed changed mode kind. diff: unified;
    None where a text is not kept or is none. added, removed: lines of it."""

    path: str
    change: Change
    before: Entry | None
    after: Entry | None
    diff: str | None = None
    added: int = 0
    removed: int = 0
