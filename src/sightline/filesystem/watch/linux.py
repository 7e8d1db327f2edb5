"""A watcher by inotify: one watch for each folder that is not ignored."""

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
from sightline.filesystem.watch.polling import Rota, has_several_names, identity_of
from sightline.filesystem.watch.watched_folders import Folders
from sightline.filesystem.watch.watcher import Eyes, Hints, Lost

Hides = Callable[[str, int], bool]
"""A path and its kinds (AS_FILE, AS_FOLDER) -> whether it is hidden."""

ROOT_S = 2.0
"""Seconds between two checks that the root still stands: no event tells that a folder above it was
renamed."""

_FULL = (errno.ENOSPC, errno.ENOMEM)


class LinuxWatcher:
    """See Watcher. blind: folders ("" or ending in "/") that send no events."""

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
        self._is_full = self._must_restart = False
        self._overflows = self._gaps = 0
        self._identity = identity_of(root)
        self._away: Lost | None = None if self._identity else "gone"
        self._unsaid_limit = self._at_limit(self._begin)
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
        polling: Lost | None = "limit" if self._is_full else None
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
        self._following.follow(now)
        if before - now:
            self._folders.keep_only(now)
        self._unsaid_limit |= self._at_limit(lambda: self._folders.keep(now - before))

    def close(self) -> None:
        self._inotify.close()
        if self._bell >= 0:
            os.close(self._bell)
            self._bell = -1

    def _sleep(self, end_s: float | None) -> bool:
        """Sleep until an event, the next poll, or the end; return False when the answer is None."""
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
            self._must_restart = True  # the events that were read are lost
            if isinstance(error, Unverifiable):
                raise
            raise Unverifiable(
                self._root,
                f"{self._root} could not be watched: {error.strerror}.",
                "Try again when the disk answers.",
            ) from error
        changed = self._following.poll()
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
        if batch.overflow or self._must_restart:
            for watch in batch.ended:
                self._folders.ended(watch)
            self._unsaid_limit |= self._at_limit(self._begin)
            self._must_restart = False
            return self._gap(at_ns, "overflow" if batch.overflow else None)
        hints = self._hints(batch, at_ns)
        return self._gap(at_ns) if self._unsaid_limit else hints

    def _replaced(self, identity: tuple[int, int] | None, batch: Batch, at_ns: int) -> Hints:
        """Answer that another folder stands at the root's place now, or none."""
        lost: Lost | None = None
        if self._identity is not None:
            root = next((w for w, name in self._folders.names.items() if not name), None)
            lost = "gone" if root is None else batch.fates.get(root, "gone")
        self._identity, self._away = identity, None if identity else lost
        self._folders.clear()
        self._is_full = False
        self._following.poll_all(polls_all=False)
        self._unsaid_limit = identity is not None and self._at_limit(self._begin)
        return self._gap(at_ns, lost)

    def _hints(self, batch: Batch, at_ns: int) -> Hints | None:
        folders = self._folders
        followed = self._following.paths
        say = named(batch, folders, self._rules, followed)
        unseen = {f"{path}/" for path in say.paths} & folders.unseen if folders.unseen else set()
        if batch.came or batch.left or batch.ended or say.relist or say.git or unseen:
            self._unsaid_limit |= self._at_limit(lambda: self._update_watches(batch, say, unseen))
        self._following.add_linked(say.paths)
        if say.everything:
            return self._gap(at_ns)
        return Hints(say.paths, at_ns=at_ns) if say.paths else None

    def _update_watches(self, batch: Batch, say: Named, unseen: set[str]) -> None:
        """Watch and unwatch folders that came and went, or that changed rules show or hide. unseen:
        folders that could not be read and may be readable now."""
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

    def _at_limit(self, work: Callable[[], None]) -> bool:
        """Do work that adds watches; return whether it came to the system's limit. Then all watches are
        given back, because others may need them, and the followed paths are polled."""
        if self._is_full:
            return False
        try:
            work()
        except OSError as error:
            if error.errno not in _FULL:
                raise
            self._is_full = True
            self._folders.clear()
            self._following.poll_all(polls_all=True)
        return self._is_full

    def _gap(self, at_ns: int, lost: Lost | None = None) -> Hints:
        self._gaps += 1
        if self._unsaid_limit:
            self._unsaid_limit, lost = False, lost or "limit"
        return Hints(frozenset(), everything=True, lost=lost, at_ns=at_ns)


def _outermost(folders: Iterable[str]) -> Iterator[str]:
    """Yield the folders that are not below another one."""
    last = None
    for folder in sorted(folders):
        if last is None or not folder.startswith(last):
            last = folder
            yield folder


class Following:
    """The followed paths, and the rota of paths without events. blind: folders ("" or ending in
    "/") that send no events. An event names a file as it was written to, so files with several names
    are on the rota, too."""

    def __init__(self, root: str, blind: tuple[str, ...], polling_s: float) -> None:
        self.paths: frozenset[str] = frozenset()
        self.rota = Rota(polling_s)
        self._root = root
        self._blind = blind
        self._linked: set[str] = set()
        self._polls_all = False

    def follow(self, paths: frozenset[str]) -> None:
        """Follow these paths and no others."""
        self._linked = (self._linked & paths) | self._several_names(paths - self.paths)
        self.paths = paths
        self._update_rota()
        self._update_rota()

    def poll_all(self, *, polls_all: bool) -> None:
        """Poll all followed paths and git's files, or only those that no event tells of."""
        self._polls_all = polls_all
        self._update_rota()

    def add_linked(self, paths: frozenset[str]) -> None:
        """Poll those of these changed paths that got another name."""
        linked = self._several_names(paths & self.paths)
        if linked - self._linked:
            self._linked |= linked
            self._update_rota()

    def due_s(self, latest_s: float) -> float:
        """Return the time of the next poll, on the monotonic clock, `latest_s` at the latest."""
        return min(latest_s, self.rota.due_s) if self.rota else latest_s

    def poll(self) -> frozenset[str]:
        """Return the paths that changed since the last poll, when a poll is due."""
        return self.rota.poll() if self.rota and monotonic() >= self.rota.due_s else frozenset()

    def _several_names(self, paths: Iterable[str]) -> set[str]:
        return {path for path in paths if has_several_names(f"{self._root}/{path}")}

    def _update_rota(self) -> None:
        blind = {path for path in self.paths if path.startswith(self._blind)}
        polled = self.paths if self._polls_all else self._linked | blind
        places = dict(git_files(self._root)) if self._polls_all else {}
        self.rota.set({**places, **{path: f"{self._root}/{path}" for path in polled}})


class Named(Struct, frozen=True):
    """The paths that a batch of events names. paths: for the hints. relist: folders ("" or ending in
    "/") whose listed entries may be others now. git: git's folders may be others. everything: see Hints."""

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
    """Return the paths that a batch of events names. Events of unknown watches do not count: the change
    that ended the watch is an event itself."""
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
    """Add the paths that events of git's folder name; return whether git made another folder to watch."""
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
    """Yield the entries of a folder that hints name: followed paths and the folders above them, and in a
    folder that is not ignored every entry that is not hidden."""
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
    """Return a function that tells hidden entries of a folder; None where the folder itself is
    ignored."""
    chains = rules.chains(folder)
    return None if chains is None else partial(_hides, rules, chains)


def _hides(rules: RuleSet, chains: Chains, path: str, seen: int) -> bool:
    return all(
        rules.hides(chains, path, is_folder=below)
        for kind, below in ((AS_FILE, False), (AS_FOLDER, True))
        if seen & kind
    )
