"""Who imports whom in a workspace: an index that follows the disk, and is kept for later processes.

A look costs a stat per file, and what it has to read and resolve anew. What sources there are and
what each names, Sources know; where that leads, Targets.
"""

from __future__ import annotations

from _thread import allocate_lock
from itertools import islice
from time import monotonic

from sightline.services.imports_kept import Keeper, State
from sightline.services.languages import LANGUAGES, ending
from sightline.services.sources import Sources
from sightline.services.targets import Targets
from sightline.workspace.deadline import DeadlinePassed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.core.imports.graph import Edge
    from sightline.workspace import Workspace
    from sightline.workspace.tree import Row, Tree

INDEX_S = 20.0
"""How long one look reads and resolves; what it left is told, and is done by the next."""

OFTEN = 4_000
"""Sources that are read before they are kept."""

NEAR_MOST = 200
"""Files that are looked at by themselves where there is no time for a look at the tree."""


class Importing:
    """One workspace's index. All of it is to be asked under its lock, after refresh()."""

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.keeper = Keeper()
        self._whole = False
        self._clear()

    def _clear(self) -> None:
        """Know nothing yet."""
        self._targets = Targets(self.keeper)
        self.sources = Sources(self.keeper, self._targets.renew)

    def imports(self, path: str) -> tuple[Edge, ...]:
        """What a file imports of the workspace, in the order of its lines."""
        return () if path in self.sources.unread else self._targets.graph.imports(path)

    def importers(self, path: str) -> tuple[str, ...]:
        """The files that import a file."""
        return tuple(sorted(set(self._targets.graph.importers(path)) - self.sources.unread))

    def left(self) -> int:
        """How many sources could not be read or were not come to."""
        return len(self.sources.unread | self._targets.pending)

    def refresh(
        self, workspace: Workspace, first: str = "", *, within_s: float | None = None
    ) -> None:
        """Follow the disk, `first` and its tests before all others.

        within_s: how long that looks, reads and resolves. Where there is no time for a look at the
        tree, `first` and what was known to import it are looked at by themselves. Unverifiable
        where the tree cannot be looked at.
        """
        began = monotonic()
        until = began + (INDEX_S if within_s is None else within_s)
        if not self._whole:  # it is new, or was broken off in the middle
            self._begin(workspace)
        self._whole = False
        paths = workspace.paths()
        if paths != self.sources.paths:
            other, gone = self.sources.listed(paths)
            self._targets.listed(self.sources, other, gone)
        self._targets.reset(workspace, self.sources)
        last = workspace.remembered()
        try:
            tree = workspace.tree(last, until=None if within_s is None else began + within_s / 2)
        except DeadlinePassed:
            self._near(workspace, first, last)
            self._unlooked(workspace, until)
        else:
            workspace.remember(tree, lasting=False)
            if within_s is not None:
                cost_s = self.keeper.cost_s(self.sources.paths)
                until -= min(cost_s, max(until - monotonic(), 0) / 2)
            self._follow(workspace, first, tree, until)
            self.keeper.keep(workspace, self._state(), tree, left=self.left())
        self._whole = True

    def _begin(self, workspace: Workspace) -> None:
        """Start with what an earlier process kept."""
        self._clear()
        state = self.keeper.load(workspace)
        if state is not None:
            self.sources.begin(state)
            self._targets.begin(state)

    def _state(self) -> State:
        sources, targets = self.sources, self._targets
        return State(
            sources.paths,
            sources.revisions,
            sources.references,
            targets.graph,
            targets.settings,
            sources.beside,
            sources.too_large,
            sources.rows,
        )

    def _follow(self, workspace: Workspace, first: str, tree: Tree, until: float) -> None:
        """Read and resolve what a look at the tree does not vouch for."""
        waiting = self.sources.changed(workspace, tree)
        before = self.sources.before(first)
        if self.sources.adopt(first):  # an ignored one: it is not answered itself
            before = [first]
            waiting[first] = None
        ordered = {path: waiting[path] for path in before if path in waiting} | waiting
        for some in _some(ordered):
            self.sources.read(workspace, some, until)
            self.keeper.keep(workspace, self._state(), tree, left=len(self.sources.unread))
            if monotonic() > until:
                break
        self._targets.resolve(workspace, self.sources, before, until)

    def _near(self, workspace: Workspace, first: str, last: Tree) -> None:
        """Look at a file and at what was known to import it, and at nothing else."""
        self.sources.doubt()
        if ending(first) in LANGUAGES:
            self.sources.look(workspace, first)
            self._targets.resolve(workspace, self.sources, [first], 0)  # one, however late it is
        importers = islice(self._targets.graph.importers(first), NEAR_MOST)
        self.sources.ask(workspace, importers, last)

    def _unlooked(self, workspace: Workspace, until: float) -> None:
        """Read what was never read, as long as there is time, for looks to come."""
        self.sources.read_new(workspace, until)
        self._targets.resolve(workspace, self.sources, [], until)
        self.keeper.keep(workspace, self._state(), None, left=self.left())


def _some(waiting: dict[str, Row | None]) -> Iterator[dict[str, Row | None]]:
    """Of what is to be read, as much as is kept together: who breaks off a look of many keeps
    most of it."""
    paths = list(waiting)
    for at in range(0, len(paths), OFTEN):
        yield {path: waiting[path] for path in paths[at : at + OFTEN]}
