"""The list of a workspace's files, kept with what was made of it for as long as it is the same."""

from __future__ import annotations

from _thread import allocate_lock
from weakref import WeakKeyDictionary

from sightline.core.finding.index import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.finding.guesses import Guesser
    from sightline.workspace import Workspace


class Shelf:
    """The files of a workspace as they were listed, and what was made of the list."""

    def __init__(self, paths: tuple[str, ...], root: str) -> None:
        self.paths = paths
        self.index = Index(paths)
        self._root = root
        self._guesser: Guesser | None = None
        self._renamed: dict[str, str] | None = None

    @property
    def guesser(self) -> Guesser:
        """What guesses are made with."""
        if self._guesser is None:
            from sightline.core.finding.guesses import Guesser  # only for what is not found

            self._guesser = Guesser(self.paths)
        return self._guesser

    @property
    def renamed(self) -> dict[str, str]:
        """What git says was renamed, while the list of files was this one."""
        if self._renamed is None:
            from sightline.workspace.renames import renames  # starts a process

            self._renamed = renames(self._root)
        return self._renamed


def shelf_of(workspace: Workspace) -> Shelf:
    """What a workspace's list of files is asked by. It is made anew when the list is another."""
    paths = workspace.paths()
    with _LOCK:
        shelf = _SHELVES.get(workspace)
        if shelf is None or shelf.paths != paths:
            shelf = _SHELVES[workspace] = Shelf(paths, workspace.root)
    return shelf


_SHELVES: WeakKeyDictionary[Workspace, Shelf] = WeakKeyDictionary()
_LOCK = allocate_lock()
