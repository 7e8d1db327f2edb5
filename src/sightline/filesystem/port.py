"""How the disk is touched: one port; disk.py is the real one, testing.MemoryWorkspace the fake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from typing import Protocol

from sightline.errors import Unverifiable
from sightline.filesystem.file_state import FileState, Replacement, ResolvedPath
from sightline.filesystem.git.repository import Repository
from sightline.filesystem.tree_index import Row, Tree
from sightline.filesystem.watch.watcher import Watcher
from sightline.model.revision import Revision, Stamp, StatSignature


class Workspace(Protocol):
    """One directory tree. Canonical paths are relative, use "/", and never leave the root."""

    root: str

    def locate(self, name: str | PathLike[str]) -> ResolvedPath:
        """The one door from a name (relative or absolute) to a canonical path.

        PathRefused when it is empty or invalid, outside the root (also through a symlink), inside
        .git or .hg, or refused by .sightlineignore. .gitignore never refuses a named path.
        """

    def read(
        self, path: str, *, limit: int | None = None, deadline_s: float | None = None
    ) -> FileState:
        """Bytes and the revision of those very bytes: a file that changes while it is read is
        read again, and "unreadable" when it will not hold still. Never raises for the disk's
        state; never hangs past the deadline (seconds)."""

    def stat(self, path: str) -> StatSignature | None:
        """One lstat of a canonical path; None when nothing is there. OSError otherwise."""

    def lock(self, *paths: str) -> AbstractContextManager[None]:
        """Held by one writer of these paths among all processes and threads. Re-entrant calls
        from the same thread are an error, not a deadlock: lock all paths at once."""

    def asides(self, path: str, token: str) -> tuple[str, ...]:
        """The names a replace_if of `path` with this token may leave beside it if it is killed."""

    def replace_if(
        self, path: str, expected: Revision, new: bytes | None, *, token: str = ""
    ) -> FileState:
        """Put `new` at `path` if its bytes are `expected` (MISSING: create; new None: delete).

        Under the caller's lock. Writes aside in the same folder, keeps mode, owner, extended
        attributes, ACLs; several hard links are written in place. fsyncs file and folder, renames,
        reads back unless a lease vouches for it. A save that slipped in between is found by the
        old inode and put back. Answers what stands there afterwards: its revision is that of `new`
        when it worked, else nothing was changed and the answer is what to judge again. Unverifiable
        when the disk refuses (no permission, read-only, full): the file is as it was.
        """

    def replace_each(
        self, wanted: Sequence[Replacement], meanwhile: Callable[[], None] = lambda: None
    ) -> list[FileState | Unverifiable]:
        """replace_if of different paths, each for itself, under the caller's lock of them all:
        the disk makes them power-safe together. What replace_if answers or raises, in order. It
        holds three open files for each, and all of the new bytes. meanwhile: called once, while
        these are written aside and before anything that stands is touched; what it raises is
        raised, nothing is replaced then, and nothing left aside."""

    def move_if(self, src: str, dst: str, expected: Revision) -> FileState:
        """Rename src to dst if src's bytes are `expected` and dst is free; answers what stands
        at dst (as replace_if). Parent folders of dst are made."""

    def set_mode(self, path: str, expected: int, mode: int) -> FileState:
        """Give a file these permission bits if it has the expected ones; answers what stands there
        afterwards. Unverifiable when the disk refuses. Where a system has no such bits nothing is
        done."""

    def clean(
        self,
        path: str,
        asides: Iterable[str],
        *,
        before: Revision | None = None,
        after: Revision | None = None,
    ) -> None:
        """Remove what a killed replace_if left beside `path`; puts a moved-away original back
        when nothing stands at `path`, and, told the revisions of the intent, a save that slipped
        in just before the kill."""

    def scan(
        self, stamps: Mapping[str, Stamp], *, deadline_s: float | None = None
    ) -> Iterator[FileState]:
        """Of these paths, those that are not what their stamp says: stat first, hash in doubt.
        The answers carry no data; one with the stamp's own revision is a fresh stamp for the
        same bytes. "unreadable" for what is left when the deadline passes."""

    def walk(
        self,
        *,
        since_ns: int = 0,
        under: str = "",
        links: bool = False,
        until: float | None = None,
    ) -> Iterator[tuple[str, StatSignature]]:
        """Yield every file that no ignore rule hides, in order of path.

        links: symlinks, too. since_ns: only files whose times are then or later. under: only files
        below one folder ("" or ending in "/"), which counts as not ignored. until: by
        time.monotonic(). A folder that may not be listed is yielded itself, with its mode.
        Unverifiable when an ignore file cannot be read, DeadlinePassed when time is up.
        """

    def tree(self, last: Tree | None = None, *, until: float | None = None) -> Tree:
        """Return all files and symlinks, and what is left out and why.

        last: an earlier answer with the contents learned since. Contents for which the times vouch are in
        the new answer, and it is `last` itself where nothing changed. until: by time.monotonic().
        Unverifiable when an ignore file or a folder cannot be read, DeadlinePassed when time is up.
        """

    def contents(self, asked: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Row, bytes | None]]:
        """Files that a tree names, each as it is asked for, with its bytes where it stands as its
        row says; None where it does not, or where it takes a closer look (read)."""

    def remember(self, tree: Tree, *, lasting: bool = True) -> None:
        """Keep an answer for the next look, lasting: for those of later processes, too. It is a
        hint that saves work, never a fact."""

    def remembered(self) -> Tree:
        """The answer that was kept last, or one of nothing."""

    def keep(self, name: str, data: bytes, *, after: bytes = b"") -> bool:
        """Keep a cache for later processes under a name, whole or not at all. after: put it behind
        the one that is kept, where that begins so; whether it was kept. OSError."""

    def kept(self, name: str) -> bytes | None:
        """A cache that was kept; None where there is none to read."""

    def watch(self) -> Watcher:
        """A subscription to what changes from now on. WorkspaceError."""

    def paths(self) -> tuple[str, ...]:
        """All that may be found, sorted: files that no ignore file hides, neither git's nor
        .sightlineignore nor one of an agent's product, and symlinks that lead to one of them.
        What git tracks is not ignored by .gitignore. Unverifiable when an ignore file cannot be
        read."""

    def names(self, folder: str) -> tuple[str, ...]:
        """What stands in a folder ("" or ending in "/"), sorted; without what is never listed:
        folders of version control, our own files, names that are no Unicode. Unverifiable when it
        cannot be listed."""

    def git_at_work(self) -> bool:
        """Whether a git command is changing the tree now, as far as its lock tells."""

    def repository(self, path: str) -> Repository | None:
        """The git repository that a path belongs to, where one does."""

    def refused(self, paths: Iterable[str]) -> set[str]:
        """Those of these paths that a .sightlineignore at the root refuses by now."""

    def listed(self, path: str) -> bool:
        """Whether .gitignore and .sightlineignore let a scan see this path."""
