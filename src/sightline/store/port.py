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
        stats: Mapping[str, Stamp] | None = None,
        durable: bool = False,
        like: Mapping[Revision, Revision] | None = None,
    ) -> list[Recorded]:
        """Record facts, their texts and their projection rows in one transaction.

        at: now, UTC microseconds (recorded_at, and happened_at unless that is given). expect: path
        -> position of the session's knowledge row on which the facts were decided, 0 for no row;
        StoreConflict, and nothing written, when another writer changed a row. column: StoreConflict
        when the session has a fact behind this position. The result has no redundant observations
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
    ) -> Iterator[Recorded]:
        """Return facts in order. path: facts that name the path, in any field. since: facts that
        happened then or later (UTC microseconds). newest: only the last N."""

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

    def sessions(self) -> list[SessionState]:
        """Return all sessions, oldest first, without model.timeline.NOBODY."""

    def knowers(self, path: str) -> dict[str, Knowledge]:
        """Return the knowledge of a canonical path of each session that has not ended, by id."""

    def claims(self) -> dict[str, Claim]:
        """Return every claim that was not released, by id, oldest first. A claim may have expired,
        and its session may be gone (sessions.claims)."""

    def pending(self) -> list[Recorded]:
        """Return every WriteIntended that no Changed, Moved or WriteAbandoned has settled, and every
        RewindStarted of a known owner that no RewindEnded of its session has ended."""

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        """Return the stat cache, by path in order. A stamp saves hashing; it is never a fact."""

    def keep(
        self, blobs: Iterable[bytes] | dict[Revision, bytes], *, durable: bool = False
    ) -> None:
        """Keep texts that no fact names yet. A dict has them by their revisions."""

    def blob(self, revision: Revision) -> bytes | None:
        """Return the bytes of a revision, checked against it; None when they are not kept."""

    def texts(self) -> list[KeptText]:
        """Return every kept text with its size in the store."""

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
