"""Who imports whom in a workspace: an index that follows the disk, and is kept for later processes.

A look costs a stat per file. What is read again is what a stat no longer vouches for; what is
resolved again is that, and what a file that came or went, or a settings file, may have changed.
"""

from __future__ import annotations

from _thread import allocate_lock
from itertools import islice
from stat import S_ISREG
from time import monotonic, time_ns

from sightline.core.imports.graph import Edge, Graph
from sightline.core.imports.packing import References, naming, packed, unpacked
from sightline.core.imports.testing_names import Tests
from sightline.core.revision import UNKNOWN, Stamp, StatSignature, compare, revision_of
from sightline.services.consulted import ASK_S, changed, reader
from sightline.services.ground import stamp_of
from sightline.services.imports_kept import Keeper, State
from sightline.services.languages import LANGUAGES, NAMED, ending
from sightline.workspace.deadline import DeadlinePassed
from sightline.workspace.scan import settled, tick_of
from sightline.workspace.tree import CONTENT, LOOKED_AT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sightline.core.imports.graph import Plain
    from sightline.core.imports.python import Affected
    from sightline.core.imports.reference import Resolver
    from sightline.core.revision import Revision
    from sightline.services.languages import Language
    from sightline.workspace import Workspace
    from sightline.workspace.tree import Listing, Row, Tree

INDEX_S = 20.0
"""How long one look reads and resolves; what it left is told, and is done by the next."""

PACKAGES = ("__init__.py", "__init__.pyi")
"""Names of files that an import of what is in their folder runs on the way."""

SOURCE_BYTES = 8_000_000
"""A larger source is not read for what it imports."""

OFTEN = 4_000
"""Sources that are read before they are kept."""

NEAR_MOST = 200
"""Files that are looked at by themselves where there is no time for a look at the tree."""


class Importing:
    """One workspace's index. All of it is to be asked under its lock, after refresh()."""

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.keeper = Keeper()
        self._clear()

    def _clear(self) -> None:
        """Know nothing yet."""
        self.paths: Sequence[str] = ()
        self.unread: set[str] = set()
        self.too_large: set[str] = set()
        self.sizes: dict[str, int] = {}
        self._whole = False
        self._tests: Tests | None = None
        self._graph = Graph()
        self._known: set[str] = set()
        self._sources: set[str] = set()
        self._seen: dict[str, Listing] = {}
        self._beside: dict[str, Stamp] = {}
        self._rows: dict[str, Row] = {}
        self._revisions: dict[str, Revision] = {}
        self._pending: set[str] = set()
        self._references = References()
        self._resolvers: dict[str, Resolver] = {}
        self._settings: dict[tuple[str, str], Stamp | None] = {}

    @property
    def tests(self) -> Tests:
        """The tests among the files."""
        if self._tests is None:
            self._tests = Tests(self.paths)
        return self._tests

    def imports(self, path: str) -> tuple[Edge, ...]:
        """What a file imports of the workspace, in the order of its lines."""
        return () if path in self.unread else self._graph.imports(path)

    def importers(self, path: str) -> tuple[str, ...]:
        """The files that import a file."""
        return tuple(sorted(set(self._graph.importers(path)) - self.unread))

    def left(self) -> int:
        """How many sources could not be read or were not come to."""
        return len(self.unread | self._pending)

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
        if paths != self.paths:
            self._listed(paths)
        self._reset(workspace)
        last = workspace.remembered()
        try:
            tree = workspace.tree(last, until=None if within_s is None else began + within_s / 2)
        except DeadlinePassed:
            self._near(workspace, first, last)
            self._unlooked(workspace, until)
        else:
            workspace.remember(tree, lasting=False)
            if within_s is not None:
                until -= min(self.keeper.cost_s(self.paths), max(until - monotonic(), 0) / 2)
            self._follow(workspace, first, tree, until)
            self.keeper.keep(workspace, self._state(), tree, left=self.left())
        self._whole = True

    def _begin(self, workspace: Workspace) -> None:
        """Start with what an earlier process kept."""
        self._clear()
        state = self.keeper.load(workspace)
        if state is None:
            return
        self.paths, self._revisions, self._references = (
            state.paths,
            state.revisions,
            state.references,
        )
        self._graph, self._settings, self._beside = state.graph, state.settings, state.beside
        self.too_large, self._rows = state.too_large, state.rows
        self._known = set(self.paths)
        self._sources = {path for path in self.paths if ending(path) in LANGUAGES}
        self.unread = set(self._sources)
        self._pending = {path for path in self._revisions if not self._graph.resolved(path)}

    def _state(self) -> State:
        return State(
            self.paths,
            self._revisions,
            self._references,
            self._graph,
            self._settings,
            self._beside,
            self.too_large,
            self._rows,
        )

    def _listed(self, paths: tuple[str, ...]) -> None:
        """Take over another list of files."""
        other = self._known.symmetric_difference(paths)
        self.paths, self._known, self._tests = paths, set(paths), None
        self._sources = sources = {path for path in paths if ending(path) in LANGUAGES}
        for gone in self._revisions.keys() - sources:
            del self._revisions[gone]
            self._graph.drop(gone)
            self._pending.discard(gone)
        self.unread = (self.unread & sources) | (sources - self._revisions.keys())
        self.too_large &= sources
        self._beside = {path: v for path, v in self._beside.items() if path in sources}
        keys = {(ending(path), revision) for path, revision in self._revisions.items()}
        self._references.only(keys)
        for name in {LANGUAGES[end]().name for end, _ in keys} | self._resolvers.keys():
            language = NAMED[name]()
            concerned = language.affected(other)
            if concerned is not None:
                self._unresolve(language, concerned)
        self._seen.clear()  # what a folder holds may be found now and was not

    def _unresolve(self, language: Language, concerned: Affected | None) -> None:
        """Forget where imports lead that may lead elsewhere now; None: all of the language."""
        self._resolvers.pop(language.name, None)
        self.keeper.turned()
        every = concerned is None or concerned.every
        words, folders = (concerned.words, concerned.folders) if concerned else ((), ())
        named = naming(words)
        for path, revision in self._revisions.items():
            if self._graph.resolved(path) and LANGUAGES[ending(path)]() is language:
                text = "" if every else self._references.text((ending(path), revision))
                if every or path.startswith(folders) or named(text):
                    self._graph.drop(path)
                    self._pending.add(path)

    def _follow(self, workspace: Workspace, first: str, tree: Tree, until: float) -> None:
        """Read and resolve what a look at the tree does not vouch for."""
        waiting = self._changed(workspace, tree)
        before = [path for path in (first, *self.tests.of(first)) if path in self._sources]
        if first not in self._known and first not in self._revisions and ending(first) in LANGUAGES:
            before = [first]  # an ignored file: it imports others, and is not answered itself
            waiting[first] = None
            self.unread.add(first)
        ordered = {path: waiting[path] for path in before if path in waiting} | waiting
        for some in _some(ordered):
            self._read(workspace, some, until)
            self.keeper.keep(workspace, self._state(), tree, left=len(self.unread))
            if monotonic() > until:
                break
        self._resolve(workspace, before, until)

    def _changed(self, workspace: Workspace, tree: Tree) -> dict[str, Row | None]:
        """The sources that have to be read, with their rows in the tree; None where they have
        none, as what is tracked though it is ignored."""
        rows: dict[str, Row | None] = {}
        for folder, listing in tree.listings.items():
            if self._seen.get(folder) is listing:
                continue
            for name, row in listing.files.items():
                path = folder + name
                self.sizes[path] = int(row[0])
                if path in self._sources and not self._vouched(path, row):
                    rows[path] = row
        for path in self.unread - rows.keys():
            found = _row(tree, path)
            if found is not None or path not in self._beside:
                rows[path] = found
        rows.update(dict.fromkeys(self._moved(workspace)))
        self.unread |= rows.keys()
        self._seen = dict(tree.listings)
        return rows

    def _vouched(self, path: str, row: Row) -> bool:
        """Whether it is known what a source names that stands so."""
        if not S_ISREG(int(row[5])):
            content = UNKNOWN  # a symlink, which names nothing itself
        elif row[CONTENT] or self._was_read(path, row):
            content = str(row[CONTENT])
        else:
            return False
        if self._revisions.get(path) != content:
            if (ending(path), content) not in self._references:
                return False
            self._take(path, content)
        self.unread.discard(path)
        return True

    def _was_read(self, path: str, row: Row) -> bool:
        """Whether an earlier process read it as it stands; its row is told then."""
        was = self._rows.get(path)
        if was is None or was[:CONTENT] != row[:CONTENT]:
            return False
        if not settled(int(row[1]), int(row[2]), int(was[LOOKED_AT])):
            return False
        row[CONTENT] = was[CONTENT]
        return True

    def _moved(self, workspace: Workspace) -> Iterator[str]:
        """Those beside the tree that a stat no longer vouches for."""
        for path, stamp in list(self._beside.items()):
            now = workspace.stat(path)
            if now is None or compare(stamp, now, tick_of(now)) != "same":
                yield path
            else:
                self.unread.discard(path)

    def _near(self, workspace: Workspace, first: str, last: Tree) -> None:
        """Look at a file and at what was known to import it, and at nothing else."""
        self.unread = set(self._sources)
        self._seen.clear()
        if ending(first) in LANGUAGES:
            self._look(workspace, first)
            self._resolve(workspace, [first], 0)  # one of them, however late it is
        stamps = {}
        for path in islice(self._graph.importers(first), NEAR_MOST):
            row = self._rows.get(path) or _row(last, path)
            if row is not None and row[CONTENT] == self._revisions.get(path):
                signature = StatSignature(*row[:CONTENT])  # type: ignore[arg-type]
                stamps[path] = Stamp(signature, self._revisions[path], int(row[LOOKED_AT]))
        looked = workspace.scan(stamps, deadline_s=ASK_S)
        other = {found.path for found in looked if found.revision != stamps[found.path].revision}
        self.unread -= stamps.keys() - other

    def _unlooked(self, workspace: Workspace, until: float) -> None:
        """Read what was never read, as long as there is time, for looks to come."""
        self._gather(workspace, _stats(workspace, self._sources - self._revisions.keys()), until)
        self._resolve(workspace, [], until)
        self.keeper.keep(workspace, self._state(), None, left=self.left())

    def _read(self, workspace: Workspace, waiting: dict[str, Row | None], until: float) -> None:
        """Learn what these name, as long as there is time."""
        self._gather(workspace, ((path, row) for path, row in waiting.items() if row), until)
        for path in [path for path in waiting if path in self.unread]:
            if monotonic() > until:
                return
            self._look(workspace, path)

    def _gather(self, workspace: Workspace, rows: Iterable[tuple[str, Row]], until: float) -> None:
        """Learn what those name that stand as their rows say, as long as there is time."""
        quick = ((path, row) for path, row in rows if int(row[0]) <= SOURCE_BYTES)
        for path, row, data in workspace.contents(quick):
            if data is not None:
                row[CONTENT] = revision = revision_of(data)
                self._learn(path, revision, data)
                self._rows[path] = row
            if monotonic() > until:
                return

    def _look(self, workspace: Workspace, path: str) -> None:
        """A file that takes a closer look, or has no row."""
        found = workspace.read(path, limit=SOURCE_BYTES, deadline_s=ASK_S)
        stamp = stamp_of(found)
        if found.signature is not None:
            self.sizes[path] = found.signature.size
        if stamp is not None:
            self._beside[path] = stamp
        if found.kind == "unreadable":
            return
        self._learn(path, found.revision, found.data or b"")
        if found.why == "too_large":
            self.too_large.add(path)

    def _learn(self, path: str, revision: Revision, data: bytes) -> None:
        """What a source names, told by its bytes."""
        key = ending(path), revision
        if key not in self._references:
            language = LANGUAGES[ending(path)]()
            self._references.put(key, packed(language.references(data, path)))
        self._take(path, revision)
        self.keeper.learned(path)
        self.unread.discard(path)

    def _take(self, path: str, revision: Revision) -> None:
        """What a source names, which is known of such a text."""
        self.too_large.discard(path)
        if self._revisions.get(path) != revision:
            self._graph.drop(path)
            self._pending.add(path)
            self._revisions[path] = revision

    def _reset(self, workspace: Workspace) -> None:
        """Resolve anew by resolvers one of whose settings files is another one now."""
        for name in changed(workspace, self._settings):
            self._unresolve(NAMED[name](), None)
            for key in [key for key in self._settings if key[0] == name]:
                del self._settings[key]

    def _resolve(self, workspace: Workspace, before: list[str], until: float) -> None:
        """Find the files that sources name, where that was not done; those before all others."""
        order = {path: (path not in before, path in self.unread, path) for path in self._pending}
        for path in sorted(order, key=order.__getitem__):
            edges = list(self._edges_of(workspace, path))
            self._graph.put(path, edges, importing=path in self._known)
            self._pending.discard(path)
            self.keeper.learned(path)
            if monotonic() > until:
                return

    def _edges_of(self, workspace: Workspace, path: str) -> Iterator[Plain]:
        language = LANGUAGES[ending(path)]()
        resolver = self._resolvers.get(language.name)
        if resolver is None:
            read = reader(workspace, self._settings, language.name)
            resolver = language.resolver(self.paths, read)
            self._resolvers[language.name] = resolver
        met: dict[str, Plain] = {}
        text = self._references.text((ending(path), self._revisions[path]))
        for reference in unpacked(text):
            for number, target in enumerate(resolver.targets(path, reference)):
                direct = number == 0 or target[target.rfind("/") + 1 :] not in PACKAGES
                share = 1 / (1 + number) if reference.kind == "package" else 1.0
                known = met.get(target)
                if target != path and (known is None or known[2:] < (direct, share)):
                    met[target] = target, reference.line, direct, share
        yield from met.values()


def _stats(workspace: Workspace, paths: Iterable[str]) -> Iterator[tuple[str, Row]]:
    """Rows of files, as of a tree, by a look at each."""
    for path in sorted(paths):
        at_ns, found = time_ns(), workspace.stat(path)
        if found is not None and S_ISREG(found.mode):
            yield path, [*(int(value) for _, value in found.items()), "", at_ns]


def _some(waiting: dict[str, Row | None]) -> Iterator[dict[str, Row | None]]:
    """Of what is to be read, as much as is kept together: who breaks off a look of many keeps
    most of it."""
    paths = list(waiting)
    for at in range(0, len(paths), OFTEN):
        yield {path: waiting[path] for path in paths[at : at + OFTEN]}


def _row(tree: Tree, path: str) -> Row | None:
    """A file's row in a tree."""
    cut = path.rfind("/") + 1
    listing = tree.listings.get(path[:cut])
    return listing.files.get(path[cut:]) if listing is not None else None
