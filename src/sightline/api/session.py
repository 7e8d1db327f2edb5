"""Session: the verbs of one agent's conversation over a workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from os import fspath
from threading import RLock
from typing import Annotated, Literal, Self

from msgspec import Meta, Struct

from sightline.answers.answer import AnswerResult, ApplyMode
from sightline.answers.apply_answer import apply_answer
from sightline.answers.prompts import Prompts, load_prompts
from sightline.answers.reading import read_file_requests, read_listing_requests
from sightline.answers.words import told_by
from sightline.api import handover
from sightline.api.async_verbs import AsyncConversation, async_context, coroutine, in_thread
from sightline.api.conversation import Conversation
from sightline.api.still_running import running_note, summary_beside
from sightline.api.subtask_verbs import AsyncSubtasks, Subtasks
from sightline.api.verbs import (
    HOST_ONLY,
    FilePath,
    Natural,
    Positive,
    checked_lines,
    paths_of,
    verb,
)
from sightline.briefing import compose, mentions, registry
from sightline.briefing.compose import Briefing
from sightline.briefing.mentions import Mentioned
from sightline.briefing.registry import Registry
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import names_for, names_of
from sightline.checkpoints import changed_since, export, gc, take
from sightline.checkpoints.automatic import after_change, before_change
from sightline.checkpoints.rewind import rewinder
from sightline.checkpoints.rewind.recovery import finish
from sightline.codegraph import find_related
from sightline.codegraph.related_files import Counted, Related
from sightline.errors import EditRefused, Hint, StoreError
from sightline.filesystem.lock import release_left
from sightline.guard import batch, file_states, host_writes, reads
from sightline.guard.batch import Change, ChangeFields
from sightline.guard.check import check
from sightline.guard.edit import apply_edit
from sightline.guard.host_writes import Run
from sightline.guard.move import move
from sightline.guard.unfinished import recover_all, settle_host_writes
from sightline.messages import deleted_messages as removed_messages
from sightline.model import results, validation
from sightline.model.agent_work import NO_WORK, RecordedWork
from sightline.model.attempts import Attempt, Create, Delete, Replace, ReplaceLines, WriteWhole
from sightline.model.events import Dropped
from sightline.model.marks import sendable
from sightline.model.results import State
from sightline.model.spans import Span
from sightline.notices import delivery, notice_text, pending, warnings
from sightline.search import find, listing, listing_requests, stats
from sightline.search.chains import Fallback, FindResult
from sightline.search.find import Progress
from sightline.search.listing import DirectoryListing
from sightline.search.listing_requests import ListingRequest
from sightline.search.stats import Stats
from sightline.sessions import claims, presence, usage
from sightline.subtasks.runners import Assignment, Runner
from sightline.subtasks.subtask import SubTask, TaskResult

TIDY_EVERY = 16
"""Turns between two removals of automatic checkpoints that take too much room, in a session that
a program opened. Hooks remove them at the end of each turn."""


class Work(Struct, frozen=True):
    """The argument of a function that carries out a sub-task. session: in the folder of the attempt, with
    the scope of the sub-task; its guarded verbs write there. prompt: what the child begins with.
    must_stop: returns why the work must end, "" to go on; ask it now and then."""

    task: SubTask
    session: Session
    prompt: str
    folder: str
    must_stop: Callable[[], str]


TaskFunction = Callable[[Work], TaskResult | str | None]
"""Carries out a sub-task and returns its result, or a summary. An exception fails the attempt."""


class SessionId(Struct, frozen=True):
    """A session as JSON has it."""

    session: str


class Session:
    """One agent's view of a workspace, and the guarded verbs that keep the view true.

    Paths may be relative to the workspace or absolute inside it. Lines are 1-based and inclusive.
    Several threads may use a session; its verbs run one at a time.
    """

    def __init__(
        self, context: SessionContext, agent: str, users: set[object] | None = None
    ) -> None:
        self._context = context
        self._lock = RLock()
        self._users = users if users is not None else set()  # this session and its forks: one store
        self._users.add(self._lock)
        self._conversation: Conversation | None = None
        self._subtasks: Subtasks | None = None
        self._was_interrupted = self._was_host_interrupted = False
        self.id = context.session
        self.agent = agent

    @property
    def workspace(self) -> str:
        """The absolute path of the workspace."""
        return self._context.workspace.root

    @property
    def aio(self) -> AsyncSession:
        """The same verbs as coroutines, for async hosts."""
        return AsyncSession(self)

    @property
    def conversation(self) -> Conversation:
        """The session's messages: kept for good, and folded so that the model is sent fewer."""
        if self._conversation is None:
            self._conversation = Conversation(self._context, self._lock)
        return self._conversation

    @property
    def subtasks(self) -> Subtasks:
        """The parts of the work that are delegated: proposed, carried out, and brought back."""
        if self._subtasks is None:
            self._subtasks = Subtasks(
                self._context, self._lock, self._running, self._function_runner
            )
        return self._subtasks

    @verb(read_only=True, idempotent=True, tool="read_file")
    def read(self, path: FilePath, lines: Span | None = None) -> results.FileView:
        """Show a file, and record that this session was shown it.

        Args:
            path: The file.
            lines: Show only lines A to B, both included. B may lie beyond the end.

        Returns:
            At most `read_max_lines` lines and `read_max_bytes` bytes; the view says which lines
            it holds, and what changed since this session last saw the file.

        Raises:
            FileMissing, PathRefused, Unverifiable; LinesMissing for lines beyond the end;
            ValueError for lines that are no range.
        """
        return reads.read(self._context, fspath(path), checked_lines(lines))

    @verb(read_only=True, answer="bytes")
    def shown_bytes(self, view: Annotated[results.FileView, HOST_ONLY]) -> bytes:
        """Return the bytes of the lines that a view shows, with their own line ends.

        They come from the disk if it still holds that revision, else from the store. A text that is
        never stored, or too large to be, and a part of a line are encoded anew.

        Args:
            view: What `read` returned.
        """
        return reads.shown_bytes(self._context, view)

    @verb(idempotent=True)
    def saw(
        self,
        path: FilePath,
        *,
        lines: Span | None = None,
        text: str | None = None,
        via: str = "read",
    ) -> None:
        """Record that another tool showed a file or some lines.

        Args:
            path: The file.
            lines: The lines that the tool showed; all by default.
            text: Exactly the text that the tool showed.
            via: How the agent saw it: read, mention, preview, search, handover, refusal, or a word of
                your own.
        """
        reads.saw(self._context, fspath(path), checked_lines(lines), text, via)

    @verb(idempotent=True)
    def dropped(self, path: FilePath | None = None, *, lines: Span | None = None) -> None:
        """Record that text left the agent's context window.

        Args:
            path: The file; every file by default.
            lines: Only these; all by default.
        """
        reads.dropped(self._context, None if path is None else fspath(path), checked_lines(lines))

    @verb(read_only=True, answer="text")
    def believed(self, path: FilePath) -> str | None:
        """Return the text that this session's agent believes a file to have.

        That is the text the agent was shown, with the agent's own edits applied. None if the file
        was never shown, or if its text is never stored.

        Args:
            path: The file.
        """
        return reads.believed(self._context, fspath(path))

    @verb(destructive=True, tool="edit_file")
    def edit(
        self, path: FilePath, old: str, new: str, *, count: int | Literal["all"] | None = 1
    ) -> results.EditResult:
        """Replace a text, unless it changed since it was shown.

        Args:
            path: The file.
            old: The text to replace, literally.
            new: The new text; may be empty.
            count: How often the old text must occur; 'all' accepts any number.

        Raises:
            EditRefused, with the diff and the next call in its hint.
        """
        often = None if count == "all" else count
        if often is not None and often < 1:
            raise ValueError(f"count is 1 or more, or 'all', not {count}")
        return self._edit(fspath(path), Replace(old, new, often))

    @verb(destructive=True)
    def edit_lines(self, path: FilePath, start: int, end: int, new: str) -> results.EditResult:
        """Replace lines, as this session last saw them.

        Args:
            path: The file.
            start: The first line to replace.
            end: The last line to replace; start - 1 inserts before `start`.
            new: The new lines. The last one gets its line end if the text has none.

        Raises:
            EditRefused.
        """
        if start < 1 or end < start - 1:
            raise ValueError(
                f"start and end are the first and the last line, counted from 1, not {start} and {end}"
            )
        return self._edit(fspath(path), ReplaceLines(start, end, new))

    @verb(destructive=True, idempotent=True, tool="write_file")
    def write(self, path: FilePath, content: str, *, raw: bool = False) -> results.EditResult:
        """Write a whole file.

        Changes by others since this session saw the file are merged, or the write is refused. The
        file keeps its encoding, its byte order mark and its line ends.

        Args:
            path: The file.
            content: The file's new text.
            raw: Write the text as given, with its own line ends and no byte order mark.

        Raises:
            EditRefused.
        """
        return self._edit(fspath(path), WriteWhole(content, raw))

    @verb
    def create(self, path: FilePath, content: str) -> results.EditResult:
        """Write a new file; refused if the path exists.

        Args:
            path: The new file.
            content: The file's text.

        Raises:
            EditRefused, with reason "exists" if the path exists.
        """
        return self._edit(fspath(path), Create(content))

    @verb(destructive=True)
    def delete(self, path: FilePath) -> results.EditResult:
        """Delete a file, unless it changed since this session saw it.

        Args:
            path: The file. Its bytes stay in the store.

        Raises:
            EditRefused.
        """
        return self._edit(fspath(path), Delete())

    @verb
    def move(self, src: FilePath, dst: FilePath) -> results.EditResult:
        """Rename a file; refused if the new path exists.

        Args:
            src: The file.
            dst: Its new path.

        Raises:
            EditRefused, with reason "exists" if `dst` exists.
        """
        source = fspath(src)
        with self._checkpointed(source) as changed:
            result = move(self._context, source, fspath(dst))
            changed.append(result.path)
        return result

    @verb(destructive=True)
    def patch(self, unified_diff: str) -> results.EditResult:
        """Apply a patch, all files or none.

        A hunk is applied where its old lines are; the numbers in its header are only a hint. The old
        lines of a hunk without numbers must occur exactly once below the line that its @@ names.

        Args:
            unified_diff: A unified diff, or a patch between `*** Begin Patch` and `*** End Patch`;
                its paths are relative to the workspace.

        Raises:
            EditRefused.
        """
        with self._checkpointed(*batch.paths_of(unified_diff)) as changed:
            result = batch.patch(self._context, unified_diff)
            changed += [result.path, *(other.path for other in result.others)]
        return result

    @verb(destructive=True, tool="apply_changes")
    def apply(
        self, changes: Iterable[ChangeFields | Annotated[Change | Mapping[str, object], HOST_ONLY]]
    ) -> results.BatchResult:
        """Change several files, all or none.

        Args:
            changes: A Change, or a mapping with its fields, for each file.

        Raises:
            EditRefused for the first change that is refused; `others` names the rest.
            ValueError for a change that says nothing, or too much.
        """
        wanted = [batch.change(each) for each in changes]
        for change in wanted:
            change.attempt()
        with self._checkpointed(*(fspath(change.path) for change in wanted)) as changed:
            applied = batch.apply(self._context, wanted)
            changed += [result.path for result in applied.results if result.changed]
        return applied

    @verb(destructive=True)
    def answer(self, answer: object, *, apply: ApplyMode = "all") -> AnswerResult:
        """Apply a model's structured answer.

        All changes of files are judged first. A checkpoint is taken before the first is written;
        then to-dos advance, and the next briefing brings the files and listings that the answer asks
        for. Commands in it are never run.

        Args:
            answer: The model's text, with or without words around the JSON; or the object.
            apply: all: every change, or none if one is refused; each: every change that is not
                refused; preview: none, and record nothing.

        Returns:
            The answer, and what became of each change. Refused changes are in the result.

        Raises:
            AnswerInvalid, which names every wrong place; nothing is done then.
        """
        return apply_answer(self._context, answer, apply)

    @verb(read_only=True)
    def prompts(self) -> Prompts:
        """Return the prompts for a model that gives structured answers.

        Files in .sightline/prompts replace prompts only if the user's setting 'prompts' is
        "workspace".

        Raises:
            PromptError, which names the file.
        """
        return load_prompts(self._context)

    @verb
    def wrote(
        self,
        path: FilePath,
        *,
        content: str | Annotated[bytes, HOST_ONLY] | None = None,
        revision: str | None = None,
        before: str | Annotated[bytes, HOST_ONLY] | None = None,
        user_modified: bool = False,
    ) -> None:
        """Record that the host's own tool wrote a file.

        Changes that somebody else saved meanwhile are recorded as theirs.

        Args:
            path: The file.
            content: The whole text that the tool wrote.
            revision: The revision of that text, if the text itself is not available.
            before: The whole text that the tool found when it began.
            user_modified: The user changed the text before the tool wrote it.
        """
        name = fspath(path)
        host_writes.wrote(
            self._context,
            name,
            content=content,
            revision=revision,
            before=before,
            user_modified=user_modified,
        )
        after_change(self._context, self._context.workspace.locate(name).path)

    @contextmanager
    def writing(self, path: FilePath, content: str | Annotated[bytes, HOST_ONLY]) -> Iterator[None]:
        """Guard the host's own write: journal before the block, compare with the disk after it.

        Args:
            path: The file that the block writes.
            content: The whole text that the block writes.
        """
        name = fspath(path)
        located = self._context.workspace.locate(name)
        with self._checkpointed(name) as changed:
            changed.append(located.path)
            try:
                with host_writes.writing(self._context, name, content):
                    yield
            except Exception:
                raise
            except BaseException:
                self._was_interrupted = self._was_host_interrupted = True
                raise

    @contextmanager
    def ran(self, command: str, *, cwd: FilePath | None = None) -> Iterator[Run]:
        """Run a command, and record what it changes.

        A change of a file that the command names counts as the command's. Any other change while the
        command runs is only probably the command's: a rewind leaves it alone.

        Args:
            command: The command line.
            cwd: The folder that the command runs in, absolute or from the workspace's. None: the
                workspace's.

        Note:
            The block runs the command, and sets `exit_code` of the Run. After the block, `result`
            of the Run holds the changes.
        """
        with self._checkpointed() as changed:
            run = host_writes.Run(self._context, command, None if cwd is None else fspath(cwd))
            try:
                yield run
            finally:  # a command that fails may have changed files before
                run.end()
                files = tuple(pending.changes_of(self._context, run.paths))
                run.result = results.CommandRun(run.command, run.exit_code, files, run.removed)
                changed += sorted({*run.paths, *run.removed})

    @verb(read_only=True)
    def check(
        self, path: FilePath, *, old: str | None = None, content: str | None = None
    ) -> results.Verdict:
        """Say whether this session may rely on a file.

        Nothing is recorded or changed.

        Args:
            path: The file.
            old: Judge replacing this text instead.
            content: Judge writing this text as the whole file instead.
        """
        return check(self._context, fspath(path), old=old, content=content)

    @verb(read_only=True, answer="files", tool="context_status")
    def files(
        self, state: State | None = None, *, max_age: int | None = None
    ) -> list[results.FileInContext]:
        """Return the files that this session was shown.

        Args:
            state: Only those in this state, such as stale.
            max_age: Only those shown at most so many turns ago.
        """
        return file_states.files(self._context, state, max_age=max_age)

    @verb(read_only=True, answer="changes", tool="file_changes")
    def changes(self, *, told: bool = False) -> list[results.FileChange]:
        """Show changes that this session does not know of yet.

        A change is listed until the agent reads the file again, or acknowledges a notice of the
        change.

        Args:
            told: Also changes that the agent acknowledged.
        """
        return pending.changes(self._context, told=told)

    @verb(read_only=True, idempotent=True, answer="notice")
    def notice(self, budget: Positive = 1_500, *, deliver: bool = False) -> results.Notice | None:
        """Describe, for the agent, what others changed.

        The notice comes again until its id is acknowledged, so a request that fails loses nothing.

        Args:
            budget: Use at most N tokens, of about four characters; files without room are only named.
            deliver: Record that the notice is handed over, so that another process can acknowledge its id.

        Returns:
            None if nothing is new. The lines that the notice prints count as shown once it is
            acknowledged; so do the files it only names, as known.
        """
        if budget < 1:
            raise ValueError(f"budget is a number of tokens, 1 or more, not {budget}")
        news = notice_text.notice(self._context, budget)
        if deliver and news is not None:
            delivery.hand_over(self._context, news)
        return news

    @verb(read_only=True, answer="name")
    def name_of(self, session: str, *, for_people: bool = False) -> str:
        """Return the name of another session for this session's agent, as in a sentence.

        Args:
            session: The id of the session.
            for_people: The name by which people know the session.
        """
        names = names_of(self._context.store) if for_people else names_for(self._context)
        return names(session)

    @verb(idempotent=True, answer="finished")
    def finish_interrupted(self) -> Hint:
        """Finish a rewind of this session whose process died. Return what was done, no words where there was none."""
        return finish(self._context)

    @property
    def missed(self) -> Hint:
        """Words for the user about automatic checkpoints that were due and not taken; empty without one."""
        return self._context.missed

    @verb(read_only=True, answer="id")
    def newest_notice(self) -> str:
        """Return the id of the notice that was delivered last.

        Raises:
            UnknownName where none was.
        """
        return delivery.newest_notice(self._context)

    @verb(idempotent=True)
    def acknowledge(
        self,
        answer: str
        | Annotated[
            results.Notice | Briefing | EditRefused | AnswerResult | results.FileWarning, HOST_ONLY
        ]
        | None,
    ) -> None:
        """Record that the agent got a notice or a warning.

        Briefings, refusals and results of answers are acknowledged, too. The changes that the
        acknowledged text describes then count as known, and its lines as shown, except in files
        that the agent read or edited meanwhile. A warning is not repeated.

        Args:
            answer: What the agent got, or the id of a notice or a warning.

        Raises:
            UnknownName.

        Note:
            With None as the answer, such as the notice of an edit that has none, nothing happens.
            Acknowledge an answer only when the agent has it. Of two calls in parallel, the second
            does not know the answer of the first.
        """
        if answer is None:
            return
        if isinstance(answer, AnswerResult):
            for told in told_by(answer):
                delivery.acknowledge(self._context, told)
        elif isinstance(answer, str | EditRefused | results.Notice | results.FileWarning):
            delivery.acknowledge(self._context, answer)
        else:
            compose.acknowledge(self._context, answer)

    @verb(read_only=True)
    def edited_since(
        self,
        when: int | str | Annotated[datetime | results.Checkpoint, HOST_ONLY] | None = None,
        *,
        deleted_messages: Iterable[object] = (),
    ) -> results.EditedFiles:
        """List files changed since a checkpoint or a time. Asking changes nothing.

        Args:
            when: A checkpoint, its id or label, a position (see log), or a time ("2h" ago). By
                default the last checkpoint that this session took, else the session's start.
            deleted_messages: Messages taken out of the conversation, by id or as the host holds
                them. Edits since the earliest, and files that the messages' calls write, are
                listed too.

        Raises:
            UnknownName.
        """
        deleted = removed_messages.read_deleted(self._context, deleted_messages)
        return changed_since.edited_since(self._context, when, deleted)

    @verb(answer="checkpoint", long=True, tool="checkpoint")
    def checkpoint(self, label: str = "") -> results.Checkpoint:
        """Take a checkpoint of the workspace, to rewind to later.

        A checkpoint covers every file that the ignore files do not hide, up to the size
        'checkpoint_file_bytes', and lists the others. Empty folders are not kept. No git is needed,
        and none is touched.

        Args:
            label: One line to find the checkpoint by.

        Raises:
            CheckpointFailed; nothing is recorded then.
        """
        return take.take(self._context, sendable(label))

    @verb(read_only=True, answer="checkpoints")
    def checkpoints(
        self,
        *,
        newest: Positive | None = None,
        before: Annotated[results.Checkpoint, HOST_ONLY] | str | None = None,
    ) -> list[results.Checkpoint]:
        """List the checkpoints of all sessions, oldest first.

        Args:
            newest: List only the newest N.
            before: List only those taken before this checkpoint, its id or label.

        Raises:
            UnknownName, ValueError.
        """
        return take.listed(self._context, newest, before)

    @verb(answer="export", long=True)
    def export(
        self,
        checkpoint: Annotated[results.Checkpoint, HOST_ONLY] | str,
        branch: str | None = None,
        *,
        since: Annotated[results.Checkpoint, HOST_ONLY] | str | None = None,
        until_now: bool = False,
        author: str | None = None,
    ) -> results.Export:
        """Give a checkpoint to git, as a branch or as a patch.

        A branch gets one commit that holds the workspace as it was, on top of the commit that HEAD
        is at; paths that the checkpoint does not cover are as in HEAD, and listed. Your files, the
        index, HEAD, other branches and your settings stay as they are. A patch begins at the
        checkpoint before.

        Args:
            checkpoint: The checkpoint, its id or label.
            branch: Make a commit on a new branch of this name.
            since: Begin the patch at this checkpoint.
            until_now: Begin the patch at the checkpoint itself, and end it with the files as they
                are now.
            author: The author of the commit, as 'NAME <MAIL>'. Sightline by default.

        Raises:
            CheckpointFailed, UnknownName, Unverifiable; ValueError for arguments that do not go
            together.
        """
        return export.export(
            self._context, checkpoint, branch, since=since, until_now=until_now, author=author
        )

    @verb(destructive=True, long=True, tool="rewind")
    def rewind(
        self,
        checkpoint: Annotated[results.Checkpoint, HOST_ONLY] | str | int | None,
        paths: FilePath | Iterable[FilePath] = (),
        *,
        files: bool = True,
        conversation: bool = False,
        dry_run: bool = False,
        force_paths: FilePath | Iterable[FilePath] = (),
        commands: bool = False,
        deleted_messages: Iterable[object] = (),
    ) -> results.RewindReport:
        """Take back what this session did since a checkpoint.

        The session's own lines go, and everybody else's stay. Changes that may be somebody else's are
        left alone, and listed: changes that cannot be told apart, changes made while a command of the
        session ran (unless the command names the file), and changes of spaces and line breaks after an edit (unless
        a formatter was seen at work). A safety checkpoint comes first: rewinding to it undoes the
        rewind.

        Args:
            checkpoint: The checkpoint, its id or label, a position (see log), or a time ("2h" ago).
            paths: Take back only changes of these files, and of files in these folders.
            files: Take back changes of files on disk.
            conversation: Also rewind the conversation and what the session knows.
            dry_run: Preview the rewind; change nothing.
            force_paths: Restore this file to the checkpoint, even over changes by others.
            commands: Also take back what changed while a command of the session ran, and changes of
                layout after its edits. They may be the user's.
            deleted_messages: Messages taken out of the conversation, as for edited_since. The
                report warns of the files that they edited.

        Raises:
            RewindRefused, UnknownName.
        """
        return rewinder.rewind(
            self._context,
            checkpoint,
            files=files,
            conversation=conversation,
            dry_run=dry_run,
            force_paths=paths_of(force_paths),
            commands=commands,
            deleted=removed_messages.read_deleted(self._context, deleted_messages),
            only=paths_of(paths),
        )

    @verb(destructive=True, long=True)
    def undo(
        self,
        paths: FilePath | Iterable[FilePath] = (),
        *,
        dry_run: bool = False,
        commands: bool = False,
    ) -> results.RewindReport:
        """Take back the agent's last turn, as a rewind does.

        A second undo takes back the turn before. A change outside of any turn, such as an edit by a
        sightline command, counts as a turn of its own.

        Args:
            paths: Take back only changes of these files, and of files in these folders.
            dry_run: Preview the undo; change nothing.
            commands: Also take back what changed while a command of the session ran, and changes of
                layout after its edits. They may be the user's.

        Raises:
            RewindRefused where nothing is left to take back.
        """
        only = paths_of(paths)
        turn = rewinder.last_turn(self._context, self.id, only)
        return rewinder.rewind(
            self._context, turn.to, dry_run=dry_run, commands=commands, only=only
        )

    @verb(answer="turn")
    def turn(
        self,
        number: Natural | None = None,
        *,
        model: str | None = None,
        provider: str | None = None,
        mode: str | None = None,
    ) -> int:
        """Begin a turn of this session.

        Args:
            number: The turn's number; one more than the last by default.
            model: The model that the agent uses from here on.
            provider: The model's provider.
            mode: How the agent uses the model: plan, act, ...

        Returns:
            The turn's number.

        Raises:
            ValueError for a provider or mode without any model so far.
        """
        begun = usage.turn(self._context, number, model, provider, mode)
        if begun % TIDY_EVERY == 0:
            gc.keep_to_room(self._context, self._context.settings)
        return begun

    @verb(read_only=True, answer="path")
    def transcript(self) -> str | None:
        """Return the agent's own record of the conversation, which its hooks read last; None without one."""
        return usage.transcript(self._context)

    @verb(read_only=True, answer="models")
    def model_usage(self) -> list[results.ModelUsage]:
        """List the models that were used, and since when.

        An entry begins where the model, the provider or the mode changed.
        """
        return usage.models(self._context)

    @verb(answer="warning")
    def warn(self, text: str, paths: FilePath | Iterable[FilePath] = ()) -> results.FileWarning:
        """Warn this session's agent about files.

        The agent is warned once, with the next prompt if hooks are connected. The warning stands,
        across restarts, until somebody acknowledges it.

        Args:
            text: The warning, at most 2,000 characters.
            paths: The files it is about.

        Raises:
            PathRefused; ValueError for an empty or too long text.
        """
        return warnings.warn(self._context, text, paths_of(paths))

    @verb(read_only=True, answer="warnings")
    def warnings(self) -> list[results.FileWarning]:
        """List the warnings that nobody acknowledged yet.

        A warning reaches its agent once, with the next prompt, and is listed until its id is
        acknowledged.
        """
        return warnings.pending(self._context, self.id)

    @verb(answer="claim", tool="claim_files")
    def claim(
        self,
        paths: FilePath | Iterable[FilePath],
        *,
        ttl: float | Annotated[timedelta, HOST_ONLY],
        exclusive: bool = True,
    ) -> results.Claim:
        """Claim paths for this session's work.

        A folder is claimed with all below it; a pattern is one of .gitignore. Other sessions that
        write there get a notice, or are refused if the setting 'claims' is "enforce". A claim ends
        when it is released, when its time is up, and with its session or the process that holds the
        session.

        Args:
            paths: Paths or patterns.
            ttl: How long the claim stands, a day at most; a number is in seconds.
            exclusive: Nobody else may claim the same paths.

        Raises:
            ClaimRefused if another present session's claim may cover the same files, unless both
            claims are shared.
        """
        return claims.claim(self._context, paths_of(paths), ttl, exclusive=exclusive)

    @verb(idempotent=True, answer="claim")
    def renew(
        self,
        claim: Annotated[results.Claim, HOST_ONLY] | str,
        ttl: float | Annotated[timedelta, HOST_ONLY],
    ) -> results.Claim:
        """Let a claim stand for so many seconds from now on.

        Args:
            claim: The claim, or its id.
            ttl: How long from now on, a day at most; a number is in seconds.

        Raises:
            ClaimRefused for a claim that has ended.
        """
        return claims.renew(self._context, claim, ttl)

    @verb(idempotent=True)
    def release(self, claim: Annotated[results.Claim, HOST_ONLY] | str) -> None:
        """Give up a claim of this session.

        Args:
            claim: The claim, or its id.

        Raises:
            ClaimRefused if this session has no such claim.
        """
        claims.release(self._context, claim)

    @verb(read_only=True, answer="claims")
    def claims(self) -> list[results.Claim]:
        """List the claims that stand, of all sessions, oldest first."""
        return claims.listed(self._context)

    @verb
    def fork(self, id: str | None = None) -> Session:
        """Begin a session that knows all that another one knows now.

        From here on each session goes its own way.

        Args:
            id: The id of the fork; a new one by default.

        Raises:
            SessionError if the id exists.
        """
        return Session(handover.fork(self._context, self.agent, id), self.agent, self._users)

    @verb(idempotent=True, answer="files")
    def hand_over(
        self,
        to: Annotated[Session, HOST_ONLY] | str,
        paths: FilePath | Iterable[FilePath] | None = None,
        *,
        lines: Span | None = None,
    ) -> tuple[results.HandedOver, ...]:
        """Record that another session has this one's text of files.

        The text counts as shown to the other session's agent, and is as stale for it as for this
        session.

        Args:
            to: A session that this one started or is a fork of, or the one that started it; or its
                id.
            paths: The files; all that this session holds by default.
            lines: Only these lines, of one file.

        Raises:
            SessionError for a stranger, and for a file of which this session holds nothing.
        """
        receiver = to if isinstance(to, str) else to.id
        named = None if paths is None else paths_of(paths)
        return handover.hand_over(self._context, receiver, named, checked_lines(lines))

    @verb(idempotent=True, answer="environments")
    def environment(
        self, host: str | None = None, host_version: str | None = None
    ) -> list[results.Environment]:
        """Return the environments that this session's agent ran in, oldest first.

        Args:
            host: Record that the agent runs in this application now.
            host_version: The application's version.
        """
        if host is not None or host_version is not None:
            presence.record_environment(self._context, host, host_version)
        return usage.environments(self._context)

    @verb(read_only=True, long=True, tool="find_files")
    def find(
        self,
        patterns: str | Sequence[str],
        *,
        required: bool = False,
        fallback: Fallback = "skip",
        name: str = "",
        reason: str = "",
        deadline_s: float = 2.0,
        progress: Annotated[Progress | None, HOST_ONLY] = None,
    ) -> FindResult:
        """Find files by up to five patterns, from exact to broad.

        The first pattern that matches wins. A pattern without a slash is looked for in all folders;
        ** stands for any folders. Ignored files are not found. When no pattern matches, similar
        files are listed with reasons.

        Args:
            patterns: One to five patterns, such as config.py or src/**/*.ts.
            required: The work cannot go on without a match.
            fallback: What to do when nothing matches.
            name: A name for the request, repeated in the answer.
            reason: The purpose of the request, repeated in the answer.
            deadline_s: Seconds at most for patterns and guesses.
            progress: Called with the pattern's number, the count of patterns, and the pattern.

        Raises:
            PathRefused, ValueError.
        """
        return find.find(
            self._context,
            patterns,
            required=required,
            fallback=fallback,
            name=name,
            reason=reason,
            deadline_s=deadline_s,
            progress=progress,
        )

    @verb(read_only=True, long=True, answer="results")
    def find_each(
        self,
        asked: object,
        *,
        deadline_s: float = 2.0,
        progress: Annotated[Progress | None, HOST_ONLY] = None,
    ) -> tuple[FindResult, ...]:
        """Find files for each request of an agent's structured answer, in order.

        Args:
            asked: The answer, or its list of requests: objects with "patterns" (or one "pattern"),
                "name", "reason", "required" and "fallback".
            deadline_s: Seconds at most for all requests together.
            progress: As for find.

        Raises:
            AnswerInvalid.
        """
        requests = read_file_requests(asked)
        return find.find_each(self._context, requests, deadline_s=deadline_s, progress=progress)

    @verb(read_only=True, tool="list_directory")
    def list_directory(
        self,
        path: FilePath = ".",
        *,
        recursive: bool = False,
        filter: str | None = None,
        depth: Positive = 3,
        limit: Positive = 200,
    ) -> DirectoryListing:
        """List a folder as an agent is shown it.

        The nearest entries come first. Ignored entries are counted; the answer says what the limits
        cut off.

        Args:
            path: The folder.
            recursive: Include subfolders.
            filter: Only files that match this pattern, such as '*.py'.
            depth: How many levels of folders to include.
            limit: List at most N entries.

        Raises:
            PathRefused, FileMissing, Unverifiable, ValueError.
        """
        return listing.list_directory(
            self._context, path, recursive=recursive, filter=filter, depth=depth, limit=limit
        )

    @verb(read_only=True, long=True, tool="related_files")
    def related(
        self,
        path: FilePath,
        *,
        imports: bool = True,
        tests: bool = True,
        importers: bool = True,
        siblings: bool = True,
        transitive: Natural = 0,
        limit: Positive = 10,
        max_bytes: Positive = 200_000,
        max_tokens: Positive | None = None,
        deadline_s: float | None = 1.0,
        progress: Annotated[Counted | None, HOST_ONLY] = None,
    ) -> Related:
        """List the files that belong to one, and why.

        The closest files come first: the file's imports, its tests, the files that import it, and
        the files beside it. In a large workspace the first answers may lack files that import it:
        each answer says how many sources were not read yet, and the next one reads more.

        Args:
            path: The file.
            imports: Include its imports.
            tests: Include its tests.
            importers: Include the files that import it.
            siblings: Include the files beside it.
            transitive: How many further steps of imports to follow.
            limit: List at most N files.
            max_bytes: Bytes of all files together, at most.
            max_tokens: Tokens of all files together, at most.
            deadline_s: Seconds at most to read sources; None to read all of them.
            progress: Called with the number of sources read so far, and of all.

        Raises:
            FileMissing, PathRefused, Unverifiable.
        """
        return find_related.related(
            self._context,
            validation.path(path),
            imports=imports,
            tests=tests,
            importers=importers,
            siblings=siblings,
            transitive=transitive,
            limit=limit,
            max_bytes=max_bytes,
            max_tokens=max_tokens,
            within_s=deadline_s,
            progress=progress,
        )

    @verb(read_only=True)
    def registry(self, *, limit: Positive | None = 50, with_md5: bool = False) -> Registry:
        """Show the files that this session knows.

        The most useful files come first, each with the way it became known, its state, and who
        changed it when.

        Args:
            limit: List at most N files; None for all.
            with_md5: With MD5 sums, for hosts that compare by them.
        """
        return registry.registry(self._context, limit=limit, with_md5=with_md5)

    @verb(read_only=True)
    def stats(self) -> Stats:
        """Count how searches for files went, by kind of pattern.

        A pattern counts as found first if it was the first of its search and matched, as found
        further down if a later one matched, and as a guess if nothing matched and the session read
        one of the similar files that were offered.
        """
        return stats.stats(self._context.store, self._context.session)

    @verb(read_only=True)
    def mentioned(
        self,
        text: str,
        *,
        limit_files: int = 50,
        limit_lines: int = 250,
        limit_bytes: int = 100_000,
    ) -> Mentioned:
        """Resolve what a user's text mentions, and record what the answer shows as seen.

        A mention is @src/app.py, @"a b.txt:3-9", @folder/, @git-changes, or a commit. Each passes
        the access check. briefing() resolves the mentions of a message, too.

        Args:
            text: The user's text.
            limit_files: Show at most N files.
            limit_lines: Lines of one file, at most.
            limit_bytes: Bytes of all files together, at most.

        Raises:
            ValueError.
        """
        return mentions.show_mentions(
            self._context,
            text,
            limit_files=limit_files,
            limit_lines=limit_lines,
            limit_bytes=limit_bytes,
        )

    @verb(idempotent=True, answer="listings")
    def request_listings(self, answer: object) -> tuple[ListingRequest, ...]:
        """Note the folders that an agent's structured answer asks to have listed.

        The next briefing delivers five of them, once. `answer` notes them, too.

        Args:
            answer: The answer, its text, or its list of requests, such as
                [{"path": "src", "recursive": true, "filter": "*.py"}].

        Raises:
            AnswerInvalid; nothing is noted then.
        """
        requests = read_listing_requests(answer)
        self._context.append(listing_requests.facts(requests))
        return requests

    @verb(read_only=True, tool="briefing")
    def briefing(
        self,
        message: str | None = None,
        budget: Annotated[int, Meta(ge=compose.LEAST)] = compose.BUDGET,
        *,
        recorded: Annotated[RecordedWork, HOST_ONLY] = NO_WORK,
    ) -> Briefing:
        """Compose a briefing for the agent's next turn.

        A briefing holds warnings, changes by others, files that the message mentions (@src/app.py),
        listings that were asked for, new states of sub-tasks, and files that belong to the edited
        ones. A message that asks to go on, and the first briefing of a session, also get the
        sub-tasks and sub-agents that still work, a summary of the work so far, and the known files.

        Args:
            message: The user's message. Default: compose the first briefing of a session.
            budget: Use at most N tokens.
            recorded: The to-dos and reports in the host's own record of the conversation.

        Raises:
            ValueError, TypeError.
        """
        running = running_note(self._context) if compose.goes_on(self._context, message) else ""
        graph = self.subtasks.graph()  # it reads only facts that are new since the last one
        subtasks, states = summary_beside(graph, running)
        return compose.briefing(
            self._context,
            message,
            budget,
            subtasks=subtasks,
            states=states,
            running=running,
            recorded=recorded,
        )

    @contextmanager
    def attending(self) -> Iterator[SessionContext]:
        """Give the parts of the session to a face that has steps of its own, such as hooks, and hold the session
        until the block ends. Programs call verbs."""
        with self._lock:
            yield self._context

    def as_view(self) -> SessionId:
        """Return which session this is."""
        return SessionId(self.id)

    def close(self) -> None:
        """Close the store once no fork made here needs it. The id resumes the session later."""
        self._settle_unrecorded()
        self._users.discard(self._lock)
        if not self._users:
            self._context.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id!r} of {self.agent!r} in {self.workspace!r}>"

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Settle first what an earlier verb left that Ctrl-C interrupted."""
        if self._was_interrupted:
            self._settle()
            self._was_interrupted = False
        self._settle_unrecorded()
        self._context.shown = []
        try:
            yield
        except Exception:
            raise
        except BaseException:
            self._was_interrupted = True
            raise

    def _settle_unrecorded(self) -> None:
        """Record the writes for whose ends the store had no room, where it has by now."""
        if self._context.unrecorded:
            with suppress(StoreError):
                recover_all(self._context, own=True)
                self._context.unrecorded = False

    def _settle(self) -> None:
        """Settle an interrupted verb, as the next open does for a process that was killed. What the
        verb recorded as shown never reached the agent."""
        release_left()
        recover_all(self._context, own=True)
        if self._was_host_interrupted:
            settle_host_writes(self._context)
            self._was_host_interrupted = False
        finish(self._context, own=True)
        unseen = [Dropped(path, received=False) for path in self._context.shown]
        self._context.append(unseen)

    @staticmethod
    def _function_runner(function: Callable[..., TaskResult | str | None]) -> Runner:
        """Return a runner that calls a function with a session in the folder of the attempt."""

        def run(assignment: Assignment) -> TaskResult:
            session = Session(assignment.context, "subtask")
            for path, text in assignment.handed:
                session.saw(path, text=text, via="handover")
            done = function(
                Work(
                    assignment.task,
                    session,
                    assignment.prompt,
                    assignment.root,
                    assignment.must_stop,
                )
            )
            return done if isinstance(done, TaskResult) else TaskResult(str(done or ""))

        return run

    def _edit(self, path: str, attempt: Attempt) -> results.EditResult:
        with self._checkpointed(path) as changed:
            result = apply_edit(self._context, path, attempt)
            changed += [result.path] if result.changed else []
        return result

    @contextmanager
    def _checkpointed(self, *paths: str) -> Iterator[list[str]]:
        """Take the automatic checkpoints that are due before and after a change of these paths.

        The block puts the paths that it changed into the list.
        """
        before_change(self._context, *paths)
        changed: list[str] = []
        try:
            yield changed
        finally:
            after_change(self._context, *changed)


class AsyncSession:
    """The verbs of Session as coroutines. They run in threads, one at a time per session.

    `async with` closes the session at its end, in a thread.
    """

    def __init__(self, session: Session) -> None:
        self._blocking = session

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await in_thread(self._blocking.close)

    @property
    def conversation(self) -> AsyncConversation:
        """The session's messages: kept for good, and folded so that the model is sent fewer."""
        return AsyncConversation(self._blocking.conversation)

    @property
    def subtasks(self) -> AsyncSubtasks:
        """The parts of the work that are delegated: proposed, carried out, and brought back."""
        return AsyncSubtasks(self._blocking.subtasks)

    acknowledge = coroutine(Session.acknowledge)
    answer = coroutine(Session.answer)
    apply = coroutine(Session.apply)
    believed = coroutine(Session.believed)
    briefing = coroutine(Session.briefing)
    changes = coroutine(Session.changes)
    check = coroutine(Session.check)
    checkpoint = coroutine(Session.checkpoint)
    checkpoints = coroutine(Session.checkpoints)
    claim = coroutine(Session.claim)
    claims = coroutine(Session.claims)
    create = coroutine(Session.create)
    delete = coroutine(Session.delete)
    dropped = coroutine(Session.dropped)
    edit = coroutine(Session.edit)
    edit_lines = coroutine(Session.edit_lines)
    edited_since = coroutine(Session.edited_since)
    environment = coroutine(Session.environment)
    export = coroutine(Session.export)
    files = coroutine(Session.files)
    find = coroutine(Session.find)
    find_each = coroutine(Session.find_each)
    finish_interrupted = coroutine(Session.finish_interrupted)
    fork = coroutine(Session.fork)
    hand_over = coroutine(Session.hand_over)
    list_directory = coroutine(Session.list_directory)
    mentioned = coroutine(Session.mentioned)
    model_usage = coroutine(Session.model_usage)
    move = coroutine(Session.move)
    name_of = coroutine(Session.name_of)
    newest_notice = coroutine(Session.newest_notice)
    notice = coroutine(Session.notice)
    patch = coroutine(Session.patch)
    prompts = coroutine(Session.prompts)
    ran = async_context(Session.ran)
    read = coroutine(Session.read)
    registry = coroutine(Session.registry)
    related = coroutine(Session.related)
    release = coroutine(Session.release)
    renew = coroutine(Session.renew)
    request_listings = coroutine(Session.request_listings)
    rewind = coroutine(Session.rewind)
    saw = coroutine(Session.saw)
    shown_bytes = coroutine(Session.shown_bytes)
    stats = coroutine(Session.stats)
    transcript = coroutine(Session.transcript)
    turn = coroutine(Session.turn)
    undo = coroutine(Session.undo)
    warn = coroutine(Session.warn)
    warnings = coroutine(Session.warnings)
    write = coroutine(Session.write)
    writing = async_context(Session.writing)
    wrote = coroutine(Session.wrote)
