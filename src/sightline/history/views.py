"""Values of history: the reasons of a verdict, and the present state of all sessions."""

from __future__ import annotations

from msgspec import Struct

from sightline.history.log_entries import Entry
from sightline.model.active_claims import Claim
from sightline.model.projections import Knowledge
from sightline.model.results import ChangedBy, FileWarning, Verdict
from sightline.model.spans import Spans


class FileNow(Struct, frozen=True):
    """A file in a session's context. state: as in Verdict; by: the author of its change, None for a
    fresh file; mark: an attempt of this turn that was refused and not repeated, or merged."""

    path: str
    state: str
    by: ChangedBy | None = None
    mark: Entry | None = None


class SessionNow(Struct, frozen=True):
    """A session at work. last: its agent's last sign of life, UTC microseconds; gone: its process has
    ended; claims: its valid claims; warnings: not acknowledged."""

    id: str
    agent: str
    parent: str | None
    turn: int
    model: str | None
    last: int
    files: tuple[FileNow, ...]
    gone: bool = False
    claims: tuple[Claim, ...] = ()
    warnings: tuple[FileWarning, ...] = ()


class Overview(Struct, frozen=True):
    """The present state of a workspace. sessions: the latest sign of life first, sub-agents after the
    session that started them; ended, resting: number of other sessions. events: the newest events of
    interest, oldest first; news: all facts since the previous look."""

    root: str
    sessions: tuple[SessionNow, ...]
    ended: int
    resting: int
    events: tuple[Entry, ...]
    news: tuple[Entry, ...]


class Why(Struct, frozen=True):
    """The reasons of a verdict. entries: the facts, oldest first; earlier: number of facts before
    them; others: other sessions that were shown the file. knowledge: the session's, None for a file
    never shown. differing: shown lines that differ on disk; kept: the shown text is stored."""

    path: str
    agent: str
    entries: tuple[Entry, ...]
    earlier: int
    verdict: Verdict
    others: tuple[str, ...]
    policy: str
    knowledge: Knowledge | None = None
    differing: Spans = ()
    kept: bool = True
