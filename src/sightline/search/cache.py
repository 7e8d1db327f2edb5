"""The list of a workspace's files, kept with what was made of it for as long as it is the same."""

from __future__ import annotations

from threading import Lock
from weakref import WeakKeyDictionary

from sightline.filesystem.git.rename_history import History
from sightline.filesystem.port import Workspace
from sightline.search.guesses import Guesser
from sightline.search.path_index import Index

RENAMES_S = 2.0
"""The time that git gets to say what was renamed, once for each commit, where there is no less."""


class Shelf:
    """The files of a workspace as they were listed, and what was made of the list. last: what was
    made of the list before this one."""

    def __init__(self, paths: tuple[str, ...], root: str, last: Shelf | None = None) -> None:
        self.paths = paths
        self.index = Index(paths)
        self._root = root
        self.history: History | None = None if last is None else last.history
        self._guesser: Guesser | None = None

    @property
    def guesser(self) -> Guesser:
        """What guesses are made with."""
        if self._guesser is None:
            self._guesser = Guesser(self.paths)
        return self._guesser

    def renamed(self, within_s: float = RENAMES_S) -> dict[str, str]:
        """What git says was renamed, as far as it does so in time."""
        if self.history is None:
            self.history = History(self._root)
        return self.history.renames(within_s)


def shelf_of(workspace: Workspace) -> Shelf:
    """What a workspace's list of files is asked by. When the list is another it is made anew, of
    what was made of the last one."""
    paths = workspace.paths()
    with _LOCK:
        shelf = _SHELVES.get(workspace)
        if shelf is None or shelf.paths != paths:
            shelf = _SHELVES[workspace] = Shelf(paths, workspace.root, shelf)
    return shelf


_SHELVES: WeakKeyDictionary[Workspace, Shelf] = WeakKeyDictionary()
_LOCK = Lock()
