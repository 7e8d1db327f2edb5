"""Workspace: one folder with all its sessions, as the library's user looks at it."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from datetime import datetime, timedelta
from threading import RLock
from types import TracebackType
from typing import Self

from msgspec import Struct, structs

from sightline.api.opening import now_us, ports, settings_of, start
from sightline.changes.authors import moment
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.gc import gc
from sightline.checkpoints.swept_texts import Swept
from sightline.checkpoints.time_points import ALWAYS, Since, SinceWhen, since
from sightline.config.settings import Settings
from sightline.filesystem.discovery import discover
from sightline.history import session_history
from sightline.history.as_of import AsOf
from sightline.history.log_entries import KINDS, OF_FILES, Entry
from sightline.history.session_history import Asked, SessionSummary
from sightline.history.watching import Watching
from sightline.model.events import Cause
from sightline.model.spans import Spans

KEEPER = "library"
"""The session, and its agent, whose fact it is when a program has texts forgotten."""


FOREVER_S = 3600.0
"""How long is waited at a time for what may never come."""


class TimelineEntry(Struct, frozen=True):
    """What happened, once. position: None for what a watcher saw of a file that no session was
    shown. kind: a word such as seen, changed, refused (history.log_entries.KINDS).
    src: where a moved file came from; lines: 1-based; before, after: revisions, or commits for a
    move of git's; cause.detail: what is particular to the kind; paths: of a fact about several."""

    position: int | None
    at: datetime
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


class Workspace:
    """All sessions of one folder, and what happened there. Looking begins no session.

    May be used from several threads; its verbs run one at a time.
    """

    def __init__(self, ground: SessionContext, settings: Settings) -> None:
        self._context = ground
        self._settings = settings
        self._lock = RLock()

    @property
    def root(self) -> str:
        """The absolute path of the folder."""
        return self._context.workspace.root

    @property
    def position(self) -> int:
        """Position of the newest fact; 0 when nothing happened yet."""
        return self._context.store.position()

    def sessions(self) -> list[SessionSummary]:
        """Every session, oldest first: whose it is, whether its agent is there, its files' count."""
        with self._lock:
            return session_history.sessions(self._context)

    def timeline(
        self,
        path: str | None = None,
        *,
        session: str | None = None,
        since: SinceWhen | None = None,
        kinds: Iterable[str] | None = None,
        newest: int | None = None,
    ) -> list[TimelineEntry]:
        """What happened, in order: all of it, or what names a file, is one session's, or of some
        kinds. since: a position (what stands behind it), an aware datetime, a timedelta (that
        long ago), or a text that `log --since` takes. newest: only the last N. ValueError."""
        asked = Asked(session=session, since=self._since(since), kinds=_words(kinds), newest=newest)
        with self._lock:
            if path is not None:
                asked = structs.replace(asked, path=self._context.workspace.locate(path).path)
            return [_public(each) for each in session_history.select(self._context.store, asked)]

    def as_of(self, position: int) -> AsOf:
        """What was known, and what stood on disk, when the timeline was `position` facts long.
        ValueError for a position that it does not have."""
        with self._lock:
            return AsOf(self._context.store, position)

    def watch(
        self, *, timeout_s: float | None = None, unshown: bool = True
    ) -> Generator[TimelineEntry, None, None]:
        """What becomes of files from now on, as it happens and by whom; what differed before comes
        first. Ends when nothing happens for timeout_s seconds (None: never). unshown: files that no
        session was shown, too, which are on no timeline."""
        with Watching(self._context, unshown=unshown) as watching:
            while True:
                glance = watching.wait(FOREVER_S if timeout_s is None else timeout_s)
                if glance is None and timeout_s is not None:
                    return
                for entry in glance.entries if glance is not None else ():
                    if entry.kind in OF_FILES:
                        yield _public(entry)

    def gc(
        self,
        *,
        older_than: timedelta | None = None,
        max_size: int | None = None,
        dry_run: bool = False,
    ) -> Swept:
        """Forget kept texts that nobody needs: the old ones, then the oldest beyond `max_size`
        bytes; without these the user's settings say (keep_days, keep_bytes). Facts stay."""
        age_us = None if older_than is None else older_than // timedelta(microseconds=1)
        own = self._context
        with self._lock:
            if not dry_run:
                keeper = start(own.store, own.workspace, self._settings, id=KEEPER, clock=own.clock)
                own = keeper._context  # noqa: SLF001 - of our own making
            return gc(own, self._settings, age_us=age_us, room=max_size, dry_run=dry_run)

    def close(self) -> None:
        """Give the store back."""
        self._context.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Workspace {self.root!r}>"

    def _since(self, when: SinceWhen | None) -> Since:
        return ALWAYS if when is None else since(when, self._context.clock())


def open_workspace(
    path: str | os.PathLike[str] = ".",
    store: str | None = None,
    *,
    settings: Settings | None = None,
    clock: Callable[[], int] | None = None,
) -> Workspace:
    """Open a workspace to look at all its sessions. path, store, settings and clock are as
    open_session takes them. WorkspaceError, SettingsError, StoreError."""
    name = os.fspath(path)
    root = discover(None if name == "." else name)
    chosen = settings if settings is not None else settings_of(root, store)
    kept, tree = ports(root, chosen, store)
    try:
        return Workspace(session_history.survey(kept, tree, chosen, clock or now_us), chosen)
    except BaseException:
        kept.close()
        raise


def _words(kinds: Iterable[str] | None) -> tuple[str, ...] | None:
    if kinds is None:
        return None
    words = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    for word in words:
        if word not in KINDS:
            raise ValueError(f"a kind is one of {', '.join(KINDS)}, not {word!r}")
    return words


def _public(entry: Entry) -> TimelineEntry:
    fields = {
        name: value
        for name, value in structs.asdict(entry).items()
        if name in TimelineEntry.__struct_fields__
    }
    return TimelineEntry(**{**fields, "position": entry.position or None, "at": moment(entry.at)})
