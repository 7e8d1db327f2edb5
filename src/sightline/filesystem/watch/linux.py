"""A watcher by inotify: one watch per folder, none for what is ignored."""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from time import monotonic, time_ns

from msgspec import Struct, structs

from sightline.errors import Unverifiable
from sightline.filesystem.folder import ASIDE
from sightline.filesystem.ignore.rules import Chains, RuleSet, encodes
from sightline.filesystem.watch.git_folder import EXCLUDE, GROWING, OUTSIDE, TOLD, git_files
from sightline.filesystem.watch.inotify import AS_FILE, AS_FOLDER, Batch, Inotify
from sightline.filesystem.watch.polling import Rota, identity_of, several_names
from sightline.filesystem.watch.watched_folders import Folders
from sightline.filesystem.watch.watcher import Eyes, Hints, Lost

Hides = Callable[[str, int], bool]
"""A path and what it was seen to be -> whether it is hidden."""

ROOT_S = 2.0
"""Seconds between two looks at whether the root still stands: no event tells that a folder above
it was renamed."""

_FULL = (errno.ENOSPC, errno.ENOMEM)


class LinuxWatcher:
    """See Watcher. blind: folders ("" or with a "/" at the end) from which no event comes."""

    def __init__(
        self,
        root: str,
        rules: RuleSet,
        *,
        polling_s: float,
        inotify: Inotify,
        blind: tuple[str, ...] = (),
    ) -> None:
        self._root = root
        self._rules = rules
        self._inotify = inotify
        self._folders = Folders(inotify, root, self._rules)
        self._following = Following(root, blind, polling_s)
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
        return structs.replace(hints, paths=hints.paths | changed)

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
        say = named(batch, folders, self._rules, followed)
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


COUNTED, COUNT_S = 2000, 0.1
"""Files asked for the number of their names in one go, and seconds between two goes: there may be
a hundred thousand of them, and somebody waits."""


class Following:
    """blind: folders ("" or with a "/" at the end) from which no event comes. An event tells of a
    file by the name it was written to, so those with several names are looked at too."""

    def __init__(self, root: str, blind: tuple[str, ...], polling_s: float) -> None:
        self.paths: frozenset[str] = frozenset()
        self.rota = Rota(polling_s)
        self._root = root
        self._blind = blind
        self._linked: set[str] = set()
        self._uncounted: list[str] = []
        self._all = False

    def only(self, paths: frozenset[str]) -> None:
        """Follow these and no others."""
        self._uncounted += paths - self.paths
        self.paths = paths
        self._linked &= paths
        self._count()

    def every(self, *, turned: bool) -> None:
        """Look at all of them and at git's files in turn, or only where no event tells."""
        self._all = turned
        self._turn()

    def changed(self, paths: frozenset[str]) -> None:
        """These did: they may have got another name since."""
        linked = self._several(paths & self.paths)
        if linked - self._linked:
            self._linked |= linked
            self._turn()

    def due_s(self, latest_s: float) -> float:
        """When look() has something to do, on the monotonic clock; no later than asked."""
        if self._uncounted:
            return min(latest_s, monotonic() + COUNT_S)
        return min(latest_s, self.rota.due_s) if self.rota else latest_s

    def look(self) -> frozenset[str]:
        """The paths that changed since they were last looked at, when it is time to look."""
        if self._uncounted:
            self._count()
        if self.rota and monotonic() >= self.rota.due_s:
            return self.rota.look()
        return frozenset()

    def _count(self) -> None:
        now, self._uncounted = self._uncounted[:COUNTED], self._uncounted[COUNTED:]
        self._linked |= self._several(now) & self.paths
        self._turn()

    def _several(self, paths: Iterable[str]) -> set[str]:
        return {path for path in paths if several_names(f"{self._root}/{path}")}

    def _turn(self) -> None:
        blind = {path for path in self.paths if path.startswith(self._blind)}
        turned = self.paths if self._all else self._linked | blind
        places = dict(git_files(self._root)) if self._all else {}
        self.rota.set({**places, **{path: f"{self._root}/{path}" for path in turned}})


class Named(Struct, frozen=True):
    """paths: what hints say. relist: folders ("" or with a "/" at the end) in which other entries
    than before may be listed now. git: its folders may be others. everything: see Hints."""

    paths: frozenset[str]
    relist: frozenset[str] = frozenset()
    git: bool = False
    everything: bool = False


def named(
    batch: Batch,
    folders: Folders,
    rules: RuleSet,
    followed: frozenset[str],
) -> Named:
    """What the events of a batch are about. Watches that are no longer known say nothing: what
    came or went instead of their folders does."""
    paths: set[str] = set()
    relist: set[str] = set()
    git = False
    for watch, raw in batch.touched.items():
        folder = folders.names.get(watch)
        if folder is None:
            continue
        names = {os.fsdecode(name): seen for name, seen in raw.items()}
        if watch in folders.git:
            git |= _of_git(folder, names, rules, paths, relist)
            continue
        if ".git" in names:
            git |= not folder
            relist.add(folder)
        narrow = watch in folders.narrow or watch in folders.nested
        hides = None if narrow else _hiding(folder, rules)
        if hides is not None and not rules.names.isdisjoint(names):
            relist.add(folder)
        paths.update(_passing(folder, names, hides, followed, folders.kept))
    paths |= {folder.rstrip("/") for folder in relist}
    everything = "" in paths
    return Named(frozenset(paths - {""}), frozenset(relist), git, everything)


def _of_git(
    folder: str,
    names: Mapping[str, int],
    rules: RuleSet,
    paths: set[str],
    relist: set[str],
) -> bool:
    """What one of git's folders tells. True when git made another folder to watch."""
    if folder == OUTSIDE:
        if not rules.names.isdisjoint(names):
            relist.add("")
        return ".git" in names
    told = {folder + name for name in names}
    paths |= told & TOLD
    if EXCLUDE in told:
        relist.add("")
    return not GROWING.isdisjoint(told)


def _passing(
    folder: str,
    names: Mapping[str, int],
    hides: Hides | None,
    followed: frozenset[str],
    kept: set[str],
) -> Iterator[str]:
    """The paths of a folder's entries that count: followed ones and those above them, and, where
    the folder is not ignored, all that is not hidden."""
    for name, seen in names.items():
        path = folder + name
        if path in followed or f"{path}/" in kept:
            yield path
        elif hides is None or name in (".git", ".hg") or name.startswith(ASIDE):
            continue
        elif not encodes(name):
            yield folder.rstrip("/")
        elif not hides(path, seen):
            yield path


def _hiding(folder: str, rules: RuleSet) -> Hides | None:
    """Whether a rule hides an entry of a folder as all that it was seen to be; None where the
    folder is ignored itself."""
    chains = rules.chains(folder)
    return None if chains is None else partial(_hides, rules, chains)


def _hides(rules: RuleSet, chains: Chains, path: str, seen: int) -> bool:
    return all(
        rules.hides(chains, path, is_folder=below)
        for kind, below in ((AS_FILE, False), (AS_FOLDER, True))
        if seen & kind
    )
