"""Session: one agent's conversation over a workspace, as the library's user holds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from threading import RLock
from typing import Self

from sightline.api import checkpointed_verbs, handover
from sightline.api.async_session import AsyncSession
from sightline.briefing import compose, mentions, registry
from sightline.briefing.compose import Briefing
from sightline.briefing.mentions import Mentioned
from sightline.briefing.registry import Registry
from sightline.changes.session_context import SessionContext
from sightline.checkpoints import changed_since, export, gc, take
from sightline.checkpoints.automatic import after_change
from sightline.checkpoints.rewind import rewinder
from sightline.checkpoints.time_points import When
from sightline.codegraph import related
from sightline.codegraph.related_files import Related
from sightline.conversation import deleted_messages as removed_messages
from sightline.conversation import log
from sightline.conversation.log import Conversation
from sightline.errors import EditRefused
from sightline.guard import batch, file_states, host_writes, reads
from sightline.guard.batch import Change
from sightline.guard.host_writes import Run
from sightline.model import results
from sightline.model.attempts import Attempt, Create, Delete, Replace, ReplaceLines, WriteWhole
from sightline.notices import delivery, notice_text, pending, warnings
from sightline.search import find, listing, listing_requests, stats
from sightline.search.chains import Fallback, FindResult
from sightline.search.find import Progress
from sightline.search.listing import DirectoryListing
from sightline.search.listing_requests import ListingRequest
from sightline.search.stats import Stats
from sightline.sessions import claims, presence, usage


class Seeking:
    """What a Session has beside its guarded verbs."""

    _context: SessionContext
    _lock: RLock

    def files(
        self, state: str | None = None, *, max_age: int | None = None
    ) -> list[results.FileInContext]:
        """The files this session was shown, all or those in one state; max_age in turns."""
        with self._lock:
            return file_states.files(self._context, state, max_age=max_age)

    def changes(self, *, told: bool = False) -> list[results.FileChange]:
        """Files that are not what this session was shown, and that it was not told of yet; told:
        also those it was told of, and did not look at since. Asking consumes nothing."""
        with self._lock:
            return pending.changes(self._context, told=told)

    def find(
        self,
        patterns: str | Sequence[str],
        *,
        required: bool = False,
        fallback: Fallback = "skip",
        name: str = "",
        reason: str = "",
        deadline_s: float = 2.0,
        progress: Progress | None = None,
    ) -> FindResult:
        """The files of the first pattern that matches any, of one to five from exact to broad.

        Where none does: what may have been meant, each with its reason, and the fallback:
        ask_user (a question to show), skip, create_new (the path that could be created; nobody
        creates it). required: is not skipped. name, reason: what the request is called, and why it
        is made, in the answer. deadline_s: of the patterns and guesses. progress: told the number
        of the pattern that is tried, of how many, and the pattern. ValueError, PathRefused.
        """
        with self._lock:
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

    def find_each(
        self, asked: object, *, deadline_s: float = 2.0, progress: Progress | None = None
    ) -> tuple[FindResult, ...]:
        """The same of each request of an agent's structured answer, in order: a list of objects
        with "patterns" (or one "pattern"), "name", "reason", "required" and "fallback", or
        {"requests": that list}. The deadline is of all together. ValueError, PathRefused."""
        with self._lock:
            return find.find_each(self._context, asked, deadline_s=deadline_s, progress=progress)

    def list_directory(
        self,
        path: str = ".",
        *,
        recursive: bool = False,
        filter: str | None = None,
        depth: int = 3,
        limit: int = 200,
    ) -> DirectoryListing:
        """What a folder holds, without what is ignored, the nearest first; the answer tells what
        its limits cut off.

        recursive: with the folders below it, so many levels deep. filter: a pattern that files
        have to match. PathRefused, FileMissing, Unverifiable, ValueError.
        """
        with self._lock:
            return listing.list_directory(
                self._context, path, recursive=recursive, filter=filter, depth=depth, limit=limit
            )

    def related(
        self,
        path: str,
        *,
        imports: bool = True,
        tests: bool = True,
        importers: bool = True,
        siblings: bool = True,
        transitive: int = 0,
        limit: int = 10,
        max_bytes: int = 200_000,
        max_tokens: int | None = None,
    ) -> Related:
        """The files that belong to one, the closest first: what it imports, its tests, what
        imports it, those beside it; each with the reasons.

        transitive: so many further steps of imports. limit, max_bytes, max_tokens: of all of them
        together; what they left out is counted. FileMissing, PathRefused, Unverifiable.
        """
        with self._lock:
            return related.related(
                self._context,
                path,
                imports=imports,
                tests=tests,
                importers=importers,
                siblings=siblings,
                transitive=transitive,
                limit=limit,
                max_bytes=max_bytes,
                max_tokens=max_tokens,
            )

    def registry(self, *, limit: int | None = 50, with_md5: bool = False) -> Registry:
        """The files this session knows, the most useful first: how each came in, how it stands,
        and who changed it when. limit: None for all; with_md5: also that sum, for hosts that
        compare by it."""
        with self._lock:
            return registry.registry(self._context, limit=limit, with_md5=with_md5)

    def stats(self) -> Stats:
        """How this session's searches for files went, by kind of pattern; of all sessions
        `sightline stats` tells it."""
        with self._lock:
            return stats.stats(self._context.store, self._context.session)

    def mentioned(
        self,
        text: str,
        *,
        limit_files: int = 50,
        limit_lines: int = 250,
        limit_bytes: int = 100_000,
    ) -> Mentioned:
        """What a user's text mentions (@src/app.py, @"a b.txt:3-9", @folder/, @git-changes, a
        commit), each through the access check; what is shown of it counts as seen.

        limit_files, limit_bytes: of all of it; limit_lines: of one file. briefing() does the same
        with a message, and counts it when it is acknowledged. ValueError.
        """
        with self._lock:
            return mentions.mentioned(
                self._context,
                text,
                limit_files=limit_files,
                limit_lines=limit_lines,
                limit_bytes=limit_bytes,
            )

    def request_listings(self, answer: object) -> list[ListingRequest]:
        """Note the folders that an agent's structured answer asks to have listed: {"listings":
        [{"path": "src", "recursive": true, "filter": "*.py"}]}, its JSON, or that list. The next
        briefing delivers five of them, once; LISTINGS_SCHEMA describes it to a model.
        ValueError, and nothing noted, for what is no request."""
        with self._lock:
            return listing_requests.request(self._context, answer)

    def briefing(self, message: str | None = None, budget: int = 8_000) -> Briefing:
        """What the agent is to be told before its next turn, in at most so many tokens: warnings,
        what others changed, what the message mentions, the listings it asked for, files that
        belong to what it edited, and, where the message asks to go on or there is none yet, what
        was going on and the files it knows.

        Asking consumes nothing: hand it to acknowledge() when the agent got it. ValueError.
        """
        with self._lock:
            return compose.briefing(self._context, message, budget)


TIDY_EVERY = 16
"""Turns after which a library session removes automatic checkpoints that take too much room. Hooks
do that when a turn ends."""


class Session(Seeking):
    """What one agent was shown of a workspace, and its guarded verbs.

    Paths may be relative to the workspace or absolute inside it. Lines are 1-based and
    inclusive. A session may be used from several threads; its verbs run one at a time.
    """

    def __init__(
        self, ground: SessionContext, agent: str, users: set[object] | None = None
    ) -> None:
        self._context = ground
        self._lock = RLock()
        self._users = users if users is not None else set()  # of one store: this, and its forks
        self._users.add(self._lock)
        self._conversation: Conversation | None = None
        self.id = ground.session
        self.agent = agent

    @property
    def workspace(self) -> str:
        """The absolute path of the workspace."""
        return self._context.workspace.root

    @property
    def aio(self) -> AsyncSession:
        """The same verbs for async hosts."""
        return AsyncSession(self)

    @property
    def conversation(self) -> Conversation:
        """What was said: kept for good, and folded so that it costs less."""
        if self._conversation is None:
            self._conversation = log.Conversation(self._context, self._lock)
        return self._conversation

    def read(self, path: str, lines: tuple[int, int] | None = None) -> results.FileView:
        """Show a file, or lines first..last of it, and record that they were shown.

        At most `read_max_lines` lines and `read_max_bytes` bytes at once; the answer says which
        lines it holds. FileMissing, PathRefused, Unverifiable."""
        if lines is not None and lines[1] < lines[0]:
            raise ValueError(f"lines are (first, last), not {lines}")
        with self._lock:
            return reads.read(self._context, path, lines)

    def saw(
        self,
        path: str,
        *,
        lines: tuple[int, int] | None = None,
        text: str | None = None,
        via: str = "read",
    ) -> None:
        """Record what the host's own tool showed the agent.

        text: exactly what was shown, of the whole file or of `lines`. via: read, mention,
        preview, search, handover, refusal, or the host's own word."""
        with self._lock:
            reads.saw(self._context, path, lines, text, via)

    def dropped(self, path: str | None = None, *, lines: tuple[int, int] | None = None) -> None:
        """Record that text left the context window: of one path or of all, some lines or all."""
        with self._lock:
            reads.dropped(self._context, path, lines)

    def believed(self, path: str) -> str | None:
        """The text that this session's agent believes a file to have: what it was shown, with
        its own edits. None when it was never shown, or its text is never stored."""
        with self._lock:
            return reads.believed(self._context, path)

    def edit(self, path: str, old: str, new: str, *, count: int | None = 1) -> results.EditResult:
        """Replace `old`, which must occur exactly `count` times (None: all). EditRefused."""
        if count is not None and count < 1:
            raise ValueError(f"count is 1 or more, or None for all, not {count}")
        return self._carry_out(path, Replace(old, new, count))

    def edit_lines(self, path: str, start: int, end: int, new: str) -> results.EditResult:
        """Replace lines start..end of the text last seen (end = start - 1 inserts). EditRefused."""
        return self._carry_out(path, ReplaceLines(start, end, new))

    def write(self, path: str, content: str, *, raw: bool = False) -> results.EditResult:
        """Write a whole file; others' changes since it was shown are merged. EditRefused.

        The file's encoding, BOM and line ends are kept unless raw."""
        return self._carry_out(path, WriteWhole(content, raw))

    def create(self, path: str, content: str) -> results.EditResult:
        """Write a new file; EditRefused (exists) when something stands there."""
        return self._carry_out(path, Create(content))

    def delete(self, path: str) -> results.EditResult:
        """Delete a file that is as it was shown; its bytes stay in the store. EditRefused."""
        return self._carry_out(path, Delete())

    def move(self, src: str, dst: str) -> results.EditResult:
        """Rename a file; EditRefused (exists) when something stands at dst."""
        with self._lock:
            return checkpointed_verbs.move(self._context, src, dst)

    def patch(self, unified_diff: str) -> results.EditResult:
        """Apply a unified diff, all of its files or none. EditRefused."""
        with self._lock:
            return checkpointed_verbs.patch(self._context, unified_diff)

    def apply(self, changes: Iterable[Change | Mapping[str, object]]) -> results.BatchResult:
        """Carry out changes of several files, all or none.

        EditRefused for the first that cannot be, naming the rest in `others`."""
        with self._lock:
            return checkpointed_verbs.apply(self._context, [batch.change(c) for c in changes])

    def wrote(
        self,
        path: str,
        *,
        content: str | bytes | None = None,
        revision: str | None = None,
        before: str | bytes | None = None,
        user_modified: bool = False,
    ) -> None:
        """Record that the host's own tool wrote a file; a foreign save in between is told apart.

        content: the whole text it wrote; before: the whole text that stood there when it began."""
        with self._lock:
            host_writes.wrote(
                self._context,
                path,
                content=content,
                revision=revision,
                before=before,
                user_modified=user_modified,
            )
            after_change(self._context, self._context.workspace.locate(path).path)

    def writing(self, path: str, content: str | bytes) -> AbstractContextManager[None]:
        """Around the host's own write of `content`: journalled before, compared after."""
        return checkpointed_verbs.writing(self._context, path, content)

    def ran(self, command: str) -> AbstractContextManager[Run]:
        """Around a command the agent runs: what it changes is recorded as made by it."""
        return checkpointed_verbs.ran(self._context, command)

    def check(
        self, path: str, *, old: str | None = None, content: str | None = None
    ) -> results.Verdict:
        """What the guard would say: of replacing `old`, of writing `content`, or, with neither,
        of relying on what was shown. Changes nothing."""
        with self._lock:
            return file_states.check(self._context, path, old=old, content=content)

    def notice(self, budget: int = 1_500) -> results.Notice | None:
        """The same in words for the agent, in at most so many tokens; None when nothing is new.

        Asking consumes nothing: it is told again until it is acknowledged. The lines it prints
        count as shown then; files for which there was no room are named, and count as told.
        """
        if budget < 1:
            raise ValueError(f"budget is a number of tokens, 1 or more, not {budget}")
        with self._lock:
            return notice_text.notice(self._context, budget)

    def acknowledge(
        self, answer: results.Notice | Briefing | EditRefused | results.FileWarning | str
    ) -> None:
        """Say that the agent got a notice, a briefing, or a refusal: what it printed counts as shown.

        The id of a notice will do, where it was handed over by `sightline notice` or is still what
        notice() says; of a warning, too, which is told no more. A notice not before it is with the
        agent: of two calls made at once, the second knows nothing of what the first was answered.
        UnknownName."""
        with self._lock:
            if isinstance(answer, str | EditRefused | results.Notice | results.FileWarning):
                delivery.acknowledge(self._context, answer)
            else:
                compose.acknowledge(self._context, answer)

    def edited_since(
        self, when: When = None, *, deleted_messages: Iterable[object] = ()
    ) -> results.EditedFiles:
        """Files that are other than they were then, by whom and when. Asking consumes nothing.

        when: a position on the timeline, an aware time (or its ISO text), a checkpoint, its id or
        label; None for the last one that this session was asked for, else its start.
        deleted_messages: those taken out of the conversation, by id, or as the host holds them in
        any format: what was edited from the earliest on, and what their calls write. UnknownName.
        """
        with self._lock:
            gone = removed_messages.deleted(self._context, deleted_messages)
            return changed_since.edited_since(self._context, when, gone)

    def checkpoint(self, label: str = "") -> results.Checkpoint:
        """Keep how the workspace stands now, so that work can be taken back to here.

        It covers all that the ignore rules let us see; what it leaves out is listed in it.
        CheckpointFailed, and nothing recorded, when it cannot be kept."""
        with self._lock:
            return take.take(self._context, label)

    def checkpoints(self) -> list[results.Checkpoint]:
        """The checkpoints of all sessions, oldest first."""
        with self._lock:
            return take.listed(self._context)

    def export(
        self,
        checkpoint: results.Checkpoint | str,
        branch: str | None = None,
        *,
        since: results.Checkpoint | str | None = None,
        until_now: bool = False,
        author: str | None = None,
    ) -> results.Export:
        """Give a checkpoint to git: as a commit on a new branch, or without one as a patch.

        since: the checkpoint that the patch begins at, the one before unless given; until_now: it
        begins at this one, and ends with what stands now. author: of the commit, "Name <mail>".
        CheckpointFailed, UnknownName, Unverifiable; ValueError where these do not go together."""
        with self._lock:
            return export.export(
                self._context, checkpoint, branch, since=since, until_now=until_now, author=author
            )

    def rewind(
        self,
        checkpoint: results.Checkpoint | str | int,
        *,
        files: bool = True,
        conversation: bool = False,
        dry_run: bool = False,
        force_paths: Iterable[str] = (),
        deleted_messages: Iterable[object] = (),
    ) -> results.RewindReport:
        """Take back what this session did since a checkpoint, its id, or a position: its own
        lines go, and everybody else's stay. What cannot be told apart is left alone, and listed.

        files: those on disk; conversation: what this session's agent knows of them; dry_run: only
        say what would be done; force_paths: these get their bytes of then, whoever wrote there;
        deleted_messages: as of edited_since(), to warn of where files stay. A safety checkpoint
        comes first: rewinding to it takes the rewind back. RewindRefused, UnknownName."""
        with self._lock:
            return rewinder.rewind(
                self._context,
                checkpoint,
                files=files,
                conversation=conversation,
                dry_run=dry_run,
                force_paths=force_paths,
                deleted=removed_messages.deleted(self._context, deleted_messages),
            )

    def turn(
        self,
        number: int | None = None,
        *,
        model: str | None = None,
        provider: str | None = None,
        mode: str | None = None,
    ) -> int:
        """Begin a turn; its number (one more than the last unless given).

        model, provider, mode: what the agent uses from here on, recorded when it is another than
        before; None leaves it as it was. ValueError where a model was never named.
        """
        with self._lock:
            begun = usage.turn(self._context, number, model, provider, mode)
            if begun % TIDY_EVERY == 0:
                gc.keep_to_room(self._context, self._context.settings)
            return begun

    def model_usage(self) -> list[results.ModelUsage]:
        """The models that were used, oldest first, each from where it was another than before."""
        with self._lock:
            return usage.models(self._context)

    def warn(self, text: str, paths: str | Iterable[str] = ()) -> results.FileWarning:
        """Warn this session's agent of something about files: it is told once, with the next
        prompt where hooks are connected. The warning stands, across restarts, until it is
        acknowledged. PathRefused; ValueError for no words or more than 2,000 characters."""
        with self._lock:
            return warnings.warn(self._context, text, paths)

    def warnings(self) -> list[results.FileWarning]:
        """This session's warnings that were not acknowledged yet, oldest first."""
        with self._lock:
            return warnings.pending(self._context, self.id)

    def claim(
        self, paths: str | Iterable[str], *, ttl: float | timedelta, exclusive: bool = True
    ) -> results.Claim:
        """Say that this session is at work on paths, for so many seconds, a day at most.

        A path is claimed with all below it; a pattern is as in a .gitignore. Others are told when
        they write there, or refused, as the setting `claims` says. It falls when this session
        releases it or ends, when its time is up, and with the process that holds the session.
        ClaimRefused where another present session's claim may be about the same files, unless
        both are shared (exclusive=False).
        """
        with self._lock:
            return claims.claim(self._context, paths, ttl, exclusive=exclusive)

    def renew(self, claim: results.Claim | str, ttl: float | timedelta) -> results.Claim:
        """Let a claim, or the one of that id, stand for so long from now on. ClaimRefused when it
        does not stand any more."""
        with self._lock:
            return claims.renew(self._context, claim, ttl)

    def release(self, claim: results.Claim | str) -> None:
        """Give up a claim, or the one of that id. ClaimRefused when this session has none such."""
        with self._lock:
            claims.release(self._context, claim)

    def claims(self) -> list[results.Claim]:
        """The claims of all sessions that stand, oldest first."""
        with self._lock:
            return claims.listed(self._context)

    def fork(self, id: str | None = None) -> Session:
        """A new session that knows all that this one knows now. From here on each goes its own
        way. SessionError when there is one of that id."""
        with self._lock:
            ground = handover.fork(self._context, self.agent, id)
        return Session(ground, self.agent, self._users)

    def hand_over(
        self,
        to: Session | str,
        paths: str | Iterable[str] | None = None,
        *,
        lines: tuple[int, int] | None = None,
    ) -> tuple[results.HandedOver, ...]:
        """Count what this session holds of these files (None: of all) as shown to a session that
        it started or was started by: their agent was given this session's text of them.

        The receiver is stale where this session is. lines: of the text this session holds, of one
        file. SessionError when they are no family, or nothing is held of a named file.
        """
        receiver = to if isinstance(to, str) else to.id
        with self._lock:
            return handover.hand_over(self._context, receiver, paths, lines)

    def environment(
        self, host: str | None = None, host_version: str | None = None
    ) -> list[results.Environment]:
        """Where this session's agent ran, oldest first. host, host_version: record that it runs
        in that application now, when that is another than before."""
        with self._lock:
            if host is not None or host_version is not None:
                presence.note(self._context, host, host_version)
            return usage.environments(self._context)

    def close(self) -> None:
        """Give the store back, once no fork made here needs it. The session can be resumed by its
        id."""
        self._users.discard(self._lock)
        if not self._users:
            self._context.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id!r} of {self.agent!r} in {self.workspace!r}>"

    def _carry_out(self, path: str, attempt: Attempt) -> results.EditResult:
        with self._lock:
            return checkpointed_verbs.edit(self._context, path, attempt)
