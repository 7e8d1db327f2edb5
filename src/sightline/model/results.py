"""Results of the verbs, as values. Times are aware UTC datetimes, lines 1-based and inclusive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, structs

from sightline.errors import EditRefused, PathError, RefusalReason, Wording, in_python
from sightline.model.events import Cause, CauseKind, Told
from sightline.model.manifest import FileDifference
from sightline.model.spans import Span, Spans

State = Literal["fresh", "stale", "deleted", "moved", "kind_changed", "unseen", "unverifiable"]
"""A file on disk, compared with the text that a session was shown."""

Decision = Literal["allow", "notice", "merge", "ask", "refuse"]
"""The guard's answer to an attempt."""

VerdictReason = Literal[RefusalReason, "line endings only"]
"""The reason of a verdict: of a refusal, or of a difference that is none in a text."""

WhatChanged = Literal[
    "changed", "taken_back", "endings", "deleted", "moved", "kind_changed", "unseen",
    "unverifiable", "",
]  # fmt: skip
"""The change of a file: see FileChange. "unseen": this session was never shown the file; "": the file
is as it was shown."""

Confidence = Literal["certain", "likely"]
"""Whether the author of a change is certain."""

CheckpointReason = Literal["asked", "turn", "edits", "rewind"]
"""Why a checkpoint was taken: see Checkpoint."""


class FileView(Struct, frozen=True):
    """Lines of a file as they were shown. lines: the first and the last one, (0, 0) for an empty
    file; the file may have more, see total_lines. unchanged: all of these lines were shown before,
    are the same and are still in the context window. diff: the changes since this session last saw
    the lines that it was shown before; None the first time, and for a file above `max_file_bytes`.
    left_out: the characters of a single line that there was no room for; that line does not count as
    shown.

    path: from the workspace's root; text: of the lines; revision: of the whole file; encoding: of
    its bytes.
    """

    path: str
    text: str
    lines: Span
    total_lines: int
    revision: str
    encoding: str
    unchanged: bool
    diff: str | None
    left_out: int = 0


class ChangedBy(Struct, frozen=True, omit_defaults=True):
    """The author of a change of a file. kind: agent command formatter git session external;
    confidence: certain or likely.

    who: the session, command or tool, None where nobody is known; at: an aware UTC datetime;
    detail: particular to the kind, such as the session behind a formatter.
    """

    kind: CauseKind
    who: str | None
    at: datetime
    detail: str | None = None
    confidence: Confidence = "certain"

    @property
    def cause(self) -> Cause:
        """Return the author as a cause, as facts have it."""
        return Cause(self.kind, self.who, self.detail, self.confidence)


class FileChange(Struct, frozen=True):
    """One file that differs from the text that this session was shown. state: as in Verdict; diff:
    of lines that were shown; summary: one line of plain words.

    what: changed, taken_back (the file is again as before an edit of this session), endings (only
    line ends or the byte order mark differ), deleted, moved (to moved_to), kind_changed or
    unverifiable. moved_lines: (lines as they were shown, the same lines now).

    path: from the workspace's root. changed_by: the last author, None where nobody is known.
    revision_seen, revision_on_disk: of the two texts.
    """

    path: str
    state: State
    diff: str
    summary: str
    changed_by: ChangedBy | None
    revision_seen: str
    revision_on_disk: str
    what: WhatChanged = "changed"
    moved_to: str | None = None
    moved_lines: tuple[tuple[Span, Span], ...] = ()


class NoticeView(Struct, frozen=True):
    """A notice as JSON has it: see Notice."""

    id: str
    text: str
    changes: tuple[FileChange, ...]


class Notice(Struct, frozen=True):
    """Changes of others in lines that were shown. text: for the agent. Pass the notice, or its id,
    to Session.acknowledge when the agent has the text; until then later answers repeat it.

    changes: the same as values; told: what counts as known once the notice is acknowledged.
    """

    id: str
    text: str
    changes: tuple[FileChange, ...]
    told: tuple[Told, ...] = ()

    def __str__(self) -> str:
        return self.text

    def as_view(self) -> NoticeView:
        """Return the notice without what only the store needs."""
        return NoticeView(self.id, self.text, self.changes)


class FileWarning(Struct, frozen=True):
    """A warning about files for a session's agent, which holds until it is acknowledged. at: an
    aware UTC datetime. Pass the warning, or its id, to Session.acknowledge.

    text: for the agent; paths: the files that it is about.
    """

    id: str
    text: str
    paths: tuple[str, ...]
    session: str
    at: datetime

    def __str__(self) -> str:
        return self.text


class ModelUsage(Struct, frozen=True):
    """A model that a session's agent used from here on. provider, mode: None where they are unknown.
    at: an aware UTC datetime; turn: of the session, 0 before the first.

    position: of this on the timeline.
    """

    provider: str | None
    model: str
    mode: str | None
    at: datetime
    turn: int
    position: int


class Environment(Struct, frozen=True):
    """The environment of a session's agent from here on. system: as in sys.platform; host: the
    application, None where it is unknown. at: an aware UTC datetime.

    python: its version; host_version: of the application, None where it is unknown; position: of
    this on the timeline.
    """

    system: str
    python: str
    host: str | None
    host_version: str | None
    at: datetime
    position: int


class KnownCause(Struct, frozen=True):
    """The author of a change or of another fact. detail: particular to the kind."""

    kind: CauseKind
    who: str | None
    detail: str | None
    confidence: str


class TimelineEntry(Struct, frozen=True, omit_defaults=True, rename={"src": "from"}):
    """A fact of the timeline, or a change that only a watcher saw.

    position, session, agent: None for a change that only a watcher saw; else whose fact it is, and where.
    kind: a word such as seen, changed, refused (history.log_entries.KINDS). lines: 1-based. before, after:
    revisions, or commits of a git operation. cause.detail: particular to the kind. paths: of a fact about
    several files. src: the former path of a moved file. diff: where it was asked for, the unified diff of a
    changed or deleted file; "" where its text is not kept, or is no text. at: an aware UTC datetime.
    """

    position: int | None
    at: datetime
    session: str | None
    agent: str | None
    kind: str
    path: str | None
    lines: Spans | None
    before: str | None
    after: str | None
    cause: KnownCause
    paths: tuple[str, ...] = ()
    src: str | None = None
    diff: str | None = None


class Affected(Struct, frozen=True):
    """An active session whose knowledge of a file a write made stale. lines: changed lines that the
    session was shown; none where it was shown an empty file.

    agent: of that session. path: from the workspace's root.
    """

    session: str
    agent: str
    path: str
    lines: Spans


class Claim(Struct, frozen=True):
    """A session's claim of paths and of patterns as in a .gitignore. A claim holds until expires_at
    while its session is present; nobody else can claim the paths of an exclusive claim.

    id: for Session.release; agent: of the session; taken_at: an aware UTC datetime.
    """

    id: str
    session: str
    agent: str
    paths: tuple[str, ...]
    expires_at: datetime
    exclusive: bool
    taken_at: datetime


class HandedOver(Struct, frozen=True):
    """A file that one session handed over to another. lines: of the known text.

    path: from the workspace's root.
    """

    path: str
    lines: Spans


class EditedFile(Struct, frozen=True):
    """A file that changed since a time. by, at, position: of its last change since then (at is an
    aware UTC datetime). lines: new lines of its present text, None where they are unknown. mine:
    this session surely edited the file, by a verb, or by a command or a formatter that certainly did;
    probable: a command of this session, or a formatter behind its edit, probably did; others: somebody
    else did (several may be true). from_messages: only a call in a deleted message names the file. The agent asked for that
    edit, but no fact says whether and when it happened, so by, at and position are None.

    path: from the workspace's root.
    """

    path: str
    by: ChangedBy | None
    at: datetime | None
    position: int | None
    lines: Spans | None
    mine: bool
    others: bool
    from_messages: bool = False
    probable: bool = False


class UnreadCall(Struct, frozen=True):
    """A call of an edit tool in a deleted message that names no file, or whose arguments are broken.
    message: the number of the message, from 1 on; id: "" where its format has none."""

    message: int
    tool: str
    id: str


class Deleted(Struct, frozen=True):
    """Messages that were deleted from a conversation. ids: of the messages, as arguments and in the
    messages; paths: files of the workspace that their calls may have written; unread: edits that
    name no file."""

    ids: frozenset[str]
    paths: tuple[str, ...] = ()
    unread: tuple[UnreadCall, ...] = ()


class EditedFilesView(Struct, frozen=True):
    """Changed files as JSON has them: see EditedFiles."""

    files: tuple[EditedFile, ...]
    unread: tuple[UnreadCall, ...]


class EditedFiles(list[EditedFile]):
    """Files in order of path. unread: edits in deleted messages that name no file, so that this list
    may lack files."""

    unread: tuple[UnreadCall, ...]

    def __init__(self, files: Iterable[EditedFile] = (), unread: Iterable[UnreadCall] = ()) -> None:
        super().__init__(files)
        self.unread = tuple(unread)

    def as_view(self) -> EditedFilesView:
        """Return the list and its remarks as one value."""
        return EditedFilesView(tuple(self), self.unread)


class NotCovered(Struct, frozen=True):
    """A file, or a whole folder (ending in "/"), that a checkpoint does not cover.

    path: from the workspace's root; reason: a sentence without its end.
    """

    path: str
    reason: str


class Checkpoint(Struct, frozen=True):
    """A stored state of the workspace. turn: of the session that took the checkpoint; position: on
    the timeline; manifest: the revision of its list of files; files: the number of covered files;
    message: the newest one of the conversation then. why: asked; automatic: turn (before the first
    change of a turn), edits (after some edits), rewind (before a rewind).

    id, label: names by which a rewind finds it; at: an aware UTC datetime; not_covered: files and
    folders that no rewind to it brings back.
    """

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
    why: CheckpointReason = "asked"


class ExportView(Struct, frozen=True):
    """An exported checkpoint as JSON has it: see Export. patch: as text; bytes that are no UTF-8 are lone
    surrogates. output: the file that the patch went to, None where no command wrote one."""

    since: str | None
    until: str | None
    branch: str | None
    commit: str | None
    parent: str | None
    files: int
    not_contained: tuple[NotCovered, ...]
    patch: str | None
    output: str | None = None


class Export(Struct, frozen=True):
    """An exported checkpoint: a patch, or a commit on a new branch.

    since: the checkpoint at which a patch begins, None for an empty tree; until: the checkpoint at
    which it ends, None for the present files (for a commit both are the checkpoint). patch: for
    `git apply`. branch, commit: the new ones; parent: the commit before. files: the number of files
    that the patch changes, or that the commit has from the checkpoint. not_contained: files that
    the export lacks; for a commit also files that it has from its parent."""

    since: str | None
    until: str | None
    patch: bytes | None
    branch: str | None
    commit: str | None
    parent: str | None
    files: int
    not_contained: tuple[NotCovered, ...]

    def as_view(self) -> ExportView:
        """Return the export with the patch as text."""
        patch = None if self.patch is None else self.patch.decode("utf-8", "surrogateescape")
        place = (self.since, self.until, self.branch, self.commit, self.parent)
        return ExportView(*place, self.files, self.not_contained, patch)


class Edited(Struct, frozen=True, omit_defaults=True):
    """A completed edit as JSON has it: see EditResult. notice: its text."""

    merged: bool
    path: str
    revision: str
    notice: str | None
    diff: str
    changed: bool = True
    affected: tuple[Affected, ...] = ()


class EditView(Struct, frozen=True, omit_defaults=True):
    """The answer to an edit that was carried out: see Edited. others: further files of the same patch."""

    applied: Literal[True]
    merged: bool
    path: str
    revision: str
    notice: str | None
    diff: str
    changed: bool = True
    affected: tuple[Affected, ...] = ()
    others: tuple[Edited, ...] = ()


class Refused(Struct, frozen=True, omit_defaults=True):
    """The answer to an edit that was refused: see EditRefused. reason: of the refusal, or why the path
    cannot be used. text: the file's present text, under the policy "refresh"."""

    applied: Literal[False]
    reason: str
    diff: str
    hint: str
    path: str
    message: str
    text: str | None = None
    others: tuple[Refused, ...] = ()

    @classmethod
    def answer_to(cls, error: PathError, wording: Wording = in_python) -> Refused:
        """Return an error as an answer. wording: of a call in the hint, for who reads the answer."""
        reason, diff = getattr(error, "reason", "unverifiable"), getattr(error, "diff", "")
        text = error.text if isinstance(error, EditRefused) else None
        others = error.others if isinstance(error, EditRefused) else ()
        return cls(
            applied=False,
            reason=reason,
            diff=diff,
            hint=error.next_step.worded(wording),
            path=error.path,
            message=error.message,
            text=text,
            others=tuple(cls.answer_to(each, wording) for each in others),
        )


class EditResult(Struct, frozen=True):
    """A completed edit. changed: False for a write of the text that the file has already: nothing
    was written. diff: of the file on disk; revision: of the file now ("missing" after a delete).
    merged: the edit was merged with others' changes to the same file. notice: of others'
    changes meanwhile. others: further files of the same patch. affected: other sessions that were
    shown the changed lines.

    path: from the workspace's root.
    """

    path: str
    revision: str
    merged: bool
    notice: Notice | None
    diff: str
    others: tuple[EditResult, ...] = ()
    affected: tuple[Affected, ...] = ()
    changed: bool = True

    def as_view(self) -> EditView:
        """Return the result as the answer to an edit."""
        others = tuple(other.edited for other in self.others)
        return EditView(applied=True, **structs.asdict(self.edited), others=others)

    @property
    def edited(self) -> Edited:
        """Return the change of this file alone, as JSON has it."""
        notice = self.notice.text if self.notice is not None else None
        done = (self.merged, self.path, self.revision, notice, self.diff)
        return Edited(*done, self.changed, self.affected)


class BatchView(Struct, frozen=True):
    """The answer to a batch that was carried out."""

    applied: Literal[True]
    results: tuple[Edited, ...]


class BatchResult(Struct, frozen=True):
    """The results of a batch, all of whose changes were completed."""

    results: tuple[EditResult, ...]

    def as_view(self) -> BatchView:
        """Return the results as the answer to a batch."""
        return BatchView(applied=True, results=tuple(each.edited for each in self.results))


class Verdict(Struct, frozen=True, omit_defaults=True):
    """The guard's verdict on a path, or on an attempt.

    reason: "no_change" with the decision "allow" for a write of the text that the file has already.
    in_window: every line shown is still in the context window. complete: every
    line of the file was shown. claimed_by: other sessions that claim the path.

    state: of the file for this session; diff: from what was shown to what is on disk; changed_by:
    the last author since then; seen_lines: 1-based, both ends included.
    """

    path: str
    state: State
    decision: Decision
    reason: VerdictReason | None
    diff: str
    changed_by: ChangedBy | None
    in_window: bool
    seen_lines: Spans
    complete: bool
    claimed_by: tuple[str, ...] = ()


class FileInContext(Struct, frozen=True):
    """A file that this session was shown. A time is None where no such event happened. size: in bytes;
    preview: the first 200 characters of the text that the agent believes in.

    path: from the workspace's root; state: as in Verdict; seen_lines: of total_lines, 1-based;
    in_window: all of these are still in the context window. via: how the file was shown last, such
    as read or edit; loaded_by: how it was first. revision_seen, revision_on_disk: of the two texts.
    first_seen, last_read, last_agent_edit, last_external_edit: aware UTC datetimes; turn_seen: the
    turn of the last look; aged: turns since then. language: by the name of the file; changed_by:
    the last author since the file was shown; edited_by_agent: this session edited the file.
    """

    path: str
    state: State
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
    """A path that a rewind does not touch, and the reason. command: the command of the session that
    ran while the file changed, where nobody can know who changed it; else None. probable: the session
    probably made the change that stays, by that command or by a formatter behind its edit; the
    rewind may still have taken other changes of the file back."""

    path: str
    reason: str
    command: str | None = None
    probable: bool = False


class RestoredMode(Struct, frozen=True):
    """A file that gets its permission bits back. before, after: in octal, as "644". alone: nothing
    else of the file changes."""

    path: str
    before: str
    after: str
    alone: bool


class TakenBack(Struct, frozen=True):
    """A session's own change that a rewind reverts. at: an aware UTC datetime.

    path: from the workspace's root; position: of the change on the timeline.
    """

    path: str
    position: int
    at: datetime


class MovedBack(Struct, frozen=True, rename={"src": "from"}):
    """A file that a rewind renames back. src: its path until now; path: its old path again."""

    src: str
    path: str

    def __iter__(self) -> Iterator[str]:
        """Yield the path until now, and the old path."""
        yield from (self.src, self.path)


class SessionPaths(Struct, frozen=True):
    """A session and the paths of its changes. session: its id, "" for an earlier rewind of all sessions."""

    session: str
    paths: tuple[str, ...]

    def __iter__(self) -> Iterator[Any]:
        """Yield the session and the paths."""
        yield from (self.session, self.paths)


class RewindReport(Struct, frozen=True):
    """The result of a rewind, or with dry_run its plan. checkpoint: None for a rewind to a position;
    to: the position. restored: paths that have their old bytes again; removed: files that this
    session had created; merged: paths that lost this session's lines and keep others'; moved: (from,
    back to). lost_edits: reverted changes; stands: sub-agents of this session, and their changes
    since then. safety_checkpoint: a rewind to it reverts this rewind; None of a dry run, and where
    nothing was to be done (see `changed`).
    warning: raised where the conversation alone was rewound, and files were edited since. diffs: of
    a dry run, the change of each file's text (path, change, diff, added, removed); else None. gone:
    paths with nothing to revert, because others removed all of this session's lines. modes: files
    among the restored ones that have other permission bits again. lost: files, and folders ending in "/",
    that the checkpoint did not cover and that are gone, so that no rewind brings them back.
    sessions: of a rewind of all sessions, each session and the paths of its changes, the session of the
    newest change first; "" stands for an earlier rewind of all sessions. folders_restored,
    folders_removed: empty folders that came back, and those that went because this session had made them.

    left_alone: files that stay as they are, each with the reason.
    """

    checkpoint: str | None
    to: int
    dry_run: bool
    conversation: bool
    restored: tuple[str, ...]
    removed: tuple[str, ...]
    merged: tuple[str, ...]
    moved: tuple[MovedBack, ...]
    left_alone: tuple[LeftAlone, ...]
    lost_edits: tuple[TakenBack, ...]
    stands: tuple[SessionPaths, ...]
    safety_checkpoint: str | None
    warning: FileWarning | None = None
    diffs: tuple[FileDifference, ...] | None = None
    gone: tuple[LeftAlone, ...] = ()
    modes: tuple[RestoredMode, ...] = ()
    lost: tuple[LeftAlone, ...] = ()
    sessions: tuple[SessionPaths, ...] = ()
    folders_restored: tuple[str, ...] = ()
    folders_removed: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Return whether the rewind does anything. False: nothing was to be done, and nothing to undo."""
        files = self.restored or self.removed or self.merged or self.moved
        files = files or self.folders_restored or self.folders_removed
        return bool(files) or self.conversation or self.safety_checkpoint is not None


class RanFile(Struct, frozen=True):
    """A file that changed while a command ran. revision: of the file now."""

    path: str
    revision: str


class CommandView(Struct, frozen=True):
    """A command that ran, as JSON has it: see CommandRun."""

    command: str
    exit_code: int | None
    changed: tuple[RanFile, ...]
    removed: tuple[str, ...]


class CommandRun(Struct, frozen=True):
    """A command that ran, and what changed meanwhile. removed: files that went and that no session
    had read; a checkpoint may have them.

    exit_code: of the command, None where it is unknown; changes: of files, as in a notice.
    """

    command: str
    exit_code: int | None
    changes: tuple[FileChange, ...]
    removed: tuple[str, ...] = ()

    def as_view(self) -> CommandView:
        """Return the run with the names and revisions of the files alone."""
        changed = tuple(RanFile(each.path, each.revision_on_disk) for each in self.changes)
        return CommandView(self.command, self.exit_code, changed, self.removed)


class Asked(Struct, frozen=True):
    """The sessions that a question is about. others: further ones that know the same file."""

    sessions: tuple[str, ...]
    others: tuple[str, ...] = ()


class Unfinished(Struct, frozen=True):
    """A rewind that was not finished. to: its target as rewind() takes it; at: the time when it
    began, an aware UTC datetime."""

    session: str
    to: str
    at: datetime


class SessionStatus(Struct, frozen=True):
    """A session: its files, presence, claims and warnings. turn: its newest; model, provider, mode: those that it used
    last; parent: the session that started it; name: its title, None where it has none; presence: present,
    gone or ended, since then; last_sign: of its agent's life; holder: the process that holds it,
    "machine:pid:start"; environment: the one that its agent runs in. Times are aware UTC datetimes.

    id, agent: as others name it; files: those that it was shown; claims, warnings, unfinished_rewinds: its own.
    """

    id: str
    agent: str
    turn: int
    started: datetime
    ended: datetime | None
    model: str | None
    parent: str | None
    files: tuple[FileInContext, ...]
    name: str | None
    presence: Literal["present", "gone", "ended"]
    since: datetime
    last_sign: datetime
    holder: str | None
    claims: tuple[Claim, ...]
    warnings: tuple[FileWarning, ...]
    unfinished_rewinds: tuple[Unfinished, ...]
    provider: str | None
    mode: str | None
    environment: Environment | None


class Status(Struct, frozen=True):
    """The state of a workspace. workspace: its absolute path; sessions: the present ones first; left_out: number
    of the other sessions; unfinished_rewinds, warnings: of the workspace itself, not of a session."""

    workspace: str
    sessions: tuple[SessionStatus, ...]
    left_out: int
    unfinished_rewinds: tuple[Unfinished, ...]
    warnings: tuple[FileWarning, ...]


class UndoableTurn(Struct, frozen=True):
    """The changes of a session since the last request of its user; a change outside of any turn, as by a
    command, is a turn of its own. number: 0 outside of turns. to: the rewind target before the turn, a
    checkpoint's id or a position. at: the time of the newest change, an aware UTC datetime."""

    session: str
    number: int
    to: str | int
    at: datetime
