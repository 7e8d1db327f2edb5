"""Workspace: all sessions of one folder, and what happened there."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from threading import RLock
from typing import Annotated, Self

from sightline.api.folders import open_folder
from sightline.api.verbs import HOST_ONLY, FilePath, Natural, paths_of, verb
from sightline.changes.session_context import SessionContext, now_us
from sightline.checkpoints import take
from sightline.checkpoints.gc import gc
from sightline.checkpoints.rewind import rewinder
from sightline.checkpoints.time_points import since as since_when
from sightline.config.settings import Settings
from sightline.history import session_history
from sightline.history.as_of import AsOf
from sightline.history.log_entries import KINDS, OF_FILES
from sightline.history.session_history import LogQuery, SessionSummary
from sightline.history.watching import Watching
from sightline.model import validation
from sightline.model.marks import sendable
from sightline.model.results import Checkpoint, RewindReport, TimelineEntry
from sightline.model.timeline import ALWAYS
from sightline.model.validation import NUMBER_MAX
from sightline.store.retention import Swept

KEEPER = "library"
"""The session, and its agent, that records that a program had texts forgotten."""

FOREVER_S = 3600.0
"""Seconds of one wait for changes without a timeout."""


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
    def position(self) -> int:
        """The position of the newest fact; 0 before the first."""
        return self._context.store.position()

    @verb(read_only=True, answer="sessions")
    def sessions(self) -> list[SessionSummary]:
        """List all sessions, oldest first, with their agent, presence and number of files."""
        listed = session_history.sessions(self._context, last=None).sessions
        return sorted(listed, key=lambda each: (each.session.started, each.id))

    @verb(read_only=True, answer="entries")
    def timeline(
        self,
        path: FilePath | None = None,
        *,
        session: str | None = None,
        since: int | str | Annotated[datetime | timedelta, HOST_ONLY] | None = None,
        kinds: Iterable[str] | None = None,
        newest: Natural | None = None,
    ) -> list[TimelineEntry]:
        """Show the timeline, or what happened to one file. Oldest first.

        Args:
            path: The file.
            session: Only what this session did.
            since: Show only what happened after this: a position, a time with its zone, or a length
                of time ago.
            kinds: Show only facts of this kind, such as changed.
            newest: Show only the newest N.

        Raises:
            ValueError.
        """
        words = (kinds,) if isinstance(kinds, str) else None if kinds is None else tuple(kinds)
        for word in words or ():
            if word not in KINDS:
                raise ValueError(f"a kind is one of {', '.join(KINDS)}, not {word!r}")
        begun = ALWAYS if since is None else since_when(since, self._context.clock())
        at = None if path is None else self._context.workspace.locate(os.fspath(path)).path
        most = None if newest is None else validation.number("newest", newest, 0, NUMBER_MAX)
        asked = LogQuery(at, session, begun, words, most)
        return [entry.as_view() for entry in session_history.select(self._context.store, asked)]

    @verb(answer="checkpoint", long=True)
    def checkpoint(self, label: str = "") -> Checkpoint:
        """Take a checkpoint that belongs to the workspace, not to a session.

        A rewind to it takes back what all sessions did since, or one of them.

        Args:
            label: One line to find the checkpoint by.

        Raises:
            CheckpointFailed; nothing is recorded then.
        """
        return take.take(self._context, sendable(label))

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
        listed. A safety checkpoint of the workspace comes first: rewinding to it undoes the rewind. The
        agents are told of the rewind as of any other change of their files.

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
        with Watching(self._context, unshown=unshown) as watching:
            while True:
                entries = watching.wait(FOREVER_S if timeout_s is None else timeout_s)
                if entries is None and timeout_s is not None:
                    return
                for entry in entries or ():
                    if entry.kind in OF_FILES:
                        yield entry.as_view()

    @verb(destructive=True, idempotent=True, long=True)
    def gc(
        self,
        *,
        older_than: float | Annotated[timedelta, HOST_ONLY] | None = None,
        max_size: int | None = None,
        forget_commands: Iterable[str] = (),
        dry_run: bool = False,
    ) -> Swept:
        """Forget texts that nobody needs, and secrets in commands.

        Texts that are older than a limit are forgotten first. If the others still take too much
        room, the oldest of them are forgotten, too. A text stays while a session that is at work
        relies on it. The text that an agent's newest edit of a file replaced stays as long as that edit is young, too. All
        facts of the timeline stay. Shell commands that an older version recorded lose their
        secrets. Messages of conversations stay as they were.

        Args:
            older_than: Forget texts older than this, a number in seconds; the setting keep_days by default.
            max_size: Bytes that kept texts may take; the setting keep_bytes by default.
            forget_commands: Forget the recorded shell commands that have this text.
            dry_run: Say what would go, and forget nothing.
        """
        age_us = None if older_than is None else _microseconds(older_than)
        own = self._context
        if not dry_run:
            from sightline.api.opening import start  # all verbs of sessions: looking needs none

            keeper = start(own.store, own.workspace, self._settings, id=KEEPER, clock=own.clock)
            own = keeper._context  # noqa: SLF001 - of our own making
        return gc(
            own,
            self._settings,
            age_us=age_us,
            room=max_size,
            commands=forget_commands,
            dry_run=dry_run,
        )

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
