"""A folder as a list of paths shows it: what is in it, how much, and in which order it is told."""

from __future__ import annotations

from bisect import bisect_left

from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    Kind = Literal["file", "folder", "symlink", "other"]


class Entry(Value):
    """What stands at a path. size: in bytes, of a file; None for the rest. kind "other" is neither
    file, folder nor symlink, or a repository of its own."""

    path: str
    kind: Kind
    size: int | None = None


class DirectoryListing(Value):
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


class Level(Value):
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
