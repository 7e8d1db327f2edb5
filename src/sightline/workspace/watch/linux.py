"""A watcher by inotify: one watch per folder, none for what is ignored."""

from __future__ import annotations

import errno
import os
import select
from time import monotonic, time_ns

from sightline.errors import Unverifiable
from sightline.workspace.watch import Eyes, Hints
from sightline.workspace.watch.batch import Batch
from sightline.workspace.watch.folders import Folders
from sightline.workspace.watch.following import Following
from sightline.workspace.watch.ignoring import Ignoring
from sightline.workspace.watch.naming import named
from sightline.workspace.watch.polling import identity_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sightline.workspace.rules import IgnoreRules
    from sightline.workspace.watch import Lost
    from sightline.workspace.watch.inotify import Inotify
    from sightline.workspace.watch.naming import Named

ROOT_S = 2.0
"""Seconds between two looks at whether the root still stands: no event tells that a folder above
it was renamed."""

_FULL = (errno.ENOSPC, errno.ENOMEM)


class LinuxWatcher:
    """See Watcher. blind: folders ("" or with a "/" at the end) from which no event comes. hidden:
    whether ignored entries are told of as well, where their folder is not ignored itself."""

    def __init__(
        self,
        root: str,
        rules: tuple[IgnoreRules, ...],
        *,
        polling_s: float,
        inotify: Inotify,
        blind: tuple[str, ...] = (),
        hidden: bool = False,
    ) -> None:
        self._root = root
        self._ignoring = Ignoring(root, rules)
        self._inotify = inotify
        self._folders = Folders(inotify, self._ignoring)
        self._following = Following(root, blind, polling_s)
        self._hidden = hidden
        self._full = self._doubtful = False
        self._overflows = self._gaps = 0
        self._identity = identity_of(root)
        self._away: Lost | None = None if self._identity else "gone"
        self._unsaid = self._within(self._begin)
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._poll = select.poll()
        for fd in (inotify.fd, self._bell):
            self._poll.register(fd, select.POLLIN)

    def wait(self, timeout_s: float | None) -> Hints | None:
        end_s = None if timeout_s is None else monotonic() + timeout_s
        while True:
            hints = self._look()
            if hints is not None:
                return hints
            if not self._sleep(end_s):
                return None

    def fileno(self) -> int:
        return self._inotify.fd

    def wake(self) -> None:
        os.eventfd_write(self._bell, 1)

    def eyes(self) -> Eyes:
        rota = self._following.rota
        polling: Lost | None = "limit" if self._full else None
        return Eyes(
            "away" if self._away else "polling" if polling else "events",
            self._away or polling,
            folders=len(self._folders.names),
            unseen=len(self._folders.unseen),
            followed=len(self._following.paths),
            polled=len(rota),
            every_s=rota.every_s if rota else 0.0,
            overflows=self._overflows,
            gaps=self._gaps,
        )

    def follow(self, paths: Iterable[str]) -> None:
        before, now = self._following.paths, frozenset(paths)
        self._following.only(now)
        if before - now:
            self._folders.keep_only(now)
        self._unsaid |= self._within(lambda: self._folders.keep(now - before))

    def close(self) -> None:
        self._inotify.close()
        if self._bell >= 0:
            os.close(self._bell)
            self._bell = -1

    def _sleep(self, end_s: float | None) -> bool:
        """Until an event, the next look at something, or the end. False: time to answer None."""
        now_s = monotonic()
        if end_s is not None and now_s >= end_s:
            return False
        due_s = self._following.due_s(now_s + ROOT_S)
        till_s = due_s if end_s is None else min(due_s, end_s)
        ready = self._poll.poll(max(till_s - now_s, 0.0) * 1e3 + 1)
        if any(fd == self._bell for fd, _ in ready):
            os.eventfd_read(self._bell)
            return False
        return True

    def _look(self) -> Hints | None:
        at_ns = time_ns()
        try:
            hints = self._happened(at_ns)
        except (Unverifiable, OSError) as error:
            self._doubtful = True  # what was read of the queue would be lost
            if isinstance(error, Unverifiable):
                raise
            raise Unverifiable(
                self._root,
                f"{self._root} could not be watched: {error.strerror}.",
                "Try again when the disk answers.",
            ) from error
        changed = self._following.look()
        if not changed:
            return hints
        hints = hints or Hints(frozenset(), at_ns=at_ns)
        return hints.replace(paths=hints.paths | changed)

    def _happened(self, at_ns: int) -> Hints | None:
        batch = Batch(self._inotify.read())
        self._overflows += batch.overflow
        identity = identity_of(self._root)
        if identity != self._identity:
            return self._replaced(identity, batch, at_ns)
        if self._away:
            return None
        if batch.overflow or self._doubtful:
            for watch in batch.ended:
                self._folders.ended(watch)
            self._unsaid |= self._within(self._begin)
            self._doubtful = False
            return self._gap(at_ns, "overflow" if batch.overflow else None)
        hints = self._told(batch, at_ns)
        return self._gap(at_ns) if self._unsaid else hints

    def _replaced(self, identity: tuple[int, int] | None, batch: Batch, at_ns: int) -> Hints:
        """Another folder than the one watched stands at the root's place now, or none does."""
        lost: Lost | None = None
        if self._identity is not None:
            root = next((w for w, name in self._folders.names.items() if not name), None)
            lost = "gone" if root is None else batch.fates.get(root, "gone")
        self._identity, self._away = identity, None if identity else lost
        self._folders.clear()
        self._full = False
        self._following.every(turned=False)
        self._unsaid = identity is not None and self._within(self._begin)
        return self._gap(at_ns, lost)

    def _told(self, batch: Batch, at_ns: int) -> Hints | None:
        folders = self._folders
        followed = self._following.paths
        say = named(batch, folders, self._ignoring, followed, hidden=self._hidden)
        unseen = {f"{path}/" for path in say.paths} & folders.unseen if folders.unseen else set()
        if batch.came or batch.left or batch.ended or say.relist or say.git or unseen:
            self._unsaid |= self._within(lambda: self._go_along(batch, say, unseen))
        self._following.changed(say.paths)
        if say.everything:
            return self._gap(at_ns)
        return Hints(say.paths, at_ns=at_ns) if say.paths else None

    def _go_along(self, batch: Batch, say: Named, unseen: set[str]) -> None:
        """Watch and unwatch as folders came and went, and as rules changed. unseen: folders that
        could not be read and may be readable now."""
        folders = self._folders
        came, apart = folders.named(batch.came)
        left = set().union(*folders.named(batch.left))
        if left:
            folders.leave(left)
        for watch in batch.ended:
            folders.ended(watch)
        for folder in _outermost(came | unseen):
            folders.cover(folder)
        for folder in _outermost(say.relist):
            folders.cover_again(folder)
        folders.keep_in(came | unseen | apart | say.relist)
        if say.git or "" in say.relist:
            folders.cover_git()

    def _begin(self) -> None:
        self._folders.cover_again("")
        self._folders.keep(self._following.paths)
        self._folders.keep_in([""])
        self._folders.cover_git()

    def _within(self, work: Callable[[], None]) -> bool:
        """Whether a work that adds watches came to the limit; then all are given back, for others
        may need them, and what is followed is looked at in turn."""
        if self._full:
            return False
        try:
            work()
        except OSError as error:
            if error.errno not in _FULL:
                raise
            self._full = True
            self._folders.clear()
            self._following.every(turned=True)
        return self._full

    def _gap(self, at_ns: int, lost: Lost | None = None) -> Hints:
        self._gaps += 1
        if self._unsaid:
            self._unsaid, lost = False, lost or "limit"
        return Hints(frozenset(), everything=True, lost=lost, at_ns=at_ns)


def _outermost(folders: Iterable[str]) -> Iterator[str]:
    """Those that are not below another of them."""
    last = None
    for folder in sorted(folders):
        if last is None or not folder.startswith(last):
            last = folder
            yield folder
