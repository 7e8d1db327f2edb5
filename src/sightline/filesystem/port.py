"""The port to the disk: `disk.DiskWorkspace` is the real one, `testing.MemoryWorkspace` the fake."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from typing import Protocol

from sightline.errors import Unverifiable
from sightline.filesystem.file_state import (
    FileState,
    Pieces,
    RefusedFile,
    Replacement,
    ResolvedPath,
)
from sightline.filesystem.git.repository import Repository
from sightline.filesystem.tree_index import Row, Tree
from sightline.filesystem.watch.watcher import Watcher
from sightline.model.revision import Revision, Stamp, StatSignature


class Workspace(Protocol):
    """One directory tree. Canonical paths are relative, use "/", and never leave the root."""

    root: str

    def locate(self, name: str | PathLike[str]) -> ResolvedPath:
        """Resolve a name (relative or absolute) to a canonical path. No other way leads to one.

        PathRefused when the name is empty or invalid, outside the root (also through a symlink),
        inside .git or .hg, or refused by .sightlineignore. .gitignore never refuses a named path.
        """

    def read(
        self,
        path: str,
        *,
        limit: int | None = None,
        deadline_s: float | None = None,
        beyond: Pieces | None = None,
    ) -> FileState:
        """Read a file: bytes, and the revision of those very bytes.

        A file that changes while it is read is read again, and is "unreadable" when it keeps
        changing. limit: data of more bytes is hashed and not returned. beyond: takes that data in
        pieces. Never raises for the disk's state; never hangs past the deadline (seconds), and with
        `beyond` past that time after the last piece.
        """

    def stat(self, path: str) -> StatSignature | None:
        """Return one lstat of a canonical path; None when nothing is there. OSError otherwise."""

    def linked(self, path: str) -> StatSignature | None:
        """Return one lstat of a file that has several names (hard links); None for any other
        file, and where none can be looked at."""

    def lock(self, *paths: str) -> AbstractContextManager[None]:
        """Lock paths for one writer among all processes and threads. Lock all paths at once: a
        thread that holds a lock and asks for another gets a RuntimeError, not a deadlock."""

    def asides(self, path: str, token: str) -> tuple[str, ...]:
        """Return the names of the temporary files that a replacement of `path` with this token may
        leave beside it when the process is killed."""

    def replace_each(self, wanted: Sequence[Replacement]) -> list[FileState | Unverifiable]:
        """Compare and replace different paths, each for itself, under one lock of all paths.

        Each new content is put at its path if the path's content is the expected one (MISSING:
        create; new None: delete). The write goes to a temporary file in the same folder that gets mode, owner,
        extended attributes and ACLs of the old file, is synced and renamed; a file with several
        names is written in place. A save by another program in between is found by the old
        inode and put back. A file that a program holds open for writing is left alone.

        Returns for each path, in order, the state afterwards: its content is the new one when that
        worked, or it is `saved_over`; otherwise nothing was changed, and the state is what to judge
        again. Unverifiable
        stands for a path where the disk refuses (no permission, read-only, full): the file is as it
        was. Holds three open files for each path, and all new bytes.
        """

    def move_if(self, src: str, dst: str, expected: Revision) -> FileState:
        """Rename src to dst if src's bytes are `expected` and dst is free; return the state of dst.
        Parent folders of dst are made."""

    def emptied(self, folder: str, without: Collection[str]) -> tuple[str, ...] | None:
        """Return a folder and all folders below, if they hold no files other than `without`. None if
        they hold another file, a folder cannot be listed, or no folder stands there."""

    def remove_folders(self, folders: Iterable[str]) -> tuple[str, ...]:
        """Remove those of these folders that are empty, the deepest first. All others stay. Return
        the removed ones."""

    def make_folders(self, folders: Iterable[str]) -> tuple[str, ...]:
        """Make those of these folders at whose path nothing stands. Return those that were made."""

    def set_mode(self, path: str, expected: int, mode: int) -> FileState:
        """Give a file these permission bits if it has the expected ones; return its state afterwards.
        Unverifiable when the disk refuses. Does nothing on a system without such bits."""

    def clean(
        self,
        path: str,
        asides: Iterable[str],
        *,
        before: Revision | None = None,
        after: Revision | None = None,
    ) -> None:
        """Remove the temporary files of a killed write beside `path`. Put a displaced original back
        when nothing stands at `path`. before, after: the contents of the intent; with them, a
        save that came just before the kill is put back, too."""

    def scan(
        self, stamps: Mapping[str, Stamp], *, deadline_s: float | None = None
    ) -> Iterator[FileState]:
        """Yield the states of paths with doubtful stamps: stat first, hash in doubt.

        The states have no data. One with the stamp's own revision is a fresh stamp for the same
        bytes. Paths that are not reached before the deadline (seconds) are "unreadable".
        """

    def walk(self, under: str = "") -> Iterator[tuple[str, StatSignature]]:
        """Yield every file that no ignore rule hides, in order of path.

        under: only files below one folder ("" or ending in "/"), which counts as not ignored. A folder
        that may not be listed is yielded itself, with its mode. Unverifiable when an ignore file
        cannot be read.
        """

    def tree(self, last: Tree | None = None, *, until: float | None = None) -> Tree:
        """Return all files and symlinks, and what is left out and why.

        last: an earlier answer with the contents learned since; None for the last one here. Contents for which the times vouch are in
        the new answer, and it is `last` itself where nothing changed. until: by time.monotonic().
        Unverifiable when an ignore file or a folder cannot be read, DeadlinePassed when time is up.
        """

    def listen(self) -> None:
        """Ask the system for events of the tree, where it has any. Later looks at the whole tree ask for
        changed folders alone. For a process that looks often: each folder takes memory of the kernel."""

    def contents(self, asked: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Row, bytes | None]]:
        """Yield files of a tree with their bytes; None where a file no longer stands as its row says, or
        needs a closer look (read)."""

    def remember(self, tree: Tree, *, lasting: bool = True) -> None:
        """Keep a tree for the next look. lasting: for later processes, too. It is a hint that saves
        work, never a fact."""

    def remembered(self) -> Tree:
        """Return the tree that was kept last, or an empty one."""

    def cache_folder(self) -> str:
        """Return the folder for caches that later processes may use, made when needed; "" for none."""

    def watch(self) -> Watcher:
        """Return a subscription to changes from now on. WorkspaceError."""

    def paths(self) -> tuple[str, ...]:
        """Return all paths that may be found, sorted: files that no ignore file hides (git's,
        .sightlineignore, or one of an agent's product), and symlinks that lead to one of them.
        Files that git tracks are not hidden by .gitignore. Unverifiable when an ignore file cannot
        be read."""

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the names in a folder ("" or ending in "/"), sorted, without folders of version
        control, our own files and names that are no Unicode. Unverifiable when it cannot be listed."""

    def git_at_work(self) -> bool:
        """Return whether a git command is changing the tree now, judged by its lock."""

    def repository(self, path: str) -> Repository | None:
        """Return the git repository of a path; None where it has none."""

    def refused(self, paths: Iterable[str]) -> set[str]:
        """Return the paths that an ignore file refuses now."""

    def refused_below(self, folder: str, *, until: float) -> Iterator[RefusedFile]:
        """Yield the files below a folder ("" or ending in "/") that an ignore file refuses. Where no
        such ignore file is known, no folder is listed.

        until: by time.monotonic(). When time is up, what the remembered tree knows is yielded.
        Unverifiable when an ignore file or a folder cannot be read.
        """

    def left_out(self) -> tuple[str, ...]:
        """Describe the patterns of ignore files that were left out because of their length or
        number, of the files that were read so far. One sentence for each file."""

    def listed(self, path: str) -> bool:
        """Return whether .gitignore and .sightlineignore let a scan see this path."""
