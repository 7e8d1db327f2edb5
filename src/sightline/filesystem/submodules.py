"""The files of submodules that are checked out: they are found, listed and covered like all others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from stat import S_ISREG

from sightline.filesystem.git_control import read_text
from sightline.filesystem.ignore.rules import IgnoreRules, RuleSet, git_rules
from sightline.filesystem.tree_index import (
    MODE,
    NESTED,
    NO_LISTING,
    NO_TREE,
    Tree,
    load,
    look,
    save,
)
from sightline.model.path import folders_above

_PATH = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(.+?)[ \t]*$", re.MULTILINE)
"""A line of `.gitmodules` that names the folder of a submodule."""


class Submodules:
    """The submodules below a root. Each follows its own ignore files and the root's refusing ones. Other
    repositories in the tree are not read: nobody says that they belong to it. refusing: the names of ignore
    files that refuse; state: a folder for the trees of later processes, "" to look for names only."""

    def __init__(self, root: str, refusing: Sequence[str], state: str = "") -> None:
        self._root = root
        self._refusing = refusing
        self._state = state
        self._rules: dict[str, RuleSet] = {}
        self._trees: dict[str, Tree] = {}
        self._joined = NO_TREE

    def trees(self, tree: Tree, until: float | None = None) -> dict[str, Tree]:
        """Return a mapping from the folder of each submodule, at any depth, to its tree. Folders end in "/"; an
        unchanged submodule has the same tree as before. tree: of the root; until: as in look(). Unverifiable,
        DeadlinePassed."""
        self._trees = dict(self._walk("", tree, until))
        return self._trees

    def join(self, tree: Tree, until: float | None = None) -> Tree:
        """Return the root's tree with the trees of the submodules; the given tree where there is no
        submodule, and the last answer where nothing changed. Unverifiable, DeadlinePassed."""
        before, trees = self._trees, self.trees(tree, until)
        if not trees:
            return tree
        is_same = before.keys() == trees.keys() and all(
            before[each] is trees[each] for each in trees
        )
        if is_same and self._joined.own is tree:
            return self._joined
        listings, stamps = dict(tree.listings), dict(tree.ignore_files)
        for folder, inside in trees.items():  # one in another comes behind that
            listings |= {f"{folder}{each}": listing for each, listing in inside.listings.items()}
            stamps |= inside.ignore_files
        self._joined = Tree(listings, stamps, tree)
        return self._joined

    def joined(self, tree: Tree) -> Tree:
        """Return the last answer of join() for a tree; the tree itself where that was for another one."""
        return self._joined if self._joined.own is tree else tree

    def keep(self) -> None:
        """Keep the trees for later processes. OSError."""
        for folder, tree in self._trees.items():
            save(self._state_of(folder), self._root_of(folder), tree)

    def _walk(self, above: str, tree: Tree, until: float | None) -> Iterator[tuple[str, Tree]]:
        has_any = ".gitmodules" in tree.listings.get("", NO_LISTING).files
        for named in _named(f"{self._root}/{above}") if has_any else ():
            folder = f"{above}{named}/"
            if tree.listings.get(f"{named}/", NO_LISTING).hidden.get("") != NESTED:
                continue
            root = self._root_of(folder)
            if folder not in self._rules:
                refusing = [IgnoreRules(root, name, top=self._root) for name in self._refusing]
                self._rules[folder] = RuleSet((*refusing, git_rules(root, by_index=True)))
            last = self._trees.get(folder)
            if last is None:
                last = load(self._state_of(folder), root) if self._state else NO_TREE
            found = look(root, self._rules[folder], last, until, names_only=not self._state)
            yield folder, found
            yield from self._walk(folder, found, until)

    def _root_of(self, folder: str) -> str:
        return f"{self._root}/{folder}".rstrip("/")

    def _state_of(self, folder: str) -> str:
        name = sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return os.path.join(self._state, "submodules", name)


def is_submodule(root: str, folder: str) -> bool:
    """Return whether a folder below a root (ending in "/") is one that a repository above it, or the root,
    names as its submodule."""
    return any(
        folder == f"{above}{named}/"
        for above in ["", *folders_above(folder)[:-1]]
        for named in _named(f"{root}/{above}")
    )


def _named(repository: str) -> list[str]:
    return _PATH.findall(read_text(repository, ".gitmodules"))


def files_of(trees: dict[str, Tree]) -> Iterator[str]:
    """Yield the files in the trees of submodules, from the root."""
    for folder, tree in trees.items():
        for path, row in tree.files():
            if S_ISREG(int(row[MODE])):
                yield folder + path
