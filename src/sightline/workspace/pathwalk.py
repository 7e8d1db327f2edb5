"""A walk over the folders that no ignore file hides: which names stand, in the order of all paths.

What only git's rules hide is told too, since a file that git tracks is found all the same.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from errno import ENAMETOOLONG
from stat import S_ISREG
from time import time_ns

from sightline.errors import Unverifiable
from sightline.workspace.rules import hidden, ignored
from sightline.workspace.scan import encodes, settled, unlisted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sightline.workspace.rules import Chain, IgnoreRules

    Stamp = tuple[int, int, int, int]
    """dev, ino, mtime_ns, ctime_ns."""

    Saying = tuple[IgnoreRules, Chain]
    """A rule, and what it says of a folder's entries."""

    Waiting = tuple[str, "_Speaking | list[str]"]
    """A folder to be seen, and what speaks for the one that it is in; or files, as of a piece."""


class Walk:
    """pieces: a folder ("" or ending in "/") and names of files in it that no rule but git's
    hides, in order; links: the same of symlinks; folders: what was looked at; noted: how other
    files stood that have a say."""

    def __init__(self, root: str, git: IgnoreRules, others: Sequence[IgnoreRules]) -> None:
        self.root = root
        self.began_ns = time_ns()
        self.pieces: list[tuple[str, list[str]]] = []
        self.links: list[tuple[str, list[str]]] = []
        self.folders: list[str] = []
        self.noted: dict[str, Stamp | None] = {}
        self._git = git
        self._others = others
        self._rules = (git, *others)
        self._ignore_files = {rule.name for rule in self._rules}
        self._reached: dict[str, bool] = {}
        self._chains: dict[str, Chain] = {}

    def go(self) -> None:
        """See all. Unverifiable when an ignore file cannot be read."""
        start = _Speaking([(rule, rule.chain()) for rule in self._rules])
        waiting: list[Waiting] = [("", start)]
        while waiting:
            path, what = waiting.pop()
            if isinstance(what, list):
                self.pieces.append((path, what))
            else:
                waiting += reversed(self._enter(path, what))
        for rule in self._rules:
            self.note(rule.above())

    def note(self, files: Iterable[str]) -> None:
        """Remember how these files stand: what changed since the walk began never vouches."""
        self.noted.update((file, stamp(file)) for file in files)

    def hidden(self, folder: str, names: Sequence[str]) -> set[str]:
        """Of names in a folder of the walk, those that git's rules hide."""
        chain = self._chains.get(folder)
        return hidden(chain, self._git.full(folder), names) if chain else set()

    def stands(self, path: str) -> bool:
        """Whether a tracked file stands where no walk led, as its folder is ignored."""
        cut = path.rfind("/") + 1
        folder = path[:cut]
        if folder not in self._reached:
            self._reached[folder] = self._reaches(folder)
        if not self._reached[folder] or unlisted(path[cut:]):
            return False
        try:
            regular = S_ISREG(os.lstat(f"{self.root}/{path}").st_mode)
        except OSError:
            return False
        return regular and not any(rule.refuses(path) for rule in self._others)

    def _reaches(self, folder: str) -> bool:
        """Whether a folder that was not walked is one of this very tree, and hidden by git's own
        rules alone."""
        end = folder.find("/")
        while end >= 0:
            above = f"{self.root}/{folder[:end]}"
            self.folders.append(f"{folder[:end]}/")
            if os.path.islink(above) or os.path.lexists(f"{above}/.git"):
                return False
            end = folder.find("/", end + 1)
        name = folder.rstrip("/")
        return (
            os.path.isdir(f"{self.root}/{folder}")
            and not any(map(unlisted, name.split("/")))
            and not any(rule.refuses(name, folder=True) for rule in self._others)
        )

    def _enter(self, folder: str, speaking: _Speaking) -> Sequence[Waiting]:
        """See one folder, and say what is to come of it, in the order of all paths."""
        self.folders.append(folder)
        listed = _entries(self.root, folder)
        if listed is None:
            return ()
        names = [entry.name for entry in listed if entry.is_file(follow_symlinks=False)]
        names.sort()
        rest: list[os.DirEntry[str]] = []
        if len(names) < len(listed):
            rest = [entry for entry in listed if not entry.is_file(follow_symlinks=False)]
        dotted = names[bisect_left(names, ".") : bisect_left(names, "/")]
        if folder and (".git" in dotted or any(each.name == ".git" for each in rest)):
            return ()  # a repository of its own
        self._reached[folder] = False  # all that stands here is told by the walk
        if folder and dotted and not self._ignore_files.isdisjoint(dotted):
            speaking = self._extended(folder, speaking, dotted)
        if speaking.git:
            self._chains[folder] = speaking.git
        if dotted or not encodes("".join(names)):
            names = _listable(names)
        names = speaking.let_through(folder, names)
        if rest:
            links = _listable([each.name for each in rest if each.is_symlink()])
            if links:
                self.links.append((folder, speaking.let_through(folder, links)))
            return [*_runs(folder, names, speaking.folders(folder, rest), speaking)]
        if names:
            self.pieces.append((folder, names))
        return ()

    def _extended(self, folder: str, speaking: _Speaking, dotted: Sequence[str]) -> _Speaking:
        """What speaks for a folder that has ignore files of its own."""
        self.note(f"{self.root}/{folder}{rule.name}" for rule in self._rules if rule.name in dotted)
        return _Speaking(
            [
                (rule, rule.extend(chain, rule.full(folder)) if rule.name in dotted else chain)
                for rule, chain in speaking.pairs
            ]
        )


class _Speaking:
    """What the rules say of a folder's entries; the same for all below without ignore files."""

    __slots__ = ("_all", "_others", "git", "pairs")

    def __init__(self, pairs: list[Saying]) -> None:
        self.pairs = pairs
        self.git = pairs[0][1]
        self._all = [pair for pair in pairs if pair[1]]
        self._others = [pair for pair in pairs[1:] if pair[1]]

    def let_through(self, folder: str, names: list[str]) -> list[str]:
        """The names of files that no rule but git's hides."""
        for rule, chain in self._others:
            away = hidden(chain, rule.full(folder), names)
            if away:
                names = [name for name in names if name not in away]
        return names

    def folders(self, above: str, entries: Iterable[os.DirEntry[str]]) -> list[str]:
        """Those of the entries that are folders which no rule hides, as paths."""
        paths = [
            above + entry.name
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and not unlisted(entry.name)
        ]
        for rule, chain in self._all:
            full = rule.full("")
            paths = [path for path in paths if not ignored(chain, full + path, folder=True)]
        return paths


def _entries(root: str, folder: str) -> list[os.DirEntry[str]] | None:
    """What stands in a folder; None where that may not be listed, or is gone by now."""
    try:
        with os.scandir(f"{root}/{folder}") as entries:
            return list(entries)
    except (PermissionError, FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == ENAMETOOLONG:
            return None  # no path leads to what is in it
        raise not_listed(folder, error) from error


def _listable(names: list[str]) -> list[str]:
    return [name for name in names if not unlisted(name)]


def _runs(
    folder: str, names: list[str], folders: Iterable[str], speaking: _Speaking
) -> Iterator[Waiting]:
    """Files that follow each other, and the folders between them."""
    at, cut = 0, len(folder)
    for below in sorted([f"{path}/" for path in folders]):
        end = bisect_left(names, below[cut:], at)
        if end > at:
            yield folder, names[at:end]
        yield below, speaking
        at = end
    if at < len(names):
        yield folder, names[at:]


def not_listed(folder: str, error: OSError) -> Unverifiable:
    """The error for a folder that cannot be listed."""
    name = folder.rstrip("/") or "."
    words = f"{name} could not be listed: {error.strerror or type(error).__name__}."
    return Unverifiable(name, words, "Check that it is there and readable.")


def stamp(path: str) -> Stamp | None:
    """How an entry stands; None where there is none."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):  # a `.git` may name what no path can be
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def unchanged(folder: str, since_ns: int) -> bool:
    """Whether a folder is there, with the entries that it had at a moment."""
    found = stamp(folder or "/")
    return found is not None and settled(*found[2:], since_ns)
