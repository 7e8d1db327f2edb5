"""List a folder as the workspace's list of paths shows it: its entries, their number, their order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from os import PathLike
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import Literal

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.errors import FileMissing, PathRefused, Unverifiable
from sightline.filesystem.port import Workspace
from sightline.model import validation
from sightline.search.patterns import LeadsOut, pattern

Kind = Literal["file", "folder", "symlink", "other"]


class Entry(Struct, frozen=True):
    """An entry of a folder. size: bytes of a file, None for other kinds. kind "other": a pipe, a
    device, or a nested repository."""

    path: str
    kind: Kind
    size: int | None = None


class DirectoryListing(Struct, frozen=True):
    """The entries of a folder, the nearest first.

    folders, files: numbers of each among the entries. ignored: number of hidden entries in the
    listed folders, a hidden folder counted as one. left_out: entries beyond the limit; deeper: files
    in folders beyond the depth; closed: folders that could not be listed; complete: the listing has
    all requested entries.

    path: of the folder; filter: the pattern that the names fit, None for all.
    """

    path: str
    entries: tuple[Entry, ...]
    folders: int
    files: int
    ignored: int
    left_out: int
    depth: int
    limit: int
    filter: str | None = None
    deeper: int = 0
    closed: tuple[str, ...] = ()
    complete: bool = True


class Level(Struct, frozen=True):
    """The direct entries of a folder: full paths, in order."""

    files: tuple[str, ...]
    folders: tuple[str, ...]


def level(paths: Sequence[str], folder: str) -> Level:
    """Return the direct entries of a folder. paths: sorted; folder: "" or ending in "/". Each folder
    inside is skipped in one step."""
    at, end = _span(paths, folder)
    files, folders, cut = [], [], len(folder)
    while at < end:
        path = paths[at]
        slash = path.find("/", cut)
        if slash < 0:
            files.append(path)
            at += 1
        else:
            folders.append(path[:slash])
            at = bisect_left(paths, _after(path[: slash + 1]), at, end)
    return Level(tuple(files), tuple(folders))


def below(paths: Sequence[str], folder: str) -> int:
    """Return the number of the sorted paths below a folder."""
    first, end = _span(paths, folder)
    return end - first


def _span(paths: Sequence[str], folder: str) -> tuple[int, int]:
    if not folder:
        return 0, len(paths)
    return bisect_left(paths, folder), bisect_left(paths, _after(folder))


def _after(folder: str) -> str:
    """Return the least text greater than all paths below a folder."""
    return folder[:-1] + "0"  # the sign after "/"


def beyond(paths: Sequence[str], folders: Sequence[str], levels: int) -> tuple[int, int]:
    """Return the number of entries in these folders within so many levels, and of files deeper."""
    entries = 0
    for _ in range(levels):
        inside = [level(paths, f"{folder}/") for folder in folders]
        entries += sum(len(each.files) + len(each.folders) for each in inside)
        folders = [folder for each in inside for folder in each.folders]
    return entries, sum(below(paths, f"{folder}/") for folder in folders)


DEPTH_MAX = 64
LIMIT_MAX = 10_000

JUDGED_MAX = 2_000
"""Unlisted names of one listing that are looked up on disk; further ones count as ignored."""


def list_directory(
    context: SessionContext,
    path: str | PathLike[str] = ".",
    *,
    recursive: bool = False,
    filter: str | None = None,
    depth: int = 3,
    limit: int = 200,
) -> DirectoryListing:
    """Return the entries of a folder; recursive, also of those below it, `depth` levels in all.

    filter: a pattern for the whole path of files, as in finding; recursive, only folders that lead
    to a matching file are listed. limit: entries, the nearest first. PathRefused for a way out of
    the workspace and for a path that is no folder, ValueError for an invalid filter and for a limit
    below 1, FileMissing, Unverifiable when the folder cannot be listed.
    """
    depth = validation.number("depth", depth, 1, DEPTH_MAX)
    limit = validation.number("limit", limit, 1, LIMIT_MAX)
    validation.text_or_none("filter", filter, "a pattern such as *.py")
    workspace = context.workspace
    name = validation.path(path, "src")
    folder = workspace.locate(name).path
    found = workspace.stat(folder)
    if found is None:
        raise FileMissing(name, f"{name} does not exist.", "List the folder above it.")
    if not S_ISDIR(found.mode):
        raise PathRefused(
            name, "special", f"{name} is no folder.", "Read it, or list the folder that it is in."
        )
    try:
        wanted = None if filter is None else pattern(filter)
    except LeadsOut as error:
        hint = "Write the filter from the workspace's root, or a name such as *.py."
        raise PathRefused(filter or "", "outside", str(error), hint) from error
    listing = _Lister(workspace, limit, recursive=recursive, filtered=wanted is not None)
    if wanted is not None:
        listing.asked = [file for file in listing.paths if wanted.matches(file)]
    levels = depth if recursive else 1
    listing.walk("" if folder == "." else folder, levels)
    kinds = [entry.kind for entry in listing.entries]
    return DirectoryListing(
        folder,
        tuple(listing.entries),
        kinds.count("folder"),
        kinds.count("file"),
        listing.ignored,
        listing.left_out,
        levels,
        limit,
        filter,
        listing.deeper,
        tuple(listing.closed),
        complete=not (listing.left_out or listing.deeper or listing.closed),
    )


class _Lister:
    """Lists folders level by level. paths: all findable files; asked: those that pass the filter."""

    def __init__(
        self, workspace: Workspace, limit: int, *, recursive: bool, filtered: bool
    ) -> None:
        self._workspace = workspace
        self._limit = limit
        self._recursive = recursive
        self._filtered = filtered
        self._judged = 0
        self.paths = workspace.paths()
        self.asked: Sequence[str] = self.paths
        self.entries: list[Entry] = []
        self.closed: list[str] = []
        self.ignored = self.left_out = self.deeper = 0

    def walk(self, folder: str, levels: int) -> None:
        """List the folders level by level up to the limit. Entries beyond it are counted from the list
        of paths, without the disk."""
        current = [folder]
        for depth in range(levels):
            following: list[str] = []
            for number, path in enumerate(current):
                if len(self.entries) >= self._limit:
                    self._count(current[number:], levels - depth)
                    self._count(following, levels - depth - 1)
                    return
                following += self._list(f"{path}/" if path else "", first=depth == 0)
            current = following
        if self._recursive:
            self.deeper += sum(below(self.asked, f"{path}/") for path in current)

    def _count(self, folders: Sequence[str], levels: int) -> None:
        entries, deeper = beyond(self.asked, folders, levels)
        self.left_out += entries
        self.deeper += deeper if self._recursive else 0

    def _list(self, folder: str, *, first: bool) -> tuple[str, ...]:
        """Add the entries of one folder; return the folders in it, those beyond the limit included."""
        whole, asked = level(self.paths, folder), level(self.asked, folder)
        folders = asked.folders if self._recursive and self._filtered else whole.folders
        extra = {entry.path: entry for entry in self._extra(folder, whole, first=first)}
        found = sorted([*asked.files, *folders, *extra])
        shown = found[: self._limit - len(self.entries)]
        self.entries += [extra.get(path) or self._entry(path) for path in shown]
        self.left_out += len(found) - len(shown)
        return folders

    def _extra(self, folder: str, whole: Level, *, first: bool) -> list[Entry]:
        """Return the visible entries of a folder that no list of files has: empty folders, dangling
        links, pipes. Count the others as ignored."""
        try:
            names = self._workspace.names(folder)
        except Unverifiable:
            if first:
                raise
            self.closed.append(folder)
            return []
        known = {*whole.files, *whole.folders}
        unknown = [path for name in names if (path := folder + name) not in known]
        judged = unknown[: max(JUDGED_MAX - self._judged, 0)]
        self._judged += len(judged)
        extra = [entry for path in judged if (entry := self._visible(path)) is not None]
        self.ignored += len(unknown) - len(extra)
        return [] if self._filtered else extra

    def _visible(self, path: str) -> Entry | None:
        """Return an unlisted entry; None for an ignored one."""
        entry = self._entry(path)
        if entry.kind == "file":
            return None
        if entry.kind != "folder":
            return entry if self._workspace.listed(path) else None
        try:
            empty = not self._workspace.names(f"{path}/")
        except Unverifiable:
            return None
        return entry if empty and self._workspace.listed(f"{path}/-") else None

    def _entry(self, path: str) -> Entry:
        found = self._workspace.stat(path)
        if found is None or S_ISLNK(found.mode):
            return Entry(path, "other" if found is None else "symlink")
        if S_ISREG(found.mode):
            return Entry(path, "file", found.size)
        return Entry(path, "folder" if S_ISDIR(found.mode) else "other")
