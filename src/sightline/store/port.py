"""How facts are kept: one port, several stores, one contract (tests/store/contract.py)."""

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
    """Bytes that a store takes. facts: the timeline; views: what is folded from it, with all
    indexes; caches: of stats; texts: all that are kept; free: what was freed and is not used again
    yet; log: not carried over yet."""

    facts: int = 0
    views: int = 0
    caches: int = 0
    texts: int = 0
    free: int = 0
    log: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return sum(structs.astuple(self))


class Store(Protocol):
    """An append-only timeline of one workspace, its views, and the texts it names.

    Every process and thread of this machine may hold one open at once. Errors are StoreError.
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

        at: now, UTC microseconds (recorded_at; happened_at when not given apart). expect:
        path -> position of the session's knowledge row that the facts were decided on (0 for
        none); StoreConflict, nothing written, when another writer moved it. column: the same
        where the session has a fact behind this position of the timeline. Redundant
        observations (store.event_index.redundant) are left out of the answer. stats: refreshes the
        stat cache along the way. durable: on the platter before this returns (power-safe),
        else safe against the death of the process. like: one of the texts -> an older one that it
        resembles, as far as the facts do not say that: it takes less room so.
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
        """Facts in order. path: those that name it, in any field. since: those that happened then
        or later (UTC microseconds). newest: only the last N."""

    def position(self) -> int:
        """Position of the newest fact; 0 when there is none."""

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        """What a session knows of one path; a session's other name for it (Seen.name) works."""

    def known(self, session: str, upto: int | None = None) -> dict[str, Knowledge]:
        """All a session knows, now or at a position, by path in order of path."""

    def disk(self, path: str) -> DiskFile | None:
        """What the timeline says stands at a path."""

    def disks(self) -> dict[str, DiskFile]:
        """The whole disk view, by path."""

    def paths(self) -> list[str]:
        """The paths of the disk view alone, in no order."""

    def session(self, session: str) -> SessionState | None:
        """A session's column."""

    def sessions(self) -> list[SessionState]:
        """All sessions that were begun, oldest first (not model.timeline.NOBODY)."""

    def knowers(self, path: str) -> dict[str, Knowledge]:
        """Sessions that have not ended and know a canonical path, by id; what each knows."""

    def claims(self) -> dict[str, Claim]:
        """Every claim that was not released, by id, oldest first. It may have expired, and its
        session may be gone (sessions.claims)."""

    def pending(self) -> list[Recorded]:
        """Every WriteIntended that no Changed, Moved or WriteAbandoned has settled by now, and
        every RewindStarted of a known owner that no RewindEnded of its session has."""

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        """The stat cache: a hint that saves hashing, never a fact."""

    def keep(
        self, blobs: Iterable[bytes] | dict[Revision, bytes], *, durable: bool = False
    ) -> None:
        """Store texts that no fact names yet; by their revisions, where the caller has these."""

    def blob(self, revision: Revision) -> bytes | None:
        """The bytes of a revision, checked against it; None when they are not kept."""

    def texts(self) -> list[KeptText]:
        """Every text that is kept, and the room it takes."""

    def purge(
        self,
        choose: Callable[[], Iterable[Revision]],
        reason: str,
        *,
        session: str,
        at: int,
        secret: bool = False,
    ) -> tuple[Revision, ...]:
        """Forget texts and record that as one BlobPurged; which of them were kept. choose: asked
        which ones while nobody else can write, so it may look at what was recorded until now.
        secret: the bytes are overwritten on the platter before this returns, in the log, too."""

    def tally(self) -> dict[str, int]:
        """How many facts there are of each kind, by its name."""

    def room(self) -> Room:
        """What the store takes on disk."""

    def tidy(self) -> int:
        """Give back to the system what was freed, a little at a time, so that no writer waits
        for long. Answers the bytes by which the store is smaller."""

    def verify(self) -> list[str]:
        """Differences between every projection and the fold from zero, and broken blobs."""

    def close(self) -> None:
        """Let go of what is held open. What was recorded stays."""

    def leave(self) -> None:
        """The same for a process that ends at once: tidying up may be left to a later one."""
