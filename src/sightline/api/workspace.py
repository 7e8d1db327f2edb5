"""Workspace: all sessions of one folder, and what happened there."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timedelta
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Self

from msgspec import structs

from sightline.api.folders import open_folder
from sightline.api.verbs import HOST_ONLY, FilePath, Natural, Positive, paths_of, verb
from sightline.changes.session_context import SessionContext, now_us
from sightline.changes.session_names import find_session, meant_session, names_of
from sightline.checkpoints.rewind import interrupted
from sightline.config.settings import Settings
from sightline.errors import Hint
from sightline.filesystem.process import holder_of, owner_of
from sightline.history import asked_sessions, session_history, workspace_status
from sightline.history.as_of import AsOf
from sightline.history.session_history import LogQuery, SessionPage, SessionSummary
from sightline.model import validation
from sightline.model.findings import Finding
from sightline.model.log_entries import KINDS, OF_FILES, Entry, Why
from sightline.model.manifest import FileDifference
from sightline.model.marks import sendable
from sightline.model.results import (
    Asked,
    Checkpoint,
    Claim,
    Export,
    FileWarning,
    ModelUsage,
    RewindReport,
    Status,
    TimelineEntry,
    UndoableTurn,
    Unfinished,
)
from sightline.model.session_ids import AT_SHELL, LAST_SESSIONS, NOBODY
from sightline.model.timeline import ALWAYS
from sightline.model.validation import NUMBER_MAX
from sightline.notices import warnings
from sightline.sessions import claims, lifecycle, usage
from sightline.sessions.lifecycle import Forgotten
from sightline.store.opening import url_of
from sightline.store.retention import Swept
from sightline.text.causes import NameOf

if TYPE_CHECKING:  # each verb loads what it needs: `status` is to start at once
    from sightline.api.live import Live
    from sightline.api.session import Session
    from sightline.checkpoints.compare import Story
    from sightline.search.stats import Stats

FOREVER_S = 3600.0
"""Seconds of one wait for changes without a timeout."""


class SessionModel(ModelUsage, frozen=True, kw_only=True):
    """A model that a session used from here on: see ModelUsage."""

    session: str


class Workspace:
    """All sessions of one folder, and its timeline. Looking begins no session.

    Several threads may use a workspace; its verbs run one at a time.
    """

    def __init__(self, context: SessionContext, settings: Settings) -> None:
        self._context = context
        self._settings = settings
        self._lock = RLock()

    def _running(self) -> AbstractContextManager[object]:
        return nullcontext()

    @property
    def root(self) -> str:
        """The absolute path of the folder."""
        return self._context.workspace.root

    @property
    def store_url(self) -> str:
        """The URL of the store, as open_workspace takes it."""
        home = self._settings.state_home
        return url_of(self._settings.store, workspace_root=self.root, state_home=home)

    @property
    def position(self) -> int:
        """The position of the newest fact; 0 before the first."""
        return self._context.store.position()

    @verb(read_only=True, answer="sessions")
    def sessions(self) -> list[SessionSummary]:
        """List all sessions, oldest first, with their agent, presence and number of files."""
        listed = session_history.sessions(self._context, last=None).sessions
        return sorted(listed, key=lambda each: (each.started, each.id))

    @verb(read_only=True)
    def page_of_sessions(self, *, last: Positive | None = LAST_SESSIONS) -> SessionPage:
        """List the present sessions, oldest first, and the last others to end or to begin.

        Args:
            last: List the last N others; None for all.
        """
        return session_history.sessions(self._context, last=last)

    @verb(read_only=True)
    def status(
        self, session: str | None = None, *, last: Positive | None = LAST_SESSIONS
    ) -> Status:
        """Show each session's files, and the changed ones. Present sessions come first.

        Args:
            session: Only this session.
            last: Also list the last N sessions that are not present; None for all.
        """
        return workspace_status.status(self._context, session, last=last)

    @verb(read_only=True, answer="name")
    def name_of(self, session: str) -> str:
        """Return a session's name for people: its title in quotes, else its id or its agent.

        Args:
            session: The id of the session.
        """
        return self.names()(session)

    @verb(read_only=True, answer="path")
    def path_of(self, path: FilePath) -> str:
        """Return the canonical path of a file, as facts have it.

        Args:
            path: The file, also of one that is not there.

        Raises:
            PathRefused.
        """
        return self._context.workspace.locate(os.fspath(path)).path

    def names(self) -> NameOf:
        """Return a function: session -> its name, as `name_of` has it. It asks the store once for each session."""
        return names_of(self._context.store)

    @verb(read_only=True, answer="session")
    def named_session(self, name: str) -> str:
        """Return the id of the session that somebody names.

        Args:
            name: The id, the beginning of the id, or the name.

        Raises:
            SessionError for a name that fits none, or several.
        """
        return find_session(self._context.store, name)

    @verb(read_only=True, answer="session")
    def meant_session(self, name: str) -> str:
        """Return the id of the session that somebody works in, which may be a new one.

        Args:
            name: The id or the name of a session, or the id that a new one gets.

        Raises:
            SessionError for a name that several have.
        """
        return meant_session(self._context.store, name)

    @verb(read_only=True, answer="agent")
    def agent_of(self, session: str) -> str:
        """Return the agent of a session; "" where no session has the id.

        Args:
            session: The id of the session.
        """
        return self._context.store.agents([session]).get(session, "")

    @verb(read_only=True)
    def asked_about(self, path: FilePath | None = None) -> Asked:
        """Return the sessions that a question is about that names none.

        Args:
            path: The question is about this file; about all files by default.
        """
        if path is None:
            return asked_sessions.about_all(self._context)
        return asked_sessions.about_file(self._context, os.fspath(path))

    @verb(read_only=True, answer="session")
    def worked_last(self) -> str:
        """Return the session whose own agent did something last, among those that were shown files."""
        return asked_sessions.worked_last(self._context)

    def look(self, session: str, agent: str = AT_SHELL) -> Session:
        """Return a session to look at: none begins, and none is held from here on.

        Args:
            session: The id; a session that nobody began knows nothing.
            agent: The agent of a session that nobody began.
        """
        from sightline.api.session import Session  # all packages of verbs

        state = self._context.store.session(session)
        own = self._context.for_session(session if state is not None else NOBODY)
        return Session(own, state.agent if state is not None else agent)

    def work(
        self,
        session: str,
        agent: str = AT_SHELL,
        *,
        approve: Callable[[str, str], bool] | None = None,
        held_by: int | None = None,
    ) -> Session:
        """Open a session in the workspace's store, to work. A session of another agent stays that agent's.

        approve: as open_session has it. held_by: a process, such as a shell, that holds a session of this agent
        from here on. SessionError.
        """
        from sightline.api.opening import start

        context = self._context
        state = context.store.session(session)
        # Who works for another agent does not hold its session.
        own = state is None or state.agent == agent
        holder = owner_of(holder_of(held_by)) if own and held_by is not None else None
        known = agent if state is None else state.agent
        ports = (context.store, context.workspace, self._settings)
        return start(*ports, id=session, agent=known, approve=approve, holder=holder)

    @verb(read_only=True)
    def why(self, path: FilePath, session: str | None = None) -> Why:
        """Explain the verdict on a file, fact by fact.

        Args:
            path: The file.
            session: For this session; by default for the one that was shown the file last.
        """
        from sightline.history.why import why

        name = os.fspath(path)
        whose = session or self.asked_about(name).sessions[0]
        return why(self._context.for_session(whose), name)

    @verb(read_only=True, answer="claims")
    def claims(self) -> list[Claim]:
        """List the claims that stand, of all sessions, oldest first."""
        return claims.listed(self._context)

    @verb(read_only=True, answer="warnings")
    def warnings(self, session: str | None = None) -> list[FileWarning]:
        """List the warnings that nobody acknowledged yet.

        Args:
            session: Only those to this session.
        """
        return warnings.pending(self._context, session)

    @verb(read_only=True, answer="models")
    def model_usage(self, session: str | None = None) -> list[SessionModel]:
        """List the models that sessions used, and since when, oldest first.

        Args:
            session: Only this session.
        """
        known = [state.id for state in self._context.store.sessions()]
        used = [
            SessionModel(**structs.asdict(each), session=name)
            for name in (known if session is None else [session])
            for each in usage.models(self._context, name)
        ]
        return sorted(used, key=lambda each: each.position)

    @verb(read_only=True)
    def stats(self, session: str | None = None) -> Stats:
        """Count how searches for files went, by kind of pattern.

        Args:
            session: Only those of this session.
        """
        from sightline.search.stats import stats  # no other look needs the packages of searches

        return stats(self._context.store, session)

    @verb(idempotent=True, destructive=True)
    def delete_session(self, session: str, *, force: bool = False) -> Forgotten:
        """End a session, forget what it was shown, drop its claims.

        What it did stays on the timeline. When it is resumed, it has to read files before it may
        write them.

        Args:
            session: The session.
            force: Delete the session even while its agent is at work.

        Raises:
            SessionError.
        """
        return lifecycle.delete(self._context, session, force=force)

    @verb(read_only=True, answer="entries")
    def timeline(
        self,
        path: FilePath | None = None,
        *,
        session: str | None = None,
        since: int | str | Annotated[datetime | timedelta, HOST_ONLY] | None = None,
        kinds: Iterable[str] | None = None,
        newest: Natural | None = None,
        upto: Natural | None = None,
        diffs: bool = False,
    ) -> list[TimelineEntry]:
        """Show the timeline, or what happened to one file. Oldest first.

        Args:
            path: The file.
            session: Only what this session did.
            since: Show only what happened after this: a position, a time with its zone, or a length
                of time ago.
            kinds: Show only facts of this kind, such as changed.
            newest: Show only the newest N.
            upto: Show only what happened up to this position. The page before one ends before its first
                position.
            diffs: Show the diff of each change of a file.

        Raises:
            ValueError.
        """
        asked = self._query(path, session, since, kinds, newest, upto)
        entries = session_history.select(self._context.store, asked)
        return [entry.as_view() for entry in (self._with_diffs(entries) if diffs else entries)]

    def _with_diffs(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        from sightline.history.file_diffs import diff_of

        texts = self._context.store
        return (structs.replace(entry, diff=diff_of(texts, entry)) for entry in entries)

    def follow(
        self,
        path: FilePath | None = None,
        *,
        session: str | None = None,
        since: int | str | datetime | timedelta | None = None,
        kinds: Iterable[str] | None = None,
        newest: int | None = None,
        diffs: bool = False,
    ) -> Iterator[list[Entry]]:
        """Return an iterator over the facts that `timeline` shows, then at each step over the facts recorded
        since, by any process; mostly none. For faces that put them into words (api.workspace_words)."""
        asked = self._query(path, session, since, kinds, newest)
        found = session_history.follow(self._context.store, asked)
        return (list(self._with_diffs(entries)) for entries in found) if diffs else found

    def _query(
        self,
        path: FilePath | None,
        session: str | None,
        since: int | str | datetime | timedelta | None,
        kinds: Iterable[str] | None,
        newest: int | None,
        upto: int | None = None,
    ) -> LogQuery:
        """Return the part of the timeline that somebody asks for. ValueError."""
        words = (kinds,) if isinstance(kinds, str) else None if kinds is None else tuple(kinds)
        for word in words or ():
            if word not in KINDS:
                raise ValueError(f"a kind is one of {', '.join(KINDS)}, not {word!r}")
        begun = ALWAYS
        if since is not None:
            from sightline.checkpoints.time_points import since as since_when

            begun = since_when(since, self._context.clock())
        at = None if path is None else self._context.workspace.locate(os.fspath(path)).path
        most = None if newest is None else validation.number("newest", newest, 0, NUMBER_MAX)
        return LogQuery(at, session, begun, words, most, upto)

    @verb(answer="checkpoint", long=True)
    def checkpoint(self, label: str = "") -> Checkpoint:
        """Take a checkpoint that belongs to the workspace, not to a session.

        A rewind to it takes back what all sessions did since, or one of them.

        Args:
            label: One line to find the checkpoint by.

        Raises:
            CheckpointFailed; nothing is recorded then.
        """
        from sightline.checkpoints import take

        return take.take(self._context, sendable(label))

    @verb(read_only=True)
    def checkpoints(
        self,
        *,
        newest: Positive | None = None,
        before: Annotated[Checkpoint, HOST_ONLY] | str | None = None,
    ) -> Story:
        """List the checkpoints of all sessions, oldest first, each with the changes since the one before.

        Args:
            newest: List only the newest N.
            before: List only those taken before this checkpoint, its id or label.

        Raises:
            UnknownName, ValueError.
        """
        from sightline.checkpoints.compare import story

        return story(self._context, newest, before)

    @verb(read_only=True, long=True, answer="files")
    def compare(
        self,
        before: Annotated[Checkpoint, HOST_ONLY] | str,
        after: Annotated[Checkpoint, HOST_ONLY] | str | None = None,
    ) -> list[FileDifference]:
        """Show what changed between checkpoints, or since one.

        Args:
            before: The checkpoint, its id or label.
            after: The checkpoint to compare with; the files as they are now by default.

        Raises:
            UnknownName, CheckpointFailed.
        """
        from sightline.checkpoints.compare import compare_named

        return compare_named(self._context, *([before] if after is None else [before, after]))

    @verb(destructive=True, answer="deleted")
    def drop_checkpoints(self, checkpoints: str | Iterable[str]) -> list[str]:
        """Delete checkpoints, by id or label, all or none.

        The next gc forgets the texts that nothing else needs.

        Args:
            checkpoints: The checkpoints.

        Raises:
            UnknownName.
        """
        from sightline.checkpoints import take

        names = [checkpoints] if isinstance(checkpoints, str) else list(checkpoints)
        return take.drop(self._context, names)

    @verb(answer="export", long=True)
    def export(
        self,
        checkpoint: Annotated[Checkpoint, HOST_ONLY] | str,
        branch: str | None = None,
        *,
        since: Annotated[Checkpoint, HOST_ONLY] | str | None = None,
        until_now: bool = False,
        author: str | None = None,
    ) -> Export:
        """Give a checkpoint to git, as a branch or as a patch.

        A branch gets one commit with the workspace as it was, on top of HEAD's commit; paths that
        the checkpoint does not cover are as in HEAD, and listed. Your files, the index, HEAD, other
        branches and your settings stay as they are. A patch begins at the checkpoint before.

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
        from sightline.checkpoints.export import export

        return export(
            self._context, checkpoint, branch, since=since, until_now=until_now, author=author
        )

    @verb(destructive=True, long=True)
    def rewind(
        self,
        checkpoint: Annotated[Checkpoint, HOST_ONLY] | str | int | None,
        paths: FilePath | Iterable[FilePath] = (),
        *,
        dry_run: bool = False,
        force_paths: FilePath | Iterable[FilePath] = (),
        commands: bool = False,
    ) -> RewindReport:
        """Take back what all sessions did since a checkpoint.

        The sessions' own lines go, and yours stay. Changes that may be yours are left alone, and
        listed. A safety checkpoint of the workspace comes first: rewinding to it undoes the rewind.
        The agents are told of the rewind as of any other change of their files.

        Args:
            checkpoint: The checkpoint, its id or label, a position (see log), or a time ("2h" ago).
            paths: Take back only changes of these files, and of files in these folders.
            dry_run: Preview the rewind; change nothing.
            force_paths: Restore this file to the checkpoint, even over changes by others.
            commands: Also take back what changed while a command of a session ran, and changes of
                layout after its edits. They may be yours.

        Returns:
            What became of each file; `sessions` lists who changed them.

        Raises:
            RewindRefused, UnknownName.
        """
        from sightline.checkpoints.rewind import rewinder

        return rewinder.rewind(
            self._context,
            checkpoint,
            dry_run=dry_run,
            force_paths=paths_of(force_paths),
            commands=commands,
            everyone=True,
            only=paths_of(paths),
        )

    @verb(read_only=True)
    def as_of(self, position: int) -> AsOf:
        """Return the sessions' knowledge and the disk view as of a position.

        Args:
            position: A position on the timeline; 0 for the time before the first fact.

        Raises:
            ValueError for a position that the timeline does not have.
        """
        return AsOf(self._context.store, position)

    def watch(
        self, *, timeout_s: float | None = None, unshown: bool = True
    ) -> Generator[TimelineEntry, None, None]:
        """Yield changes of files as they happen, with their cause.

        Files that differed before come first.

        Args:
            timeout_s: End when nothing happens for so many seconds; never by default.
            unshown: Also files that no session was shown; they are on no timeline.
        """
        with self.live(unshown=unshown) as live:
            while True:
                entries = live.news(FOREVER_S if timeout_s is None else timeout_s)
                if entries is None and timeout_s is not None:
                    return
                for entry in entries or ():
                    if entry.kind in OF_FILES:
                        yield entry.as_view()

    def live(self, *, unshown: bool = False) -> Live:
        """Begin to look at the workspace as it changes.

        unshown: also at files that no session was shown.
        """
        from sightline.api.live import Live

        return Live(self._context, unshown=unshown)

    @verb(read_only=True, answer="rewinds")
    def interrupted_rewinds(self, session: str | None = None) -> list[Unfinished]:
        """List the rewinds whose process died before their end, oldest first.

        Args:
            session: Only those of this session.
        """
        return interrupted.listed(self._context, session)

    @verb(idempotent=True, destructive=True, answer="finished")
    def finish_interrupted(self, session: str) -> Hint:
        """Finish the rewind of a session whose process died. Return what was done, no words where there was none.

        Args:
            session: The session; "" for a rewind of all sessions.
        """
        from sightline.checkpoints.rewind import recovery

        return recovery.finish(self._context.for_session(session))

    @verb(read_only=True)
    def last_turn(
        self, session: str | None = None, paths: FilePath | Iterable[FilePath] = ()
    ) -> UndoableTurn:
        """Find the newest turn that an undo takes back.

        Args:
            session: Of this session; by default of the one that changed a file last.
            paths: Count only changes of these files, and of files in these folders.

        Raises:
            RewindRefused where there is none.
        """
        from sightline.checkpoints.rewind import rewinder

        return rewinder.last_turn(self._context, session, paths_of(paths))

    @verb(read_only=True, answer="session")
    def taken_by(self, checkpoint: str) -> str:
        """Return the session that took a checkpoint for itself; "" for a checkpoint of the workspace.

        Args:
            checkpoint: The checkpoint, its id or label.

        Raises:
            UnknownName.
        """
        from sightline.checkpoints import take

        recorded, fact = take.find(self._context, checkpoint)
        is_shared = take.is_of_workspace(recorded.session, fact.why)
        return "" if is_shared else recorded.session

    @verb(read_only=True, long=True, answer="checks")
    def doctor(self) -> list[Finding]:
        """Check what the store holds and which files of the tree are out of sight: counts, checkpoints that
        could not be taken, gaps in sight, ignore files that are not read, interrupted rewinds."""
        from sightline.history.doctor import checks_inside

        return list(checks_inside(self._context))

    @verb(destructive=True, idempotent=True, long=True)
    def gc(
        self,
        *,
        older_than: float | Annotated[timedelta, HOST_ONLY] | None = None,
        max_size: int | None = None,
        forget_commands: Iterable[str] = (),
        dry_run: bool = False,
    ) -> Swept:
        """Forget texts that nobody needs, and commands that you name.

        Texts that are older than a limit are forgotten first. If the others still take too much
        room, the oldest of them are forgotten, too. A text stays while a session at work relies on
        it, or while the agent's edit that replaced it is young. All facts and messages stay.

        Args:
            older_than: Forget texts older than this, a number in seconds; the setting keep_days by default.
            max_size: Bytes that kept texts may take; the setting keep_bytes by default.
            forget_commands: Forget the recorded shell commands that have this text.
            dry_run: Say what would go, and forget nothing.
        """
        from sightline.checkpoints.gc import gc

        age_us = None if older_than is None else _microseconds(older_than)
        return gc(
            self._context,
            self._settings,
            age_us=age_us,
            room=max_size,
            commands=forget_commands,
            dry_run=dry_run,
        )

    @contextmanager
    def attending(self) -> Iterator[SessionContext]:
        """Give the parts of the workspace to a face that has steps of its own, such as an import, and hold the
        workspace until the block ends. Programs call verbs."""
        with self._lock:
            yield self._context

    def close(self) -> None:
        """Close the store."""
        self._context.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Workspace {self.root!r}>"


def open_workspace(
    path: FilePath = ".",
    store: str | None = None,
    *,
    settings: Settings | None = None,
    clock: Callable[[], int] | None = None,
) -> Workspace:
    """Open a workspace to look at all its sessions.

    Args:
        path: The folder, as open_session takes it.
        store: The URL of the store.
        settings: The settings; those of the user and the workspace by default.
        clock: Returns UTC microseconds since 1970.

    Raises:
        WorkspaceError, SettingsError, StoreError.
    """
    kept, tree, chosen = open_folder(path, store, settings)
    try:
        return Workspace(session_history.survey(kept, tree, chosen, clock or now_us), chosen)
    except BaseException:
        kept.close()
        raise


def _microseconds(age: float | timedelta) -> int:
    """Return a length of time. ValueError for one that is negative or longer than time itself."""
    try:
        length = age if isinstance(age, timedelta) else timedelta(seconds=age)
    except (OverflowError, ValueError):
        length = timedelta(-1)
    if length < timedelta(0):
        raise ValueError(f"older_than is a number of seconds, not {age!r}")
    return length // timedelta(microseconds=1)
