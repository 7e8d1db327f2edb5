"""All paths of a tree that may be found, as one sorted list.

A walk says what stands. In a git tree git says beside it, in one process, what it tracks: the rules
are asked about the rest alone. A list is given again as long as the times of every folder
and every ignore file vouch for it, as in workspace.tree.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from errno import ENAMETOOLONG
from operator import itemgetter
from stat import S_ISREG
from time import time_ns

from sightline.errors import Unverifiable
from sightline.workspace.folder import ASIDE
from sightline.workspace.ignore import PatternSet, lines_of
from sightline.workspace.rules import IgnoreRules, git_rules, git_top, ignored
from sightline.workspace.scan import encodes, settled, unlisted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sightline.workspace.rules import Chain

    Stamp = tuple[int, int, int, int]
    """dev, ino, mtime_ns, ctime_ns."""

    Saying = tuple[IgnoreRules, Chain]
    """A rule, and what it says of a folder's entries."""

    Waiting = tuple[str, tuple[Chain, ...] | None]
    """A folder to be seen, and what speaks for the entries of the one that it is in; or a file."""

AGENTS = (".rooignore", ".kilocodeignore", ".cursorignore", ".geminiignore", ".aiexclude")
"""Ignore files of agents' products, beside .clineignore: they hide from finding, and refuse
nothing."""

INCLUDE = "!include "
"""How a line of a .clineignore begins that names another file with patterns."""

INCLUDE_BYTES = 1_000_000
"""The most of such a file that is read."""


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
        raise _unlisted(folder, error) from error
    return tuple(sorted(name for name in listed if not unlisted(name)))


def _unlisted(folder: str, error: OSError) -> Unverifiable:
    name = folder.rstrip("/") or "."
    words = f"{name} could not be listed: {error.strerror or type(error).__name__}."
    return Unverifiable(name, words, "Check that it is there and readable.")


class _Found:
    """What a walk found, and all that it looked at."""

    def __init__(self, top: str | None, walk: _Walk, paths: list[str], links: list[str]) -> None:
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
            and all(_stamp(path) == stamp for path, stamp in self._noted.items())
            and all(not stamp or settled(*stamp[2:], began_ns) for stamp in self._noted.values())
            and all(_unchanged(f"{root}/{each}"[:-1], began_ns) for each in self._folders)
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
    from sightline.workspace.gitnames import ask

    top, git = git_top(root), git_rules(root)
    others = (
        IgnoreRules(root, ".sightlineignore"),
        _Cline(root, ".clineignore"),
        *(IgnoreRules(root, name) for name in AGENTS),
    )
    walk = _Walk(root, (git, *others), judging=others)
    asked = None if top is None else ask(root, top)
    if asked is not None:
        with asked:
            walk.note([asked.index])
            walk.go()
            text = asked.text()
        if text is not None:
            return _Found(top, walk, *_tracking(walk, text))
    walk = _Walk(root, (git, *others), judging=(git, *others))
    walk.go()
    text = walk.files()
    paths = _sayable(_split(text), text)
    return _Found(top, walk, paths, _sayable(walk.links, "\0".join(walk.links)))


def _tracking(walk: _Walk, text: str) -> tuple[list[str], list[str]]:
    """The files and the symlinks that stand, and that git tracks or no rule of its own hides."""
    standing = walk.files()
    names = _sayable(_split(text), text)
    links = [*set(walk.links).intersection(names), *walk.judged(set(walk.links).difference(names))]
    if text != standing:
        files, tracked = _split(standing), set(names)
        more = [each for each in files if each not in tracked]
        if not len(names) == len(tracked) == len(files) - len(more):
            known = set(files)  # git names a file twice while it is unmerged
            names = [each for each in dict.fromkeys(names) if each in known or walk.stands(each)]
        more = walk.judged(more)
        names = sorted(names + _sayable(more, "\0".join(more)))
    return names, _sayable(links, "\0".join(links))


class _Walk:
    """A walk over the folders that no rule hides. judging: those of the rules that are asked
    about files, too, at once. links: what they let through, as of files; folders: what was looked at, "" or
    ending in "/"; noted: how other files stood that have a say."""

    def __init__(
        self, root: str, rules: tuple[IgnoreRules, ...], judging: tuple[IgnoreRules, ...]
    ) -> None:
        self.root = root
        self.began_ns = time_ns()
        self._text: list[str] = []
        self.links: list[str] = []
        self.folders: list[str] = []
        self.noted: dict[str, Stamp | None] = {}
        self._rules = rules
        self._judging = judging
        self._reached: dict[str, bool] = {}
        self._unasked: dict[str, list[Saying]] = {}

    def go(self) -> None:
        """See all. Unverifiable when an ignore file cannot be read."""
        waiting: list[Waiting] = [("", ())]
        while waiting:
            path, above = waiting.pop()
            if above is None:
                self._text.append(f"{path}\0")
            else:
                waiting += reversed(list(self._enter(path, above)))
        for rule in self._rules:
            self.note(rule.above())

    def files(self) -> str:
        """The files that were let through, in order, each ended by a NUL."""
        return "".join(self._text)

    def note(self, files: Iterable[str]) -> None:
        """Remember how these files stand: what changed since the walk began never vouches."""
        self.noted.update((file, _stamp(file)) for file in files)

    def judged(self, paths: Iterable[str]) -> list[str]:
        """Of these paths of the walk, those that the rest of the rules let through."""
        unasked = self._unasked
        if not unasked:
            return list(paths)
        kept: list[str] = []
        last: str | None = None
        saying: list[Saying] = []
        for path in paths:
            folder = path[: path.rfind("/") + 1]
            if folder != last:
                last, saying = folder, unasked.get(folder, [])
            if not any(ignored(chain, rule.full(path), folder=False) for rule, chain in saying):
                kept.append(path)
        return kept

    def stands(self, path: str) -> bool:
        """Whether a tracked file stands where no walk led, as its folder is ignored."""
        folder = path[: path.rfind("/") + 1]
        if folder not in self._reached:
            self._reached[folder] = self._reaches(folder)
        if not self._reached[folder]:
            return False
        try:
            regular = S_ISREG(os.lstat(f"{self.root}/{path}").st_mode)
        except OSError:
            return False
        return regular and not any(rule.refuses(path) for rule in self._judging)

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
            and not any(rule.refuses(name, folder=True) for rule in self._judging)
        )

    def _enter(self, folder: str, above: tuple[Chain, ...]) -> Iterator[Waiting]:
        """See one folder, and say what is to come of it, in the order of all paths."""
        self.folders.append(folder)
        try:
            with os.scandir(f"{self.root}/{folder}") as entries:
                listed = list(entries)
        except (PermissionError, FileNotFoundError, NotADirectoryError):
            return  # what may not be listed cannot be found, nor what is gone by now
        except OSError as error:
            if error.errno == ENAMETOOLONG:
                return  # no path leads to what is in it
            raise _unlisted(folder, error) from error
        plain = [entry.name for entry in listed if entry.is_file(follow_symlinks=False)]
        plain.sort()
        rest = (
            [entry for entry in listed if not entry.is_file(follow_symlinks=False)]
            if len(plain) < len(listed)
            else []
        )
        dotted = set(plain[bisect_left(plain, ".") : bisect_left(plain, "/")])
        if folder and (".git" in dotted or any(each.name == ".git" for each in rest)):
            return  # a repository of its own
        self._reached[folder] = False  # all that stands here is told by the walk
        chains = self._chains(folder, above, dotted)
        saying = [pair for pair in chains if pair[1]]
        judging = [pair for pair in saying if pair[0] in self._judging]
        if len(judging) < len(saying):
            self._unasked[folder] = [pair for pair in saying if pair[0] not in self._judging]
        if plain and not (judging or rest):  # as most are: one text at once
            self._text += (folder, f"\0{folder}".join(plain), "\0")
            return
        files = _let_through(judging, [folder + name for name in plain], below=False)
        if not rest:
            self._text += [f"{path}\0" for path in files]
        else:
            links = [folder + entry.name for entry in rest if entry.is_symlink()]
            self.links += _let_through(judging, links, below=False)
            speaking = tuple(chain for _, chain in chains)
            folders = _let_through(saying, _folders(folder, rest), below=True)
            every = [(path, None) for path in files] + [(f"{path}/", speaking) for path in folders]
            yield from sorted(every, key=itemgetter(0))

    def _chains(self, folder: str, above: tuple[Chain, ...], dotted: set[str]) -> list[Saying]:
        """What the rules say of a folder's entries."""
        if not folder:
            return [(rule, rule.chain()) for rule in self._rules]
        pairs = zip(self._rules, above, strict=True)
        if not dotted:
            return list(pairs)
        self.note(f"{self.root}/{folder}{each.name}" for each in self._rules if each.name in dotted)
        return [
            (rule, rule.extend(chain, rule.full(folder)) if rule.name in dotted else chain)
            for rule, chain in pairs
        ]


def _folders(above: str, entries: Iterable[os.DirEntry[str]]) -> list[str]:
    return [
        above + entry.name
        for entry in entries
        if entry.is_dir(follow_symlinks=False) and not unlisted(entry.name)
    ]


def _let_through(saying: Sequence[Saying], paths: list[str], *, below: bool) -> list[str]:
    """The paths that no rule hides."""
    for rule, chain in saying:
        full = rule.full("")
        paths = [path for path in paths if not ignored(chain, full + path, folder=below)]
    return paths


class _Cline(IgnoreRules):
    """.clineignore files, where a line may name a file whose patterns stand in its place."""

    def __init__(self, root: str, name: str) -> None:
        super().__init__(root, name)
        self._root = root
        self._included: dict[str, None] = {}

    def above(self) -> list[str]:
        """As for any other, and all that lines have named so far."""
        return [*super().above(), *self._included]

    def _load(self, file: str) -> PatternSet:
        plain = super()._load(file)
        if not plain:
            return plain
        lines = _lines(file)
        if not any(line.startswith(INCLUDE) for line in lines):
            return plain
        folder = os.path.dirname(file)
        return PatternSet(
            pattern
            for line in lines
            for pattern in (self._named(folder, line) if line.startswith(INCLUDE) else [line])
        )

    def _named(self, folder: str, line: str) -> list[str]:
        """The patterns of a named file; none where it is not there, or not inside the root."""
        name = line.removeprefix(INCLUDE).strip()
        if "\0" in name:
            return []
        file = os.path.realpath(os.path.join(folder, name))
        if not file.startswith(os.path.join(self._root, "")):
            return []
        self._included[file] = None
        return _lines(file) if os.path.isfile(file) else []


def _lines(file: str) -> list[str]:
    try:
        with open(file, "rb") as opened:
            data = opened.read(INCLUDE_BYTES + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Unverifiable(
            file, f"{file} could not be read: {why}.", "Make it readable, or remove it."
        ) from error
    if len(data) > INCLUDE_BYTES:
        raise Unverifiable(
            file, f"{file} is too large for an ignore file.", "Name a smaller one, or remove it."
        )
    return lines_of(data)


def _split(text: str) -> list[str]:
    return text.split("\0")[:-1]


def _sayable(paths: list[str], joined: str) -> list[str]:
    """Without names that are no Unicode, and without our own files. joined: all in one text."""
    if ASIDE not in joined and encodes(joined):
        return paths
    return [path for path in paths if not any(map(unlisted, path.split("/")))]


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):  # a `.git` may name what no path can be
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _unchanged(folder: str, since_ns: int) -> bool:
    """Whether a folder is there, with the entries that it had at a moment."""
    stamp = _stamp(folder or "/")
    return stamp is not None and settled(*stamp[2:], since_ns)
