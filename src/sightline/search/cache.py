"""The searchable list of a workspace's files, kept while the list stays the same."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from weakref import WeakKeyDictionary

from sightline.filesystem.git.rename_history import History
from sightline.filesystem.port import Workspace
from sightline.search.guesses import Guesser
from sightline.search.path_index import Index

RENAMES_S = 2.0
"""Default seconds for git to report renames, once for each commit."""


class Shelf:
    """The files of a workspace, with their index and their guesser."""

    def __init__(self, paths: tuple[str, ...], history: History) -> None:
        self.paths = paths
        self.index = Index(paths)
        self.history = history

    @cached_property
    def guesser(self) -> Guesser:
        """The guesser for wrong paths."""
        return Guesser(self.paths)

    def renamed(self, within_s: float = RENAMES_S) -> dict[str, str]:
        """Return old path -> new path for the renames that git reports within this time."""
        return self.history.renames(within_s)


def shelf_of(workspace: Workspace) -> Shelf:
    """Return the shelf for a workspace's current files. A changed list keeps the rename history."""
    paths = workspace.paths()
    with _LOCK:
        shelf = _SHELVES.get(workspace)
        if shelf is None or shelf.paths != paths:
            history = History(workspace.root) if shelf is None else shelf.history
            shelf = _SHELVES[workspace] = Shelf(paths, history)
    return shelf


_SHELVES: WeakKeyDictionary[Workspace, Shelf] = WeakKeyDictionary()
_LOCK = Lock()
