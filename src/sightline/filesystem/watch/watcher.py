"""Changes as they happen: what a watcher answers, and which watcher this machine gets.

A hint says where to look and never what is there: the truth is a stat and a hash at the moment
of a question. So a hint too many costs a stat, and a gap costs one look over everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from msgspec import Struct

Lost = Literal["overflow", "limit", "unmounted", "moved", "gone", "suspended"]
"""overflow: more happened than the system keeps · limit: no folder more may be watched ·
unmounted, gone, moved: the workspace's folder is no longer at its place · suspended: the
machine slept."""

Mode = Literal["events", "polling", "away"]
"""away: nothing stands at the workspace's place; a folder that appears there is watched."""

POLLING_S = 0.5
"""How long between two looks at the paths that no event tells of, at the least."""


class Hints(Struct, frozen=True):
    """What may have changed since the last answer.

    paths: canonical paths. One that names a folder, or named one, stands for all that is or was
    below it. Of a git folder ".git/HEAD", ".git/index", ".git/logs/HEAD", ".git/logs/refs/stash"
    and the like are named so wherever it is.
    everything: any path may have changed. lost: why, when events were lost or nobody could have
    seen them. at_ns: the clock when the oldest event of this answer was read.
    """

    paths: frozenset[str]
    everything: bool = False
    lost: Lost | None = None
    at_ns: int = 0


class Eyes(Struct, frozen=True):
    """How well a watcher sees now.

    why: None, or why it does not go by events: "limit", "no_events", "filesystem:<type>" (polling);
    "gone", "moved", "unmounted" (away).
    folders: watched by events. unseen: folders that may not be read, so not watched.
    followed: paths named by follow(). polled: paths and git's files looked at in turn, once in
    every_s seconds. overflows: how often events were lost. gaps: how often, for any reason, an
    answer said that everything may have changed.
    """

    mode: Mode
    why: str | None = None
    folders: int = 0
    unseen: int = 0
    followed: int = 0
    polled: int = 0
    every_s: float = 0.0
    overflows: int = 0
    gaps: int = 0


class Watcher(Protocol):
    """One subscription to one workspace. For one thread, but for wake(). What changed before it
    was made is not told: look over everything once when it is there."""

    def wait(self, timeout_s: float | None) -> Hints | None:
        """The hints since the last answer, as soon as there are any. None when the timeout
        (seconds; None: no end) passes or wake() is called. Unverifiable when an ignore file cannot
        be read or the disk fails, each time until it can: the next answer stands for everything."""

    def fileno(self) -> int | None:
        """Readable when wait(0) may have something to say; the same one until close(). None
        where there is none. Polled paths make nothing readable: call wait(0) now and then too."""

    def wake(self) -> None:
        """Let a wait in another thread return, or the next one if there is none. Also for signal
        handlers."""

    def eyes(self) -> Eyes:
        """How well it sees."""

    def follow(self, paths: Iterable[str]) -> None:
        """These canonical paths matter, whatever the ignore rules say, and no others do: each call
        replaces the list. Their folders are watched too; files with several names (hard links)
        and those where no event comes from are looked at in turn."""

    def close(self) -> None:
        """End the subscription; more than once does no harm."""
