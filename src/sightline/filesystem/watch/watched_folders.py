"""The watched folders: those that no rule ignores, those of followed paths, and git's."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable

from sightline.filesystem.ignore.rules import Chains, RuleSet, folders_above
from sightline.filesystem.watch.git_folder import git_places
from sightline.filesystem.watch.inotify import Inotify

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class Folders:
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

    def cover(self, folder: str) -> None:
        """Watch a folder and all folders below it, each before it is listed: an entry made in between
        is an event or in the list."""
        self._cover(folder)

    def cover_again(self, folder: str) -> None:
        """Watch a folder and all below it again, after the rules may have changed; end the watches of
        folders that are no longer listed."""
        before = {watch for watch, name in self.names.items() if name.startswith(folder)}
        self.unseen = {name for name in self.unseen if not name.startswith(folder)}
        for watch in before - self.git - self._cover(folder):
            self._drop(watch)

    def _cover(self, folder: str) -> set[int]:
        done: set[int] = set()
        chains = self._rules.chains(folder)
        waiting = [] if chains is None else [(folder, chains)]
        while waiting:
            folder, chains = waiting.pop()
            watch = self._add(folder)
            if watch is None:
                continue
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

    def _add(self, folder: str) -> int | None:
        watch = self._watched(f"{self._root}/{folder}", folder)
        if watch is not None:
            self.names[watch] = folder
        return watch

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
