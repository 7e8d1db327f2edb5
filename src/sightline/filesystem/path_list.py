"""The list of all paths that may be found, made from the index of the tree.

The ignore files of agents' products hide paths from this list, and refuse nothing. A file that git
tracks is found although git's own rules ignore it, and so is one of a checked-out submodule. The list is kept as long as the index, git's
index and those ignore files stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from stat import S_ISLNK, S_ISREG

from msgspec import Struct

from sightline.filesystem.git.repository import repository
from sightline.filesystem.git_control import git_top
from sightline.filesystem.ignore.agent_ignores import agents_rules
from sightline.filesystem.ignore.rules import (
    Chains,
    RuleSet,
    encodes,
    is_unlisted,
)
from sightline.filesystem.submodules import Submodules, files_of
from sightline.filesystem.tree_index import IGNORED, MODE, Tree, file_stamp
from sightline.model.path import folders_above

GIT_S = 60.0
"""Seconds that git may take to name the files it tracks."""


class _Listed(Struct, frozen=True):
    """A list, and all that it was made from. stamps: of git's index and the agents' ignore files;
    tracked: files that git tracks and that only git's rules ignore."""

    tree: Tree
    stamps: dict[str, tuple[int, ...] | None]
    paths: tuple[str, ...]
    links: list[str]
    tracked: list[str]


class PathList:
    """The list of one tree. refusing: the rules of .sightlineignore. left_out: as of a RuleSet, of
    the agents' ignore files."""

    def __init__(self, root: str, refusing: RuleSet) -> None:
        self._root = root
        self._refusing = refusing
        self._listed: _Listed | None = None
        self.left_out: tuple[str, ...] = ()
        self._found: tuple[str, ...] = ()
        self._submodules = Submodules(root, [".sightlineignore"])
        self._with_submodules: tuple[_Listed, dict[str, Tree], list[str]] | None = None

    def paths(self, tree: Tree) -> tuple[str, ...]:
        """Return every file that no rule hides, and every symlink to such a file, sorted.
        Unverifiable when an ignore file cannot be read."""
        listed = self._listed
        stamps = listed.stamps.items() if listed is not None else ()
        is_current = all(file_stamp(file) == stamp for file, stamp in stamps)
        if listed is None or tree is not listed.tree or not is_current:
            listed = self._listed = self._list(tree)
        tracked = [path for path in listed.tracked if self._is_file_here(path)]
        tracked += self._in_submodules(listed)
        if not (tracked or listed.links):
            return listed.paths
        # Asked every time: links and ignored folders may lead where no stamp tells of a change.
        known, inside = {*listed.paths, *tracked}, os.path.join(self._root, "")
        leading = {link: os.path.realpath(inside + link) for link in listed.links}
        links = [
            link
            for link, real in leading.items()
            if real.startswith(inside) and real[len(inside) :].replace(os.sep, "/") in known
        ]
        found = tuple(sorted([*known, *links])) if tracked or links else listed.paths
        if found != self._found:  # whoever keeps an index of the list, knows it by its identity
            self._found = found
        return self._found

    def _in_submodules(self, listed: _Listed) -> list[str]:
        """Return the files of submodules that no rule of the root hides."""
        trees = self._submodules.trees(listed.tree)
        last = self._with_submodules
        is_same = last is not None and last[0] is listed and last[1].keys() == trees.keys()
        if last is not None and is_same and all(last[1][each] is trees[each] for each in trees):
            return last[2]
        rules = RuleSet(agents_rules(self._root))
        found = [
            path
            for path in files_of(trees)
            if not (self._refusing.refuses(path) or rules.refuses(path))
        ]
        self._with_submodules = listed, trees, found
        return found

    def _list(self, tree: Tree) -> _Listed:
        found = repository(self._root, ".")
        if found is not None and found.top != git_top(self._root):
            found = None  # the root's own `.git` is none that git would take
        index = f"{found.folder}/index" if found is not None else ""
        stamps = {index: file_stamp(index)} if index else {}
        rules = RuleSet(agents_rules(self._root))
        files: list[str] = []
        links: list[str] = []
        chains_of: dict[str, Chains] = {}
        for folder, listing in tree.listings.items():  # parents before their folders
            if folder:
                above = chains_of.get(folder[: folder.rfind("/", 0, -1) + 1])
                if above is None or rules.hides(above, folder[:-1], is_folder=True):
                    continue
                chains = rules.extend(above, folder, listing.files)
            else:
                chains = rules.chains_of_root()
            chains_of[folder] = chains
            names = [*listing.files]
            hidden = rules.hidden_names(chains, folder, names) if any(chains) else ()
            for name, row in listing.files.items():
                if name not in hidden:
                    (links if S_ISLNK(int(row[MODE])) else files).append(folder + name)
            own = [f"{self._root}/{folder}{n}" for n in rules.names.intersection(listing.files)]
            stamps.update({file: file_stamp(file) for file in own})
        stamps.update({file: file_stamp(file) for file in rules.files_of_root()})
        self.left_out = rules.left_out()
        unlisted = set(found.tracked_paths(GIT_S) if found is not None else ()).difference(files)
        tracked = [path for path in unlisted if self._is_ignored_by_git_alone(tree, rules, path)]
        return _Listed(tree, stamps, tuple(sorted(files)), links, tracked)

    def _is_ignored_by_git_alone(self, tree: Tree, rules: RuleSet, path: str) -> bool:
        """Return whether the tree leaves a tracked path out only because git's rules ignore it."""
        folder = path[: path.rfind("/") + 1]
        name = path[len(folder) :]
        while (listing := tree.listings.get(folder)) is None:
            parent = folder[: folder.rfind("/", 0, -1) + 1]
            folder, name = parent, folder[len(parent) :]
        if listing.hidden.get(name) != IGNORED:
            return False
        return (
            encodes(path)
            and not any(map(is_unlisted, path.split("/")))
            and not self._refusing.refuses(path)
            and not rules.refuses(path)
        )

    def _is_file_here(self, path: str) -> bool:
        """Return whether a file stands at a path, and no symlink or repository on the way."""
        full = f"{self._root}/{path}"
        try:
            mode = os.lstat(full).st_mode
        except OSError:
            return False
        return S_ISREG(mode) and not any(
            os.path.islink(f"{self._root}/{folder[:-1]}")
            or os.path.lexists(f"{self._root}/{folder}.git")
            for folder in folders_above(path)
        )


def sorted_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a folder that are ever listed, sorted."""
    return tuple(sorted(name for name in names if not is_unlisted(name)))
