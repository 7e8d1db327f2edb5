"""Values that history answers: the reasons of a verdict, and the present state of all sessions."""

from __future__ import annotations

from msgspec import Struct

from sightline.history.log_entries import Entry
from sightline.model.active_claims import Claim
from sightline.model.projections import Knowledge
from sightline.model.results import ChangedBy, FileWarning, Verdict
from sightline.model.spans import Spans


class FileNow(Struct, frozen=True):
    """A file in a session's context. state: as in Verdict; by: who changed it, where it is not
    fresh; mark: an attempt of this turn that was refused and not made since, or was merged."""

    path: str
    state: str
    by: ChangedBy | None = None
    mark: Entry | None = None


class SessionNow(Struct, frozen=True):
    """A session at work. last: its agent's last sign of life, UTC microseconds. gone: the
    process that held it has ended; claims: those of its that stand; warnings: those that were not
    acknowledged."""

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
    """The present state of a workspace. sessions: the session heard of last comes first, sub-agents
    behind the session that started them; ended, resting: how many more there are. events: the newest of interest, oldest
    first; news: everything that was recorded since the look before."""

    root: str
    sessions: tuple[SessionNow, ...]
    ended: int
    resting: int
    events: tuple[Entry, ...]
    news: tuple[Entry, ...]


class Why(Struct, frozen=True):
    """The reasons of a verdict. entries: the facts, oldest first; earlier: how many more there
    are before them; others: other sessions that were shown the file. knowledge: what the session
    holds, None when it was never shown the file. differing: lines that were shown and are not
    what stands on disk; kept: whether the text that was shown is there to compare with."""

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
