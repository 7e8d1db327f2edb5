"""Watchers: subscriptions to changes as they happen.

A hint says where to look and never what stands there: only a stat and a hash at the moment of a question
are the truth. So a needless hint costs a stat, and a gap costs one look at everything.
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
"""away: there is no folder at the workspace's place; one that appears there is watched."""

POLLING_S = 0.5
"""The shortest time between two polls of the paths that no event tells of."""


class Hints(Struct, frozen=True):
    """Possible changes since the last answer.

    paths: canonical paths. The path of a folder, also of a former one, stands for everything below
    it. Files of a git folder are named ".git/HEAD", ".git/index", ".git/logs/HEAD",
    ".git/logs/refs/stash" and so on, wherever the folder is. everything: any path may have changed.
    lost: the reason when events were lost or nobody could have seen them. at_ns: the clock when the
    oldest event of this answer was read.
    """

    paths: frozenset[str]
    everything: bool = False
    lost: Lost | None = None
    at_ns: int = 0


class Eyes(Struct, frozen=True):
    """The state of a watcher.

    why: the reason for a mode other than events: "limit", "no_events", "filesystem:<type>" (polling);
    "gone", "moved", "unmounted" (away). folders: number of folders watched by events. unseen:
    number of folders that may not be read, so are not watched. followed: number of paths named by
    follow(). polled: number of paths and files of git that are polled every every_s seconds.
    """

    mode: Mode
    why: str | None = None
    folders: int = 0
    unseen: int = 0
    followed: int = 0
    polled: int = 0
    every_s: float = 0.0


class Watcher(Protocol):
    """One subscription to one workspace, for one thread (wake() apart). It does not tell of changes
    before it was made: look at everything once when you have it."""

    def wait(self, timeout_s: float | None) -> Hints | None:
        """Return the hints since the last answer, as soon as there are any. None when the timeout
        (seconds; None: no end) passes or wake() is called. Unverifiable when an ignore file cannot
        be read or the disk fails, each time until that ends: the next answer stands for everything."""

    def fileno(self) -> int | None:
        """Return a descriptor that is readable when wait(0) may have an answer, the same one until
        close(); None where there is none. Polled paths make nothing readable: call wait(0) now and
        then, too."""

    def wake(self) -> None:
        """End a wait in another thread, or the next one if there is none. Signal handlers may call
        this, too."""

    def eyes(self) -> Eyes:
        """Return the state of the watcher."""

    def follow(self, paths: Iterable[str]) -> None:
        """Follow these canonical paths, whatever the ignore rules say. Each call replaces the list. Their
        folders are watched, too; files with several names (hard links) and files that send no
        events are polled."""

    def close(self) -> None:
        """End the subscription; a second call does nothing."""
