"""All paths of a tree that may be found, as one sorted list.

A walk says what stands. In a git tree git says beside it, in one process, what it tracks: its own
rules are asked about the rest alone. A list is given again as long as the times of every folder
and every ignore file vouch for it, as in filesystem.tree_index.

A walk over the folders that no ignore file hides: which names stand, in the order of all paths.

What only git's rules hide is told too, since a file that git tracks is found all the same.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from errno import ENAMETOOLONG
from stat import S_ISREG
from time import time_ns

from sightline.errors import Unverifiable
from sightline.filesystem.git.tracked_files import ask
from sightline.filesystem.ignore.cline_ignore import Cline
from sightline.filesystem.ignore.rules import (
    Chain,
    IgnoreRules,
    git_rules,
    git_top,
    hidden,
    ignored,
)
from sightline.filesystem.scan import encodes, settled, unlisted

Stamp = tuple[int, int, int, int]
"""dev, ino, mtime_ns, ctime_ns."""

Saying = tuple[IgnoreRules, Chain]
"""A rule, and what it says of a folder's entries."""

Waiting = tuple[str, "_Speaking | list[str]"]
"""A folder to be seen, and what speaks for the one that it is in; or files, as of a piece."""

NUL = "\0"

AGENTS = (".rooignore", ".kilocodeignore", ".cursorignore", ".geminiignore", ".aiexclude")
"""Ignore files of agents' products, beside .clineignore: they hide from finding, and refuse
nothing."""


class Finder:
    """The list of one tree, kept as long as it stands."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._found: _Found | None = None

    def paths(self) -> tuple[str, ...]:
        """Every file that no rule hides, and every symlink that leads to one of them."""
        found = self._found
        if found is None or not found.stands():
            found = self._found = _find(self._root)
        return found.with_links()


def names(root: str, folder: str) -> tuple[str, ...]:
    """What stands in a folder, as Workspace.names tells it."""
    try:
        listed = os.listdir(f"{root}/{folder}")
    except OSError as error:
        raise not_listed(folder, error) from error
    return tuple(sorted(name for name in listed if not unlisted(name)))


class _Found:
    """What a walk found, and all that it looked at."""

    def __init__(self, top: str | None, walk: Walk, paths: list[str], links: list[str]) -> None:
        self._root = walk.root
        self._top = top
        self._paths = tuple(paths)
        self._links = links
        self._began_ns = walk.began_ns
        self._folders = walk.folders
        self._noted = walk.noted

    def stands(self) -> bool:
        """Whether all that was looked at is as it was: nothing has a time that is younger than
        the look, or so near to it that it may have changed after the look, too."""
        began_ns, root = self._began_ns, self._root
        return (
            git_top(root) == self._top
            and all(stamp(path) == was for path, was in self._noted.items())
            and all(not was or settled(*was[2:], began_ns) for was in self._noted.values())
            and all(unchanged(f"{root}/{each}"[:-1], began_ns) for each in self._folders)
        )

    def with_links(self) -> tuple[str, ...]:
        """The list with the symlinks that lead to a file in it. That is asked every time: what
        they lead through may lie where no stamp tells."""
        if not self._links:
            return self._paths
        known, inside = set(self._paths), os.path.join(self._root, "")
        leading = {link: os.path.realpath(inside + link) for link in self._links}
        links = [
            link
            for link, real in leading.items()
            if real.startswith(inside) and real[len(inside) :].replace(os.sep, "/") in known
        ]
        return tuple(sorted([*known, *links])) if links else self._paths


def _find(root: str) -> _Found:
    top = git_top(root)
    others = [IgnoreRules(root, name) for name in (".sightlineignore", *AGENTS)]
    walk = Walk(root, git_rules(root), [*others, Cline(root)])
    tracked = ""
    asked = None if top is None else ask(root, top)
    if asked is None:
        walk.go()
    else:
        with asked:
            walk.note([asked.index])
            walk.go()
            tracked = _sayable(asked.text() or "")
    return _Found(top, walk, _files(walk, tracked), _links(walk, tracked))


def _files(walk: Walk, tracked: str) -> list[str]:
    """The files that stand, and that git tracks or no rule of its own hides. tracked: in order,
    though git names a file several times while it is unmerged; each name ends in a NUL."""
    found: list[str] = []
    at = 0
    for folder, names in walk.pieces:
        text = f"{folder}{f'{NUL}{folder}'.join(names)}{NUL}"
        if tracked.startswith(text, at):  # as in most folders: one text at once
            at += len(text)
        else:
            end = _behind(folder + names[-1], tracked, at, len(text))
            text = _mixed(walk, folder, names, text, tracked[at:end])
            at = end
        found.append(text)
    return _split("".join(found)) + _elsewhere(walk, _split(tracked[at:]))


def _behind(last: str, tracked: str, at: int, size: int) -> int:
    """Where the names end, from a place on, that do not come after this one. size: characters
    that are looked at together."""
    while at < len(tracked):
        end = max(tracked.rfind(NUL, at, at + size), tracked.find(NUL, at))
        names = tracked[at:end].split(NUL)
        count = bisect_right(names, last)
        at += sum(map(len, names[:count])) + count
        if count < len(names):
            break
    return at


def _mixed(walk: Walk, folder: str, names: list[str], text: str, tracked: str) -> str:
    """What is found of one piece, of which not all is tracked, or that git knows more of. text:
    all of it; tracked: what git knows there."""
    known = _below(folder, tracked) if tracked else frozenset()
    untracked = [name for name in names if name not in known] if known else names
    away = walk.hidden(folder, untracked) if untracked else ()
    more: list[str] = []
    if tracked.count(NUL) > len(names) - len(untracked):
        more = _elsewhere(walk, {*_split(tracked)}.difference(_split(text)))
    if not (away or more):
        return text
    return _text(sorted([folder + name for name in names if name not in away] + more))


def _below(folder: str, tracked: str) -> set[str]:
    """What paths in a folder are called there."""
    if f"{NUL}{tracked}".count(f"{NUL}{folder}") == tracked.count(NUL):
        return set(f"{NUL}{tracked}".replace(f"{NUL}{folder}", NUL)[1:].split(NUL))
    cut = len(folder)
    return {path[cut:] for path in _split(tracked) if path.startswith(folder)}


def _elsewhere(walk: Walk, tracked: Iterable[str]) -> list[str]:
    """Of tracked files that no walk saw, those that stand."""
    return [path for path in dict.fromkeys(tracked) if walk.stands(path)]


def _links(walk: Walk, tracked: str) -> list[str]:
    """The symlinks that git tracks, or that no rule of its own hides."""
    found: list[str] = []
    known: set[str] | None = None
    for folder, names in walk.links:
        away = walk.hidden(folder, names)
        if away and known is None:
            known = set(_split(tracked))
        found += [folder + n for n in names if n not in away or folder + n in (known or ())]
    return found


def _sayable(tracked: str) -> str:
    """Without names that are no Unicode: they are out of order, and no walk tells them."""
    if encodes(tracked):
        return tracked
    return _text([path for path in _split(tracked) if encodes(path)])


def _split(text: str) -> list[str]:
    return text.split(NUL)[:-1]


def _text(paths: Iterable[str]) -> str:
    return "".join([f"{path}{NUL}" for path in paths])


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
