"""The ports of all stores. Each store passes one contract (tests/store/contract.py).

A caller names the smallest port that it needs: Timeline, Views, Texts or Upkeep. Store is all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, structs

from sightline.model.active_claims import Claim
from sightline.model.events import Fact
from sightline.model.projections import DiskFile, Knowledge, SessionState, Stash
from sightline.model.revision import Revision, Stamp
from sightline.model.timeline import Position, Recorded
from sightline.store.retention import KeptText


class Append(Struct, frozen=True):
    """Facts of one session with their texts, to be recorded whole or not at all, and the conditions
    under which they were decided.

    at: now, UTC microseconds (recorded_at, and happened_at unless that is given). texts: kept with the
    facts; a dict has them by their revisions. like: a text -> an older text that it resembles, so that
    it takes less room; the facts may say the same. stats: updates of the stat cache. durable: the facts
    survive a power cut once they are recorded, else the death of the process.

    expect: path -> position of the session's knowledge row on which the facts were decided, 0 for no
    row. column: the session has no fact behind this position. needed: none of these texts was deleted
    behind the position needed_since.
    """

    session: str
    facts: Sequence[Fact]
    at: int
    happened_at: int | None = None
    texts: Iterable[bytes] | dict[Revision, bytes] = ()
    like: Mapping[Revision, Revision] = {}
    stats: Mapping[str, Stamp] = {}
    durable: bool = False
    expect: Mapping[str, Position] = {}
    column: Position | None = None
    needed: Iterable[Revision] = ()
    needed_since: Position | None = None


class Room(Struct, frozen=True):
    """Bytes that a store takes. facts: the timeline; views: rows folded from the timeline, with all
    indexes; caches: of stats; texts: kept texts; free: freed room that is not in use again yet;
    log: the write-ahead log."""

    facts: int = 0
    views: int = 0
    caches: int = 0
    texts: int = 0
    free: int = 0
    log: int = 0

    @property
    def total(self) -> int:
        """Return the sum of all parts."""
        return sum(structs.astuple(self))


class Timeline(Protocol):
    """The append-only list of the facts of one workspace."""

    def append(self, append: Append) -> list[Recorded]:
        """Record facts, their texts, and the rows of the views, in one transaction. Return the facts
        without redundant observations (store.event_index.redundant). StoreConflict, and nothing
        written, where a condition does not hold any more."""

    def timeline(
        self,
        *,
        session: str | None = None,
        path: str | None = None,
        kinds: Sequence[type[Fact]] | None = None,
        after: Position = 0,
        upto: Position | None = None,
        since: int | None = None,
        newest: int | None = None,
        limit: int | None = None,
    ) -> Iterator[Recorded]:
        """Return facts in order. path: facts that name the path, in any field. since: facts that
        happened then or later (UTC microseconds). limit: only the first N; newest: only the last N.
        Give one of both at most. The next page begins after the last position, or ends before the
        first one (upto)."""

    def paths_changed(self, session: str) -> list[str]:
        """Return the paths that Changed facts of a session are about, each once, in no order."""

    def position(self) -> Position:
        """Return the position of the newest fact; 0 when there is none."""

    def active_since(self, at: int) -> list[str]:
        """Return the sessions that have not ended and whose newest fact was recorded then or later, in no
        order, without model.session_ids.NOBODY. at: UTC microseconds."""


class Views(Protocol):
    """The views of the timeline. Each view equals the fold of all facts."""

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        """Return a session's knowledge of one path, or of the other name of one (Seen.name)."""

    def known(self, session: str, upto: Position | None = None) -> dict[str, Knowledge]:
        """Return all knowledge of a session, now or at a position, by path in order of path."""

    def knowers(self, path: str, machine: str, at: int) -> dict[str, Knowledge]:
        """Return the knowledge of a canonical path by session: of each session in held_on(machine) or
        active_since(at) that knows the path."""

    def disk(self, path: str) -> DiskFile | None:
        """Return the row of a path in the disk view."""

    def disks(self) -> dict[str, DiskFile]:
        """Return the whole disk view, by path in order of path."""

    def paths(self) -> list[str]:
        """Return the paths of the disk view, in no order."""

    def session(self, session: str) -> SessionState | None:
        """Return the state of a session."""

    def sessions(
        self,
        *,
        ended: bool | None = None,
        parent: str | None = None,
        after: str | None = None,
        before: str | None = None,
        limit: int | None = None,
        newest: int | None = None,
    ) -> list[SessionState]:
        """Return sessions, oldest first, without model.session_ids.NOBODY. ended: only those that have
        ended, or only those that have not. parent: only those that this session started. after,
        before: only those that stand behind this session, or before it. limit: only the first N;
        newest: only the last N. Where ended is True, they stand in the order of their ends."""

    def held_on(self, machine: str) -> dict[str, str]:
        """Return the holders of the sessions that have not ended and that processes of a machine
        hold, by session. machine: as in filesystem.process.owner."""

    def session_count(self, *, ended: bool | None = None, archived: bool | None = None) -> int:
        """Return the number of sessions, without model.session_ids.NOBODY. ended: as in sessions().
        archived: only those that were imported from a recording, or only the others."""

    def agents(self, sessions: Iterable[str]) -> dict[str, str]:
        """Return the names of the agents of these sessions, by session; unknown ids are left out."""

    def claims(self) -> dict[str, Claim]:
        """Return every claim that was not released, by id, oldest first. A claim may have expired,
        and its session may be gone (sessions.claims)."""

    def stashes(self) -> dict[str, Stash]:
        """Return every entry of git's stash that a recorded operation names and that none took or dropped
        since, by commit, oldest first."""

    def pending(self) -> list[Recorded]:
        """Return every WriteIntended that no Changed, Moved or WriteAbandoned has settled, and every
        RewindStarted of a known owner that no RewindEnded of its session has ended."""

    def running(self, sessions: Iterable[str] | None = None) -> list[Recorded]:
        """Return every CommandStarted that is under way, in order: no CommandEnded of its run, no new
        turn and no end of its session came since. sessions: only those of these sessions. Sessions that
        died without a word may have left many."""

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        """Return the stat cache, by path in order. A stamp saves hashing; it is never a fact."""


class Texts(Protocol):
    """The texts that facts name, by the hash of their bytes."""

    def keep(self, texts: Iterable[bytes] | dict[Revision, bytes]) -> None:
        """Keep texts that no fact names yet. A dict has them by their revisions."""

    def stored_among(self, revisions: Iterable[Revision]) -> set[Revision]:
        """Return those of the revisions whose texts are kept. No text is read."""

    def blob(self, revision: Revision) -> bytes | None:
        """Return the bytes of a revision, checked against it; None when they are not kept."""

    def keep_marks(self, revision: Revision, marks: bytes) -> None:
        """Keep the marks of a text that may not be kept (model.line_marks), by the text's revision."""

    def marks(self, revision: Revision) -> bytes | None:
        """Return the marks of a text; None where none are kept."""

    def marks_key(self) -> bytes:
        """Return the key of this store's marks: random, the same for ever, and in no other store."""

    def texts(self, *, after: Revision = "", limit: int | None = None) -> list[KeptText]:
        """Return every kept text, and every text whose marks are kept, with its size in the store, in
        order of revision. after: only those behind this revision; limit: only the first N."""

    def purge(
        self,
        choose: Callable[[], Iterable[Revision]],
        reason: str,
        *,
        session: str,
        at: int,
        secret: bool = False,
    ) -> tuple[Revision, ...]:
        """Delete texts, record one BlobPurged, and return those that were kept. choose: returns the
        texts; nobody else can write while it runs, so it may read the timeline. secret: before this
        returns the bytes are overwritten on the disk, in the log, too."""


class Upkeep(Protocol):
    """The care of a store as a whole."""

    def tally(self) -> dict[str, int]:
        """Return the number of facts of each kind, by its name."""

    def room(self) -> Room:
        """Return the room of the store on disk."""

    def tidy(self) -> int:
        """Give freed room back to the system, a little at a time, so that no writer waits long.
        Return the bytes by which the store is smaller."""

    def verify(self) -> list[str]:
        """Return one sentence for each view that differs from the fold, and each damaged text."""

    def close(self) -> None:
        """Close the store. Its facts stay."""


class Store(Timeline, Views, Texts, Upkeep, Protocol):
    """The store of one workspace. Every process and thread of this machine may have it open at once.
    Errors are StoreError."""


class Engine(Struct, frozen=True):
    """The program that a store of a kind is kept by. is_racy: this version of it can lose a commit where
    two processes write at once, which the store guards against."""

    name: str
    version: str
    is_racy: bool = False


class StoreKind:
    """Open the stores of one kind, and say where they are. The answers here are those of a store without
    files. url: as open_store takes it. usage: how a user writes such a URL, for errors."""

    usage = ""

    def open(self, url: str, root: str) -> Store:
        """Return the store that a URL names, and make it where it does not exist. root: of the
        workspace. StoreError."""
        raise NotImplementedError

    def open_to_look(self, url: str) -> Store | None:
        """Return the store to read only; None where there is none yet, or none to look at. Makes no
        file, and waits for nobody. StoreError, OSError."""
        return None

    def is_held(self, url: str) -> bool:
        """Return whether another process keeps everybody from writing. False where the store cannot
        be asked. StoreError."""
        return False

    def files(self, url: str) -> list[str]:
        """Return the files that the store may have, the store itself first."""
        return []

    def size(self, url: str) -> int:
        """Return the bytes of the store and its log. OSError."""
        return 0

    def engine(self) -> Engine | None:
        """Return the program that keeps these stores, where it is not Sightline alone."""
        return None
