"""The sessions at work in a workspace, with their files: what the live view shows."""

from __future__ import annotations

from msgspec import Struct

from sightline.model.active_claims import Claim
from sightline.model.log_entries import Entry
from sightline.model.results import ChangedBy, FileWarning


class FileNow(Struct, frozen=True):
    """A file in a session's context. state: as in Verdict; by: the author of its change, None for a
    fresh file; mark: an attempt of this turn that was refused and not repeated, or merged."""

    path: str
    state: str
    by: ChangedBy | None = None
    mark: Entry | None = None


class SessionNow(Struct, frozen=True):
    """A session at work. name: for people, its id where it has none; last: its agent's last sign of life, UTC microseconds; gone: its process has
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
    name: str = ""


class Overview(Struct, frozen=True):
    """The present state of a workspace. sessions: the latest sign of life first, sub-agents after the
    session that started them; ended, resting: number of other sessions. events: the newest events of
    interest, oldest first, with the names of sessions for people; news: all facts since the previous
    look."""

    root: str
    sessions: tuple[SessionNow, ...]
    ended: int
    resting: int
    events: tuple[Entry, ...]
    news: tuple[Entry, ...]
