"""Who imports whom in a workspace: an index that follows the disk, and is kept for later processes.

A look costs a stat per file, and what it has to read and resolve anew. What sources there are and
what each names, Sources know; where that leads, Targets.

Where imports lead: the files that sources name, by the resolver of each language.

What is resolved again is what names something else, and what a file that came or went, or a
settings file, may have changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from threading import Lock
from time import monotonic
from weakref import WeakKeyDictionary

from sightline.codegraph.graph import Edge, Graph, Plain
from sightline.codegraph.import_cache import Keeper, Settings, State, changed, reader
from sightline.codegraph.language_table import LANGUAGES, NAMED, Language, ending
from sightline.codegraph.reference import Affected, Resolver
from sightline.codegraph.reference_packing import naming, unpacked
from sightline.codegraph.source_files import Sources
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.port import Workspace
from sightline.filesystem.tree_index import Row, Tree

INDEX_S = 20.0
"""How long one look reads and resolves; what it left is told, and is done by the next."""

OFTEN = 4_000
"""Sources that are read before they are kept."""

NEAR_MOST = 200
"""Files that are looked at by themselves where there is no time for a look at the tree."""


class Importing:
    """One workspace's index. All of it is to be asked under its lock, after refresh()."""

    def __init__(self) -> None:
        self.lock = Lock()
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


PACKAGES = ("__init__.py", "__init__.pyi")
"""Names of files that an import of what is in their folder runs on the way."""


class Targets:
    """Knows where the imports of sources lead, and the settings files that it hangs on; what they
    name it asks of the Sources.

    graph: who imports whom; pending: sources that were read and are still to be resolved;
    settings: how each settings file stood that a resolver asked for."""

    def __init__(self, keeper: Keeper) -> None:
        self.graph = Graph()
        self.pending: set[str] = set()
        self.settings: Settings = {}
        self._keeper = keeper
        self._resolvers: dict[str, Resolver] = {}

    def begin(self, state: State) -> None:
        """Start with what an earlier process kept."""
        self.graph, self.settings = state.graph, state.settings
        self.pending = {path for path in state.revisions if not self.graph.resolved(path)}

    def renew(self, path: str) -> None:
        """What a source names is another thing now."""
        self.graph.drop(path)
        self.pending.add(path)

    def listed(self, sources: Sources, other: Iterable[str], gone: Iterable[str]) -> None:
        """Follow another list of files, of which others came or went. gone: sources."""
        for path in gone:
            self.graph.drop(path)
            self.pending.discard(path)
        endings = {end for end, _ in sources.references}
        for name in {LANGUAGES[end]().name for end in endings} | self._resolvers.keys():
            language = NAMED[name]()
            concerned = language.affected(other)
            if concerned is not None:
                self._unresolve(sources, language, concerned)

    def reset(self, workspace: Workspace, sources: Sources) -> None:
        """Resolve anew by resolvers one of whose settings files is another one now."""
        for name in changed(workspace, self.settings):
            self._unresolve(sources, NAMED[name](), None)
            for key in [key for key in self.settings if key[0] == name]:
                del self.settings[key]

    def resolve(
        self, workspace: Workspace, sources: Sources, before: list[str], until: float
    ) -> None:
        """Find the files that sources name, where that was not done, as long as there is time;
        those before all others."""
        unread = sources.unread
        order = {path: (path not in before, path in unread, path) for path in self.pending}
        for path in sorted(order, key=order.__getitem__):
            edges = list(self._edges_of(workspace, sources, path))
            self.graph.put(path, edges, importing=path in sources.known)
            self.pending.discard(path)
            self._keeper.learned(path)
            if monotonic() > until:
                return

    def _unresolve(self, sources: Sources, language: Language, concerned: Affected | None) -> None:
        """Forget where imports lead that may lead elsewhere now; None: all of the language."""
        self._resolvers.pop(language.name, None)
        self._keeper.turned()
        every = concerned is None or concerned.every
        words, folders = (concerned.words, concerned.folders) if concerned else ((), ())
        named = naming(words)
        for path in sources.revisions:
            if self.graph.resolved(path) and LANGUAGES[ending(path)]() is language:
                text = "" if every else sources.text(path)
                if every or path.startswith(folders) or named(text):
                    self.renew(path)

    def _edges_of(self, workspace: Workspace, sources: Sources, path: str) -> Iterator[Plain]:
        resolver = self._resolver(workspace, sources, LANGUAGES[ending(path)]())
        met: dict[str, Plain] = {}
        for reference in unpacked(sources.text(path)):
            for number, target in enumerate(resolver.targets(path, reference)):
                direct = number == 0 or target[target.rfind("/") + 1 :] not in PACKAGES
                share = 1 / (1 + number) if reference.kind == "package" else 1.0
                known = met.get(target)
                if target != path and (known is None or known[2:] < (direct, share)):
                    met[target] = target, reference.line, direct, share
        yield from met.values()

    def _resolver(self, workspace: Workspace, sources: Sources, language: Language) -> Resolver:
        """The one resolver of a language, for this list of files and these settings."""
        resolver = self._resolvers.get(language.name)
        if resolver is None:
            read = reader(workspace, self.settings, language.name)
            resolver = language.resolver(sources.paths, read)
            self._resolvers[language.name] = resolver
        return resolver


def index_of(workspace: Workspace) -> Importing:
    """The one index of a workspace."""
    with _LOCK:
        return _KEPT.setdefault(workspace, Importing())


@contextmanager
def looked(
    workspace: Workspace, first: str, *, within_s: float | None = None
) -> Iterator[Importing]:
    """The index after a look, held; see refresh. Where another thread holds it for longer than there
    is time, what an earlier process kept is asked, by one of its own."""
    index = index_of(workspace)
    if not index.lock.acquire(timeout=-1 if within_s is None else max(within_s, 0)):
        index = Importing()
        index.lock.acquire()
        within_s = 0
    try:
        index.refresh(workspace, first, within_s=within_s)
        yield index
    finally:
        index.lock.release()


_KEPT: WeakKeyDictionary[Workspace, Importing] = WeakKeyDictionary()
_LOCK = Lock()


def _begin_child() -> None:
    """What other threads held when a process forked is let go of by nobody."""
    _KEPT.clear()
    _LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_begin_child
    )
