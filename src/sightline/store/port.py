"""The port of all stores. Each store passes one contract (tests/store/contract.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, structs

from sightline.model.active_claims import Claim
from sightline.model.events import Fact
from sightline.model.projections import DiskFile, Knowledge, SessionState
from sightline.model.revision import Revision, Stamp
from sightline.model.timeline import Recorded
from sightline.store.retention import KeptText


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


class Store(Protocol):
    """An append-only timeline of one workspace, its views, and the texts that its facts name.

    Every process and thread of this machine may have a store open at once. Errors are StoreError.
    """

    def append(
        self,
        session: str,
        facts: Sequence[Fact],
        *,
        at: int,
        happened_at: int | None = None,
        blobs: Iterable[bytes] | dict[Revision, bytes] = (),
        expect: Mapping[str, int] | None = None,
        column: int | None = None,
        needed: Iterable[Revision] = (),
        needed_since: int | None = None,
        stats: Mapping[str, Stamp] | None = None,
        durable: bool = False,
        like: Mapping[Revision, Revision] | None = None,
    ) -> list[Recorded]:
        """Record facts, their texts and their projection rows in one transaction.

        at: now, UTC microseconds (recorded_at, and happened_at unless that is given). expect: path
        -> position of the session's knowledge row on which the facts were decided, 0 for no row;
        StoreConflict, and nothing written, when another writer changed a row. column: StoreConflict
        when the session has a fact behind this position. needed: StoreConflict when one of these
        texts was deleted behind the position needed_since. The result has no redundant observations
        (store.event_index.redundant). stats: updates of the stat cache. durable: the facts survive
        a power cut once this returns, else the death of the process. like: a text -> an older text
        that it resembles, so that it takes less room; the facts may say the same.
        """

    def timeline(
        self,
        *,
        session: str | None = None,
        path: str | None = None,
        kinds: Sequence[type[Fact]] | None = None,
        after: int = 0,
        upto: int | None = None,
        since: int | None = None,
        newest: int | None = None,
        oldest: int | None = None,
    ) -> Iterator[Recorded]:
        """Return facts in order. path: facts that name the path, in any field. since: facts that
        happened then or later (UTC microseconds). newest: only the last N; oldest: only the first
        N. Give one of both at most."""

    def count(self, path: str, kinds: Sequence[type[Fact]], most: int) -> int:
        """Return the number of facts of some kinds that name a path, without those of archives.
        most: count only the last N."""

    def paths_changed(self, session: str) -> list[str]:
        """Return the paths that Changed facts of a session are about, each once, in no order."""

    def position(self) -> int:
        """Return the position of the newest fact; 0 when there is none."""

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        """Return a session's knowledge of one path, or of the other name of one (Seen.name)."""

    def known(self, session: str, upto: int | None = None) -> dict[str, Knowledge]:
        """Return all knowledge of a session, now or at a position, by path in order of path."""

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
        newest: int | None = None,
    ) -> list[SessionState]:
        """Return sessions, oldest first, without model.session_ids.NOBODY. ended: only those that have
        ended, or only those that have not. parent: only those that this session started. newest:
        only the last N to begin, or to end where ended is True."""

    def newest_sessions(self, kind: type[Fact], most: int) -> dict[str, str | None]:
        """Return the sessions of the last `most` facts of a kind that has no path, the newest first,
        each with its holder: those that have not ended, without model.session_ids.NOBODY."""

    def held_on(self, machine: str) -> dict[str, str]:
        """Return the holders of the sessions that have not ended and that processes of a machine
        hold, by session. machine: as in filesystem.process.owner."""

    def active_since(self, at: int, most: int) -> list[str]:
        """Return the sessions with a fact that was recorded then or later, in no order, without
        model.session_ids.NOBODY. at: UTC microseconds. most: look at the last N facts of the
        timeline."""

    def session_count(self, *, ended: bool | None = None, archived: bool | None = None) -> int:
        """Return the number of sessions, without model.session_ids.NOBODY. ended: as in sessions().
        archived: only those that were imported from a recording, or only the others."""

    def agents(self, sessions: Iterable[str]) -> dict[str, str]:
        """Return the names of the agents of these sessions, by session; unknown ids are left out."""

    def knowers(self, path: str, most: int = 50) -> dict[str, Knowledge]:
        """Return the knowledge of a canonical path of each session that has not ended, by id. most:
        look at the sessions that learned of the path last."""

    def claims(self) -> dict[str, Claim]:
        """Return every claim that was not released, by id, oldest first. A claim may have expired,
        and its session may be gone (sessions.claims)."""

    def pending(self) -> list[Recorded]:
        """Return every WriteIntended that no Changed, Moved or WriteAbandoned has settled, and every
        RewindStarted of a known owner that no RewindEnded of its session has ended."""

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        """Return the stat cache, by path in order. A stamp saves hashing; it is never a fact."""

    def keep(self, blobs: Iterable[bytes] | dict[Revision, bytes]) -> None:
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

    def texts(self) -> list[KeptText]:
        """Return every kept text, and every text whose marks are kept, with its size in the store."""

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

    def rewrite_commands(self, rewrite: Callable[[str], str]) -> int:
        """Rewrite the texts of shell commands in all facts and in the disk view, and return the number
        of facts that changed. rewrite: a command -> what is kept of it; called again on its result it
        changes nothing. The old texts are overwritten in the file of the store; its log may hold them
        until the last process closes the store. Only this changes facts."""

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
