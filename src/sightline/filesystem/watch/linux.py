"""A watcher by inotify: one watch for each folder that is not ignored."""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import monotonic, time_ns

from msgspec import structs

from sightline.errors import Unverifiable
from sightline.filesystem.folder import ASIDE
from sightline.filesystem.ignore.rules import Chains, RuleSet, encodes
from sightline.filesystem.watch.git_folder import (
    EXCLUDE,
    GROWING,
    OUTSIDE,
    TOLD,
    git_files,
    git_places,
)
from sightline.filesystem.watch.inotify import AS_FILE, AS_FOLDER, Batch, Inotify
from sightline.filesystem.watch.polling import Rota, has_several_names, identity_of
from sightline.filesystem.watch.watcher import Eyes, Hints, Lost
from sightline.model.path import folders_above

ROOT_S = 2.0
"""Seconds between two checks that the root still stands: no event tells that a folder above it was
renamed."""

_FULL = (errno.ENOSPC, errno.ENOMEM)
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


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
        self._folders = WatchedFolders(inotify, root, self._rules)
        self._following = Following(root, blind, polling_s)
        self._is_full = self._must_restart = False
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
        named = Named(batch, self._folders, self._rules, self._following.paths)
        unseen = {f"{path}/" for path in named.paths} & self._folders.unseen
        if batch.came or batch.left or batch.ended or named.relist or named.git or unseen:
            self._unsaid_limit |= self._at_limit(lambda: self._update_watches(batch, named, unseen))
        self._following.add_linked(named.paths)
        if named.everything:
            return self._gap(at_ns)
        return Hints(frozenset(named.paths), at_ns=at_ns) if named.paths else None

    def _update_watches(self, batch: Batch, named: Named, unseen: set[str]) -> None:
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
        for folder in _outermost(named.relist):
            folders.cover_again(folder)
        folders.keep_in(came | unseen | apart | named.relist)
        if named.git or "" in named.relist:
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

    def poll_all(self, *, polls_all: bool) -> None:
        """Poll all followed paths and git's files, or only those that no event tells of."""
        self._polls_all = polls_all
        self._update_rota()

    def add_linked(self, paths: set[str]) -> None:
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


class Named:
    """The paths that a batch of events names. paths: for the hints. relist: folders ("" or ending in
    "/") whose listed entries may be others now. git: git's folders may be others. everything: see Hints.

    Events of unknown watches do not count: the change that ended the watch is an event itself.
    """

    def __init__(
        self, batch: Batch, folders: WatchedFolders, rules: RuleSet, followed: frozenset[str]
    ) -> None:
        self.paths: set[str] = set()
        self.relist: set[str] = set()
        self.git = False
        self._folders, self._rules, self._followed = folders, rules, followed
        for watch, raw in batch.touched.items():
            if watch in folders.names:
                names = {os.fsdecode(name): kinds for name, kinds in raw.items()}
                (self._add_git if watch in folders.git else self._add)(watch, names)
        self.paths |= {folder.rstrip("/") for folder in self.relist}
        self.everything = "" in self.paths
        self.paths.discard("")

    def _add_git(self, watch: int, names: Mapping[str, int]) -> None:
        """Add the paths that events of one of git's folders name."""
        folder = self._folders.names[watch]
        if folder == OUTSIDE:
            is_rule, is_git = not self._rules.names.isdisjoint(names), ".git" in names
        else:
            paths = {folder + name for name in names}
            self.paths |= paths & TOLD
            is_rule, is_git = EXCLUDE in paths, not GROWING.isdisjoint(paths)
        self.git |= is_git
        if is_rule:
            self.relist.add("")

    def _add(self, watch: int, names: Mapping[str, int]) -> None:
        """Add the entries of a folder that hints name: followed paths and the folders above them, and in
        a folder that is not ignored every entry that is not hidden."""
        folder = self._folders.names[watch]
        is_narrow = watch in self._folders.narrow or watch in self._folders.nested
        chains = None if is_narrow else self._rules.chains(folder)
        has_rules = chains is not None and not self._rules.names.isdisjoint(names)
        self.git |= ".git" in names and not folder
        if ".git" in names or has_rules:
            self.relist.add(folder)
        for name, kinds in names.items():
            path = folder + name
            if path in self._followed or f"{path}/" in self._folders.kept:
                self.paths.add(path)
            elif chains is None or name in (".git", ".hg") or name.startswith(ASIDE):
                continue
            elif not encodes(name):
                self.paths.add(folder.rstrip("/"))
            elif any(
                not self._rules.hides(chains, path, is_folder=is_folder)
                for kind, is_folder in ((AS_FILE, False), (AS_FOLDER, True))
                if kinds & kind
            ):
                self.paths.add(path)


class WatchedFolders:
    """The watches of one tree.

    names: watch -> folder ("" or ending in "/"; git's as ".git/…"). narrow: watches of ignored folders,
    in which only followed names count. nested: watches of the tops of repositories inside the tree.
    git: watches of git's folders. unseen: folders that may not be read. kept: folders of followed
    paths. Methods that add watches raise OSError (ENOSPC, ENOMEM) when the system has none left.
    """

    def __init__(self, inotify: Inotify, root: str, rules: RuleSet) -> None:
        self.names: dict[int, str] = {}
        self.narrow: set[int] = set()
        self.nested: set[int] = set()
        self.git: set[int] = set()
        self.unseen: set[str] = set()
        self.kept: set[str] = set()
        self._inotify = inotify
        self._rules = rules
        self._root = root

    def cover_again(self, folder: str) -> None:
        """Watch a folder and all below it again, after the rules may have changed; end the watches of
        folders that are no longer listed."""
        before = {watch for watch, name in self.names.items() if name.startswith(folder)}
        self.unseen = {name for name in self.unseen if not name.startswith(folder)}
        for watch in before - self.git - self.cover(folder):
            self._drop(watch)

    def cover(self, folder: str) -> set[int]:
        """Watch a folder and all folders below it, each before it is listed: an entry made in between
        is an event or in the list. Return the watches."""
        done: set[int] = set()
        chains = self._rules.chains(folder)
        waiting = [] if chains is None else [(folder, chains)]
        while waiting:
            folder, chains = waiting.pop()
            watch = self._watched(f"{self._root}/{folder}", folder)
            if watch is None:
                continue
            self.names[watch] = folder
            done.add(watch)
            try:
                below = self._below(folder, chains)
            except (FileNotFoundError, NotADirectoryError):
                continue  # gone since, which is an event
            except PermissionError:
                self.unseen.add(folder)
                continue
            self.narrow.discard(watch)
            self.nested.discard(watch)
            if below is None:
                self.nested.add(watch)
            else:
                waiting += below
        return done

    def _below(self, folder: str, chains: Chains) -> list[tuple[str, Chains]] | None:
        """Return the folders of a folder that are not ignored, each with the rules from above; None for
        the top of a repository inside the tree. OSError when it is gone or may not be listed."""
        with os.scandir(f"{self._root}/{folder}") as entries:
            is_folder = {e.name: e.is_dir(follow_symlinks=False) for e in entries}
        if folder and ".git" in is_folder:
            return None
        if folder:
            chains = self._rules.extend(chains, folder, is_folder)
        return [
            (f"{folder}{name}/", chains)
            for name in is_folder
            if is_folder[name] and not self._rules.hides(chains, folder + name, is_folder=True)
        ]

    def cover_git(self) -> None:
        """Watch git's folders. Some may come later, so call this again."""
        for name, place in git_places(self._root):
            watch = self._watched(place, name)
            if watch is not None and watch not in self.names:
                self.names[watch] = name
                self.git.add(watch)

    def keep(self, paths: Iterable[str]) -> None:
        """Watch the folders above these paths, too, ignored or not, so that a folder that is made again
        is noticed."""
        new = {above for path in paths for above in folders_above(path)} - self.kept
        self.kept |= new
        self._keep(new)

    def keep_in(self, folders: Iterable[str]) -> None:
        """Watch the folders of followed paths in these folders, which were made or covered just now."""
        heads = tuple(folders)
        self._keep({kept for kept in self.kept if kept.startswith(heads)})

    def keep_only(self, paths: Iterable[str]) -> None:
        """End the watches of ignored folders that are above none of these paths."""
        self.kept &= {above for path in paths for above in folders_above(path)}
        for watch in [w for w in self.narrow if self.names[w] not in self.kept]:
            self._drop(watch)

    def _keep(self, folders: set[str]) -> None:
        for folder in sorted(folders):
            watch = self._watched(f"{self._root}/{folder}", folder)
            if watch is not None and watch not in self.names:
                self.names[watch] = folder
                self.narrow.add(watch)

    def leave(self, folders: set[str]) -> None:
        """End the watches of folders that were renamed away, and of all folders below them."""
        heads = tuple(folders)
        for watch in [w for w, name in self.names.items() if name.startswith(heads)]:
            self._drop(watch)

    def named(self, entries: Iterable[tuple[int, bytes]]) -> tuple[set[str], set[str]]:
        """Return the folders that these events name: those that may be listed, and those in ignored
        folders or in repositories inside the tree."""
        listed: set[str] = set()
        apart: set[str] = set()
        for watch, name in entries:
            if watch in self.names and watch not in self.git:
                into = apart if watch in self.narrow or watch in self.nested else listed
                into.add(f"{self.names[watch]}{os.fsdecode(name)}/")
        return listed, apart

    def ended(self, watch: int) -> None:
        """Forget a watch that the kernel ended."""
        self.names.pop(watch, None)
        for kind in (self.narrow, self.nested, self.git):
            kind.discard(watch)

    def clear(self) -> None:
        """End all watches."""
        for watch in list(self.names):
            self._drop(watch)
        self.unseen.clear()

    def _drop(self, watch: int) -> None:
        self._inotify.remove(watch)
        self.ended(watch)

    def _watched(self, place: str, name: str) -> int | None:
        self.unseen.discard(name)
        try:
            return self._inotify.add(place)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.ENAMETOOLONG):
                self.unseen.add(name)
            elif error.errno not in _GONE:
                raise
            return None
