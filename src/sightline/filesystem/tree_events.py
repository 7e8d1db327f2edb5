"""The kernel's events of a tree between two looks: a look need not ask for every file.

Linux queues an event before the call that made it returns. So the queue is read when a look begins,
by whoever looks: there is no thread. An event names a folder to look at and never what stands there. Whatever
events may not tell is asked for: a queue that ran over, folders that cannot be watched, files of
several names, and every WHOLE_S the whole tree.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from weakref import finalize

from sightline.filesystem.mounts import mounted
from sightline.filesystem.tree_index import Tree
from sightline.filesystem.watch.event_support import blind, mounts, silent
from sightline.filesystem.watch.inotify import IGNORED, ISDIR, OVERFLOW, UNMOUNT, Inotify, events

WHOLE_S = 600.0
"""Seconds after which a look asks for everything again: a file that got a name outside the tree may be
written to by that name."""

SHARE = 8
"""A watch is taken for each folder: at most one in SHARE of those that a user may have."""

WATCHES = "/proc/sys/fs/inotify/max_user_watches"

GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
UNWATCHED = (errno.EACCES, errno.ENAMETOOLONG)


class TreeEvents:
    """The events of one tree, for one look at a time. See tree_index.Changed. table: returns the
    text of the table of mounts; what is mounted in the tree later ends the events, because nothing
    tells what stands there now."""

    def __init__(
        self,
        root: str,
        inotify: Inotify,
        *,
        most: int,
        table: Callable[[], str] = mounts,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._root, self._inotify, self._most = root, inotify, most
        self._table, self._clock = table, clock
        self._mounted = self._mounts()
        self._names: dict[int, str] = {}
        self._unwatched: set[str] = set()
        self._asked: set[str] = set()
        self._settled: Tree | None = None
        self._whole_s = 0.0
        self._is_over = False
        self._end = finalize(self, inotify.close)

    def folders(self, last: Tree) -> set[str] | None:
        if self._is_over or self._mounts() != self._mounted:
            self.close()
            return None
        if not self._take() or last is not self._settled:
            self._settled = None
        if self._settled is None or self._clock() - self._whole_s > WHOLE_S:
            self._settled, self._whole_s = None, self._clock()
            return None
        linked = {folder for folder, listing in last.listings.items() if listing.linked}
        return self._asked | self._unwatched | linked

    def enter(self, folder: str) -> None:
        """Watch a folder before the caller reads the folder: later changes are events."""
        if self._is_over:
            return
        self._unwatched.discard(folder)
        try:
            self._names[self._inotify.add(f"{self._root}/{folder}")] = folder
        except OSError as error:
            if error.errno in UNWATCHED:
                self._unwatched.add(folder)
            elif error.errno not in GONE:
                self.close()  # no watch is left
        if len(self._names) > self._most:
            self.close()

    def settle(self, tree: Tree) -> None:
        """Forget the events from before a look: it ended, and gave this tree."""
        self._asked.clear()
        if tree is self._settled or self._is_over:
            return
        self._settled = tree
        for watch in [w for w, folder in self._names.items() if folder not in tree.listings]:
            del self._names[watch]
            self._inotify.remove(watch)
        self._unwatched &= tree.listings.keys()

    def close(self) -> None:
        """Listen no more: every look asks for everything from now on."""
        self._is_over = True
        self._settled = None
        self._end()

    def _take(self) -> bool:
        """Take the folders that events name. Return whether events were not lost."""
        is_whole = True
        for watch, mask, name in events(self._inotify.read()):
            if mask & (OVERFLOW | UNMOUNT):
                is_whole = False
            folder = self._names.get(watch)
            if folder is None:
                continue
            self._asked.add(folder)
            if mask & IGNORED:
                del self._names[watch]
            elif mask & ISDIR and name:
                self._asked.add(f"{folder}{name.decode('utf-8', 'surrogateescape')}/")
        return is_whole

    def _mounts(self) -> list[str]:
        inside = f"{self._root}/"
        return [point for point, _ in mounted(self._table()) if point.startswith(inside)]


def tree_events(root: str) -> TreeEvents | None:
    """Return the events of a tree; None where this system does not tell of every change."""
    if sys.platform != "linux":
        return None
    with suppress(OSError, ValueError):
        with open(WATCHES, encoding="ascii") as file:
            most = int(file.read()) // SHARE
        table = mounts()
        queue = Inotify()
        if not blind(root, table) and silent(root, queue, table) is None:
            return TreeEvents(root, queue, most=most)
        queue.close()
    return None
