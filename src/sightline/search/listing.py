"""A folder as a list of paths shows it: what is in it, how much, and in which order it is told."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
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
    """What stands at a path. size: in bytes, of a file; None for the rest. kind "other" is neither
    file, folder nor symlink, or a repository of its own."""

    path: str
    kind: Kind
    size: int | None = None


class DirectoryListing(Struct, frozen=True):
    """What is in a folder, the nearest first.

    folders, files: how many of each are among the entries. ignored: what is hidden in the folders
    that were told, counted, a folder as one. left_out: entries that the limit cut off; deeper:
    files in folders below the depth; closed: folders that could not be listed.
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

    @property
    def complete(self) -> bool:
        """Whether all that was asked for is told."""
        return not (self.left_out or self.deeper or self.closed)


class Level(Struct, frozen=True):
    """What one folder of a list of paths holds: whole paths, in order."""

    files: tuple[str, ...]
    folders: tuple[str, ...]


def level(paths: Sequence[str], folder: str) -> Level:
    """The entries of a folder ("" or ending in "/"). paths: sorted; what is below a folder in it is
    passed over in one step."""
    at, end = span(paths, folder)
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
    """How many of the sorted paths are below a folder."""
    first, end = span(paths, folder)
    return end - first


def span(paths: Sequence[str], folder: str) -> tuple[int, int]:
    """Where the paths below a folder begin and end."""
    if not folder:
        return 0, len(paths)
    return bisect_left(paths, folder), bisect_left(paths, _after(folder))


def _after(folder: str) -> str:
    """The least text that is greater than all paths below a folder."""
    return folder[:-1] + "0"  # the sign after "/"


def beyond(paths: Sequence[str], folders: Sequence[str], levels: int) -> tuple[int, int]:
    """How many entries these folders hold within so many levels, and how many files deeper."""
    entries = 0
    for _ in range(levels):
        under = [level(paths, f"{folder}/") for folder in folders]
        entries += sum(len(each.files) + len(each.folders) for each in under)
        folders = [folder for each in under for folder in each.folders]
    return entries, sum(below(paths, f"{folder}/") for folder in folders)


DEPTH_MAX = 64
LIMIT_MAX = 10_000

JUDGED_MAX = 2_000
"""Names of one listing that are looked at because no list of paths has them; the rest of them
count as ignored."""


def list_directory(
    ground: SessionContext,
    path: str = ".",
    *,
    recursive: bool = False,
    filter: str | None = None,
    depth: int = 3,
    limit: int = 200,
) -> DirectoryListing:
    """What is in a folder, and, recursive, in those below it, `depth` levels in all.

    filter: a pattern that files have to match; what it says is about the whole path, as in finding,
    and recursive, only folders that lead to such a file are told. At most `limit` entries, the
    nearest first. PathRefused for a way out of the workspace and for what is no folder, ValueError
    for a filter that is no pattern and for a limit below 1, FileMissing, Unverifiable when the
    folder cannot be listed.
    """
    deepest = validation.number("depth", depth, 1, DEPTH_MAX)
    most = validation.number("limit", limit, 1, LIMIT_MAX)
    validation.text_or_none("filter", filter, "a pattern such as *.py")
    workspace = ground.workspace
    folder = _folder(workspace, validation.path(path, "src"))
    levels = deepest if recursive else 1
    paths = workspace.paths()
    asked = paths if filter is None else _matching(paths, filter)
    listing = _Listing(workspace, paths, asked, most, bare=filter is None, deep=recursive)
    listing.tell(folder, levels)
    return listing.answer(folder, levels, most, filter)


def _folder(workspace: Workspace, name: str) -> str:
    """The folder that a name means, "" or ending in "/"."""
    path = workspace.locate(name).path
    found = workspace.stat(path)
    if found is None:
        raise FileMissing(name, f"{name} is not there.", "List the folder above it.")
    if not S_ISDIR(found.mode):
        raise PathRefused(
            name, "special", f"{name} is no folder.", "Read it, or list the folder that it is in."
        )
    return "" if path == "." else f"{path}/"


def _matching(paths: Sequence[str], text: str) -> list[str]:
    try:
        wanted = pattern(text)
    except LeadsOut as error:
        hint = "Write the filter from the workspace's root, or a name such as *.py."
        raise PathRefused(text, "outside", str(error), hint) from error
    return [each for each in paths if wanted.matches(each)]


class _Listing:
    """A listing as it grows. paths: all that may be found; asked: those that are asked for; bare:
    whether what is no file is told, too; deep: whether what is in folders below is asked for."""

    def __init__(
        self,
        workspace: Workspace,
        paths: Sequence[str],
        asked: Sequence[str],
        most: int,
        *,
        bare: bool,
        deep: bool,
    ) -> None:
        self._workspace = workspace
        self._paths = paths
        self._asked = asked
        self._most = most
        self._bare = bare
        self._deep = deep
        self._leading = deep and not bare
        self._entries: list[Entry] = []
        self._closed: list[str] = []
        self._ignored = self._left_out = self._deeper = 0
        self._judged = 0

    def tell(self, folder: str, levels: int) -> None:
        """Go through the folders level by level, until the limit is reached: what is beyond it is
        counted by the list of paths, without the disk."""
        now = [folder.rstrip("/")]
        for at in range(levels):
            then: list[str] = []
            for number, each in enumerate(now):
                if len(self._entries) >= self._most:
                    self._count(now[number:], then, levels - at)
                    return
                then += self._told(f"{each}/" if each else "", first=at == 0)
            now = then
        self._deeper += sum(below(self._asked, f"{each}/") for each in now) if self._deep else 0

    def _count(self, now: Sequence[str], then: Sequence[str], levels: int) -> None:
        for folders, left in ((now, levels), (then, levels - 1)):
            entries, deeper = beyond(self._asked, folders, left)
            self._left_out += entries
            self._deeper += deeper if self._deep else 0

    def _told(self, folder: str, *, first: bool) -> tuple[str, ...]:
        """Tell the entries of one folder; the folders among them, told or not."""
        whole, asked = level(self._paths, folder), level(self._asked, folder)
        folders = asked.folders if self._leading else whole.folders
        more = self._more(folder, whole, first=first)
        found = [*asked.files, *folders, *(entry.path for entry in more)]
        room = self._most - len(self._entries)
        known = {entry.path: entry for entry in more}
        told = sorted(found)[:room]
        self._entries += [known.get(path) or self._entry(path) for path in told]
        self._left_out += len(found) - len(told)
        return folders

    def _more(self, folder: str, whole: Level, *, first: bool) -> list[Entry]:
        """What stands in a folder beside what may be found: empty folders, links that lead
        nowhere, pipes. The rest is ignored, and counted."""
        try:
            names = self._workspace.names(folder)
        except Unverifiable:
            if first:
                raise
            self._closed.append(folder)
            return []
        known = {*whole.files, *whole.folders}
        unknown = [path for name in names if (path := folder + name) not in known]
        judged = unknown[: max(JUDGED_MAX - self._judged, 0)]
        self._judged += len(judged)
        more = [entry for path in judged if (entry := self._visible(path)) is not None]
        self._ignored += len(unknown) - len(more)
        return more if self._bare else []

    def _visible(self, path: str) -> Entry | None:
        """An entry that may be told though it cannot be found; None where it is ignored."""
        entry = self._entry(path)
        if entry.kind == "file":
            return None
        if entry.kind != "folder":
            return entry if self._workspace.listed(path) else None
        try:
            empty = not self._workspace.names(f"{path}/")
        except Unverifiable:
            return None  # what is in it is nobody's to find
        return entry if empty and self._workspace.listed(f"{path}/-") else None

    def _entry(self, path: str) -> Entry:
        found = self._workspace.stat(path)
        if found is None or S_ISLNK(found.mode):
            return Entry(path, "other" if found is None else "symlink")
        if S_ISREG(found.mode):
            return Entry(path, "file", found.size)
        return Entry(path, "folder" if S_ISDIR(found.mode) else "other")

    def answer(
        self,
        folder: str,
        levels: int,
        most: int,
        filter: str | None,
    ) -> DirectoryListing:
        """All that was told."""
        kinds = [entry.kind for entry in self._entries]
        return DirectoryListing(
            folder.rstrip("/") or ".",
            tuple(self._entries),
            kinds.count("folder"),
            kinds.count("file"),
            self._ignored,
            self._left_out,
            levels,
            most,
            filter,
            self._deeper,
            tuple(self._closed),
        )
