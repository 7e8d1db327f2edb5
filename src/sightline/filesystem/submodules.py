"""The files of submodules that are checked out: they are found and listed like all others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from stat import S_ISREG

from sightline.filesystem.git_control import read_text
from sightline.filesystem.ignore.rules import IgnoreRules, RuleSet, git_rules
from sightline.filesystem.tree_index import MODE, NESTED, NO_TREE, Tree, look

_PATH = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(.+?)[ \t]*$", re.MULTILINE)
"""A line of `.gitmodules` that names the folder of a submodule."""


class Submodules:
    """The submodules below a root, each looked at by its own ignore files. Other repositories in the tree
    are not read: nobody says that they belong to it."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._rules: dict[str, RuleSet] = {}
        self._trees: dict[str, Tree] = {}

    def trees(self, tree: Tree) -> dict[str, Tree]:
        """Return the folder (ending in "/") of each submodule, also of those in submodules -> its tree, the
        same as before where nothing changed. tree: of the root. Unverifiable."""
        self._trees = dict(self._walk("", tree))
        return self._trees

    def _walk(self, above: str, tree: Tree) -> Iterator[tuple[str, Tree]]:
        nested = {
            each for each, listing in tree.listings.items() if listing.hidden.get("") == NESTED
        }
        for named in (
            _PATH.findall(read_text(f"{self._root}/{above}", ".gitmodules")) if nested else ()
        ):
            folder = f"{above}{named}/"
            if f"{named}/" not in nested:
                continue
            root = f"{self._root}/{folder}".rstrip("/")
            if folder not in self._rules:
                own = IgnoreRules(root, ".sightlineignore")
                self._rules[folder] = RuleSet((own, git_rules(root, by_index=True)))
            last = self._trees.get(folder, NO_TREE)
            found = look(root, self._rules[folder], last, names_only=True)
            yield folder, found
            yield from self._walk(folder, found)


def files_of(trees: dict[str, Tree]) -> Iterator[str]:
    """Yield the files in the trees of submodules, from the root."""
    for folder, tree in trees.items():
        for path, row in tree.files():
            if S_ISREG(int(row[MODE])):
                yield folder + path
